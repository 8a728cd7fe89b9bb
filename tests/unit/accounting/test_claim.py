"""Promises and bills: exact budgets, sums and maxima by the rules of their curves, and the best ex-ante statement."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting import convert
from expost.accounting.claim import NOTHING, Budget, Promise, Spent, best_statement, best_tail
from expost.accounting.curve import Curve, Tabulated, highest
from expost.accounting.gaussian import gaussian_delta
from expost.errors import InvalidValue
from expost.numerics import Real
from tests.unit.examples import budget, line

DELTA = 1e-5


def test_a_budget_is_the_binary_fraction_that_was_given() -> None:
    assert budget(0.1).epsilon == Fraction(0.1)


def test_a_budget_in_zcdp_is_epsilon_over_alpha() -> None:
    assert budget(Fraction(1, 100)).rho == Fraction(1, 2000)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_a_budget_has_a_positive_finite_epsilon(epsilon: Real) -> None:
    with pytest.raises(InvalidValue, match="epsilon is"):
        budget(epsilon)


@pytest.mark.parametrize("alpha", [1, 0.5, -2, math.nan, math.inf])
def test_a_budget_has_a_finite_order_above_one(alpha: Real) -> None:
    with pytest.raises(InvalidValue, match="alpha is"):
        budget(1, alpha)


def test_a_budget_made_by_hand_is_validated_too() -> None:
    with pytest.raises(InvalidValue, match="epsilon is 0"):
        Budget(Fraction(0), Fraction(2))


@pytest.mark.parametrize("kind", [Promise, Spent])
def test_steps_on_the_same_data_add(kind: type[Promise] | type[Spent]) -> None:
    assert (kind(line(1, 2)) + kind(line(3, 4))).curve == line(4, 6)  # type: ignore[operator] # both of one kind


@pytest.mark.parametrize("kind", [Promise, Spent])
def test_steps_on_disjoint_parts_cost_the_maximum(kind: type[Promise] | type[Spent]) -> None:
    assert kind(line(0, 2)).beside(kind(line(0, 3))).curve == line(0, 3)  # type: ignore[arg-type] # both of one kind


@pytest.mark.parametrize("kind", [Promise, Spent])
def test_equal_steps_multiply(kind: type[Promise] | type[Spent]) -> None:
    assert kind(line(1, 2)).times(3).curve == line(3, 6)


def test_a_promise_that_is_kept_is_spent_in_full() -> None:
    assert Promise(line(1, 2)).as_spent() == Spent(line(1, 2))


def test_nothing_is_stated_as_zero() -> None:
    assert best_statement(NOTHING, DELTA) == (0.0, None)


def test_a_known_gaussian_is_stated_by_its_exact_profile() -> None:
    epsilon, alpha = best_statement(Promise(line(0, Fraction(1, 20), Fraction(1, 20))), DELTA)

    assert alpha is None
    assert epsilon == pytest.approx(1.199369574, abs=1e-9)


def test_the_exact_profile_keeps_its_delta() -> None:
    epsilon = Promise(line(0, Fraction(1, 20), Fraction(1, 20))).approx(DELTA)

    assert gaussian_delta(epsilon, 0.05) <= DELTA


def test_a_line_without_a_gaussian_is_stated_at_its_best_order() -> None:
    epsilon, alpha = best_statement(Promise(line(0, Fraction(1, 20))), DELTA)

    assert epsilon == pytest.approx(1.308118343, abs=1e-9)
    assert alpha == pytest.approx(14.3058, abs=1e-4)


def test_a_table_is_stated_at_its_best_order() -> None:
    table = Tabulated.of([2, 20], [0.1, 1])

    epsilon, alpha = best_statement(Promise(table), DELTA)

    assert alpha == 20
    assert epsilon == pytest.approx(1 + convert.cks_offset(20, DELTA))


def test_a_table_is_stated_at_orders_of_its_own() -> None:
    """At the usual order below, 20, it would be stated as its own next order, and larger."""
    epsilon, alpha = best_statement(Promise(Tabulated.of([2, 20.05], [0.1, 1])), DELTA)

    assert alpha == 20.05
    assert epsilon == pytest.approx(1 + convert.cks_offset(20.05, DELTA))


@pytest.mark.parametrize(
    ("statement", "offset"), [(best_statement, convert.cks_offset), (best_tail, convert.lemma_7_offset)]
)
def test_crossing_lines_are_stated_nearly_at_the_best_of_all_orders(
    statement: Callable[[Promise, float], tuple[float, float | None]], offset: convert.Offset
) -> None:
    above = highest(line(1, 0), line(0, Fraction(1, 20)))
    least = min(above.at(alpha) + offset(alpha, DELTA) for alpha in np.linspace(1.001, 100, 20_000).tolist())

    epsilon, alpha = statement(Promise(above), DELTA)

    assert alpha is not None
    assert above.at(alpha) + offset(alpha, DELTA) <= epsilon < 1.001 * least


def test_a_promise_of_infinity_makes_no_claim() -> None:
    assert Promise(Tabulated.of([2], [math.inf])).approx(DELTA) == math.inf


def test_a_profile_wider_than_the_best_order_is_not_used() -> None:
    """The Gaussian of which the release is known to be a function may be much wider than its curve."""
    loose, plain = Promise(line(0, Fraction(1, 20), 5)), Promise(line(0, Fraction(1, 20)))

    assert loose.approx(DELTA) == plain.approx(DELTA)


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan])
@pytest.mark.parametrize("curve", [line(0, 0, 0), line(0, 1), line(0, 1, 1), Tabulated.of([2], [1])])
def test_a_statement_needs_a_delta_between_zero_and_one(curve: Curve, delta: float) -> None:
    with pytest.raises(InvalidValue, match="delta is"):
        Promise(curve).approx(delta)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "rho"),
    [
        (1, 20, Fraction(1, 20)),
        (0.1, 1.5, Fraction(0.1) / Fraction(3, 2)),
        (np.int64(1), np.int32(20), Fraction(1, 20)),
        (np.uint8(200), np.uint8(200), Fraction(1)),
        (np.float64(0.1), 20, Fraction(0.1) / 20),
    ],
)
def test_a_budget_of_plain_numbers_is_exact(epsilon: Real, alpha: Real, rho: Fraction) -> None:
    plain = Budget(epsilon, alpha)  # type: ignore[arg-type] # a caller without a type checker

    assert plain.rho == rho
    assert plain == Budget.of(epsilon, alpha=alpha)


@pytest.mark.parametrize("epsilon", [1, np.int64(1), np.int8(1), 0.1])
def test_the_numbers_of_a_budget_cannot_wrap_around(epsilon: Real) -> None:
    plain = Budget(epsilon, np.int8(20))  # type: ignore[arg-type] # a caller without a type checker

    assert {type(part) for part in (*plain.epsilon.as_integer_ratio(), *plain.alpha.as_integer_ratio())} == {int}


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, np.float64("inf"), np.int64(0)])
def test_a_plain_number_that_is_no_budget_is_refused(epsilon: Real) -> None:
    with pytest.raises(InvalidValue, match="epsilon is"):
        Budget(epsilon, 20)  # type: ignore[arg-type] # a caller without a type checker


@pytest.mark.parametrize("steps", [3000, np.int32(3000), np.int64(3000)])
def test_equal_steps_counted_by_an_array_multiply_without_wrapping_around(steps: int) -> None:
    """The third of 2**-60 has a numerator and denominator that 64 bits do not hold three thousand times."""
    tiny = Fraction(2**60 - 1, 3 * 2**60)

    assert Promise(line(0, tiny)).times(steps).curve == line(0, 3000 * tiny)
