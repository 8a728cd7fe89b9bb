"""Coding by the engine that reads a table: what it says of each cell for sure, and which cells it leaves to Python."""
