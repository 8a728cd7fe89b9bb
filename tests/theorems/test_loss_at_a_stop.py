"""Claim (the loss at a planned stop). Under a pledge with planned stops the privacy loss exceeds the probabilistic ε
with probability δ at most, whatever rule stopped the run and whatever was made of what it released. The stated ε,
which is of the approximate notion, has no such bound.

On ladders of Gaussian releases the worst case over all stopping rules is known exactly. What post-processing can do to
one Gaussian release is known exactly too: the worst is to merge all outputs above some loss. Where only (ε, δ) is
known, the loss exceeds ε − ln(1 − 1/k) with probability kδ at most.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri

from expost import FiniteMechanism, Ladder, PlannedStops, Promise
from expost.accounting.claim import best_tail
from expost.accounting.curve import Linear, Tabulated
from expost.accounting.gaussian import gaussian_tail
from expost.accounting.odds import loss_bound
from expost.accounting.worst_case import worst_case_tail
from expost.datasets import adult
from expost.errors import InvalidValue
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.tabular.aims import Aim
from tests.theorems.ladders import random_ladders

DELTA = 1e-5


def gaussian_stops(rhos: tuple[float, ...]) -> tuple[Promise, ...]:
    return tuple(Promise(Linear(Fraction(0), Fraction(rho), Fraction(rho))) for rho in rhos)


def merely_zcdp(rhos: tuple[float, ...]) -> tuple[Promise, ...]:
    """The same curves without the knowledge that they are Gaussian."""
    return tuple(Promise(Linear(Fraction(0), Fraction(rho))) for rho in rhos)


def default_stops() -> tuple[Promise, ...]:
    """The stops of `expost demo`, selection included."""
    return plan_synthesis(
        TableRecipe(schema=adult.adult_schema(), aims=(Aim.accuracy("income", Fraction(33, 40)),))
    ).stops


STOPS: dict[str, Callable[[], tuple[Promise, ...]]] = {
    "the default ladder": default_stops,
    "a Gaussian ladder": lambda: gaussian_stops(
        tuple(float(level / 20) for level in Ladder.geometric(0.01, 1, 7, alpha=20).levels)
    ),
}


def rhos_of(stops: tuple[Promise, ...]) -> list[float]:
    return [float(stop.curve.lines[0].rho) for stop in stops if isinstance(stop.curve, Linear)]


@pytest.mark.parametrize("name", STOPS)
def test_no_stopping_rule_makes_the_loss_exceed_the_probabilistic_epsilon_more_often_than_delta(name: str) -> None:
    stops = STOPS[name]()
    pledge = PlannedStops(stops, DELTA)

    claims = [pledge.probabilistic(stop) for stop in stops]

    assert worst_case_tail(rhos_of(stops), claims) <= DELTA


@pytest.mark.parametrize(("name", "times"), [("the default ladder", 25.6), ("a Gaussian ladder", 51.9)])
def test_the_stated_epsilon_taken_for_a_bound_on_the_loss_is_broken(name: str, times: float) -> None:
    stops = STOPS[name]()
    pledge = PlannedStops(stops, DELTA)

    claims = [pledge.epsilon(stop) for stop in stops]

    assert worst_case_tail(rhos_of(stops), claims) == pytest.approx(times * DELTA, rel=0.01)


@pytest.mark.parametrize("known", [gaussian_stops, merely_zcdp])
@pytest.mark.parametrize("delta", [0.05, 1e-5])
@pytest.mark.parametrize("ladder", random_ladders(4), ids=lambda ladder: f"{len(ladder)} rungs from {ladder[0]:.2g}")
def test_no_stopping_rule_breaks_it_on_other_ladders(
    ladder: tuple[float, ...], delta: float, known: Callable[[tuple[float, ...]], tuple[Promise, ...]]
) -> None:
    stops = known(ladder)
    pledge = PlannedStops(stops, delta)

    claims = [pledge.probabilistic(stop) for stop in stops]

    assert worst_case_tail(ladder, claims) <= delta


def merged(rho: float, mass: float) -> float:
    """The loss of one output made of all those above the point that has this mass: Neyman and Pearson's best test."""
    point, shift = float(ndtri(mass)), math.sqrt(2 * rho)
    return float(log_ndtr(point) - log_ndtr(point - shift))


@pytest.mark.parametrize("delta", [0.05, 1e-5, 1e-12])
@pytest.mark.parametrize("rho", [0.0005, 0.05, 2.0])
def test_merging_outputs_attains_the_gaussian_tail_and_does_not_exceed_it(rho: float, delta: float) -> None:
    stated = gaussian_tail(rho, delta)

    assert merged(rho, delta * 1.000001) <= stated
    assert merged(rho, delta * 1.01) > 0.98 * stated


@pytest.mark.parametrize("rho", [0.0005, 0.05, 2.0])
def test_the_plain_tail_of_a_gaussian_is_broken_by_merging(rho: float) -> None:
    """P(L > ε) = Φ(μ/2 − ε/μ) is exact for the release itself and no bound for what is made of it."""
    shift = math.sqrt(2 * rho)
    plain = shift * (shift / 2 - float(ndtri(DELTA)))
    assert ndtr(shift / 2 - plain / shift) == pytest.approx(DELTA)

    assert merged(rho, 2 * DELTA) > plain
    assert gaussian_tail(rho, DELTA) > plain


def binned(rho: float, edges: list[float], epsilon: float) -> FiniteMechanism[str, int]:
    """A Gaussian release of which only the bin is told."""
    shift = math.sqrt(2 * rho)
    laws = {
        data: np.diff(ndtr(np.array([-math.inf, *edges, math.inf]) - mean)) for data, mean in (("X", shift), ("Y", 0.0))
    }
    return FiniteMechanism(
        {data: {(place, epsilon): float(p) for place, p in enumerate(law)} for data, law in laws.items()}
    )


@pytest.mark.parametrize("delta", [0.05, 0.01])
def test_no_binning_of_a_gaussian_release_breaks_its_tail(delta: float) -> None:
    draws = np.random.default_rng(3)
    for rho in (0.01, 0.3, 2.0):
        epsilon = gaussian_tail(rho, delta)
        for _ in range(40):
            edges = np.sort(draws.normal(0.0, 3.0, size=draws.integers(1, 6))).tolist()

            assert binned(rho, edges, epsilon).probabilistic_delta() <= delta


def test_a_slightly_smaller_tail_is_broken_by_a_binning() -> None:
    rho, delta = 0.3, 0.05
    cut = math.sqrt(2 * rho) - float(ndtri(1.05 * delta))

    assert binned(rho, [cut], 0.97 * gaussian_tail(rho, delta)).probabilistic_delta() > delta


def test_a_table_of_orders_is_told_by_markov_at_its_best_order() -> None:
    promise = Promise(Tabulated.of([2, 8, 32], [0.01, 0.05, 0.9]))

    epsilon, alpha = best_tail(promise, DELTA)

    assert alpha == 32
    assert epsilon == pytest.approx(0.9 + math.log(1e5) / 31)


def test_a_pure_promise_has_a_loss_of_its_epsilon() -> None:
    assert best_tail(Promise(Linear(Fraction(1, 2), Fraction(0))), DELTA)[0] == pytest.approx(0.5, abs=1e-9)


def told_at(epsilon: float, delta: float, excess: float) -> FiniteMechanism[str, int]:
    """The (ε, δ)-DP pair whose loss lies above ε + excess most often."""
    mass = delta / -math.expm1(-excess)
    rare = mass * math.exp(-epsilon - excess)
    outputs = {"X": (mass, rare, 1 - mass - rare), "Y": (rare, mass, 1 - mass - rare)}
    return FiniteMechanism(
        {data: {(place, epsilon): p for place, p in enumerate(law)} for data, law in outputs.items()}
    )


@pytest.mark.parametrize("times", [2.0, 10.0, 100.0])
def test_what_follows_from_epsilon_and_delta_alone_is_attained_and_no_less_would_do(times: float) -> None:
    epsilon, delta = 0.5, 1e-3
    excess = loss_bound(epsilon, times) - epsilon
    pair = told_at(epsilon, delta, excess)
    assert pair.approximate_delta() == pytest.approx(delta)

    assert pair.raised(lambda _, stated: stated + excess).probabilistic_delta() == 0
    less = pair.raised(lambda _, stated: stated + 0.99 * excess).probabilistic_delta()
    assert less == pytest.approx(times * delta)
    assert pair.probabilistic_delta() == pytest.approx(times * delta), "at ε itself the loss is not bounded by δ"


def test_nothing_follows_with_the_probability_delta_itself() -> None:
    with pytest.raises(InvalidValue, match="more than 1"):
        loss_bound(1, times=1)
