"""Asking: plain numbers about a private table, as precise as they must be."""
