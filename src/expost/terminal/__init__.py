"""The terminal: what a command takes and shows, and how it ends."""
