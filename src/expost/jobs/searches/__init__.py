"""Searches of the caller's own: their report, their receipt and their folder."""
