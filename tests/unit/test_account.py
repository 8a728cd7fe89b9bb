"""Accounts: running totals are what adding everything up again gives, to the last bit, whatever came in between."""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.account import PartAccount
from expost.accounting.claim import NOTHING, Promise, Spent, dearest
from expost.accounting.curve import Curve, Tabulated
from expost.accounting.descent import Descent
from expost.private import Part
from tests.unit.examples import line

WHOLE, OTHER = Part("data"), Part("data")
ONE, TWO, INNER = object(), object(), object()
TRAIN, HELD = Part("data/train", WHOLE, ONE), Part("data/held", WHOLE, ONE)
AGAIN, APART = Part("data/train", WHOLE, TWO), Part("data/held", WHOLE, TWO)
WITHIN = Part("data/train/held", TRAIN, INNER)
PARTS = (WHOLE, OTHER, TRAIN, HELD, AGAIN, APART, WITHIN)
CURVES: tuple[Curve, ...] = (
    line(0, Fraction(1, 7), Fraction(1, 7)),
    line(Fraction(1, 3), Fraction(1, 1000)),
    Descent(Fraction(1, 10), Fraction(4)).promise(3).curve,
    Tabulated.of([2, 20], [0.1, 0.7]),
)
Step = tuple[Part, Curve, str]
steps = st.lists(
    st.tuples(st.sampled_from(PARTS), st.sampled_from(CURVES), st.sampled_from(["captured", "failed", "refused"])),
    max_size=12,
)


def account(root: PartAccount, part: Part) -> PartAccount:
    above = root if part.parent is None else account(root, part.parent)
    return above.part(part if part.parent is None else part.division, part)


def spend(root: PartAccount, part: Part, curve: Curve, ending: str) -> None:
    key, its = object(), account(root, part)
    its.hold(key, Promise(curve))
    if ending != "failed":
        its.settle(key, Spent(curve) if ending == "captured" else NOTHING.as_spent())


def afresh(taken: Sequence[Step]) -> Spent:
    """The total of the same steps, gathered first and added up once: nothing is kept that could be out of date."""
    root = PartAccount()
    for part, curve, ending in taken:
        spend(root, part, curve, ending)
    return added(root)


def added(root: PartAccount) -> Spent:
    own = reduce(Spent.__add__, (promise.as_spent() for promise in root.pending.values()), root.own)
    sides = ({part.side: added(side) for part, side in each.items()} for each in root.sides)
    return reduce(Spent.__add__, map(dearest, sides), own)


def same(one: Spent, other: Spent) -> bool:
    left, right = one.curve, other.curve
    if isinstance(left, Tabulated) and isinstance(right, Tabulated):
        alike = (left.orders, left.kinds) == (right.orders, right.kinds)
        return alike and bool(np.array_equal(left.values, right.values))
    return left == right


@given(steps)
@settings(max_examples=60, deadline=None)
def test_a_running_total_is_what_adding_up_afresh_gives(taken: list[Step]) -> None:
    root = PartAccount()

    for count, (part, curve, ending) in enumerate(taken, start=1):
        spend(root, part, curve, ending)
        assert same(root.total(), afresh(taken[:count]))
        assert same(account(root, TRAIN).total(), added(account(root, TRAIN)))


def test_a_total_that_is_not_forgotten_leaves_a_step_out() -> None:
    """What the first line of every change is for."""
    root = PartAccount()
    its = account(root, WITHIN)
    before = root.total()

    its.own = its.own + Spent(CURVES[0])

    assert root.total() == before != added(root)


def test_a_change_that_is_cut_short_is_counted_in_full() -> None:
    """Sums are forgotten first: a promise that cannot be settled stays, and so does all else."""
    root, key = PartAccount(), object()
    its = account(root, HELD)
    its.hold(key, Promise(CURVES[0]))
    root.total()

    with suppress(KeyError):
        its.settle(object(), Spent(CURVES[1]))

    assert root.total() == added(root) == Spent(CURVES[0]) + Spent(CURVES[1])


@pytest.mark.parametrize("bodies", [10, 1000])
def test_a_step_adds_up_none_of_the_bodies_that_came_before_its_own(bodies: int) -> None:
    root = PartAccount()
    for _ in range(bodies):
        spend(root, Part("data"), CURVES[0], "captured")
        root.total()

    spend(root, newest := Part("data"), CURVES[0], "captured")
    known = len(root.sums)

    assert known == bodies + 1
    assert root.total() == Spent(CURVES[0]).times(bodies + 1)
    spend(root, newest, CURVES[0], "captured")
    assert len(root.sums) == known
