"""How time and memory grow with records and columns."""
