"""A run on a lasting ledger, in both homes: what it holds, captures and returns, and what it is refused."""

import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from expost.accounting.claim import Promise
from expost.accounting.curve import Tabulated
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, NotPrivate
from expost.ledger import Entry
from expost.ledgers.book import Book
from expost.ledgers.proof import verify_ledger
from expost.ledgers.shared import SharedRelease
from expost.ledgers.terms import Terms, epsilon_terms, order_terms, zcdp_terms
from expost.private import Neighbours
from expost.statistic import histogram
from expost.training.tune import NO_CLAIM
from tests.unit.examples import one_sentence
from tests.unit.ledgers.steps import NEIGHBOURS, entry, gaussian, hold, rho, run, step, totals

COUNTS = histogram(lambda codes: codes, 3, Neighbours.ADD_REMOVE)
BECAUSE = "each person is on one side by the last digit of a number"


def test_a_hold_counts_before_anything_is_captured(book: Book) -> None:
    hold(run(book), "1/4")

    assert totals(book) == {"spent": rho(0), "committed": rho("1/4")}


NO_FACTS = {
    "an integer of numpy": np.int64(3),
    "a fraction": Fraction(1, 2),
    "not a number": float("nan"),
    "half a letter": "\udcff",
    "too long": 10**5000,
    "a set": {1},
}


@pytest.mark.parametrize("fact", NO_FACTS.values(), ids=NO_FACTS)
def test_a_step_that_cannot_be_put_on_record_is_refused_before_it_holds_anything(book: Book, fact: object) -> None:
    """After data was opened its value would be lost, and its run could not even be closed."""
    named = Entry("gaussian", "data", NEIGHBOURS, seeded=False, floating=False, facts={"sigma": fact})  # type: ignore[dict-item]

    with run(book) as begun:
        with pytest.raises(InvalidValue, match="the facts of gaussian cannot be put on a ledger; give"):
            begun.hold(named, gaussian("1/4"))

        assert totals(book)["committed"] == rho(0)
        step(begun, "1/8")
    assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/8")}


@pytest.mark.parametrize(
    "words", ["half a \udcff", "nul \0", " ", "x" * 501], ids=["half a letter", "NUL", "empty", "long"]
)
@pytest.mark.parametrize("what", ["what", "split", "key", "shared"])
def test_words_that_a_home_could_not_keep_are_refused_alike_by_both(book: Book, what: str, words: str) -> None:
    known: dict[str, Any] = {"what": "a run", "split": "holdout", "because": "by number", "key": "k", "request": "r"}

    with pytest.raises(InvalidValue, match=r"; give a few words\."):
        if what == "shared":
            SharedRelease(book, "visits", words, COUNTS, np.arange(3))
        else:
            book.begin("visits", **{**known, what: words})

    assert verify_ledger(book.home).chains[0].entries == 1


def test_a_reason_that_a_home_could_not_keep_is_refused(book: Book) -> None:
    for because in ("half a \udcff", "nul \0", "x" * 2001):
        with pytest.raises(InvalidValue, match="the reason of a split is empty, longer than 2,000 characters"):
            book.begin("visits", "a run", split="halves", because=because)


def test_a_capture_below_its_hold_returns_the_rest(book: Book) -> None:
    begun = run(book)
    held = hold(begun, "1/4")

    begun.capture(held, gaussian("1/8").as_spent())

    assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/8")}


def test_a_capture_above_its_hold_is_refused_and_the_hold_stays(book: Book) -> None:
    begun = run(book)
    held = hold(begun, "1/4")

    with pytest.raises(LedgerConflict, match="cost more than was held"):
        begun.capture(held, gaussian("1/3").as_spent())

    assert totals(book) == {"spent": rho(0), "committed": rho("1/4")}


def test_a_hold_is_captured_once_and_by_its_own_run(book: Book) -> None:
    first, second = run(book), run(book)
    held = hold(first, "1/4")
    first.capture(held, held.promise.as_spent())

    for other in (first, second):
        with pytest.raises(LedgerConflict, match="captured before"):
            other.capture(held, held.promise.as_spent())

    assert totals(book)["spent"] == rho("1/4")


def test_steps_of_several_runs_add_up(book: Book) -> None:
    for _ in range(3):
        with run(book) as begun:
            step(begun, "1/8")
            step(begun, "1/16")

    assert totals(book) == {"spent": rho("9/16"), "committed": rho("9/16")}


def test_a_run_that_ends_returns_what_it_still_holds(book: Book) -> None:
    with run(book) as begun:
        begun.reserve([gaussian("1/2")])
        step(begun, "1/8")
        assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/2")}

    assert totals(book) == {"spent": rho("1/8"), "committed": rho("1/8")}


def test_a_step_that_claims_to_give_something_back_is_refused(book: Book) -> None:
    book.add("capped", order_terms(1, alpha=2))
    begun, less = run(book, "capped"), Promise(Tabulated((2.0,), np.array([-0.25])))
    step(begun, "1/4")
    before = totals(book, name="capped")
    held = begun.hold(entry(), less)

    with pytest.raises(LedgerConflict):
        begun.capture(held, less.as_spent())

    assert totals(book, name="capped") == before


@pytest.mark.parametrize("terms", [epsilon_terms(1000, 1e-6), order_terms(10**6, alpha=2), zcdp_terms(10**6)])
def test_a_step_without_a_bound_is_refused_whatever_the_cap(book: Book, terms: Terms) -> None:
    book.add("capped", terms)

    with pytest.raises(BudgetExceeded, match="no bound in the measure") as refused:
        run(book, "capped").hold(entry(), NO_CLAIM)
    assert "wait" not in str(refused.value), "however long one waits, there is no room"


@pytest.mark.parametrize("known", ["the owner", "an analyst"])
def test_a_run_without_a_bound_in_the_measure_of_the_cap_is_not_told_to_ask_for_less(book: Book, known: str) -> None:
    """A bound at some orders only, as of noisy gradient descent on samples, says nothing of zCDP."""
    table, token = Promise(Tabulated((2.0,), np.array([0.25]))), book.add_analyst("visits", "Ana", Fraction(1, 4))
    begun = run(book, **({"token": token} if known == "an analyst" else {}))

    with pytest.raises(BudgetExceeded, match="this run has no bound in the measure") as refused:
        begun.reserve([table], pledge=None)
    assert one_sentence(refused.value)
    assert "'visits' is capped in (ρ of zCDP)" in str(refused.value)
    assert "wait" not in str(refused.value)


def test_a_reservation_is_the_last_stop_that_fits(book: Book) -> None:
    begun = run(book)

    assert begun.reserve([gaussian("1/4"), gaussian("1/2"), gaussian(2)]) == 2

    assert totals(book)["committed"] == rho("1/2")
    with pytest.raises(BudgetExceeded, match="leaves no room"):
        run(book).reserve([gaussian("3/4")])


def test_a_step_within_a_reservation_needs_no_hold_of_its_own(book: Book) -> None:
    begun = run(book)
    begun.reserve([gaussian(1)])
    hold(begun, "1/4")  # the first one puts the neighbours on record
    before = begun.booking().entry

    hold(begun, "1/4")

    assert begun.booking().entry == before
    with pytest.raises(BudgetExceeded):
        hold(begun, "3/4")


def test_a_step_that_did_not_finish_stays_billed_in_full(book: Book) -> None:
    with run(book) as begun:
        hold(begun, "1/4")
        step(begun, "1/8")

    assert totals(book) == {"spent": rho("3/8"), "committed": rho("3/8")}


def test_a_run_that_was_left_open_keeps_its_hold(book: Book) -> None:
    begun = run(book)
    step(begun, "1/8")
    hold(begun, "1/4")

    with run(book) as other:
        step(other, "1/2")

    assert totals(book) == {"spent": rho("5/8"), "committed": rho("7/8")}


def test_a_closed_run_takes_no_more_steps(book: Book) -> None:
    begun = run(book)
    step(begun, "1/8")
    begun.close()
    begun.close()

    with pytest.raises(LedgerConflict, match="closed or settled"):
        hold(begun, "1/8")


def test_sides_of_a_named_split_cost_the_dearer_across_runs(book: Book) -> None:
    with run(book, split="odd and even", because=BECAUSE) as first:
        step(first, "1/4", "data/train")
        step(first, "1/8", "data/held")
    with run(book, split="odd and even") as second:
        step(second, "1/4", "data/held")

    assert totals(book) == {"spent": rho("3/8"), "committed": rho("3/8")}


def test_what_reads_all_records_adds_to_the_sides_of_a_split(book: Book) -> None:
    with run(book, split="odd and even", because=BECAUSE) as begun:
        step(begun, "1/4", "data/train")
        step(begun, "1/8", "data")
        step(begun, "1/16", "data/held")

    assert totals(book)["spent"] == rho("3/8")


def test_another_split_of_the_same_data_adds(book: Book) -> None:
    for name in ("odd and even", "old and young"):
        with run(book, split=name, because=BECAUSE) as begun:
            step(begun, "1/4", "data/train")
            step(begun, "1/8", "data/held")

    assert totals(book)["spent"] == rho("1/2")


def test_splits_without_a_name_add_up_over_runs_and_are_the_dearer_within_one(book: Book) -> None:
    for side in ("train", "held"):
        with run(book) as begun:
            step(begun, "1/4", f"data/{side}")
            step(begun, "1/8", "data/train")

    assert totals(book)["spent"] == rho(Fraction(3, 8) + Fraction(1, 4))


def test_a_new_split_has_to_say_why_nobody_is_on_both_sides(book: Book) -> None:
    with pytest.raises(InvalidValue, match="on both sides of the split"):
        run(book, split="odd and even")


def test_an_analyst_pays_what_the_run_costs_by_itself(book: Book) -> None:
    token = book.add_analyst("visits", "ann", Fraction(1, 2))
    with run(book, split="odd and even", because=BECAUSE) as owner:
        step(owner, "1/4", "data/train")
    with run(book, split="odd and even", token=token) as begun:
        step(begun, "1/4", "data/held")

    assert totals(book)["spent"] == rho("1/4")
    assert totals(book, "analysts", "ann") == {"spent": rho("1/4"), "committed": rho("1/4")}


def test_a_data_set_stays_with_the_neighbours_of_its_first_step(book: Book) -> None:
    step(run(book), "1/8")
    begun = run(book)

    with pytest.raises(LedgerConflict, match=f"neighbours that {NEIGHBOURS}"):
        begun.hold(entry(neighbours="have one record more"), gaussian("1/8"))

    assert totals(book)["committed"] == rho("1/8")


def test_a_run_is_for_one_odometer(book: Book) -> None:
    begun = run(book)

    with pytest.raises(LedgerConflict, match="for one odometer"):
        begun.pledge(None)


def test_a_rehearsal_is_refused(book: Book) -> None:
    with pytest.raises(NotPrivate, match="seeded noise"):
        run(book).hold(entry(seeded=True), gaussian("1/8"))


def test_a_copy_in_another_process_is_refused(book: Book) -> None:
    begun = run(book)
    child = os.fork()
    if not child:
        refused = 0
        for attempt in (lambda: hold(begun, "1/8"), lambda: run(book)):
            try:
                attempt()
            except LedgerConflict:
                refused += 1
        os._exit(refused)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    step(begun, "1/8")
    assert totals(book)["spent"] == rho("1/8")


def test_a_booking_says_where_the_run_stands(book: Book) -> None:
    with run(book) as begun:
        begun.reserve([gaussian("1/2")])
        step(begun, "1/8")

    booking = begun.booking()
    assert (booking.dataset, booking.held, booking.captured) == ("visits", 0.5, 0.125)
    with book.home.reading() as reading:
        assert reading.rows("SELECT entries, head FROM datasets") == [(booking.entry, booking.head)]


def commits(book: Book) -> int:
    with book.home.reading() as reading:
        ((found,),) = reading.rows("SELECT entries FROM datasets")
    assert isinstance(found, int)
    return found


def test_a_step_like_the_last_two_waits_for_one_commit_only(book: Book) -> None:
    begun = run(book)
    step(begun, "1/8")
    step(begun, "1/8")
    before = commits(book)

    step(begun, "1/8")

    assert commits(book) == before + 1
    assert totals(book) == {"spent": rho("3/8"), "committed": rho("4/8")}
    begun.close()
    assert totals(book) == {"spent": rho("3/8"), "committed": rho("3/8")}


def test_the_last_steps_below_a_cap_are_taken_although_no_more_can_be_held(book: Book) -> None:
    begun = run(book)
    for _ in range(8):
        step(begun, "1/8")

    assert totals(book) == {"spent": rho(1), "committed": rho(1)}
    with pytest.raises(BudgetExceeded):
        step(begun, "1/8")
    assert verify_ledger(book.home).flaws == ()


def test_a_step_unlike_the_last_is_held_before_it_is_taken(book: Book) -> None:
    begun = run(book)
    for _ in range(3):
        step(begun, "1/8")
    before = commits(book)

    step(begun, "1/4")

    assert commits(book) == before + 2
    assert totals(book) == {"spent": rho("5/8"), "committed": rho("5/8")}
