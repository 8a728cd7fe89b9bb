"""Statements add up from above, numbers of runs have the law that was asked for, and what is neither is refused."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import (
    LONGEST,
    SHORTEST,
    SelectionBill,
    Statement,
    TruncatedNegativeBinomial,
)
from expost.errors import InvalidValue

ETAS = (-0.9, -0.5, 0.0, 0.5, 1.0)


def statement(epsilon: float, delta: float = 0.0) -> Statement:
    return Statement(AdpEpsilon(epsilon), delta)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf])
def test_a_statement_needs_a_finite_epsilon_of_at_least_zero(epsilon: float) -> None:
    with pytest.raises(InvalidValue, match="epsilon is"):
        statement(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, -1.0, 1.0, 1.5, math.nan])
def test_a_statement_needs_a_delta_of_at_least_zero_and_below_one(delta: float) -> None:
    with pytest.raises(InvalidValue, match="delta is"):
        statement(1.0, delta)


@pytest.mark.parametrize(("left", "right"), [(0.1, 0.2), (0.1, 0.7), (1e-20, 0.5), (0.25, 0.5), (0.0, 0.3)])
def test_two_statements_add_to_the_next_float_above(left: float, right: float) -> None:
    both = statement(left, left) + statement(right, right)

    for added in (both.epsilon, both.delta):
        assert math.nextafter(added, 0) < Fraction(left) + Fraction(right) <= added


def test_statements_that_leave_no_chance_do_not_add() -> None:
    with pytest.raises(InvalidValue, match=r"delta is 1\.2"):
        statement(1.0, 0.6) + statement(1.0, 0.6)


def test_a_statement_adds_to_no_number() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        statement(1.0) + 1  # type: ignore[operator] # a caller without a type checker


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: TruncatedNegativeBinomial(-1.0, 0.5), "eta is -1; it must be above -1"),
        (lambda: TruncatedNegativeBinomial(-1.5, 0.5), "eta is -1.5"),
        (lambda: TruncatedNegativeBinomial(math.nextafter(1, 2), 0.5), "and at most 1"),
        (lambda: TruncatedNegativeBinomial(2.0, 0.5), "eta is 2"),
        (lambda: TruncatedNegativeBinomial(math.nan, 0.5), "eta is nan"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.0), "gamma is 0.0"),
        (lambda: TruncatedNegativeBinomial(0.0, 1.0), "gamma is 1.0"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.5).met(-1e-9), "chance is -1e-09"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.5).met(1.5), "chance is 1.5"),
        (lambda: TruncatedNegativeBinomial(0.0, 0.5).met(math.nan), "chance is nan"),
        (lambda: SelectionBill(TruncatedNegativeBinomial(0.0, 0.5), ()), "there are no configurations"),
    ],
)
def test_what_is_no_law_chance_or_choice_is_refused(refused: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        refused()


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("mean", [1 + 1e-6, 1.5, 2.0, 10.0, 1e3, 1e10])
def test_a_law_is_found_by_its_mean(eta: float, mean: float) -> None:
    runs = TruncatedNegativeBinomial.with_mean(mean, eta=eta)

    assert runs.eta == eta
    assert runs.mean == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("mean", [1 + 1e-12, 1e200])
def test_a_geometric_law_is_found_for_hardly_more_than_one_run_and_for_very_many(mean: float) -> None:
    assert TruncatedNegativeBinomial.with_mean(mean, eta=1.0).mean == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("mean", [-1.0, 0.5, 1.0, math.inf, math.nan])
def test_a_mean_that_no_law_has_is_refused(eta: float, mean: float) -> None:
    with pytest.raises(InvalidValue, match="it must lie strictly between 1 and"):
        TruncatedNegativeBinomial.with_mean(mean, eta=eta)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize(("end", "inwards"), [(SHORTEST, 2.0), (LONGEST, 0.5)])
def test_the_ends_of_the_means_that_are_found_are_refused_themselves(eta: float, end: float, inwards: float) -> None:
    mean, inside = (TruncatedNegativeBinomial(eta, math.exp(-at)).mean for at in (end, inwards * end))

    assert TruncatedNegativeBinomial.with_mean(inside, eta=eta).mean == pytest.approx(inside, rel=1e-12)
    with pytest.raises(InvalidValue, match="it must lie strictly between 1 and"):
        TruncatedNegativeBinomial.with_mean(mean, eta=eta)


@pytest.mark.parametrize("k", [0, -1])
def test_there_is_at_least_one_run(k: int) -> None:
    assert TruncatedNegativeBinomial(0.5, 0.2).pmf(k) == 0


@pytest.mark.parametrize("eta", ETAS)
def test_what_happens_in_every_run_happens_for_sure(eta: float) -> None:
    assert TruncatedNegativeBinomial(eta, 0.3).met(1.0) == 1


@pytest.mark.parametrize("eta", [1e-21, -1e-21, 1e-20, 1e-19, -1e-19])
def test_a_law_next_to_the_logarithmic_one_is_hardly_different(eta: float) -> None:
    near, at = TruncatedNegativeBinomial(eta, 1e-9), TruncatedNegativeBinomial(0.0, 1e-9)

    assert (near.mean, near.met(1e-3)) == pytest.approx((at.mean, at.met(1e-3)), rel=1e-14)


@pytest.mark.parametrize("deltas", [(1e-9,), (1e-9, 3e-9), (0.0, 0.0, 6e-9)])
def test_a_small_delta_is_the_mean_of_all_times_the_number_of_runs(deltas: tuple[float, ...]) -> None:
    runs = TruncatedNegativeBinomial(0.0, 0.01)
    expected = runs.mean * math.fsum(deltas) / len(deltas)

    bill = SelectionBill(runs, tuple(statement(1.0, delta) for delta in deltas))

    assert bill.delta == bill.passed(0).delta == bill.none_passed.delta == pytest.approx(expected, rel=1e-6)
