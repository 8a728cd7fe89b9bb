"""A receipt beside its ledger: the entry it names, and the lines that its run captured."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from expost.accounting.claim import Budget
from expost.accounting.pledge import FixedOrder
from expost.errors import MechanismFailed, Unreadable
from expost.jobs.searches import of_search
from expost.ladder import Ladder
from expost.ledgers.billing import billing_faults
from expost.ledgers.book import Book, init_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import order_terms
from expost.mechanisms.gaussian import Gaussian
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.receipts.receipt import receipt, receipt_text
from expost.release import Past
from expost.search import search
from expost.statistic import histogram
from tests.server import Server
from tests.unit.commands import run as command
from tests.unit.examples import ADD, counts, people
from tests.unit.jobs.searches import CHECKS, LADDER, ONES, most

Receipt = dict[str, Any]
PLEDGE, TERMS = FixedOrder(Fraction(20), 1e-5), order_terms(1000, alpha=20)


def done(run: LedgerRun, ladder: Ladder = LADDER, kind: str = "balanced") -> Receipt:
    odometer, check = Odometer(pledge=PLEDGE, ledger=run), CHECKS[kind]
    outcome = search(ONES, Gaussian(counts()), ladder, most, check, noise=SystemNoise(), odometer=odometer)
    told = of_search(outcome, run, check=check, because=ONES.because)
    found: Receipt = json.loads(receipt_text(receipt(told)))
    return found


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return init_ledger(tmp_path / "ledger.db", "visits", TERMS)


@pytest.fixture
def written(book: Book) -> Receipt:
    with book.run("visits", "before") as run:
        done(run)
    with book.run("visits") as run:
        return done(run)


def test_an_honest_receipt_is_found_on_its_ledger(book: Book, written: Receipt) -> None:
    assert billing_faults(book.home, written) == ()


def test_the_audit_of_a_receipt_shows_no_password_of_a_server(postgres: Server, tmp_path: Path) -> None:
    url, path = postgres.url("postgres", password="secret"), tmp_path / "receipt.json"
    postgres.emptied()
    with init_ledger(url, "visits", TERMS) as opened, opened.run("visits") as run:
        path.write_text(json.dumps(done(run)), encoding="utf-8")

    found = command("audit", str(path), "--ledger", url)

    assert "the ledger postgresql://expost@/" in found.stdout, found.output
    assert "secret" not in found.output


def test_equal_steps_that_the_bill_counts_are_captured_one_by_one(book: Book) -> None:
    with book.run("visits") as run:
        found = done(run, Ladder.of([1, 2, 3], alpha=20), "never")

    assert found["bill"][0]["count"] == 3
    assert billing_faults(book.home, found) == ()


def _dropped(found: Receipt) -> None:
    del found["bill"][-1]


def _added(found: Receipt) -> None:
    found["bill"].append(found["bill"][0])


def _counted(found: Receipt) -> None:
    found["bill"][-1]["count"] += 1


def _cheaper(found: Receipt) -> None:
    found["bill"][0]["curve"]["lines"][0]["rho"] = "1/100000"


def _elsewhere(found: Receipt) -> None:
    found["bill"][0]["part"] = "data/held"


def _otherwise(found: Receipt) -> None:
    found["bill"][0]["facts"]["statistic"] = "another"


def _failed(found: Receipt) -> None:
    found["bill"][0]["finished"] = False


def _relation(found: Receipt) -> None:
    for line in found["bill"]:
        line["neighbours"] = "replace one record"


def _named(found: Receipt) -> None:
    found["bill"][0]["what"] = "Laplace"


def _rounded(found: Receipt) -> None:
    found["bill"][0]["floating"] = True


def _earlier_entry(found: Receipt) -> None:
    found["ledger"]["entry"] -= 1


def _other_hash(found: Receipt) -> None:
    found["ledger"]["head"] = "0" * 64


def _other_run(found: Receipt) -> None:
    found["ledger"]["run"] = "0" * 32


def _other_dataset(found: Receipt) -> None:
    found["ledger"]["dataset"] = "others"


def _no_hash(found: Receipt) -> None:
    found["ledger"]["head"] = "x"


def _one_more(found: Receipt) -> None:
    found["ledger"]["note"] = "trust me"


FORGED: list[Callable[[Receipt], None]] = [
    _dropped, _added, _counted, _cheaper, _elsewhere, _otherwise, _failed, _relation, _named, _rounded, _earlier_entry,
    _other_hash, _other_run, _other_dataset, _no_hash, _one_more,
]  # fmt: skip


@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_a_forged_receipt_is_refused(forge: Callable[[Receipt], None], book: Book, written: Receipt) -> None:
    forged = copy.deepcopy(written)
    forge(forged)

    (fault, *_) = billing_faults(book.home, forged)

    assert fault.endswith(".")
    assert billing_faults(book.home, written) == ()


def test_the_receipt_of_one_run_is_not_that_of_another(book: Book, written: Receipt) -> None:
    with book.run("visits") as run:
        other = done(run, Ladder.of([3, 4], alpha=20))

    assert billing_faults(book.home, {**other, "ledger": written["ledger"]})


def test_another_ledger_does_not_know_the_run(tmp_path: Path, written: Receipt) -> None:
    with init_ledger(tmp_path / "other.db", "visits", TERMS) as other:
        (short,) = billing_faults(other.home, written)
        for _ in range(4):
            with other.run("visits") as run:
                done(run)
        (unlike,) = billing_faults(other.home, written)

    assert "earlier state" in short
    assert "this is another ledger" in unlike


def test_a_run_that_went_on_after_its_receipt_has_captured_more(book: Book) -> None:
    with book.run("visits") as run:
        found = done(run)
        assert billing_faults(book.home, found) == ()
        hold = run.hold(run.lines[0][0], Gaussian(counts()).promise(Budget.of(1, alpha=20)))
        run.capture(hold, Gaussian(counts()).promise(Budget.of(1, alpha=20)).as_spent())

        (fault,) = billing_faults(book.home, found)

    assert fault.startswith("The run captured 1 of Gaussian on ")


def test_a_step_that_failed_is_on_the_bill_and_on_the_ledger(book: Book) -> None:
    fails: Gaussian[Any] = Gaussian(histogram(lambda codes: codes["x"], 2, ADD, name="wrong"))
    with book.run("visits") as run:
        odometer = Odometer(pledge=PLEDGE, ledger=run)
        with pytest.raises(MechanismFailed):
            odometer.spend(fails, people(0, 1), Budget.of(1, alpha=20), Past(), SystemNoise())
        outcome = search(
            ONES, Gaussian(counts()), LADDER, most, CHECKS["balanced"], noise=SystemNoise(), odometer=odometer
        )
        told = of_search(outcome, run, check=CHECKS["balanced"], because=ONES.because)
        found = json.loads(receipt_text(receipt(told)))

        assert billing_faults(book.home, found) != ()  # not captured while the run may go on
    assert billing_faults(book.home, found) == ()
    assert [line["finished"] for line in found["bill"]].count(False) == 1


def test_a_receipt_without_a_ledger_has_nothing_to_compare(book: Book, written: Receipt) -> None:
    with pytest.raises(Unreadable, match="does not name a ledger"):
        billing_faults(book.home, {**written, "ledger": None})


def test_a_receipt_that_is_not_ours_is_named_as_that(book: Book, written: Receipt) -> None:
    (fault,) = billing_faults(book.home, {**written, "bill": 3})

    assert "missing or malformed" in fault


def test_a_count_that_would_take_forever_is_compared_at_once(book: Book, written: Receipt) -> None:
    forged = copy.deepcopy(written)
    forged["bill"][0]["count"] = 10**12

    assert billing_faults(book.home, forged)
