"""Answers: a range that holds the true share as often as it says, whatever the number that it is divided by."""

import math

import numpy as np
import pytest

from expost.noise import Floats, SeededNoise
from expost.report.answers import ratio_half, sampling_half

RUNS = 100_000
WIDTH = 1.959963984540054
MARGINS = {"at the target": 0.0, "well above it": 300.0, "far below it": -550.0}


def coverage(margin: float, std: float, records: float, records_std: float, told_std: float) -> float:
    """How often the range holds the true ratio, over many noisy margins and numbers of records."""
    noise = SeededNoise(3)
    margins = margin + noise.gaussian(std, (RUNS,))
    counts = records + noise.gaussian(records_std, (RUNS,))
    pairs = zip(margins.tolist(), counts.tolist(), strict=True)
    held = [abs(m / n - margin / records) <= ratio_half(m, std, n, told_std, width=WIDTH) for m, n in pairs]
    return float(np.mean(held))


@pytest.mark.statistical
@pytest.mark.parametrize("margin", MARGINS.values(), ids=MARGINS)
@pytest.mark.parametrize("records_std", [5.0, 30.0, 120.0])
def test_the_range_of_a_ratio_holds_it_as_often_as_it_says(margin: float, records_std: float) -> None:
    """100,000 draws: the share is off by 0.0035 with a chance below 1e-6."""
    assert coverage(margin, 10.0, 1000.0, records_std, records_std) >= 0.95 - 0.0035


@pytest.mark.statistical
def test_without_the_noise_of_the_denominator_the_range_would_hold_it_far_too_seldom() -> None:
    assert coverage(300.0, 10.0, 1000.0, 120.0, 0.0) < 0.5
    assert coverage(-550.0, 2.0, 1000.0, 30.0, 0.9 * 30) < 0.95 - 0.0035, "a tenth too little is noticed"


def test_a_ratio_over_an_exact_number_has_the_noise_of_its_numerator_alone() -> None:
    assert ratio_half(200, 10, 1000, 0, width=2) == pytest.approx(0.02)


def test_a_margin_of_nothing_is_divided_by_anything() -> None:
    assert ratio_half(0, 10, 1000, 0, width=2) == pytest.approx(ratio_half(0, 10, 1000, 100, width=2), rel=0.03)


def test_a_number_of_records_that_may_be_zero_rules_nothing_out() -> None:
    assert ratio_half(10, 1, 100, 60, width=2) == 1.0


def test_the_ends_are_where_the_noise_just_accounts_for_the_difference() -> None:
    """Fieller's equation holds at the farther end."""
    number, std, records, records_std, width = 300.0, 10.0, 1000.0, 60.0, 2.0
    end = number / records + ratio_half(number, std, records, records_std, width=width)

    assert abs(number - end * records) == pytest.approx(width * math.hypot(std, end * records_std))


@pytest.mark.statistical
def test_the_sampling_error_is_that_of_a_share_and_no_smaller_for_any_score() -> None:
    noise = SeededNoise(4)
    uniform: Floats = (noise.gaussian(1.0, (2000, 500)) > 0.8416).astype(np.float64)
    means = uniform.mean(axis=1)

    within = np.abs(means - 0.2) <= [sampling_half(float(mean), 500, width=WIDTH) for mean in means]

    assert 0.92 < float(np.mean(within)) < 0.98
    assert sampling_half(1.3, 500, width=WIDTH) == 0.0
    assert sampling_half(0.5, 0.0, width=9.0) == 1.0
