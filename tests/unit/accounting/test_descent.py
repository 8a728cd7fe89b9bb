"""Noisy gradient descent: steps are multiplied and counted exactly, and the noise found is the least that will do."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.accounting.claim import Budget
from expost.accounting.convert import cks_offset, lemma_7_offset
from expost.accounting.curve import ORDERS, Linear
from expost.accounting.descent import LATTICE_SLACK, LEAST, LOUDEST, MOST_ENTRIES, QUIETEST, Descent, noise_multiplier
from expost.accounting.subsampled import subsampled_gaussian
from expost.errors import InvalidValue
from expost.numerics import Real
from tests.unit.examples import one_sentence

DESCENT = Descent(Fraction(1, 10), Fraction(4))
PRINTED_ORDERS = [*(1 + tenth / 10 for tenth in range(1, 100)), *range(12, 64)]
"""Those of the published figures."""

Offset = Callable[[float, float], float]


def pays(steps: int, alpha: float = 8.0) -> Budget:
    """The price of so many steps at one order, exactly."""
    return Budget(Fraction(DESCENT.step.at(alpha)) * steps, Fraction(alpha))


def five_hundred_steps(offset: Offset) -> Callable[[Fraction], float]:
    """The ε of 500 steps at rate .1 and δ = .002, at the best of the printed orders."""

    def stated(noise: Fraction) -> float:
        promise = Descent(Fraction(1, 10), noise).promise(500)
        return min(promise.at(alpha) + offset(alpha, 0.002) for alpha in PRINTED_ORDERS)

    return stated


def whole_batches(steps: int, delta: float) -> Callable[[Fraction], float]:
    """The ε of steps that every record joins."""
    return lambda noise: Descent(Fraction(1), noise).promise(steps).approx(delta)


@pytest.mark.parametrize("steps", [1, 7, 500, 10**6])
def test_a_budget_buys_the_steps_it_pays_for_and_no_more(steps: int) -> None:
    least = Fraction(1, 10**30)

    assert DESCENT.steps(pays(steps)) == steps
    assert DESCENT.steps(Budget(pays(steps + 1).epsilon - least, Fraction(8))) == steps


def test_equal_steps_multiply_at_every_order() -> None:
    step, many = DESCENT.step, DESCENT.promise(500)

    assert all(many.at(alpha) == pytest.approx(500 * step.at(alpha), rel=1e-15) for alpha in ORDERS)
    assert all(many.at(alpha) >= 500 * step.at(alpha) for alpha in ORDERS)


def test_leaving_out_the_last_step_shows() -> None:
    """The negative twin of the product."""
    assert all(DESCENT.promise(499).at(alpha) < 500 * DESCENT.step.at(alpha) * (1 - 1e-3) for alpha in ORDERS)


def test_a_step_has_room_for_integer_noise() -> None:
    """At the least order tabulated the lattice adds (2α−1)/(α−1) times 8e−26 for each entry."""
    steepest = max((2 * alpha - 1) / (alpha - 1) for alpha in ORDERS)

    assert MOST_ENTRIES >= 10_000_000
    assert steepest * MOST_ENTRIES * 8e-26 <= LATTICE_SLACK <= 1.1 * steepest * MOST_ENTRIES * 8e-26
    assert DESCENT.step.at(2) == subsampled_gaussian(2, 0.1, 4) + LATTICE_SLACK


@pytest.mark.parametrize(("alpha", "epsilon"), [(8, 1e-9), (2000, 1e9)])
def test_a_budget_that_pays_for_no_step_is_refused(alpha: float, epsilon: float) -> None:
    """The second order lies above all that are tabulated."""
    with pytest.raises(InvalidValue, match="does not pay for a step") as refused:
        DESCENT.steps(Budget.of(epsilon, alpha=alpha))

    assert one_sentence(refused.value)


@pytest.mark.parametrize("rate", [0, -1, 1.5, math.nan, math.inf])
def test_a_rate_is_a_chance_above_zero(rate: Real) -> None:
    with pytest.raises(InvalidValue, match="rate is") as refused:
        Descent(rate, Fraction(4))  # type: ignore[arg-type] # a caller without a type checker

    assert one_sentence(refused.value)


@pytest.mark.parametrize("noise", [0, -1, math.nan, Fraction(1, 10**300), LEAST * Fraction(999, 1000), LOUDEST + 1])
def test_a_noise_multiplier_has_a_price_and_leaves_a_signal(noise: Real) -> None:
    with pytest.raises(InvalidValue, match="noise_multiplier is") as refused:
        Descent(Fraction(1, 10), noise)  # type: ignore[arg-type] # a caller without a type checker

    assert one_sentence(refused.value)


@pytest.mark.parametrize("rate", [Fraction(1, 10**18), Fraction(1, 10), Fraction(1)])
def test_the_least_noise_there_is_a_millionth_and_has_a_finite_price(rate: Fraction) -> None:
    promise = Descent(rate, Fraction(1, 2**20)).promise(10**6)

    assert all(math.isfinite(promise.at(alpha)) for alpha in ORDERS)


def test_noise_of_a_million_clips_is_accepted_and_of_two_million_refused() -> None:
    """Sums of so much exact noise are still whole numbers in floating point (tests/unit/training/test_gradient.py)."""
    assert Descent(Fraction(1), Fraction(10**6)).step.at(2) > 0

    with pytest.raises(InvalidValue, match=r"it must be at most 1\.0\d+e\+06"):
        Descent(Fraction(1), Fraction(2 * 10**6))


@pytest.mark.parametrize(("offset", "printed"), [(lemma_7_offset, 5.662096666), (cks_offset, 4.406831168)])
def test_the_noise_for_a_price_is_the_published_one(offset: Offset, printed: float) -> None:
    stated = five_hundred_steps(offset)

    found = noise_multiplier(1.5, stated)

    assert float(found) == pytest.approx(printed, abs=2e-9)
    assert stated(found) <= 1.5 < stated(found * (1 - Fraction(1, 10**6)))


@given(
    target=st.floats(0.05, 50),
    steps=st.integers(1, 2000),
    delta=st.sampled_from([1e-2, 1e-5, 1e-9]),
)
@settings(max_examples=12)
def test_the_noise_found_never_overshoots_and_is_the_least(target: float, steps: int, delta: float) -> None:
    stated = whole_batches(steps, delta)

    found = noise_multiplier(target, stated)

    assert stated(found) <= target
    assert found == QUIETEST or target < stated(found * (1 - Fraction(1, 10**6)))


def test_noise_that_is_a_little_too_small_overshoots() -> None:
    """The negative twin: the root alone, rounded down, would be stated above the target."""
    stated = whole_batches(100, 1e-5)

    found = noise_multiplier(1.0, stated)

    assert stated(found * (1 - Fraction(1, 10**9))) > 1.0


def test_a_generous_price_gets_the_least_noise_there_is() -> None:
    assert noise_multiplier(1e9, whole_batches(1, 1e-5)) == QUIETEST
    assert noise_multiplier(inverse(QUIETEST) + 1, inverse) == QUIETEST


def test_a_price_beyond_all_meaning_gets_the_least_noise_and_no_more_than_a_lower_price() -> None:
    """An ε of 150 is still bought exactly; one of 300 or more protects nobody and gets the least noise."""
    stated = whole_batches(1, 1e-5)

    found = {target: noise_multiplier(target, stated) for target in (150.0, 190.0, 300.0, 1e9)}

    assert stated(found[150.0]) == pytest.approx(150, rel=1e-6)
    assert found[150.0] > found[190.0] >= found[300.0] == found[1e9]


def inverse(noise: Fraction) -> float:
    """An ε that is quick to state; noise that a descent refuses is never asked about."""
    assert noise <= LOUDEST
    return float(1 / noise)


@pytest.mark.parametrize("target", [10 ** (tenth / 10) for tenth in range(-60, 12)])
def test_the_noise_is_found_wherever_it_lies(target: float) -> None:
    found = noise_multiplier(target, inverse)

    assert inverse(found) <= target
    assert found <= 1 / target * (1 + 1e-9)


@pytest.mark.parametrize("least", [0.07, 0.3, 0.9, 1.1, 3.0, 1000.1])
def test_the_noise_is_found_where_the_price_drops_at_once(least: float) -> None:
    """A root from below would still cost too much; it is raised by next to nothing until it does not."""

    def stated(noise: Fraction) -> float:
        return 1.0 if noise >= least else 2.0

    assert least <= noise_multiplier(1.5, stated) <= least * (1 + 1e-9)


def test_a_price_that_is_met_exactly_is_met() -> None:
    assert noise_multiplier(inverse(LOUDEST), inverse) == LOUDEST
    assert noise_multiplier(1.0, lambda noise: 1.0) == QUIETEST


def test_a_price_out_of_reach_at_any_noise_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no amount of noise reaches") as refused:
        noise_multiplier(1e-9, lambda noise: 1e-9 + inverse(noise))

    assert one_sentence(refused.value)


def test_a_step_that_every_record_joins_is_a_plain_gaussian_release() -> None:
    whole, all_but = Descent(Fraction(1), Fraction(4)).step.curve, Descent(Fraction(99, 100), Fraction(4)).step.curve

    assert whole == Linear(Fraction(0), Fraction(1, 32), Fraction(1, 32))
    assert not isinstance(all_but, Linear)
