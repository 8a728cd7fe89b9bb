"""Drafts of schemas, read off the data for its owner: private until they are reviewed."""
