"""What receipts write of curves, and what they refuse to read."""

import json
from fractions import Fraction
from typing import Any

import pytest

from expost.accounting.claim import NOTHING, Promise
from expost.accounting.curve import Linear
from expost.accounting.descent import Descent
from expost.accounting.stops import PlannedStops
from expost.errors import Unreadable
from expost.receipts.costs import MOST_KINDS, curve_in, curve_out, pledge_in, pledge_out

STEPS = Descent(Fraction(1, 10), Fraction(9, 2)).promise(50)
LOOK = Promise(Linear(Fraction(0), Fraction(1, 500), Fraction(1, 400)))


@pytest.mark.parametrize(
    "promise", [STEPS, STEPS + LOOK, STEPS.with_held(LOOK), STEPS.with_held(NOTHING), LOOK], ids=str
)
def test_kinds_are_read_back_as_they_were_written(promise: Promise) -> None:
    read = curve_in(json.loads(json.dumps(curve_out(promise.curve))))

    assert read.kinds == promise.curve.kinds is not None


def test_a_pledge_is_read_back_with_the_same_statements() -> None:
    pledge = PlannedStops((STEPS, STEPS.times(2).with_held(LOOK)), 1e-5)

    read = pledge_in(json.loads(json.dumps(pledge_out(pledge))))

    assert isinstance(read, PlannedStops)
    assert [(stop.epsilon, stop.kinds) for stop in read.table] == [(each.epsilon, each.kinds) for each in pledge.table]
    assert all(stop.kinds is not None for stop in read.table)


def kind(**changes: Any) -> dict[str, Any]:
    return {"rate": "1/10", "noise multiplier": "9/2", "steps": 50} | changes


@pytest.mark.parametrize(
    "kinds",
    [
        {"sampled": [kind(rate="0")], "rho": "0"},
        {"sampled": [kind(rate="11/10")], "rho": "0"},
        {"sampled": [kind(**{"noise multiplier": "0"})], "rho": "0"},
        {"sampled": [kind(**{"noise multiplier": "-1"})], "rho": "0"},
        {"sampled": [kind(steps=0)], "rho": "0"},
        {"sampled": [kind(steps=10**9)], "rho": "0"},
        {"sampled": [kind(), kind()], "rho": "0"},
        {"sampled": [kind(rate=f"1/{many}") for many in range(2, MOST_KINDS + 3)], "rho": "0"},
        {"sampled": [kind()], "rho": "-1"},
        {"train": {"sampled": [kind()], "rho": "0"}, "held": {"sampled": [kind()], "rho": "-1"}},
        {"train": {"sampled": [kind(steps=-1)], "rho": "0"}, "held": {"sampled": [], "rho": "0"}},
        [],
        "many",
    ],
    ids=str,
)
def test_kinds_that_are_none_are_refused(kinds: object) -> None:
    written = {**curve_out(STEPS.curve), "kinds": kinds}

    with pytest.raises(Unreadable):
        curve_in(json.loads(json.dumps(written)))


def test_as_many_kinds_as_may_be_are_read() -> None:
    kinds: Any = {"sampled": [kind(rate=f"1/{many}") for many in range(2, MOST_KINDS + 2)], "rho": "0"}

    assert curve_in({**curve_out(STEPS.curve), "kinds": kinds}).kinds is not None
