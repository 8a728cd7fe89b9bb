"""The profile of the cap: where the curve lies, whose it is, and where none is drawn."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from expost.accounting.claim import Promise
from expost.accounting.curve import ORDERS, AdpEpsilon, Linear, Tabulated
from expost.accounting.gaussian import gaussian_delta
from expost.report.digits import price
from expost.report.page import render
from expost.report.profile import FLOOR, LEFT, RIGHT, TOP, WIDTH, most_spent, profile_chart, profile_reading
from tests.unit.report.examples import facts
from tests.unit.report.pages import said

DELTA = 1e-5
LOWEST = -9
GAUSSIAN = Promise(Linear(Fraction(0), Fraction(1, 18), Fraction(1, 18)))


def points(chart: str) -> list[tuple[float, float]]:
    """The drawn curve, from left to right, in pixels."""
    found = re.search(r'class="curve" points="([^"]*)"', chart)
    assert found is not None
    pairs = [each.split(",") for each in found[1].split()]
    return sorted((float(x), float(y)) for x, y in pairs)


def drawn(promise: Promise) -> list[tuple[float, float]]:
    """The drawn curve as pairs of ε and δ."""
    farthest = 1.04 * promise.approx(10.0**LOWEST)
    return [
        ((x - LEFT) / (WIDTH - LEFT - RIGHT) * farthest, 10 ** ((y - TOP) / (FLOOR - TOP) * LOWEST))
        for x, y in points(profile_chart(promise, DELTA))
    ]


def test_the_curve_of_gaussian_noise_is_its_profile() -> None:
    for epsilon, delta in drawn(GAUSSIAN):
        assert math.log10(delta) == pytest.approx(math.log10(gaussian_delta(epsilon, Fraction(1, 18))), abs=0.02)


def test_a_curve_that_is_only_known_order_by_order_lies_above_that_profile() -> None:
    table = Promise(Tabulated.of(ORDERS, [alpha / 18 for alpha in ORDERS]))

    pairs = drawn(table)

    assert all(delta > 1.5 * gaussian_delta(epsilon, Fraction(1, 18)) for epsilon, delta in pairs)
    assert all(table.approx(delta) == pytest.approx(epsilon, abs=0.01) for epsilon, delta in pairs)


def test_the_curve_falls_from_left_to_right() -> None:
    heights = [y for _, y in points(profile_chart(GAUSSIAN, DELTA))]

    assert heights == sorted(heights)
    assert heights[-1] == FLOOR


def test_it_is_the_curve_of_the_last_stop_within_the_cap() -> None:
    told = facts()
    second = told.stops[1]

    capped = most_spent(replace(told, cap=AdpEpsilon(second.epsilon)))

    assert most_spent(told) == told.stops[-1].promise
    assert capped == second.promise
    reading = profile_reading(replace(told, cap=second.epsilon), capped)[0]
    assert f"within the cap of ε = {price(second.epsilon)} or before" in reading


def test_the_curve_is_below_the_price_of_the_last_rung_which_divides_delta() -> None:
    told = facts()
    promise = most_spent(told)

    assert promise is not None
    assert promise.approx(told.delta) < told.stops[-1].epsilon
    assert "a little higher" in " ".join(profile_reading(told, promise))
    assert len(profile_reading(replace(told, stops=told.stops[:1]), promise)) == 1


def test_prices_below_the_curve_are_not_said_to_be_higher() -> None:
    """The last stop of a trained module cost 5.46 beside a curve at 5.55."""
    told = facts()
    promise = most_spent(told)
    assert promise is not None
    cheaper = replace(told, stops=tuple(replace(stop, epsilon=AdpEpsilon(stop.epsilon / 2)) for stop in told.stops))

    assert "follow from more than that bound" in " ".join(profile_reading(cheaper, promise))


def test_the_page_has_the_curve_where_something_is_stated_and_stops_are_planned() -> None:
    told = facts()

    assert "The most this could have cost" in said(render(told))
    assert "The most this could have cost" not in said(render(replace(told, stops=())))
    assert "The most this could have cost" not in said(
        render(replace(told, epsilon=AdpEpsilon(math.inf), pledge=None, rungs=told.rungs[:1]))
    )


@pytest.mark.parametrize("delta", [0.4, 1e-30, 1e-299])
def test_a_large_or_a_tiny_delta_is_drawn_with_a_few_levels(delta: float) -> None:
    chart = profile_chart(GAUSSIAN, delta)

    assert "nan" not in chart
    assert "inf" not in chart
    assert 3 <= len(re.findall(r">(?:δ = 1|1e-\d+)</text>", chart)) <= 9


def test_a_stop_without_a_claim_leaves_nothing_to_draw() -> None:
    told = facts()
    nothing = Promise(Tabulated.of([2.0], [math.inf]))
    endless = replace(told.stops[-1], promise=nothing, epsilon=AdpEpsilon(math.inf))

    assert most_spent(replace(told, stops=(*told.stops, endless))) is None
    assert most_spent(replace(told, stops=(*told.stops, endless), cap=AdpEpsilon(9.0))) == told.stops[-1].promise


def test_a_gaussian_curve_is_named_by_its_mu_and_no_other() -> None:
    table = Promise(Tabulated.of(ORDERS, [alpha / 18 for alpha in ORDERS]))

    assert "Gaussian noise with μ = 0.334" in profile_reading(facts(), GAUSSIAN)[0]
    assert "at the best order" in profile_reading(facts(), table)[0]
