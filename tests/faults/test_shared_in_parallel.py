"""Analysts who ask for one statistic from processes of their own, at the same time and in any order, in each home."""

import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from expost.ledgers import epsilon_terms
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of
from expost.ledgers.measures import Order
from expost.ledgers.proof import verify_ledger
from expost.ledgers.shared import snapped
from tests.faults.processes import PATIENCE, environment
from tests.faults.sharers import PRECISIONS
from tests.unit.ledgers.steps import totals

TERMS = epsilon_terms(3, 1e-6)
ORDERS = [measure.alpha for measure in TERMS.measures if isinstance(measure, Order)]


def levels(book: Book, table: str, name: str) -> set[Fraction]:
    """A bill as the ρ that it is at each order."""
    found = totals(book, table, name)
    assert found["spent"] == found["committed"]
    return {as_fraction(units) / alpha for units, alpha in zip(found["spent"], ORDERS, strict=False)}


@pytest.mark.parametrize("seed", range(2))
def test_ten_analysts_at_ten_precisions_cost_the_data_set_the_finest_exactly(
    ledger_name: str, seed: int, tmp_path: Path
) -> None:
    names = [f"analyst {number}" for number in range(len(PRECISIONS))]
    with Book(home_of(ledger_name, create=True)) as book:
        book.add("visits", TERMS)
        tokens = [book.add_analyst("visits", name, 0.9) for name in names]
    (tmp_path / "tokens").write_text(" ".join(tokens), encoding="utf-8")

    command = [sys.executable, "-m", "tests.faults.sharers", "together", str(tmp_path), ledger_name, str(seed)]
    subprocess.run(command, env=environment(tmp_path), timeout=PATIENCE, check=True)

    noted = [(tmp_path / f"{number}.notes").read_text(encoding="utf-8").split() for number in range(len(names))]
    seen = [(Fraction(level), float(std)) for level, std in noted]
    asked = [snapped(level) for level in PRECISIONS]
    with Book(home_of(ledger_name)) as book:
        assert levels(book, "datasets", "visits") == {max(asked)}
        assert [levels(book, "analysts", name) for name in names] == [{level} for level in asked]
        assert verify_ledger(book.home).flaws == ()
    assert [level for level, _ in seen] == asked
    assert all(one[1] > other[1] for one, other in pairwise(sorted(seen)))
