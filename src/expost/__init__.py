"""Accuracy-first differential privacy with ex-post bounds."""
