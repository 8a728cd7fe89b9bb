"""Lasting ledgers: what a data set has spent, for years, over many runs, people and programs, whatever ends them."""

from expost.ledgers.book import init_ledger
from expost.ledgers.once import release_once
from expost.ledgers.shared import SharedRelease
from expost.ledgers.terms import epsilon_terms, order_terms, zcdp_terms

__all__ = ["SharedRelease", "epsilon_terms", "init_ledger", "order_terms", "release_once", "zcdp_terms"]
