"""Lasting ledgers: what a data set has spent, for years, over many runs, people and programs, whatever ends them."""
