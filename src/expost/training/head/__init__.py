"""Heads: linear classifiers trained in NumPy, with exact integer noise."""
