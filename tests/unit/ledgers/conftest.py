"""A ledger in each home, with one data set under a cap on zCDP."""

from collections.abc import Iterator

import pytest

from expost.ledgers.book import Book, home_of
from expost.ledgers.terms import zcdp_terms


@pytest.fixture
def book(ledger_name: str) -> Iterator[Book]:
    """The ledger, open."""
    with Book(home_of(ledger_name, create=True)) as found:
        found.add("visits", zcdp_terms(1))
        yield found
