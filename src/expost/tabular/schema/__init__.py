"""The schema: which columns there are and which values they may have, declared and public."""
