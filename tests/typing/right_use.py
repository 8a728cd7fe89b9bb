"""The counterpart of the misuses: one program that uses the same names as they are meant."""

from collections.abc import Sequence

import numpy as np

from expost import (
    BalancedCheck,
    Brownian,
    Budget,
    CentredSum,
    Filter,
    FixedOrder,
    Gaussian,
    GaussianCheck,
    Ladder,
    Neighbours,
    Odometer,
    Outcome,
    Past,
    Private,
    PublicCheck,
    Release,
    Split,
    histogram,
    planned_stops,
    search,
    split,
    tightest_pledge,
)
from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.ladder import Rung, Strides
from expost.ledger import MemoryLedger
from expost.mechanisms import Estimate, IntegerPath, Measurement, NoiseReduction
from expost.noise import Floats, Integers, Noise
from expost.protocols import Inquiry, Verdict

ADD = Neighbours.ADD_REMOVE
MEASURE: Gaussian[Integers] = Gaussian(histogram(np.asarray, 4, ADD))
COUNTS = Brownian(MEASURE)
LADDER = Ladder.geometric(0.1, 1, 5, alpha=20)


def newest(estimates: tuple[Estimate, ...]) -> Estimate:
    return estimates[-1]


def likely(estimate: Estimate, ages: Integers) -> Floats:
    return np.asarray(estimate.values[ages] > estimate.values.mean(), dtype=np.float64)


def once(past: Past[Estimate], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
    return None if past.steps else Rung(Budget.of(0.5, alpha=20), asked=True)


def one_release(data: Private[Integers], noise: Noise) -> Release[float]:
    odometer = Odometer(cap=Filter(Budget.of(1, alpha=20)))
    past: Past[Measurement] = Past()
    first = odometer.spend(COUNTS.measure, data, Budget.of(0.5, alpha=20), past, noise)
    second = odometer.spend(COUNTS.measure, data, Budget.of(0.25, alpha=20), past.then(first), noise)
    return past.then(first).then(second).joint().map(lambda pair: float(pair[1].values.sum())).at_least(odometer.spent)


def judged_in_public(data: Private[Integers], noise: Noise) -> Outcome[Estimate]:
    check: PublicCheck[Estimate] = PublicCheck(lambda estimate: estimate.std < 2)
    return search(Split.whole(data), COUNTS, once, newest, check, noise=noise, odometer=Odometer())


def judged_on_records_held_out(data: Private[Integers], noise: Noise) -> tuple[Plan, Outcome[Estimate]]:
    question = CentredSum.accuracy(likely, 0.75, ADD)
    check = GaussianCheck(question, Budget.of(0.5, alpha=20), questions=4, confidence=None)
    strides = Strides(LADDER)
    pledged = tightest_pledge(planned_stops(COUNTS, strides, check, prior=COUNTS.promise(Budget.of(1, alpha=20))), 1e-5)
    parts, odometer = split(data, 0.2, noise), Odometer(pledge=pledged.pledge, ledger=MemoryLedger())
    return pledged, search(parts, COUNTS, strides, newest, check, noise=noise, odometer=odometer)


def asked_by_hand(parts: Split[Integers], candidate: Release[Estimate], noise: Noise) -> Release[bool] | None:
    odometer = Odometer(cap=Filter(Budget.of(1, alpha=20)))
    inquiry: Inquiry[Integers, Estimate] = Inquiry(BalancedCheck(CentredSum.accuracy(likely, 0.75, ADD), None))
    if parts.held is None:
        return None
    verdict = odometer.ask(inquiry, parts.held, candidate, trained=odometer.spent_on(parts.train), noise=noise)
    return verdict.map(lambda answer: answer.passed)


def reduced(data: Private[Integers], noise: Noise) -> tuple[Release[Measurement], AdpEpsilon]:
    mechanism: NoiseReduction[Integers] = NoiseReduction(MEASURE.statistic, IntegerPath(), (1, 2))
    odometer = Odometer(pledge=FixedOrder.at(20, 1e-5))
    return odometer.spend(mechanism, data, Budget.of(1, alpha=20), Past(), noise), odometer.epsilon


def stated(chosen: Plan, releases: Sequence[Release[Estimate]]) -> tuple[AdpEpsilon, AdpEpsilon, AdpEpsilon]:
    before = (chosen.stops[0] + chosen.stops[1]).approx(1e-5)
    planned = chosen.pledge.epsilon(chosen.stops[0])
    return before, planned, Past(*releases).joint().epsilon
