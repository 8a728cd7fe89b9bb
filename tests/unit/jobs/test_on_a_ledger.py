"""Jobs, searches and trainers on a lasting ledger: the plan is held before data is read, the bill is what is kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost.accounting.stops import PlannedStops
from expost.bill import bill_total
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, NotPrivate, Unreadable
from expost.jobs import audit as audited
from expost.jobs.finetuning.run import finetune
from expost.jobs.modules.report import of_training
from expost.jobs.searches import of_search
from expost.jobs.synthesis.prices import StatedLadder
from expost.judge import BALANCED, Judge, SparseVector
from expost.ledgers.billing import billing_faults
from expost.ledgers.book import Book, home_of
from expost.ledgers.posting import Position
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import Terms, epsilon_terms, order_terms, zcdp_terms
from expost.mechanisms.gaussian import Gaussian
from expost.noise import SeededNoise, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.receipts.receipt import receipt, receipt_text
from expost.release import Past
from expost.report.booked import fitting, held_and_returned, standing
from expost.report.digits import price
from expost.report.facts import Facts
from expost.report.page import render
from expost.search import Ended, planned_stops, search
from expost.statistic import histogram
from expost.training.head.score import accuracy
from expost.training.torch.trainer import Trainer
from tests.unit.examples import budget, counts, one_sentence
from tests.unit.jobs.searches import CHECKS, LADDER, ONES, most
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.report.examples import blobs, customers
from tests.unit.report.pages import said
from tests.unit.training.modules import against, held, network, sgd, train, trainer

ROOMY = order_terms(1000, alpha=20)


def book(here: Path, terms: Terms = ROOMY) -> Book:
    opened = Book(home_of(str(here / "ledger.db"), create=True))
    opened.add("customers", terms)
    return opened


def account(opened: Book) -> Position:
    with opened.home.reading() as reading:
        return Position.locked(reading, "customers")


def kinds(opened: Book) -> list[str]:
    with opened.home.reading() as reading:
        return [str(kind) for (kind,) in reading.rows("SELECT kind FROM entries ORDER BY number")]


def table(run: LedgerRun) -> Facts:
    return made(customers(SCHEMA, 900), noise=SystemNoise(), ledger=run).facts


def head(run: LedgerRun) -> Facts:
    return finetune(*blobs(300), accuracy=0.05, releases=2, ledger=run).facts


def own_search(run: LedgerRun) -> Facts:
    mechanism, check = Gaussian(counts()), CHECKS["balanced"]
    pledge = PlannedStops(planned_stops(mechanism, LADDER, check), 1e-5)
    odometer = Odometer(pledge=pledge, ledger=run)
    outcome = search(ONES, mechanism, LADDER, most, check, noise=SystemNoise(), odometer=odometer)
    return of_search(outcome, run, check=check, because=ONES.because)


def module(run: LedgerRun) -> Facts:
    taught = trainer(noise=SystemNoise(), ledger=run)
    return of_training(taught, taught.until(accuracy(0.3), **against(held()), releases=2, every="5 steps"))


def stages(run: LedgerRun) -> Facts:
    taught = trainer(noise=SystemNoise(), ledger=run)
    *_, last = taught.releases(every="5 steps", releases=2)
    return of_training(taught, last)


RUNS: dict[str, Callable[[LedgerRun], Facts]] = {
    "a table": table, "a head": head, "a search": own_search, "a module": module, "stages": stages,
}  # fmt: skip


@pytest.mark.parametrize("kind", RUNS)
def test_what_a_run_costs_its_data_set_is_its_bill_and_nothing_else(kind: str, tmp_path: Path) -> None:
    with book(tmp_path) as opened, LedgerRun(opened, "customers", kind) as run:
        told = RUNS[kind](run)
        run.close()
        found = account(opened)

    assert found.spent == found.committed == ROOMY.amount(bill_total(told.bill))
    assert found.spent > ROOMY.nothing


@pytest.mark.parametrize("kind", RUNS)
def test_the_receipt_names_the_entry_that_its_run_made_last(kind: str, tmp_path: Path) -> None:
    with book(tmp_path) as opened:
        with LedgerRun(opened, "customers", kind) as run:
            told = RUNS[kind](run)
        with opened.home.reading() as reading:
            ((number, head),) = reading.rows(
                "SELECT number, hash FROM entries WHERE run = ? AND kind = 'capture' ORDER BY number DESC LIMIT 1",
                run.id,
            )

    found = json.loads(receipt_text(receipt(told)))
    assert found["ledger"] == {"dataset": "customers", "run": run.id, "entry": number, "head": head}
    assert audited(found).differences == ()
    assert f"as {run.id}; its latest entry is number {number!r}" in said(render(told))


@pytest.mark.parametrize("kind", [kind for kind in RUNS if kind != "a search"])
def test_the_plan_is_held_in_one_go_before_any_data_is_read(kind: str, tmp_path: Path) -> None:
    with book(tmp_path) as opened, LedgerRun(opened, "customers", kind) as run:
        told = RUNS[kind](run)
        run.close()
        steps = sum(item.count for item in told.bill)

        assert kinds(opened) == ["init", "begin", "hold", *["capture"] * steps, "close"]


def test_a_run_that_does_not_fit_is_refused_before_its_table_is_looked_for(tmp_path: Path) -> None:
    with book(tmp_path, epsilon_terms(0.2, 1e-6)) as opened, LedgerRun(opened, "customers") as run:
        with pytest.raises(BudgetExceeded) as refused:
            made(tmp_path / "nowhere.csv", noise=SystemNoise(), ladder=StatedLadder(1, 2, 3), ledger=run)
        run.close()

        assert kinds(opened) == ["init", "begin", "close"]
        assert account(opened).committed == account(opened).terms.nothing
    assert one_sentence(refused.value)
    assert "the most that fits is a run stated as ε = 0." in str(refused.value)


@pytest.mark.parametrize("check", [BALANCED, SparseVector()])
@pytest.mark.parametrize("terms", [
    pytest.param(epsilon_terms(1, 1e-6), id="epsilon"),
    pytest.param(epsilon_terms(0.8, 1e-9), id="a smaller delta"),
    pytest.param(order_terms(0.05, alpha=20), id="an order"),
    pytest.param(zcdp_terms(0.001), id="zcdp"),
])  # fmt: skip
def test_what_is_offered_instead_fits_from_its_first_rung_to_its_last(
    terms: Terms, check: Judge, tmp_path: Path
) -> None:
    usual: dict[str, Any] = {"noise": SystemNoise(), "check": check}
    with book(tmp_path, terms) as opened:
        with pytest.raises(BudgetExceeded) as refused, LedgerRun(opened, "customers") as run:
            made(tmp_path / "nowhere.csv", **usual, ladder=StatedLadder(3, 4, 3), ledger=run)
        low, high, rungs = str(refused.value).partition("such as ")[2].partition(",")[0].split(":")
        offered = StatedLadder(float(low), float(high), int(rungs))
        with LedgerRun(opened, "customers") as run:
            with pytest.raises(Unreadable):
                made(tmp_path / "nowhere.csv", **usual, ladder=offered, ledger=run)

            assert (run.booking().fitting, run.booking().planned) == (3, 3)
            more = run.booking().held * 1.25
    assert more > 1 or check is not BALANCED  # and not much more would have, where all noise is Gaussian


def test_nothing_is_offered_where_nothing_is_left(tmp_path: Path) -> None:
    with book(tmp_path, order_terms(1, alpha=8)) as opened:
        other = LedgerRun(opened, "customers")
        odometer, data = Odometer(ledger=other), Private(np.arange(4))
        odometer.spend(Gaussian(counts()), data, budget(1, alpha=8), Past(), SystemNoise())
        with LedgerRun(opened, "customers") as run, pytest.raises(BudgetExceeded, match="leaves nothing"):
            head(run)


@pytest.mark.parametrize("rungs", [1, 2])
def test_a_run_ends_at_the_last_rung_that_the_ledger_has_room_for(rungs: int, tmp_path: Path) -> None:
    hard: dict[str, Any] = {"accuracy": 0.99, "noise": SystemNoise(), "patience": 0}
    free = made(customers(SCHEMA, 900), **hard).facts
    between = (free.stops[rungs - 1].promise.at(20) + free.stops[rungs].promise.at(20)) / 2
    with book(tmp_path, order_terms(between, alpha=20)) as opened, LedgerRun(opened, "customers") as run:
        told = made(customers(SCHEMA, 900), **hard, ledger=run).facts
        run.close()
        where = run.booking()

    assert told.ended is Ended.CAPPED
    assert len(told.rungs) == rungs
    assert told.cap == told.stops[rungs - 1].epsilon
    assert fitting(where, "rung") == (
        f"The ledger has room for {rungs} of the 3 planned rungs; the run ends with that rung at the latest."
    )
    assert audited(json.loads(receipt_text(receipt(told)))).matches


def test_only_the_stops_within_the_cap_of_the_run_are_held(tmp_path: Path) -> None:
    free = made(customers(SCHEMA, 900)).facts
    with book(tmp_path) as opened, LedgerRun(opened, "customers") as run:
        told = made(customers(SCHEMA, 900), noise=SystemNoise(), max_epsilon=free.stops[1].epsilon, ledger=run).facts

        assert run.booking().held == ROOMY.share(ROOMY.amount(free.stops[1].promise.as_spent()))
    assert told.cap == free.stops[1].epsilon


@pytest.mark.parametrize("kind", ["a table", "a head", "a module"])
def test_a_rehearsal_is_refused_before_anything_is_on_the_ledger(kind: str, tmp_path: Path) -> None:
    noise, nowhere = SeededNoise(1), tmp_path / "nowhere.npz"
    runs: dict[str, Callable[[LedgerRun], object]] = {
        "a table": lambda run: made(nowhere, noise=noise, ledger=run),
        "a head": lambda run: finetune(nowhere, accuracy=0.05, noise=noise, ledger=run),
        "a module": lambda run: trainer(noise=noise, ledger=run).releases(every="5 steps", releases=2),
    }
    with book(tmp_path) as opened:
        with LedgerRun(opened, "customers") as run, pytest.raises(NotPrivate) as refused:
            runs[kind](run)

        assert kinds(opened) == ["init"]
    assert one_sentence(refused.value)


def test_a_trainer_ends_where_the_ledger_does(tmp_path: Path) -> None:
    free = trainer(noise=SystemNoise())
    two = [stage.release.spent.at(20) for stage in free.releases(every="5 steps", releases=3)][1]
    with book(tmp_path, order_terms(two * 1.001, alpha=20)) as opened, LedgerRun(opened, "customers") as run:
        announced: list[Any] = []
        taught = trainer(noise=SystemNoise(), ledger=run, on_announced=announced.append)
        *_, last = taught.releases(every="5 steps", releases=3)
        told = of_training(taught, last)

    assert len(told.rungs) == 2
    assert told.cap == told.stops[1].epsilon == announced[0].course.cap
    assert audited(json.loads(receipt_text(receipt(told)))).differences == ()


def test_a_second_relation_is_refused_before_data_is_opened_though_its_plan_was_held(tmp_path: Path) -> None:
    swapped = Private(np.arange(4), Neighbours.REPLACE_ONE)
    replacing = Gaussian(histogram(lambda codes: codes, 4, Neighbours.REPLACE_ONE, name="codes"))
    with book(tmp_path) as opened:
        with LedgerRun(opened, "customers") as run:
            own_search(run)
        with LedgerRun(opened, "customers") as run:
            run.reserve([replacing.promise(budget(1))])
            with pytest.raises(LedgerConflict, match="billed for neighbours"):
                Odometer(ledger=run).spend(replacing, swapped, budget(1), Past(), SystemNoise())


@pytest.mark.parametrize("job", [table, head])
def test_a_job_that_divides_the_records_by_its_own_coins_is_not_on_a_split_that_has_a_name(
    job: Callable[[LedgerRun], Facts], tmp_path: Path
) -> None:
    """Two such runs would be billed for the dearer side, though a record may be on either side in each of them."""
    with book(tmp_path) as opened:
        run = opened.run("customers", split="holdout", because="by year of birth")

        with pytest.raises(InvalidValue, match="divides the records by coins of its own"):
            job(run)

        assert kinds(opened) == ["init"]


def test_a_plan_is_reserved_for_the_odometer_with_its_pledge_and_no_other(tmp_path: Path) -> None:
    mechanism, check = Gaussian(counts()), CHECKS["balanced"]
    pledge = PlannedStops(planned_stops(mechanism, LADDER, check), 1e-5)
    with book(tmp_path) as opened, LedgerRun(opened, "customers") as run:
        run.reserve(pledge.promises, pledge=pledge)

        with pytest.raises(LedgerConflict, match="for one odometer"):
            Odometer(ledger=run)
        Odometer(pledge=pledge, ledger=run)
        with pytest.raises(LedgerConflict, match="for one odometer"):
            Odometer(pledge=pledge, ledger=run)


def test_two_runs_are_stated_once_and_not_added_up(tmp_path: Path) -> None:
    with book(tmp_path, epsilon_terms(8, 1e-6)) as opened:
        alone, before = list[float](), list[str]()
        for _ in range(2):
            with LedgerRun(opened, "customers") as run:
                finetune(
                    *blobs(300),
                    accuracy=0.05,
                    releases=2,
                    ledger=run,
                    on_pledge=lambda fixed: before.append(standing(run.booking())),
                )
            alone.append(run.booking().spent)

    assert alone[0] < alone[1] < 2 * alone[0]
    assert before[0].startswith("customers: nothing is spent yet; with this run at most ε = ")
    assert before[1].startswith(f"customers: ε = {price(alone[0])} at δ = 1e-6 is spent; with this run at most ε = ")
    assert before[1].endswith(" of 8.")
    assert held_and_returned(run.booking()).endswith(f"; ε = {price(alone[1])} of 8 at δ = 1e-6 is spent.")


def resumed(opened: Book, here: Path) -> tuple[dict[str, Any], LedgerRun]:
    """The receipt of a training that two processes took part in, each as a run of its own."""
    with LedgerRun(opened, "customers") as run:
        first = trainer(noise=SystemNoise(), ledger=run, checkpoint=here / "run.pt")
        next(iter(first.releases(every="5 steps", releases=3)))
    with LedgerRun(opened, "customers") as run:
        taught = network()
        again = Trainer.resume(here / "run.pt", taught, sgd(taught), train(), noise=SystemNoise(), ledger=run)
        *_, last = again.releases(every="5 steps", releases=3)
        told = of_training(again, last)
    found: dict[str, Any] = json.loads(receipt_text(receipt(told)))
    return found, run


def test_a_training_that_is_resumed_is_billed_for_what_was_paid_before_and_its_receipt_is_on_the_ledger(
    tmp_path: Path,
) -> None:
    with book(tmp_path) as opened:
        found, run = resumed(opened, tmp_path)
        fewer, more = json.loads(json.dumps(found)), json.loads(json.dumps(found))
        fewer["bill"][0]["count"] -= 1
        more["bill"][-1]["count"] += 1

        assert found["ledger"]["run"] == run.id
        assert found["bill"][0]["count"] == 3  # all the releases of both, in equal steps
        assert billing_faults(opened.home, found) == ()
        assert billing_faults(opened.home, fewer) != ()
        assert billing_faults(opened.home, more) != ()
