"""How many rows of a person count in full: chosen from noisy counts, against the noise of every step."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.errors import InvalidValue
from expost.private import Neighbours
from expost.tabular.allowance import ALLOWANCES, CLEAR, MIDDLES, allowance_of, mean_rows, require_allowed
from expost.tabular.marginals import Marginals
from expost.tabular.persons import GRID, NUMBERS

PERSON = Neighbours.ADD_REMOVE_PERSON
DOMAIN = {"a": 7, "b": 7, "c": 2}
FIRST = (("a", "b"), ("a", "c"))
ZIPF = np.array([0.35, 0.13, 0.16, 0.1, 0.09, 0.07, 0.04, 0.06])
"""Shares of persons by number of rows, with a long tail."""


def chosen(
    persons: Sequence[float], *levels: float, std: float = 1.0, first: tuple[tuple[str, ...], ...] = FIRST
) -> int:
    budgets = [Budget.of(Fraction(level), alpha=2) for level in levels]
    return allowance_of(persons, std, Marginals(DOMAIN, first, PERSON), budgets)


def zipf(persons: float) -> list[float]:
    return [float(each) for each in ZIPF * persons]


@pytest.mark.parametrize("persons", [100, 10**5, 10**9])
def test_where_every_person_has_one_row_it_is_one_however_many_they_are(persons: float) -> None:
    assert chosen([persons, *[0.0] * 7], 10.0) == 1


def test_numbers_that_noise_may_have_made_do_not_raise_it() -> None:
    noise = [0.99 * CLEAR * 900] * 7

    assert chosen([10**6, *noise], 10.0, std=900.0) == 1
    assert chosen([10**6, *noise], 10.0, std=10.0) > 1


def test_where_there_is_nobody_it_is_one() -> None:
    assert chosen([-3.0, 2.0, *[0.0] * 6], 1.0) == 1


def test_it_grows_with_persons_and_with_what_is_spent() -> None:
    by_persons = [chosen(zipf(10**power), 0.01) for power in range(3, 9)]
    by_price = [chosen(zipf(10**5), 10.0**power) for power in range(-4, 3)]

    for found in (by_persons, by_price):
        assert found == sorted(found)
        assert found[0] == 1 < found[-1] <= ALLOWANCES[-1]


def test_ten_times_the_persons_do_what_ten_times_the_price_does() -> None:
    """What weights lose by chance grows as the root of the persons, and noise shrinks as that of the price."""
    assert chosen(zipf(10**6), 1.0) == chosen(zipf(10**5), 10.0)


def test_a_step_with_much_noise_at_which_a_run_may_end_keeps_it_low() -> None:
    late, both = chosen(zipf(10**5), 1.0), chosen(zipf(10**5), 0.0001, 1.0)

    assert chosen(zipf(10**5), 0.0001) == 1 <= both < late


def test_persons_who_all_have_as_many_rows_lose_nothing_by_weights() -> None:
    assert chosen([0.0, 0.0, 0.0, 10**7, *[0.0] * 4], 10.0) == 1


def test_every_allowance_divides_the_steps_of_a_weight() -> None:
    assert all(GRID % each == 0 for each in ALLOWANCES)


def test_numbers_of_rows_are_in_the_middle_of_those_counted_together() -> None:
    assert MIDDLES[:4] == (1, 2, 4, 8)
    assert all(least <= middle for least, middle in zip(NUMBERS, MIDDLES, strict=True))
    assert all(middle < after for middle, after in zip(MIDDLES, NUMBERS[1:], strict=False))


def test_the_mean_number_of_rows_is_of_persons_who_stand_out_from_noise() -> None:
    counts = [600.0, 200.0, 0.0, 200.0, 39.0, 0.0, 0.0, -30.0]

    assert mean_rows(counts, 10.0) == pytest.approx((600 + 400 + 1600) / 1000)
    assert mean_rows([30.0] * 8, 10.0) == 1.0


@pytest.mark.parametrize("declared", [0, 3, 256, -1])
def test_an_allowance_that_weights_cannot_be_divided_by_is_refused(declared: int) -> None:
    with pytest.raises(InvalidValue, match=rf"rows per person is {declared}; give 1, 2, .* or 128"):
        require_allowed(declared, PERSON)


def test_rows_of_nobody_have_no_allowance() -> None:
    with pytest.raises(InvalidValue, match="names no unit"):
        require_allowed(2, Neighbours.ADD_REMOVE)
    require_allowed(None, Neighbours.ADD_REMOVE)
