"""The benchmark of ledgers: a miniature of it has every figure."""

from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed; install expost[postgres].")

from benchmarks import ledger

from expost.ledgers.book import Book, home_of
from expost.ledgers.terms import epsilon_terms

FIGURES = (
    "floor_ratio", "equal_steps_ratio", "charge_ms_p50", "charge_ms_p99", "floor_ms_p50", "floor_ms_p99", "growth_1e6",
    "analyst_growth_1e6",
)  # fmt: skip
TWICE, ONCE = ["hold", "capture"] * 2, ["capture"]
"""The second of two equal steps is the first whose capture holds the next."""


@pytest.mark.usefixtures("postgres")
def test_a_miniature_has_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CHARGES": 20, "PROCESSES": 2, "SECONDS": 0.2, "PAST": 200, "AT_ONCE": 100, "SHOWN": 2}.items():
        monkeypatch.setattr(ledger, name, value)

    figures = ledger.run(lambda text: None)

    for home in ("sqlite", "postgres"):
        assert {f"ledger.{each}.{home}" for each in FIGURES} <= figures.keys()
        assert {
            f"ledger.{kind}.{home}.p{count}" for kind in ("rate", "floor_rate") for count in (1, 2)
        } <= figures.keys()
    assert all(value > 0 for value in figures.values())
    growths = [value for name, value in figures.items() if "growth_1e6." in name and "show" not in name]
    assert figures["ledger.growth_1e6"] == max(growths)
    assert len(growths) == 4


@pytest.mark.parametrize(("steps", "kinds"), [(ledger.RISING, ["hold", "capture"] * 4), (1, [*TWICE, *ONCE * 2])])
def test_a_charge_is_a_hold_and_a_capture_unless_steps_are_equal(tmp_path: Path, steps: int, kinds: list[str]) -> None:
    name = str(tmp_path / "ledger.db")
    with Book(home_of(name, create=True)) as book:
        book.add("visits", epsilon_terms(3, 1e-6))
        with ledger.charging(name, steps) as charge:
            for _ in range(4):
                charge()

        with book.home.reading() as reading:
            found = reading.rows("SELECT kind FROM entries WHERE kind IN ('hold', 'capture') ORDER BY number")

    assert [kind for (kind,) in found] == kinds
