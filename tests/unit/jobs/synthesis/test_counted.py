"""What the released counts say: totals and columns with their noise, and a file of all of them."""

import csv
from fractions import Fraction

import numpy as np
import pytest

from expost.jobs.synthesis.counted import NORMAL_95, Counted, Released, column_counts, counts_text, record_total
from expost.noise import SeededNoise
from tests.unit.report.examples import HOSTILE, schema

PLAN = Released(("plan",), np.array([60.0, 40]), 4.0)
PAIR = Released(("region", "plan"), np.array([[10.0, 20], [30, 5], [25, 14]]), 2.0)


def test_a_total_weights_each_marginal_by_the_precision_of_its_sum() -> None:
    """Sums of 100 and 104 with variances of 2·16 and 6·4."""
    total, std = record_total([PLAN, PAIR])

    assert total == pytest.approx((100 / 32 + 104 / 24) / (1 / 32 + 1 / 24))
    assert std == pytest.approx((1 / 32 + 1 / 24) ** -0.5)


def test_a_total_is_at_least_one() -> None:
    assert record_total([Released(("plan",), np.array([-60.0, -40]), 4.0)])[0] == 1.0


def test_a_column_is_read_off_every_marginal_that_holds_it() -> None:
    """The pair adds up three cells: a variance of 12 beside 16."""
    found = column_counts([PLAN, PAIR], "plan")

    assert found.values.tolist() == pytest.approx(
        ((np.array([60, 40]) / 16 + np.array([65, 39]) / 12) / (7 / 48)).tolist()
    )
    assert found.std == pytest.approx((7 / 48) ** -0.5)


def test_the_commonest_value_of_the_target_is_named_with_its_rate() -> None:
    counted = Counted.of([PLAN], ["plan"], Fraction(1, 5))

    assert schema()["plan"].labels[counted.guess("plan").code] == "basic"
    assert counted.guess("plan").rate == pytest.approx(0.6)
    assert counted.held == pytest.approx(25)


def test_a_rate_is_never_above_one() -> None:
    lopsided = Released(("plan",), np.array([110.0, -40]), 4.0)

    assert Counted.of([lopsided], ["plan"], Fraction(1, 5)).guess("plan").rate == 1.0


DRAWS = 20_000


def rates(weakened: float = 1.0) -> float:
    """How often the interval of the rate holds the true one, where total and commonest value share their noise."""
    noise, inside = SeededNoise(8), 0
    for values in np.array([600.0, 400.0]) + noise.gaussian(25.0, (DRAWS, 2)):
        counted = Counted.of([Released(("plan",), values, 25.0 * weakened)], ["plan"], Fraction(0))
        inside += abs(counted.guess("plan").rate - 0.6) <= counted.guess("plan").half
    return inside / DRAWS


@pytest.mark.statistical
def test_the_interval_of_the_rate_holds_the_true_one() -> None:
    """20,000 draws: the share is off by 0.0076 with a chance below 1e-6."""
    assert rates() >= 0.95 - 0.0076
    assert rates(weakened=0.5) < 0.95 - 0.0076


def held_outs(forgotten: bool = False) -> float:
    """How often about how many were held out is within its 95 % range, over coins and noise."""
    noise, inside = SeededNoise(9), 0
    coins = noise.gaussian(1.0, (4000, 1000)) < -0.8416212335729143
    for held, errors in zip(coins.sum(axis=1).tolist(), noise.gaussian(10.0, (4000, 2)), strict=True):
        values = np.array([0.6, 0.4]) * (1000 - held) + errors
        counted = Counted.of([Released(("plan",), values, 10.0)], ["plan"], Fraction(1, 5))
        spread = counted.std / 4 if forgotten else counted.held_std
        inside += abs(counted.held - held) <= NORMAL_95 * spread
    return inside / 4000


@pytest.mark.statistical
def test_the_number_held_out_is_known_up_to_the_noise_and_the_coins_that_held_records_out() -> None:
    """4,000 draws: the share is off by 0.017 with a chance below 1e-6."""
    assert abs(held_outs() - 0.95) < 0.017
    assert held_outs(forgotten=True) < 0.5


def test_every_count_is_a_line_with_its_columns_values_and_noise() -> None:
    lines = list(csv.DictReader(counts_text([PLAN, PAIR], schema()).splitlines()))

    assert len(lines) == 2 + 6
    assert lines[0] == {
        "column 1": "plan", "value 1": "basic", "column 2": "", "value 2": "", "count": "60.000", "std": "4",
    }  # fmt: skip
    assert lines[3] == {
        "column 1": "region", "value 1": "north", "column 2": "plan", "value 2": "full", "count": "20.000", "std": "2",
    }  # fmt: skip


def test_a_count_of_three_columns_names_all_of_them() -> None:
    three = Released(("region", "plan", "renewed"), np.arange(12.0).reshape(3, 2, 2), 2.0)

    lines = list(csv.DictReader(counts_text([PLAN, three], schema()).splitlines()))

    assert len(lines) == 2 + 12
    assert lines[0]["column 3"] == lines[0]["value 3"] == ""
    assert (lines[4]["column 3"], lines[4]["value 1"], lines[4]["count"]) == ("renewed", "north", "2.000")


def test_a_column_adds_up_triples_that_hold_it() -> None:
    """Two of 12 counts with a variance of 4 each make one of 24, beside 16."""
    three = Released(("region", "plan", "renewed"), np.arange(12.0).reshape(3, 2, 2), 2.0)

    found = column_counts([PLAN, three], "plan")

    weights = np.array([1 / 16, 1 / 24])
    np.testing.assert_allclose(found.values, (weights @ [[60, 40], [27, 39]]) / weights.sum())
    assert found.std == pytest.approx(weights.sum() ** -0.5)


def test_a_hostile_value_is_quoted_in_the_file() -> None:
    value = 'a,"b"'
    named = Released((HOSTILE, "plan"), PAIR.values, 2.0)

    lines = list(csv.DictReader(counts_text([named], schema(name=HOSTILE, value=value)).splitlines()))

    assert (lines[0]["column 1"], lines[0]["value 1"]) == (HOSTILE, value)
