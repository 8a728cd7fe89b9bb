"""Printed numbers beside ours; shares, means and ratios with their intervals."""
