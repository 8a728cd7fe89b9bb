"""The search for a synthetic Adult table: candidates, checks put to them, and what came of many repeats."""
