"""Kinds of steps: what curves know of the steps they are made of, and which runs a plan of them covers."""

import math
from fractions import Fraction

import pytest

from expost.accounting.claim import NOTHING, Promise, dearest
from expost.accounting.curve import Linear, Tabulated
from expost.accounting.descent import Descent
from expost.accounting.kinds import NO_STEPS, Kinds, Known, Sides, both, divided, either, repeated, stays_within
from expost.accounting.stops import PlannedStops

SLOW = (Fraction(1, 10), Fraction(4))
FAST = (Fraction(1, 5), Fraction(3))
STEPS = Descent(*SLOW)
LOOK = Promise(Linear(Fraction(0), Fraction(1, 50), Fraction(1, 40)))
LAPLACE = Promise(Linear(Fraction(1), Fraction(0)))


def of(slow: int = 0, fast: int = 0, rho: int = 0) -> Kinds:
    sampled = tuple((kind, count) for kind, count in ((SLOW, slow), (FAST, fast)) if count)
    return Kinds(tuple(sorted(sampled)), Fraction(rho))


def test_kinds_add_up_kind_by_kind() -> None:
    assert of(slow=2, rho=1) + of(slow=1, fast=4, rho=2) == of(slow=3, fast=4, rho=3)
    assert of(fast=1) + of(slow=1) == of(slow=1) + of(fast=1)
    assert of(slow=2, fast=1, rho=3).times(3) == of(slow=6, fast=3, rho=9)
    assert repeated(of(slow=2), 2) == of(slow=4)


def test_a_join_is_the_least_that_both_are_within() -> None:
    joined = of(slow=2, rho=1).join(of(slow=1, fast=4))

    assert joined == of(slow=2, fast=4, rho=1)
    assert of(slow=2, rho=1).within(joined)
    assert of(slow=1, fast=4).within(joined)


@pytest.mark.parametrize("less", [of(slow=1, fast=2, rho=1), of(slow=2, fast=1, rho=1), of(slow=2, fast=2), of(fast=2)])
def test_within_means_no_more_of_any_kind(less: Kinds) -> None:
    whole = of(slow=2, fast=2, rho=1)

    assert whole.within(whole)
    assert less.within(whole)
    assert not whole.within(less)


@pytest.mark.parametrize(
    ("run", "plan", "covers"),
    [
        (of(slow=2), of(slow=2), True),
        (of(slow=3), of(slow=2), False),
        (None, of(slow=2), False),
        (Sides(of(slow=2), of(rho=1)), Sides(of(slow=2), of(rho=1)), True),
        (Sides(of(slow=2), NO_STEPS), Sides(of(slow=2), of(rho=1)), True),
        (Sides(of(rho=1), of(slow=2)), Sides(of(slow=2), of(rho=1)), False),
        (Sides(of(slow=2), of(rho=2)), Sides(of(slow=2), of(rho=1)), False),
        (Sides(of(slow=1), of(slow=2)), of(slow=2), True),
        (Sides(of(slow=1), of(slow=3)), of(slow=2), False),
        (of(slow=2), Sides(of(slow=2), of(rho=1)), False),
        (of(rho=1), Sides(of(slow=2), of(rho=1)), False),
        (of(rho=1), Sides(of(slow=2, rho=1), of(rho=1)), True),
    ],
)
def test_a_run_is_covered_side_by_side(run: Known | None, plan: Known, covers: bool) -> None:
    """What every record was read by must be within both sides: which side it is on is not chosen by looking."""
    assert stays_within(run, plan) is covers


def test_what_reads_more_than_one_division_leaves_no_kinds_known() -> None:
    """It may have come first, and the division after it, by looking: then a record would be on either side."""
    parted = Sides(of(slow=2), of(rho=1))

    assert both(parted, of(slow=1)) is both(of(slow=1), parted) is both(parted, parted) is None
    assert both(parted, NO_STEPS) == both(NO_STEPS, parted) == parted
    assert both(of(slow=1), None) is both(None, of(slow=1)) is both(None, NO_STEPS) is None
    assert divided(parted, NO_STEPS) is divided(NO_STEPS, parted) is divided(None, NO_STEPS) is None
    assert repeated(parted, 2) is repeated(None, 2) is None


def test_either_of_two_covers_both() -> None:
    parted = Sides(of(slow=2), of(rho=1))

    assert either(of(slow=2), of(fast=1)) == of(slow=2, fast=1)
    assert either(parted, Sides(of(slow=3), NO_STEPS)) == Sides(of(slow=3), of(rho=1))
    assert either(parted, of(rho=2)) == Sides(of(slow=2, rho=2), of(rho=2))
    assert either(None, parted) is either(parted, None) is None


def test_curves_know_their_kinds() -> None:
    assert STEPS.promise(3).curve.kinds == of(slow=3)
    assert (STEPS.promise(3) + STEPS.promise(2) + Descent(*FAST).promise(1)).curve.kinds == of(slow=5, fast=1)
    assert (STEPS.promise(3) + LOOK).curve.kinds == Kinds(((SLOW, 3),), Fraction(1, 40))
    assert STEPS.promise(3).times(2).curve.kinds == of(slow=6)
    assert STEPS.promise(3).beside(STEPS.promise(2)).curve.kinds == of(slow=3)
    assert STEPS.promise(3).with_held(LOOK).curve.kinds == Sides(of(slow=3), Kinds((), Fraction(1, 40)))
    assert STEPS.promise(3).with_held(NOTHING).curve.kinds == Sides(of(slow=3), NO_STEPS)
    assert LOOK.with_held(LOOK).curve == LOOK.curve


def test_a_step_of_another_sort_leaves_no_kinds_known() -> None:
    table = Promise(Tabulated.of((2.0, 3.0), (1.0, 1.0)))

    for other in (LAPLACE, table):
        assert (STEPS.promise(3) + other).curve.kinds is None
        assert STEPS.promise(3).with_held(other).curve.kinds is None
        assert STEPS.promise(3).beside(other).curve.kinds is None


def test_sides_that_are_spent_cost_the_larger_of_the_two() -> None:
    parted, beside = STEPS.promise(3).with_held(LOOK), STEPS.promise(3).beside(LOOK)

    assert all(parted.at(alpha) == beside.at(alpha) for alpha in (1.1, 2, 8, 64))
    assert parted.as_spent().with_held(NOTHING.as_spent()).curve.kinds is None


def test_a_step_of_a_kind_that_was_not_planned_is_not_within_a_plan() -> None:
    assert not of(fast=1).within(of(slow=5))
    assert not of(slow=1).within(NO_STEPS)


def test_kinds_for_every_record_and_kinds_by_side_are_joined_side_by_side() -> None:
    by_side = Sides(of(slow=2), of(rho=1))

    assert either(of(fast=1), by_side) == either(by_side, of(fast=1)) == Sides(of(slow=2, fast=1), of(fast=1, rho=1))


def test_a_line_with_a_profile_is_plain_gaussian_noise_and_one_without_is_of_no_known_kind() -> None:
    assert LOOK.curve.kinds == Kinds((), Fraction(1, 40))
    assert LAPLACE.curve.kinds is None


def test_the_two_sides_of_a_division_are_known_apart() -> None:
    steps, look = STEPS.promise(3).as_spent(), LOOK.as_spent()
    sides = Sides(of(slow=3), Kinds((), Fraction(1, 40)))

    assert dearest({"train": steps, "held": look}).curve.kinds == sides
    assert dearest({"train": steps}).curve.kinds == Sides(of(slow=3), NO_STEPS)
    assert not isinstance(dearest({"train": steps, "other": look}).curve.kinds, Sides)


def test_a_run_is_stated_by_the_cheapest_stop_whose_kinds_it_stays_within() -> None:
    pledge = PlannedStops((STEPS.promise(50), STEPS.promise(100)), 1e-5)
    first, second = pledge.table

    assert first.kinds == of(slow=50)
    assert pledge.epsilon(STEPS.promise(40)) == first.epsilon < second.epsilon
    assert pledge.epsilon(STEPS.promise(60)) == second.epsilon
    assert pledge.epsilon(STEPS.promise(101)) == pledge.epsilon(Descent(*FAST).promise(1)) == math.inf
