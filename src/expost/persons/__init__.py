"""Persons: whose rows they are, by identifiers that are read and forgotten."""
