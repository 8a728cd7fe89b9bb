"""Shared releases on a ledger: the data set pays the finest once, and each analyst the finest they saw."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from expost.errors import BudgetExceeded, LedgerConflict, MechanismFailed, NotPrivate
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.measures import Order
from expost.ledgers.overview import overviews
from expost.ledgers.posting import Position
from expost.ledgers.proof import verify_ledger
from expost.ledgers.shared import SharedRelease, snapped
from expost.ledgers.terms import epsilon_terms
from expost.noise import Integers, SeededNoise, SystemNoise
from expost.private import Neighbours
from expost.statistic import Statistic, histogram
from tests.unit.ledgers.examples import begun, spend

WARDS: Statistic[Integers] = histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE, name="wards")
DATA = np.repeat(np.arange(4), [400, 300, 200, 100])
NOISE = SystemNoise()
LEVELS = [Fraction(n, 5000) for n in (4, 9, 1, 10, 2, 7, 3, 8, 6, 5)]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with Book(home_of(str(path), create=True)) as book:
        book.add("visits", epsilon_terms(3, 1e-6))
    return path


def spent(book: Book) -> list[Fraction]:
    """The data set's bill as ρ, by order."""
    with book.home.reading() as reading:
        account = Position.locked(reading, "visits")
    orders = [measure.alpha for measure in account.terms.measures if isinstance(measure, Order)]
    return [as_fraction(units) / alpha for units, alpha in zip(account.spent, orders, strict=False)]


def own(book: Book, name: str) -> list[Fraction]:
    with book.home.reading() as reading:
        ((text,),) = reading.rows("SELECT spent FROM analysts WHERE name = ?", name)
    return [as_fraction(int(units)) for units in str(text).split()]


def test_ten_analysts_at_ten_precisions_in_parallel_cost_the_data_set_the_finest(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        tokens = [book.add_analyst("visits", f"analyst {n}", 0.9) for n in range(10)]

    def ask(n: int) -> tuple[Fraction, float]:
        with open_ledger(ledger) as mine:
            view = SharedRelease(mine, "visits", "by ward", WARDS, DATA).at(LEVELS[n], noise=NOISE, token=tokens[n])
        return view.level, view.estimate.std

    with ThreadPoolExecutor(10) as pool:
        views = list(pool.map(ask, range(10)))

    with open_ledger(ledger) as book:
        assert verify_ledger(book.home).flaws == ()
        assert {*spent(book)} == {snapped(max(LEVELS))}
        bills = [own(book, f"analyst {n}") for n in range(10)]
    assert [level for level, _ in views] == [snapped(level) for level in LEVELS]
    assert [bill[0] / 2 for bill in bills] == [snapped(level) for level in LEVELS]
    assert all(one[1] > other[1] for one, other in pairwise(sorted(views)))


def test_going_on_from_the_finest_costs_the_increment(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        shared = SharedRelease(book, "visits", "by ward", WARDS, DATA)
        shared.at(Fraction(1, 1024), noise=NOISE)
        shared.at(Fraction(3, 1024), noise=NOISE)

        assert spent(book)[0] == Fraction(3, 1024)


def test_the_same_question_has_the_same_answer_and_costs_nothing(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 0.9)
        SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 256), noise=NOISE)
        shared = SharedRelease(book, "visits", "by ward", WARDS)
        first = shared.at(Fraction(1, 1024), noise=NOISE, token=token)
        bill = own(book, "ann")
        again = shared.at(Fraction(1, 1024), noise=NOISE, token=token)

        assert np.array_equal(first.estimate.values, again.estimate.values)
        assert own(book, "ann") == bill
        assert spent(book)[0] == Fraction(1, 256)


def test_an_analyst_beyond_the_allowance_is_refused_and_nothing_is_read(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 0.2)
        shared = SharedRelease(book, "visits", "by ward", WARDS, DATA)

        with pytest.raises(BudgetExceeded, match="'ann'"):
            shared.at(Fraction(1, 10), noise=NOISE, token=token)
        assert spent(book)[0] == 0
        assert own(book, "ann")[0] == 0


def test_an_analyst_is_not_billed_for_what_the_data_set_has_no_room_for(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 3)
        shared = SharedRelease(book, "visits", "by ward", WARDS, DATA)
        shared.at(Fraction(1, 16), noise=NOISE)
        spend(begun(book, "visits"), "1/16")

        with pytest.raises(BudgetExceeded, match="'visits'"):
            shared.at(Fraction(1, 7), noise=NOISE, token=token)
        assert set(own(book, "ann")) == {0}
        shared.at(Fraction(1, 16), noise=NOISE, token=token)
        assert own(book, "ann")[0] / 2 == Fraction(1, 16)
        assert verify_ledger(book.home).flaws == ()


def test_what_is_held_for_an_analyst_who_is_refused_returns(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 0.2)
        with pytest.raises(BudgetExceeded, match="'ann'"):
            SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 10), noise=NOISE, token=token)

        (found,) = overviews(book.home)
        assert set(found.account.committed) == {0}
        assert found.open_runs == 0


def test_an_analyst_without_the_data_is_not_billed_for_what_is_not_known(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 0.9)
        SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 1024), noise=NOISE)

        with pytest.raises(LedgerConflict, match="not known this precisely"):
            SharedRelease(book, "visits", "by ward", WARDS).at(Fraction(1, 256), noise=NOISE, token=token)
        assert own(book, "ann")[0] == 0


def test_changed_data_is_noticed(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 1024), noise=NOISE)
        changed = SharedRelease(book, "visits", "by ward", WARDS, DATA[1:])

        with pytest.raises(LedgerConflict, match="it has changed"):
            changed.at(Fraction(1, 256), noise=NOISE)
        assert spent(book)[0] == Fraction(1, 1024)


def test_data_that_is_changed_in_place_is_not_measured_once_more(ledger: Path) -> None:
    mine = DATA.copy()
    with open_ledger(ledger) as book:
        shared = SharedRelease(book, "visits", "by ward", WARDS, mine)
        shared.at(Fraction(1, 1024), noise=NOISE)
        mine[0] = 3

        with pytest.raises(MechanismFailed):
            shared.at(Fraction(1, 256), noise=NOISE)

        assert shared.at(Fraction(1, 1024), noise=NOISE).level == Fraction(1, 1024)
        assert verify_ledger(book.home).flaws == ()


def test_data_whose_mask_would_change_unnoticed_is_refused(ledger: Path) -> None:
    """What is masked has a value as well, by which the data would be told apart, and not by the mask."""
    with open_ledger(ledger) as book, pytest.raises(LedgerConflict, match="masked array"):
        SharedRelease(book, "visits", "by ward", WARDS, np.ma.masked_equal(DATA, 3))


def test_another_statistic_under_the_same_name_is_refused(ledger: Path) -> None:
    five: Statistic[Integers] = histogram(lambda codes: codes, 5, Neighbours.ADD_REMOVE, name="wards")
    with open_ledger(ledger) as book:
        SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 1024), noise=NOISE)

        with pytest.raises(LedgerConflict, match="another statistic"):
            SharedRelease(book, "visits", "by ward", five, DATA).at(Fraction(1, 256), noise=NOISE)


def test_a_release_that_a_dead_process_was_refining_waits_and_then_says_so(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        dead = book.begin("visits", "refining by ward")
        shared = SharedRelease(book, "visits", "by ward", WARDS, DATA)
        shared.at(Fraction(1, 1024), noise=NOISE)
        with book.home.writing() as writing:
            writing.later("UPDATE releases SET refining = ?", dead.id)

        with pytest.raises(LedgerConflict, match="settle"):
            shared.at(Fraction(1, 256), noise=NOISE, wait=0.1)
        assert spent(book)[0] == Fraction(1, 1024)


def test_seeded_noise_is_refused(ledger: Path) -> None:
    with open_ledger(ledger) as book, pytest.raises(NotPrivate):
        SharedRelease(book, "visits", "by ward", WARDS, DATA).at(Fraction(1, 1024), noise=SeededNoise(1))


CHANGES = [
    "UPDATE views SET payload = (SELECT payload FROM views ORDER BY level DESC LIMIT 1)",
    "DELETE FROM views",
    "UPDATE seen SET level = '1/1024'",
    "UPDATE releases SET digest = 'another'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_shared_release_that_was_changed_is_noticed(ledger: Path, change: str) -> None:
    with open_ledger(ledger) as book:
        token = book.add_analyst("visits", "ann", 0.9)
        shared = SharedRelease(book, "visits", "by ward", WARDS, DATA)
        shared.at(Fraction(1, 256), noise=NOISE)
        shared.at(Fraction(1, 512), noise=NOISE, token=token)
        assert verify_ledger(book.home).flaws == ()
        with book.home.writing() as writing:
            writing.later(change)

        assert verify_ledger(book.home).flaws == ("The shared releases of 'visits' are not what its entries lead to.",)
