"""Steps: an array of numbers has the codes that a column gives to each of them, next to a break above all."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Categorical
from expost.tabular.source.engine.domains import Domain
from expost.tabular.source.engine.kinds import CellKind
from expost.tabular.source.engine.steps import LEAST, MOST, Break
from tests.unit.tabular.source.hostile import COLUMNS, MARKS

ABSENT = frozenset({None, "", *MARKS})
DOMAINS = [Domain(column, ABSENT) for column in COLUMNS]
NUMBERED = [each for each in DOMAINS if each.steps(CellKind.REAL) is not None]
REAL_STEPS = [(each, each.steps(CellKind.REAL)) for each in NUMBERED]


def beside(number: float) -> list[float]:
    """The number and its neighbours."""
    return [math.nextafter(number, -math.inf), number, math.nextafter(number, math.inf)]


@given(number=st.floats())
def test_any_float_has_the_code_that_its_column_gives_it(number: float) -> None:
    for domain, steps in REAL_STEPS:
        assert steps is not None
        assert steps(np.array([number])).tolist() == domain.codes([number]).tolist()


@pytest.mark.parametrize("domain", NUMBERED, ids=lambda each: each.column.name)
def test_floats_beside_a_break_have_the_codes_that_their_column_gives_them(domain: Domain) -> None:
    steps = domain.steps(CellKind.REAL)
    assert steps is not None
    numbers = [each for step in steps.breaks.tolist() for each in beside(step)]

    assert steps(np.array(numbers)).tolist() == domain.codes(numbers).tolist()


@pytest.mark.parametrize("domain", NUMBERED, ids=lambda each: each.column.name)
def test_whole_numbers_beside_a_break_have_the_codes_that_their_column_gives_them(domain: Domain) -> None:
    steps = domain.steps(CellKind.WHOLE)
    assert steps is not None
    ends = [-(2**63), -(2**53) - 1, 2**53 + 1, 2**63 - 1]
    numbers = [*ends, *(each for step in steps.breaks.tolist() for each in (step - 1, step, step + 1))]

    assert steps(np.array(numbers)).tolist() == domain.codes(numbers).tolist()
    small = [each for each in numbers if abs(each) < 128]
    assert steps(np.array(small, np.int8)).tolist() == domain.codes(small).tolist()


@pytest.mark.parametrize("listed", [(LEAST + 1, MOST - 1), (-(2**62), 2**62 + 1), (MOST,), (LEAST,), (MOST - 2, MOST)])
def test_whole_numbers_that_are_listed_at_both_ends_of_64_bits_have_their_codes(listed: tuple[int, ...]) -> None:
    domain = Domain(Categorical("keys", tuple(map(str, listed)), "other", missing=Missing.CATEGORY), ABSENT)
    steps, numbers = domain.steps(CellKind.WHOLE), [LEAST, LEAST + 1, *listed, -9, 0, MOST - 1, MOST]
    assert steps is not None

    assert steps(np.array(numbers)).tolist() == domain.codes(numbers).tolist()


def test_a_break_is_the_least_number_that_is_not_before_it() -> None:
    assert (Break(0.5, strict=False).whole, Break(2, strict=True).whole, Break(-0.5, strict=True).whole) == (1, 3, 0)
    assert Break(2, strict=True).real == math.nextafter(2.0, math.inf)
    assert Break(2**53 + 1, strict=False).real == 2.0**53 + 2
