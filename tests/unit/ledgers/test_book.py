"""The book, in both homes: data sets, analysts with allowances, keys, and caps of every kind."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial

import pytest

from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.chain import GENESIS, link
from expost.ledgers.terms import Terms, epsilon_terms, order_terms, zcdp_terms
from tests.unit.ledgers.steps import entry, gaussian, hold, rho, run, step, totals

TERMS = {"epsilon": epsilon_terms(3, 1e-6), "order": order_terms(1, alpha=20), "zcdp": zcdp_terms(1)}


def test_what_is_on_a_ledger_is_there_when_it_is_opened_again(ledger_name: str) -> None:
    with Book(home_of(ledger_name, create=True)) as book:
        book.add("visits", zcdp_terms(1))
        with run(book) as begun:
            step(begun, "1/4")

    with open_ledger(ledger_name) as again:
        assert totals(again) == {"spent": rho("1/4"), "committed": rho("1/4")}


def test_a_ledger_that_is_made_again_keeps_what_it_has(ledger_name: str, book: Book) -> None:
    with Book(home_of(ledger_name, create=True)) as again, pytest.raises(LedgerConflict, match="has a data set"):
        again.add("visits", zcdp_terms(2))


def test_a_ledger_that_was_not_made_is_refused(ledger_name: str) -> None:
    with pytest.raises(LedgerConflict, match="expost ledger init"):
        open_ledger(ledger_name)


def test_a_closed_ledger_is_refused(book: Book) -> None:
    book.home.close()

    with pytest.raises(LedgerConflict, match="is closed"):
        book.add("others", zcdp_terms(1))


@pytest.mark.parametrize("name", ["others", "\udcff"], ids=["another", "in another encoding"])
def test_an_unknown_data_set_is_refused(book: Book, name: str) -> None:
    with pytest.raises(LedgerConflict, match="no data set"):
        run(book, name)


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "a\nb", "x" * 201])
def test_a_name_is_short_and_printable(book: Book, name: str) -> None:
    with pytest.raises(InvalidValue, match="name of a data set"):
        book.add(name, zcdp_terms(1))


@pytest.mark.parametrize("alpha", [10**400, 10**7, Fraction(10**9 + 1, 10**9)], ids=["beyond floats", "high", "low"])
def test_an_order_that_cannot_be_told_is_refused(alpha: Fraction) -> None:
    """One beyond all floats was put on the ledger, which then could not be shown any more."""
    with pytest.raises(InvalidValue, match=r"at an order from 1\.000001 to 1,000,000; give one"):
        order_terms(1, alpha=alpha)


@pytest.mark.parametrize("made", [zcdp_terms, partial(order_terms, alpha=2)], ids=["zcdp", "order"])
@pytest.mark.parametrize("cap", [Fraction(1, 10**13), Fraction(1, 2**200)])
def test_a_cap_with_no_room_for_a_step_is_refused(made: Callable[[Fraction], Terms], cap: Fraction) -> None:
    with pytest.raises(InvalidValue, match="has no room for a step; give a larger one"):
        made(cap)


@pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS)
def test_a_cap_of_any_kind_admits_what_fits_and_refuses_what_would_pass_it(book: Book, terms: Terms) -> None:
    book.add("capped", terms)
    begun = run(book, "capped")
    quarter = largest_step(terms) / 4

    for _ in range(4):
        step(begun, quarter)

    before = totals(book, name="capped")
    with pytest.raises(BudgetExceeded, match="data set 'capped' has"):
        hold(begun, quarter / 100)
    assert totals(book, name="capped") == before
    assert terms.room(before["committed"]) >= 0


def largest_step(terms: Terms) -> Fraction:
    """The largest ρ of one Gaussian step below a cap, to a thousandth."""
    low, high = Fraction(0), Fraction(1)
    while high - low > low / 1000:
        middle = (low + high) / 2
        fits = terms.room(terms.amount(gaussian(middle).as_spent())) >= 0
        low, high = (middle, high) if fits else (low, middle)
    return low


def test_a_cap_is_kept_to_its_last_unit(book: Book) -> None:
    begun, unit = run(book), Fraction(1, 2**96)
    step(begun, 1 - unit)

    for more in (2 * unit, unit + unit / 2):
        with pytest.raises(BudgetExceeded):
            hold(begun, more)
    step(begun, unit)
    with pytest.raises(BudgetExceeded):
        hold(run(book), unit / 2**20)


def test_a_cap_is_checked_where_one_measure_has_no_bound_and_does_not_grow(book: Book) -> None:
    book.add("capped", epsilon_terms(1, 1e-6))
    begun, promise = run(book, "capped"), Promise(Linear(Fraction(0), Fraction(1, 1000)))

    with pytest.raises(BudgetExceeded):
        for _ in range(100):
            begun.capture(begun.hold(entry(), promise), promise.as_spent())

    committed = totals(book, name="capped")["committed"]
    assert committed[0] >= 2 * promise.at(2) * 2**96  # at the order 2, of several steps
    assert epsilon_terms(1, 1e-6).room(committed) >= 0


def test_runs_that_hold_together_what_the_cap_allows_leave_nothing_for_a_third(book: Book) -> None:
    hold(run(book), "1/2")
    hold(run(book), "1/2")

    with pytest.raises(BudgetExceeded, match="would pass it"):
        hold(run(book), "1/1000000")


def test_an_analyst_is_kept_to_an_allowance_below_the_cap(book: Book) -> None:
    token = book.add_analyst("visits", "ann", Fraction(1, 4))
    begun = run(book, token=token)
    step(begun, "1/4")

    with pytest.raises(BudgetExceeded, match="the analyst 'ann' has"):
        hold(begun, "1/1000000")

    step(run(book), "3/4")
    assert totals(book, "analysts", "ann") == {"spent": rho("1/4"), "committed": rho("1/4")}
    assert totals(book)["spent"] == rho(1)


def test_an_allowance_is_over_when_the_data_sets_cap_is(book: Book) -> None:
    token = book.add_analyst("visits", "ann", Fraction(1, 4))
    step(run(book), 1)

    with pytest.raises(BudgetExceeded, match="the data set 'visits' has"):
        hold(run(book, token=token), "1/8")

    assert totals(book, "analysts", "ann") == {"spent": rho(0), "committed": rho(0)}


def test_an_allowance_above_the_cap_and_a_second_one_are_refused(book: Book) -> None:
    book.add_analyst("visits", "ann", Fraction(1, 4))

    with pytest.raises(InvalidValue, match="above the cap"):
        book.add_analyst("visits", "ben", 2)
    with pytest.raises(LedgerConflict, match="is an analyst of 'visits' already"):
        book.add_analyst("visits", "ann", Fraction(1, 2))


def test_a_token_is_that_of_one_analyst_of_one_data_set_and_is_not_kept(book: Book) -> None:
    token = book.add_analyst("visits", "ann", Fraction(1, 4))
    book.add("others", zcdp_terms(1))

    for dataset, given in (("visits", "0" * 64), ("others", token)):
        with pytest.raises(LedgerConflict, match="not that of an analyst"):
            run(book, dataset, token=given)
    with book.home.reading() as reading:
        kept = [reading.rows(f"SELECT * FROM {table}") for table in ("analysts", "entries")]
    assert token not in str(kept)


def test_a_token_in_another_encoding_is_nobody_s(book: Book) -> None:
    """As the system hands over a byte that is not UTF-8."""
    book.add_analyst("visits", "ann", Fraction(1, 4))

    with pytest.raises(LedgerConflict, match="not that of an analyst"):
        run(book, token="\udcff")


def test_a_key_gives_back_what_was_released_under_it_at_no_cost(book: Book) -> None:
    begun = run(book, key="monday", request="counts")
    begun.keep("42")
    step(begun, "1/4")
    begun.close()
    before = totals(book)

    again = book.begin("visits", "a test", key="monday", request="counts")

    assert again.payload == "42"
    assert totals(book) == before


def test_a_key_is_refused_for_another_request_and_while_its_run_has_released_nothing(book: Book) -> None:
    run(book, key="monday", request="counts")

    with pytest.raises(LedgerConflict, match="has not ended"):
        run(book, key="monday", request="counts")
    with pytest.raises(LedgerConflict, match="another request"):
        run(book, key="monday", request="sums")


def test_a_release_under_a_key_is_for_who_paid_for_it_and_for_the_owner(book: Book) -> None:
    ann, ben = (book.add_analyst("visits", name, Fraction(1, 4)) for name in ("ann", "ben"))
    with run(book, key="monday", request="counts", token=ann) as begun:
        begun.keep('"counts"')
        step(begun, "1/8")

    with pytest.raises(LedgerConflict, match="used by somebody else"):
        run(book, key="monday", request="counts", token=ben)
    with pytest.raises(LedgerConflict, match="not that of an analyst"):
        run(book, key="monday", request="counts", token="nobody's")
    for known in ({"token": ann}, {}):
        assert run(book, key="monday", request="counts", **known).payload == '"counts"'


def test_data_sets_have_keys_and_totals_of_their_own(book: Book) -> None:
    book.add("others", zcdp_terms(1))

    step(run(book, "others", key="monday", request="counts"), "1/4")
    step(run(book, key="monday", request="sums"), "1/2")

    assert totals(book)["spent"] == rho("1/2")
    assert totals(book, name="others")["spent"] == rho("1/4")


def test_every_entry_follows_from_the_one_before(book: Book) -> None:
    with run(book) as begun:
        step(begun, "1/4")

    with book.home.reading() as reading:
        found = reading.rows("SELECT number, at, kind, run, body, hash FROM entries ORDER BY number")
        ((head, entries),) = reading.rows("SELECT head, entries FROM datasets")
    previous = GENESIS
    for number, at, kind, identity, body, hashed in found:
        assert isinstance(number, int)
        whose = None if identity is None else str(identity)
        assert link(previous, (number, str(at), str(kind), whose, str(body))) == hashed
        previous = str(hashed)
    assert [str(row[2]) for row in found] == ["init", "begin", "hold", "capture", "close"]
    assert (head, entries) == (previous, len(found))


def test_a_clock_that_runs_backwards_is_refused_and_one_that_is_a_little_late_is_not(ledger_name: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = [start, start - timedelta(minutes=1), start - timedelta(days=1)]
    with Book(home_of(ledger_name, create=True), clock=lambda: times.pop(0)) as book:
        book.add("visits", zcdp_terms(1))

        begun = run(book)

        with pytest.raises(LedgerConflict, match="set the clock"):
            hold(begun, "1/4")
        with book.home.reading() as reading:
            assert {str(at) for (at,) in reading.rows("SELECT at FROM entries")} == {start.isoformat()}


def test_the_rules_of_the_tables_refuse_a_total_above_the_cap(book: Book) -> None:
    with pytest.raises(LedgerConflict, match="breaks its own rules"), book.home.writing() as writing:
        writing.later("UPDATE datasets SET room = ?", "-1")

    with book.home.reading() as reading:
        assert "-" not in str(reading.rows("SELECT room FROM datasets"))


def test_whatever_is_raised_in_a_transaction_nothing_of_it_was_done(book: Book) -> None:
    with pytest.raises(KeyError), book.home.writing() as writing:
        writing.later("UPDATE datasets SET unit = ?", "another")
        raise KeyError

    with book.home.reading() as reading:
        assert reading.rows("SELECT unit FROM datasets") == [("one record",)]
