"""Folders of releases: claimed before anything is spent, filled all or nothing, with a journal beside them."""
