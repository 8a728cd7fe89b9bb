"""What training costs: the five-step calibration worked out, stated by planned stops, and the bill of an odometer.

Five steps (private validation): find the order α* that suits the first release; calibrate all checks together to the
ε that the first release has there; their curve is linear; the bill is the larger of training and checks; and the
statement is one of planned stops, since the best order at the realised number of steps proves nothing.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import mpmath as mp
import numpy as np
import pytest

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.convert import cks_offset
from expost.accounting.curve import ORDERS, Linear, Tabulated
from expost.accounting.descent import Descent, noise_multiplier
from expost.accounting.stops import PlannedStops
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck, PublicCount
from expost.errors import MechanismFailed
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.judge import Balanced, Budgeted, Judge
from expost.ledger import MemoryLedger
from expost.noise import Floats, SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split, split
from expost.protocols import Check
from expost.search import Outcome, planned_stops, search
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Trained
from expost.training.head.score import accuracy
from expost.training.schedule import Epsilon, Releases, Schedule, release_order

EXAMPLE = Descent(Fraction(1, 10), Fraction("5.662096666"))
RELEASES = Schedule(500, 1000, 5)
DELTA = 0.002
STATED = [1.312543, 2.466303, 3.327069, 4.063821, 4.725819]
BY_LOSS = [1.158249, 2.199119, 2.980265, 3.650851, 4.255476]


def stops(descent: Descent = EXAMPLE) -> PlannedStops:
    """The releases of the example, checked at no cost."""
    return PlannedStops(tuple(descent.promise(steps) for steps in RELEASES.steps), DELTA)


def without_kinds(pledge: PlannedStops) -> PlannedStops:
    """The same stops where only the orders are known."""
    return PlannedStops(tuple(Promise(Tabulated.of(ORDERS, values(each))) for each in pledge.promises), pledge.delta)


def exactly(alpha: float, steps: int, delta: float) -> float:
    """Curve of the steps plus CKS offset, in high precision."""
    with mp.workdps(25):
        a, q, s = mp.mpf(alpha), mp.mpf("0.1"), mp.mpf("5.662096666")

        def integrand(x: mp.mpf) -> mp.mpf:
            return mp.npdf(x, 0, s) * (1 - q + q * mp.exp((2 * x - 1) / (2 * s * s))) ** a

        step = mp.log(mp.quad(integrand, mp.linspace(-12 * s, a + 12 * s, 16), maxdegree=5)) / (a - 1)
        return float(steps * step + mp.log(1 / mp.mpf(delta)) / (a - 1) + mp.log(1 - 1 / a) - mp.log(a) / (a - 1))


def test_planned_stops_state_the_worked_example() -> None:
    """By the distribution of the loss, and by one order for each stop where the kinds of steps are not known."""
    assert [stop.epsilon for stop in stops().table] == pytest.approx(BY_LOSS, rel=1e-6)
    assert [stop.epsilon for stop in without_kinds(stops()).table] == pytest.approx(STATED, abs=6e-7)


def test_the_first_release_is_stated_below_the_reference_and_validly() -> None:
    """The reference has 1.313299, at order 9.3, where the curve of all four checks lies above that of training.

    Training alone, and training with the one question that a first stop can have asked, give 1.312543 at order 9.2.
    """
    first = EXAMPLE.promise(500)
    checks = Promise(Linear(Fraction(0), Fraction(first.at(9.6)) / Fraction(9.6)))

    reference = PlannedStops((first.beside(checks),), DELTA / 5).table[0]
    alone = without_kinds(stops()).table[0]

    assert (round(reference.epsilon, 6), reference.alpha) == (1.313299, 9.3)
    assert (round(alone.epsilon, 6), alone.alpha) == (1.312543, 9.2)
    assert exactly(9.2, 500, DELTA / 5) <= alone.epsilon <= exactly(9.2, 500, DELTA / 5) + 1e-9


def test_forgetting_the_last_step_or_the_split_of_delta_changes_the_table() -> None:
    """The negative twins."""
    short = PlannedStops(tuple(EXAMPLE.promise(steps - 1) for steps in RELEASES.steps), DELTA)
    unsplit = [promise.approx(DELTA) for promise in stops().promises]

    assert all(abs(stop.epsilon - stated) > 1e-4 for stop, stated in zip(short.table, STATED, strict=True))
    assert all(stated - epsilon > 0.1 for epsilon, stated in zip(unsplit, STATED, strict=True))


def never(candidate: object, held: Labelled) -> Floats:
    """No record is scored right."""
    return np.zeros(len(held))


def test_the_five_step_check_has_the_published_noise() -> None:
    """α* = 9.6 is the best order of Lemma 7, which the reference converts by."""
    alpha = Fraction(9.6)
    first = Budget.of(EXAMPLE.promise(500).at(alpha), alpha=alpha)
    counts: PublicCount[Labelled, Trained] = PublicCount(never, Fraction(1, 2), 100, Neighbours.ADD_REMOVE)

    stds = [std(GaussianCheck(counts, first, questions, None)) for questions in (4, 5)]

    assert float(first.epsilon) == pytest.approx(0.7773711517, abs=1e-10)
    assert stds[0] == pytest.approx(4.969771308, abs=1e-9)
    assert stds[1] > 5.5


def std(check: GaussianCheck[Labelled, Trained]) -> float:
    """The noise of a question that one record moves by 1, in records."""
    curve = check.price(0, NOTHING.as_spent(), NOTHING.as_spent()).failed.curve
    assert isinstance(curve, Linear)
    return math.sqrt(1 / (2 * curve.rho))


def test_the_order_of_the_five_steps_is_the_best_of_the_first_release() -> None:
    first = EXAMPLE.promise(500)

    chosen = release_order(first, DELTA)

    assert first.at(chosen) + cks_offset(chosen, DELTA) == pytest.approx(first.approx(DELTA), rel=1e-12)
    assert all(first.at(alpha) + cks_offset(alpha, DELTA) > first.approx(DELTA) for alpha in (7, 9.6, 12))


@pytest.mark.parametrize("check", [Budgeted(), Balanced()])
def test_noise_solved_for_a_recipe_states_its_first_release_as_asked(check: Judge) -> None:
    recipe = HeadRecipe(
        target=accuracy(0.9),
        schedule=Schedule(50, 100, 3),
        start=Epsilon(1.5),
        delta=DELTA,
        check=check,
    )

    stated = plan_training(recipe).epsilons

    assert 1.5 * (1 - 1e-6) < stated[0] <= 1.5
    assert list(stated) == sorted(stated)


TOY = Descent(Fraction(1, 4), Fraction(2))
TOY_RELEASES = Schedule(6, 8, 3)
TOY_ALPHA = Fraction(8)
QUESTION: CentredSum[Labelled, Trained] = CentredSum(never, Fraction(1, 2), Neighbours.ADD_REMOVE)


def toy() -> Split[Labelled]:
    """Forty records of two classes, half of them held out."""
    labels = np.arange(40) % 2
    return split(Private(Labelled.of(labels[:, None] - 0.5, labels, classes=2)), Fraction(1, 2), SeededNoise(3))


def head(told: Callable[[int, int], None] | None = None) -> Head:
    """A head for the toy."""
    return Head(width=1, classes=2, descent=TOY, told=told)


FAILS: PublicCheck[Trained] = PublicCheck(lambda trained: False)


def train(
    releases: Releases,
    check: Check[Labelled, Trained] | PublicCheck[Trained],
    odometer: Odometer,
    mechanism: Head | None = None,
) -> Outcome[Trained]:
    """A search on the toy in which no check passes of itself."""
    return search(
        toy(), mechanism or head(), releases, lambda trained: trained[-1], check,
        noise=SeededNoise(1), odometer=odometer,
    )  # fmt: skip


def values(bill: Promise | Spent) -> list[float]:
    """The bill at every order tabulated."""
    assert isinstance(bill.curve, Tabulated)
    return [float(value) for value in bill.curve.values]


def test_a_run_bills_what_the_steps_promise() -> None:
    outcome = train(Releases(TOY_RELEASES, TOY, TOY_ALPHA), FAILS, Odometer(rehearsal=True))

    assert outcome.release.value.steps == 22
    for line, steps in zip(outcome.history, TOY_RELEASES.steps, strict=True):
        assert values(line.spent) == pytest.approx(values(TOY.promise(steps)), rel=1e-14)
        assert values(line.spent) != pytest.approx(values(TOY.promise(steps - 1)), rel=1e-2)


@pytest.mark.parametrize("at_once", [None, 1, 2, 4])
@pytest.mark.parametrize("check", [FAILS, BalancedCheck(QUESTION, None)], ids=["public", "balanced"])
def test_a_plan_and_its_run_agree_to_the_last_bit(
    at_once: int | None, check: BalancedCheck[Labelled, Trained] | PublicCheck[Trained]
) -> None:
    releases = Releases(TOY_RELEASES, TOY, TOY_ALPHA, at_once)
    pledge = PlannedStops(planned_stops(head(), releases, check), 1e-3)

    outcome = train(releases, check, Odometer(pledge=pledge, rehearsal=True))

    assert [values(line.spent) for line in outcome.history] == [values(stop) for stop in pledge.promises]
    assert [line.epsilon for line in outcome.history] == [stop.epsilon for stop in pledge.table]
    assert outcome.epsilon == pledge.table[-1].epsilon < math.inf


def test_equal_stretches_are_counted_on_record_not_listed() -> None:
    ledger = MemoryLedger()

    train(Releases(TOY_RELEASES, TOY, TOY_ALPHA, 2), FAILS, Odometer(rehearsal=True, ledger=ledger))

    assert [(entry.facts["steps"], count) for entry, _, count in ledger.lines] == [(2, 11)]


def test_how_many_steps_are_bought_at_once_changes_neither_releases_nor_bill() -> None:
    """Up to rounding: each addition rounds up."""
    runs = [train(Releases(TOY_RELEASES, TOY, TOY_ALPHA, many), FAILS, Odometer(rehearsal=True)) for many in (None, 1)]

    assert [run.release.value.steps for run in runs] == [22, 22]
    assert len(runs[0].history) == len(runs[1].history) == 3
    assert values(runs[1].release.spent) == pytest.approx(values(runs[0].release.spent), rel=1e-13)


def test_a_plan_in_one_piece_covers_steps_bought_one_by_one_only_if_it_counts_them() -> None:
    """The negative twin: each addition rounds up, so a plan by orders must add as the odometer will."""
    whole = PlannedStops(planned_stops(head(), Releases(TOY_RELEASES, TOY, TOY_ALPHA), FAILS), 1e-3)

    ends = [
        train(Releases(TOY_RELEASES, TOY, TOY_ALPHA, 1), FAILS, Odometer(pledge=pledge, rehearsal=True)).epsilon
        for pledge in (whole, without_kinds(whole))
    ]

    assert ends == [whole.table[-1].epsilon, math.inf]


@pytest.mark.parametrize(
    ("at_once", "hearings", "billed"), [(None, 1, 40), (20, 1, 20), (20, 3, 40), (8, 2, 16)], ids=str
)
def test_a_stretch_that_fails_midway_is_billed_in_full(at_once: int | None, hearings: int, billed: int) -> None:
    """Progress is told every 16 steps or when what was bought is done; the run breaks at one of these hearings."""
    heard: list[int] = []

    def breaks(taken: int, wanted: int) -> None:
        heard.append(taken)
        if len(heard) == hearings:
            raise RuntimeError("the machine stops")

    ledger = MemoryLedger()
    odometer = Odometer(rehearsal=True, ledger=ledger)
    releases = Releases(Schedule(40, 40, 2), TOY, TOY_ALPHA, at_once)

    with pytest.raises(MechanismFailed) as failed:
        train(releases, FAILS, odometer, head(breaks))

    assert "machine" not in str(failed.value)
    assert len(ledger.held) == 1
    assert values(odometer.spent) == pytest.approx(values(TOY.promise(billed)), rel=1e-14)
    assert values(odometer.spent) > values(TOY.promise(billed - 1))


def test_the_noise_of_the_example_is_what_its_price_calls_for() -> None:
    """Solved for planned stops at once: the first stop of five may cost 1.312543, or 1.158249 by its loss."""

    def stated(noise: Fraction, *, by_loss: bool) -> float:
        first = PlannedStops((Descent(Fraction(1, 10), noise).promise(500),), DELTA / 5)
        return (first if by_loss else without_kinds(first)).table[0].epsilon

    by_order = noise_multiplier(1.3125430907, partial(stated, by_loss=False))
    by_loss = noise_multiplier(1.1582489, partial(stated, by_loss=True))

    assert float(by_order) == pytest.approx(5.662096666, rel=1e-7)
    assert float(by_loss) == pytest.approx(5.662096666, rel=1e-6)
