"""Accounting as maths: curves, claims, pledges, conversions; no data, no noise."""
