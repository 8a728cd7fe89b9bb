"""How much of a person counts, as chosen from noisy counts of how long persons are."""

from fractions import Fraction

import numpy as np
import pytest

from expost.jobs.asking.contribution import BOUNDS, Cut, cuts_in
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.gaussian import Measurement

TALLY = Tally.of(queries_in("count by ward")[0])


def cut(counts: dict[int, float], std: int = 2) -> Cut:
    """What is made of so many persons up to each length."""
    values = np.array([counts.get(each, 0.0) for each in (*BOUNDS, 2 * BOUNDS[-1])])
    return cuts_in((TALLY,), Measurement(values, Fraction(std**2)))[TALLY]


@pytest.mark.parametrize(
    ("counts", "most"),
    [
        ({1: 900.0}, 1),
        ({1: 500.0, 4: 400.0}, 4),
        ({1: 5000.0, 4: 4.0}, 1),
        ({1: 100.0, 512: 50.0, 1024: 50.0}, 512),
        ({}, 1),
    ],
    ids=["one row each", "four rows of many", "four rows of few", "more than counts", "nobody"],
)
def test_the_least_bound_that_cuts_little_is_chosen(counts: dict[int, float], most: int) -> None:
    assert cut(counts).most == most


def test_a_count_that_noise_may_have_made_does_not_raise_the_bound() -> None:
    """Where it is beyond doubt, it does."""
    assert cut({1: 100.0, 512: 2.9}).most == 1
    assert cut({1: 100.0, 512: 30.0}).most == 512


def test_the_share_of_persons_who_are_cut_is_told_with_its_noise() -> None:
    found = cut({1: 9990.0, 2: 10.0})

    assert found.most == 1
    assert found.share == pytest.approx(0.001)
    assert found.std == pytest.approx(2 * np.sqrt(len(BOUNDS)) / 10_000)


def test_how_much_of_all_rows_is_cut_at_most_is_told_as_far_as_noise_lets_it() -> None:
    """With two standard deviations, of a count that is small beside its noise, too."""
    few, many, hidden = cut({1: 99_900.0, 2: 100.0}, std=1), cut({1: 1e7}, std=1), cut({1: 4000.0}, std=200)

    noise = 2 * np.sqrt(sum((each - 1) ** 2 for each in (*BOUNDS[1:], 2 * BOUNDS[-1])))
    assert few.lost == pytest.approx((100 + noise) / (100_000 + 100 + noise), rel=0.01)
    assert many.lost < 0.001
    assert hidden.lost > 0.9
    assert cut({}).lost == 1.0
