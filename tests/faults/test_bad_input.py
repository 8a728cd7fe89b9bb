"""Bad input is refused in one sentence before any data is opened."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, final

import numpy as np
import pytest

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import tightest_pledge
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture
from expost.accounting.stops import PlannedStops
from expost.baselines import Doubling, ReducedAboveThreshold
from expost.checks.gaussian import GaussianCheck
from expost.checks.question import CentredSum, PublicCount
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import BudgetExceeded, ExpostError, InvalidValue, LedgerConflict, NotDisjoint, NotPrivate, SpentCheck
from expost.filters import Filter, PledgedFilter
from expost.jobs.finetuning.run import finetune
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.mechanisms.exponential import Exponential
from expost.mechanisms.gaussian import FloatGaussian, Gaussian
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.mechanisms.laplace_path import IntegerPath
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.noise import Floats, Integers, ScriptedNoise, SeededNoise, SystemNoise
from expost.numerics import Real
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.protocols import Check, Inquiry, Mechanism
from expost.release import Past
from expost.search import planned_stops, search
from expost.statistic import Statistic, bounded_sum
from expost.training.schedule import Epsilon
from tests.unit.examples import ADD, NONE, REPLACE, Tripwire, budget, line, one_sentence, people, released

SYSTEM = SystemNoise()
NAN, INF = math.nan, math.inf
ONE = Fraction(1)
LADDER = Ladder.of([1, 2], alpha=20)
Action = Callable[[Tripwire], object]


def spend(
    mechanism: Mechanism[Integers, object], price: Budget | None = None, odometer: Odometer | None = None
) -> object:
    """A step with system noise."""
    running = Odometer() if odometer is None else odometer
    return running.spend(mechanism, people(0, 1), budget(1) if price is None else price, Past(), SYSTEM)


def at(epsilon: Real, alpha: Real = 20) -> Action:
    """A step with this budget."""
    return lambda wire: spend(Gaussian(wire.counts()), budget(epsilon, alpha))


def floats(wire: Tripwire) -> Callable[[Integers], Floats]:
    """A real statistic that is noticed."""
    return lambda data: wire.codes(data).astype(np.float64)


def climb(wire: Tripwire, ladder: Ladder, check: Check[Integers, int], parts: Split[Integers] | None = None) -> object:
    """A search over data that notices being opened."""
    sides = Split.from_parts(people(0), people(1), because="two hospitals") if parts is None else parts
    mechanism = Gaussian(wire.counts())
    return search(sides, mechanism, ladder, lambda values: 0, check, noise=SYSTEM, odometer=Odometer())


def question(wire: Tripwire, threshold: Fraction = Fraction(1, 2)) -> CentredSum[Integers, int]:
    """A question that notices being asked."""
    return CentredSum(wire.score, threshold, ADD)


def ask(check: Check[Integers, int]) -> object:
    """One question with system noise."""
    return Odometer().ask(Inquiry(check), people(0), released(0, 1), trained=NONE, noise=SYSTEM)


def ask_again(check: Check[Integers, int], wire: Tripwire, noise: int) -> object:
    """A question answered with this noise, and another one, which alone may trip the wire."""
    odometer, inquiry, held = Odometer(rehearsal=True), Inquiry(check), people(0)
    odometer.ask(inquiry, held, released(0, 1), trained=NONE, noise=ScriptedNoise([noise, noise]))
    wire.opened = False
    return odometer.ask(inquiry, held, released(0, 1), trained=NONE, noise=SYSTEM)


def asked_out(wire: Tripwire) -> object:
    """One question beyond the plan."""
    return ask_again(GaussianCheck(question(wire), budget(1), 1, None), wire, -1000)


def asked_after_a_pass(wire: Tripwire) -> object:
    """One question after a sparse vector has passed."""
    return ask_again(SparseVectorCheck(question(wire), Fraction(1), Fraction(1), None), wire, 0)


def asked_of_another_part(wire: Tripwire) -> object:
    """A run of a check that began on other data."""
    odometer, inquiry = Odometer(), Inquiry(GaussianCheck(question(wire), budget(1), 2, None))
    odometer.ask(inquiry, people(0), released(0, 1), trained=NONE, noise=SYSTEM)
    wire.opened = False
    return odometer.ask(inquiry, people(0), released(0, 1), trained=NONE, noise=SYSTEM)


def asked_in_another_odometer(wire: Tripwire) -> object:
    """A run of a check that began elsewhere."""
    held, inquiry = people(0), Inquiry(GaussianCheck(question(wire), budget(1), 2, None))
    Odometer().ask(inquiry, held, released(0, 1), trained=NONE, noise=SYSTEM)
    wire.opened = False
    return Odometer().ask(inquiry, held, released(0, 1), trained=NONE, noise=SYSTEM)


def reduced_elsewhere(wire: Tripwire, other: Private[Integers] | None = None) -> object:
    """A noise reduction that began in another odometer, or on other data in the same one."""
    mechanism, data, odometer = NoiseReduction(wire.counts(), IntegerPath()), people(0), Odometer()
    odometer.spend(mechanism, data, budget(1), Past(), SYSTEM)
    wire.opened = False
    running = Odometer() if other is None else odometer
    return running.spend(mechanism, data if other is None else other, budget(1), Past(), SYSTEM)


def reduced_by_a_hair(wire: Tripwire) -> object:
    """A level that rises by one part in 2**70."""
    mechanism, data, odometer = NoiseReduction(wire.counts(), IntegerPath()), people(0), Odometer()
    odometer.spend(mechanism, data, budget(1), Past(), SYSTEM)
    wire.opened = False
    return odometer.spend(mechanism, data, budget(Fraction(1, 2**70)), Past(), SYSTEM)


def pledged_late(wire: Tripwire) -> object:
    """A pledge to a record that holds a step already."""
    memory = MemoryLedger()
    spend(Gaussian(Tripwire().counts()), odometer=Odometer(ledger=memory))
    return Odometer(pledge=FixedOrder.at(20, 1e-5), ledger=memory)


def pledged_twice(wire: Tripwire) -> object:
    """A second pledge to one record."""
    memory = MemoryLedger()
    Odometer(pledge=FixedOrder.at(20, 1e-5), ledger=memory)
    return Odometer(pledge=FixedOrder.at(40, 1e-5), ledger=memory)


def exhausted(wire: Tripwire) -> object:
    """A step after the cap was reached."""
    odometer = Odometer(cap=Filter(budget(1)))
    spend(Gaussian(Tripwire().counts()), odometer=odometer)
    return spend(Gaussian(wire.counts()), odometer=odometer)


def planned(wire: Tripwire, delta: float) -> object:
    """A plan for a search at this δ."""
    return tightest_pledge(
        planned_stops(Gaussian(wire.counts()), LADDER, GaussianCheck(question(wire), budget(1), 1, None)), delta
    )


CASES: dict[str, tuple[Action, type[ExpostError]]] = {
    "zero epsilon": (at(0), InvalidValue),
    "negative epsilon": (at(-1), InvalidValue),
    "negative epsilon beyond the floats": (at(-(10**400)), InvalidValue),
    "NaN epsilon": (at(NAN), InvalidValue),
    "infinite epsilon": (at(INF), InvalidValue),
    "order one": (at(1, 1), InvalidValue),
    "order below one": (at(1, 0.5), InvalidValue),
    "NaN order": (at(1, NAN), InvalidValue),
    "infinite order": (at(1, INF), InvalidValue),
    "Gaussian noise beyond 64 bits": (at(Fraction(1, 2**200)), InvalidValue),
    "Laplace noise beyond 64 bits": (
        lambda wire: spend(Laplace(wire.counts()), budget(Fraction(1, 2**200))),
        InvalidValue,
    ),
    "reduced noise beyond 64 bits": (
        lambda wire: spend(NoiseReduction(wire.counts(), IntegerPath()), budget(Fraction(1, 2**200))),
        InvalidValue,
    ),
    "check noise beyond 64 bits": (
        lambda wire: ask(GaussianCheck(question(wire), budget(Fraction(1, 2**200)), 1, None)),
        InvalidValue,
    ),
    "sparse vector noise beyond 64 bits": (
        lambda wire: ask(SparseVectorCheck(question(wire), Fraction(2**200), Fraction(1), None)),
        InvalidValue,
    ),
    "decreasing ladder": (
        lambda wire: climb(wire, Ladder.of([2, 1], alpha=20), GaussianCheck(question(wire), budget(1), 1, None)),
        InvalidValue,
    ),
    "level of zero": (
        lambda wire: climb(wire, Ladder.of([0, 1], alpha=20), GaussianCheck(question(wire), budget(1), 1, None)),
        InvalidValue,
    ),
    "empty ladder": (
        lambda wire: climb(wire, Ladder.of([], alpha=20), GaussianCheck(question(wire), budget(1), 1, None)),
        InvalidValue,
    ),
    "ladder beyond the floats": (lambda wire: Ladder.geometric(1e-200, 1e200, 3, alpha=20), InvalidValue),
    "levels of a reduction out of order": (
        lambda wire: spend(NoiseReduction(wire.counts(), IntegerPath(), (2, 1))),
        InvalidValue,
    ),
    "level off a reduction's ladder": (
        lambda wire: spend(NoiseReduction(wire.counts(), IntegerPath(), (2,))),
        InvalidValue,
    ),
    "no rungs to double": (lambda wire: Doubling(budget(1), 0), InvalidValue),
    "check levels that decrease": (lambda wire: ReducedAboveThreshold(question(wire), (ONE + ONE, ONE)), InvalidValue),
    "delta of zero": (lambda wire: FixedOrder.at(20, 0.0), InvalidValue),
    "delta of one": (lambda wire: FixedOrder.at(20, 1.0), InvalidValue),
    "NaN delta": (lambda wire: PlannedStops((Promise(line(0, 1)),), NAN), InvalidValue),
    "delta outside in a plan": (lambda wire: planned(wire, 1.5), InvalidValue),
    "NaN delta in a plan": (lambda wire: planned(wire, NAN), InvalidValue),
    "mixture of no orders": (lambda wire: Mixture.even([], 1e-5), InvalidValue),
    "half-normal of no width": (lambda wire: HalfNormal(0.0, 1e-5), InvalidValue),
    "statistic of no cells": (
        lambda wire: spend(Gaussian(Statistic(wire.codes, (0,), Fraction(1), Fraction(1), ADD))),
        InvalidValue,
    ),
    "statistic without a sensitivity": (
        lambda wire: spend(Gaussian(Statistic(wire.codes, (1,), Fraction(0), Fraction(1), ADD))),
        InvalidValue,
    ),
    "sum clipped to nothing": (
        lambda wire: spend(Gaussian(bounded_sum(floats(wire), 1, ADD, clip=0, spacing=1))),
        InvalidValue,
    ),
    "sum on too coarse a grid": (
        lambda wire: spend(Gaussian(bounded_sum(floats(wire), 1, ADD, clip=1, spacing=2))),
        InvalidValue,
    ),
    "sum of no columns": (
        lambda wire: spend(Gaussian(bounded_sum(floats(wire), 0, ADD, clip=1, spacing=1))),
        InvalidValue,
    ),
    "infinite sensitivity": (lambda wire: spend(FloatGaussian(floats(wire), (2,), INF, ADD)), InvalidValue),
    "negative sensitivity": (lambda wire: spend(FloatLaplace(floats(wire), (2,), -1.0, ADD)), InvalidValue),
    "nothing to choose from": (lambda wire: spend(Exponential(wire.codes, 0, Fraction(1), ADD)), InvalidValue),
    "threshold of one": (lambda wire: question(wire, Fraction(1)), InvalidValue),
    "NaN threshold": (lambda wire: CentredSum.accuracy(wire.score, NAN, ADD), InvalidValue),
    "public count of nobody": (lambda wire: PublicCount(wire.score, Fraction(1, 2), 0, ADD), InvalidValue),
    "no questions planned": (
        lambda wire: climb(wire, LADDER, GaussianCheck(question(wire), budget(1), 0, None)),
        InvalidValue,
    ),
    "sparse vector without noise": (
        lambda wire: climb(wire, LADDER, SparseVectorCheck(question(wire), Fraction(0), Fraction(1), None)),
        InvalidValue,
    ),
    "one question too many": (asked_out, SpentCheck),
    "question after a pass": (asked_after_a_pass, SpentCheck),
    "question to another part": (asked_of_another_part, LedgerConflict),
    "question in another odometer": (asked_in_another_odometer, LedgerConflict),
    "noise reduction in another odometer": (reduced_elsewhere, LedgerConflict),
    "noise reduction on other data": (lambda wire: reduced_elsewhere(wire, people(0)), LedgerConflict),
    "noise reduction by a hair": (reduced_by_a_hair, InvalidValue),
    "neighbours in words": (lambda wire: Private(0, "replace one record"), InvalidValue),  # type: ignore[arg-type] # no Neighbours
    "neighbours of a statistic in words": (
        lambda wire: Statistic(wire.codes, (1,), ONE, ONE, "replace one record"),  # type: ignore[arg-type] # no Neighbours
        InvalidValue,
    ),
    "pledge after the first step": (pledged_late, LedgerConflict),
    "second pledge": (pledged_twice, LedgerConflict),
    "check without a held part": (
        lambda wire: climb(wire, LADDER, GaussianCheck(question(wire), budget(1), 1, None), Split.whole(people(0))),
        InvalidValue,
    ),
    "another neighbour relation": (lambda wire: spend(Gaussian(wire.counts(REPLACE))), InvalidValue),
    "exhausted filter": (exhausted, BudgetExceeded),
    "pledged filter too small": (
        lambda wire: spend(
            Gaussian(wire.counts()),
            odometer=Odometer(cap=PledgedFilter(FixedOrder.at(20, 1e-5), AdpEpsilon(0.1))),
        ),
        BudgetExceeded,
    ),
    "pledged cap of infinity": (
        lambda wire: PledgedFilter(FixedOrder.at(20, 1e-5), AdpEpsilon(INF)),
        InvalidValue,
    ),
    "seeded noise where privacy is demanded": (
        lambda wire: Odometer().spend(Gaussian(wire.counts()), people(0), budget(1), Past(), SeededNoise(1)),
        NotPrivate,
    ),
    "negative seed": (lambda wire: SeededNoise(-1), InvalidValue),
    "all records held out": (lambda wire: split(people(0), 1, SYSTEM), InvalidValue),
    "NaN share held out": (lambda wire: split(people(0), NAN, SYSTEM), InvalidValue),
    "split without a reason": (lambda wire: Split.from_parts(people(0), people(1), because=" "), InvalidValue),
    "the same part twice": (
        lambda wire: Split.from_parts(data := Private(0), data, because="two hospitals"),
        NotDisjoint,
    ),
}


@pytest.mark.parametrize(("action", "kind"), CASES.values(), ids=CASES)
def test_bad_input_is_refused_by_its_own_kind_of_error(action: Action, kind: type[ExpostError]) -> None:
    with pytest.raises(kind):
        action(Tripwire())


@pytest.mark.parametrize(("action", "kind"), CASES.values(), ids=CASES)
def test_bad_input_is_refused_in_one_sentence(action: Action, kind: type[ExpostError]) -> None:
    with pytest.raises(ExpostError) as refused:
        action(Tripwire())

    assert one_sentence(refused.value)


@pytest.mark.parametrize(("action", "kind"), CASES.values(), ids=CASES)
def test_bad_input_is_refused_before_data_is_opened(action: Action, kind: type[ExpostError]) -> None:
    wire = Tripwire()

    with pytest.raises((ExpostError, ArithmeticError)):
        action(wire)

    assert not wire.opened


def test_the_tripwire_notices_a_good_step() -> None:
    wire = Tripwire()

    at(1)(wire)

    assert wire.opened


def test_the_tripwire_notices_a_good_question() -> None:
    wire = Tripwire()

    ask(GaussianCheck(question(wire), budget(1), 1, None))

    assert wire.opened


@final
class Noticing:
    """Features that notice being read."""

    def __init__(self) -> None:
        self.opened = False

    def __array__(self, dtype: object = None, copy: object = None) -> Floats:
        self.opened = True
        return np.eye(4)


UNTRAINABLE: dict[str, dict[str, Any]] = {
    "accuracy of one": {"accuracy": 1},
    "NaN accuracy": {"accuracy": NAN},
    "nothing held out": {"validation": 0},
    "public records that are not there": {"validation": "none.npz"},
    "bare price": {"start": 2.0},
    "noise of zero": {"start": Fraction(0)},
    "price out of reach": {"start": Epsilon(1e-9), "delta": 1e-300},
    "no release": {"releases": 0},
    "no epoch": {"epochs": 0},
    "rate above one": {"rate": 2},
    "NaN rate": {"rate": NAN},
    "delta of one": {"delta": 1.0},
    "clip of zero": {"max_grad_norm": 0.0},
    "infinite batch": {"batch": INF},
    "negative drop": {"drop": -0.1},
    "one class only": {"classes": 1},
    "device that is not there": {"device": "abacus"},
    "negative number of records": {"records": -1},
    "cap below the first release": {"max_epsilon": 0.01},
    "infinite cap": {"max_epsilon": INF},
}


def train(features: object, **changes: Any) -> object:
    """A short run of fine-tuning on four records."""
    usual: dict[str, Any] = {"accuracy": 0.5, "start": Fraction(4), "releases": 2, "epochs": 1, "epochs_between": 1}
    return finetune(features, [0, 1, 0, 1], **(usual | changes))  # type: ignore[arg-type]  # an array by its protocol


@pytest.mark.parametrize("changes", UNTRAINABLE.values(), ids=UNTRAINABLE)
def test_absurd_training_is_refused_in_one_sentence_before_data_is_opened(changes: dict[str, Any]) -> None:
    features = Noticing()

    with pytest.raises(ExpostError) as refused:
        train(features, **changes)

    assert one_sentence(refused.value)
    assert not features.opened


def test_features_notice_being_read_by_sound_training() -> None:
    features = Noticing()

    train(features)

    assert features.opened
