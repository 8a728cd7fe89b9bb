"""What is shown of a ledger: totals and the latest charges, in words, without reading what came before."""

import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from expost.errors import LedgerConflict
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.overview import LOOKED_AT, amount_words, only_dataset, overviews, room_words
from expost.ledgers.settling import settle
from expost.ledgers.terms import Terms, epsilon_terms, order_terms, zcdp_terms
from tests.unit.ledgers.examples import begun, cost, held, spend, whole_ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    whole_ledger(tmp_path / "ledger.db")
    return tmp_path / "ledger.db"


def test_a_data_set_is_shown_with_its_analysts_and_its_newest_charges_first(path: Path) -> None:
    with open_ledger(path) as book:
        admissions, visits = overviews(book.home)

    assert (admissions.name, admissions.open_runs, [*admissions.analysts]) == ("admissions", 1, ["Ana"])
    assert [charge.what for charge in admissions.charges][:3] == ["a crash", "refining wards", "a count"]
    assert [charge.at for charge in admissions.charges] == sorted((c.at for c in admissions.charges), reverse=True)
    assert (visits.open_runs, [charge.share for charge in visits.charges]) == (1, [0.25])


def test_shares_of_charges_add_up_to_that_of_what_was_spent(tmp_path: Path) -> None:
    with Book(home_of(str(tmp_path / "ledger.db"), create=True)) as book:
        book.add("visits", epsilon_terms(3, 1e-6))
        with begun(book, "visits") as run:
            for rho in ("1/100", "1/64", "1/32"):
                spend(run, rho)
        (found,) = overviews(book.home)

    assert sum(charge.share for charge in found.charges) == pytest.approx(
        found.account.terms.share(found.account.spent), rel=1e-12
    )


def test_no_more_lines_are_listed_than_asked_for(path: Path) -> None:
    with open_ledger(path) as book:
        assert [len(overviews(book.home, "admissions", lines=n)[0].charges) for n in (0, 2)] == [0, 2]


def test_older_charges_are_listed_page_by_page_and_each_once(book: Book) -> None:
    numbers, before = list[Fraction](), None
    with begun(book, "visits") as run:
        for number in range(1, LOOKED_AT + 20):
            spend(run, Fraction(number, 2**20))
    while True:
        (found,) = overviews(book.home, lines=50, before=before)
        numbers += [Fraction(charge.share) * 2**20 for charge in found.charges]
        if found.earlier is None:
            break
        before = found.earlier

    assert numbers == list(range(LOOKED_AT + 19, 0, -1))


def test_entries_that_are_no_charges_are_passed_by_and_older_ones_still_found(book: Book) -> None:
    """Holds of an open run, more than are looked at together."""
    with begun(book, "visits") as run:
        spend(run, "1/4")
    for _ in range(LOOKED_AT + 20):
        begun(book, "visits").close()
    (found,) = overviews(book.home)
    assert found.charges == ()
    assert found.earlier is not None
    while found.earlier is not None:
        (found,) = overviews(book.home, before=found.earlier)

    assert [charge.share for charge in found.charges] == [0.25]


def test_settlements_are_listed_with_their_statements(book: Book) -> None:
    for statement in ("the machine lost its power", None):
        crashed = begun(book, "visits")
        held(crashed, "1/8")
        settle(book, crashed.id, statement=statement)

    (found,) = overviews(book.home)

    assert [each.statement for each in found.settlements] == [None, "the machine lost its power"]
    assert found.settlements[0].run == crashed.id


def test_a_long_chain_is_not_read_to_show_its_end(tmp_path: Path) -> None:
    """The same number of steps of SQLite's machine, whether 300 or 1,200 entries came before."""
    path, counts = tmp_path / "ledger.db", []
    with Book(home_of(str(path), create=True)) as book:
        book.add("visits", zcdp_terms(1))
        with begun(book, "visits") as run:
            for _ in range(150):
                spend(run, "1/1000000")
            counts.append(_steps(book))
            for _ in range(450):
                spend(run, "1/1000000")
            counts.append(_steps(book))

    assert counts[0] > LOOKED_AT  # it does look at something
    assert counts[1] < counts[0] * 1.05


def _steps(book: Book) -> int:
    connection = vars(book.home)["_connection"]
    assert isinstance(connection, sqlite3.Connection)
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.set_progress_handler(count, 1)
    overviews(book.home)
    connection.set_progress_handler(None, 1)
    return steps


def test_a_data_set_that_is_not_there_is_refused_with_those_that_are(path: Path) -> None:
    with open_ledger(path) as book, pytest.raises(LedgerConflict, match="it has 'admissions', 'visits'"):
        overviews(book.home, "staff")


def test_one_of_several_data_sets_has_to_be_named(path: Path, tmp_path: Path) -> None:
    with open_ledger(path) as book, pytest.raises(LedgerConflict, match="has 'admissions', 'visits'; say which"):
        only_dataset(book.home)
    with Book(home_of(str(tmp_path / "other.db"), create=True)) as book:
        with pytest.raises(LedgerConflict, match="has none"):
            only_dataset(book.home)
        book.add("visits", zcdp_terms(1))
        assert only_dataset(book.home) == "visits"


@pytest.mark.parametrize(
    ("terms", "spent", "left"),
    [
        (epsilon_terms(3, 1e-6), "ε = 0.734 at δ = 1e-6", "ρ = 0.188 for Gaussian noise, which by itself is ε = 2.83"),
        (order_terms(1, alpha=20), "ε = 0.200 at the Rényi order 20", "ε = 0.799 at the Rényi order 20"),
        (zcdp_terms(0.25), "ρ = 0.0100", "ρ = 0.240"),
    ],
)
def test_totals_and_what_is_left_are_in_words_and_on_the_safe_side(terms: Terms, spent: str, left: str) -> None:
    amount = terms.amount(cost("1/100").as_spent())

    assert amount_words(terms, amount) == spent
    assert room_words(terms, amount)[0].startswith(left)


def test_a_cap_that_is_reached_leaves_nothing() -> None:
    terms = zcdp_terms(0.25)

    assert room_words(terms, terms.amount(cost("1/4").as_spent())) == ["nothing"]


def test_a_total_that_is_stated_by_its_cap_is_not_shown_as_more() -> None:
    """A total within the cap is no more than the cap, whatever the orders say, and 0.15 has a double just above it."""
    terms = epsilon_terms(Fraction(15, 100), 1e-6)
    amount = terms.amount(cost("7467/10000000").as_spent())

    assert terms.room(amount) > 0
    assert amount_words(terms, amount) == "ε = 0.15 at δ = 1e-6"
