"""A record's contribution is its own affair: to the last bit the same alone, in company, and however data is stored.

The attack: rows that hang on the last bit of their norm. Arithmetic that groups by memory layout, size or type of the
whole array then moves all of them at once when one record joins.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from expost import statistic
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, SeededNoise
from expost.norms import row_norms
from expost.private import Private
from expost.release import Past
from expost.statistic import Statistic, bounded_sum
from expost.training.head import score
from expost.training.head.arrays import InNumpy
from expost.training.head.gradient import IntegerSums
from expost.training.head.score import unit
from tests.unit.examples import ADD, budget, rehearsal, silence
from tests.unit.layouts import LAYOUTS, Rows, plain_norms

WIDTH = 64

TYPES = ["f2", "f4", "f8", ">f4", ">f8", "i1", "i8", ">i4", "u2"]


def edge() -> Floats:
    """A row of norm 1, or a little more: the small squares vanish one by one beside the 1, and together do not."""
    row = np.full(WIDTH, 2.0**-27)
    row[0] = 1.0
    return row


def drawn(records: int, kind: str) -> Rows:
    """Rows on the edge and random ones, in this type."""
    if np.dtype(kind).kind == "f":
        return np.vstack([np.tile(edge(), (records, 1)), SeededNoise(1).gaussian(0.2, (records, WIDTH))]).astype(kind)
    return np.round(SeededNoise(1).gaussian(9.0, (2 * records, WIDTH))).astype(kind)


def summed(rows: Rows) -> NDArray[np.int64]:
    """The bounded sum at one unit to the clip: a contribution is a whole unit or nothing."""
    same: Statistic[Rows] = bounded_sum(lambda data: data, WIDTH, ADD, clip=1, spacing=1)
    return same.evaluate(rows)


def each_summed(rows: Rows) -> NDArray[np.int64]:
    return np.array([summed(rows[place : place + 1]) for place in range(len(rows))]).reshape(-1, WIDTH)


def same_in_any_company(contributions: Callable[[Rows], Rows], rows: Rows) -> bool:
    """Whether each row gets by itself, as a copy stored row by row, what it gets among the others as they are."""
    together = contributions(rows)
    alone = [contributions(np.array(rows[place : place + 1], order="C"))[0] for place in range(len(rows))]
    return together.tobytes() == np.array(alone, together.dtype).reshape(together.shape).tobytes()


CASES = list(itertools.product(LAYOUTS, TYPES, [1, 2, 30]))


def layouts(contributions: Callable[[Rows], Rows]) -> list[tuple[str, str, int]]:
    """The layouts, types and sizes for which a row gets something else in company."""
    return [
        (layout, kind, records)
        for layout, kind, records in CASES
        if not same_in_any_company(contributions, LAYOUTS[layout](drawn(records, kind)))
    ]


def test_a_norm_is_the_same_in_any_company() -> None:
    assert layouts(row_norms) == []


def test_a_norm_along_an_axis_is_not() -> None:
    """The negative twin."""
    assert layouts(plain_norms) != []


def test_a_row_is_scaled_alike_in_any_company() -> None:
    assert layouts(unit) == []


def single_edge() -> NDArray[np.float32]:
    """A row whose first entry over its norm lies between two floats of single precision, by the norm's last bits."""
    squared = 1 / Fraction(2**24 + 1, 2**25) ** 2
    rest = squared - 1 - 7 * Fraction(1, 2**50)  # half of what the many small squares add up to, if they do
    large = []
    while rest > Fraction(1, 2**53):
        large.append(np.nextafter(np.float32(math.sqrt(rest)), np.float32(0)))
        rest -= Fraction(float(large[-1])) ** 2
    return np.array([1.0, *large, *[2.0**-26] * (WIDTH - 1 - len(large))], np.float32)


def scaled_in_both_layouts() -> tuple[float, float]:
    """The first entry of two equal records, stored column by column and row by row."""
    rows = np.tile(single_edge(), (2, 1))
    return float(unit(np.asfortranarray(rows))[0, 0]), float(unit(rows)[0, 0])


def test_a_row_on_the_edge_of_single_precision_is_scaled_alike() -> None:
    by_column, by_row = scaled_in_both_layouts()

    assert by_column == by_row


def test_scaled_by_a_norm_along_an_axis_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin."""
    monkeypatch.setattr(score, "row_norms", plain_norms)

    by_column, by_row = scaled_in_both_layouts()

    assert by_column != by_row


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("records", [0, 1, 2, 30])
def test_a_bounded_sum_is_that_of_the_records_alone(layout: str, kind: str, records: int) -> None:
    rows = LAYOUTS[layout](drawn(records, kind))

    assert summed(rows).tolist() == each_summed(rows).sum(axis=0).tolist()


@pytest.mark.parametrize("records", [2, 1000])
def test_a_bounded_sum_by_a_norm_along_an_axis_is_not(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: of all records each one counts alone for nothing, and in company for 1."""
    monkeypatch.setattr(statistic, "row_norms", plain_norms)
    rows = np.asfortranarray(np.tile(edge(), (records, 1)))

    assert int(summed(rows)[0]) - int(each_summed(rows).sum(axis=0)[0]) == records


def released(rows: Rows) -> int:
    """The first cell of a release without noise, through the odometer."""
    total: Statistic[Rows] = bounded_sum(lambda data: data, WIDTH, ADD, clip=1, spacing=1)
    measured = rehearsal().spend(Gaussian(total), Private(rows), budget(1), Past(), silence())
    return int(measured.value.values[0])


def neighbours() -> tuple[int, int]:
    """1,000 records as one export stores them, and one more as another does."""
    rows = np.tile(edge(), (1001, 1))
    return released(np.asfortranarray(rows[:1000])), released(np.ascontiguousarray(rows))


def test_one_more_record_moves_a_release_by_one_however_both_are_stored() -> None:
    fewer, more = neighbours()

    assert abs(more - fewer) <= 1


def test_by_a_norm_along_an_axis_one_more_record_moves_it_by_a_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: the attack as it was."""
    monkeypatch.setattr(statistic, "row_norms", plain_norms)

    fewer, more = neighbours()

    assert abs(more - fewer) == 1000


@pytest.mark.parametrize("spacing", [1.0, 2.0**1000, 2.0**-1000])
def test_no_record_leaves_the_integers(spacing: float) -> None:
    """A spacing so large that its multiples leave the floats used to let −2**63 through as a norm of 0."""
    total: Statistic[Rows] = bounded_sum(lambda data: data, 2, ADD, clip=4 * spacing, spacing=spacing)
    wild = np.array([[np.inf, np.nan], [-np.inf, 1e308], [1e-308, 5e-324], [np.finfo(np.float64).max, -1.0]])

    moved = [total.evaluate(row[None, :]) for row in wild]

    assert max(int(each @ each) for each in moved) <= total.l2_squared


def pulled(rows: Rows) -> Rows:
    """What each record of an exact head adds to the sum of gradients, features by classes."""
    kept = np.asarray(rows, np.float64)
    norms = row_norms(np.hstack([kept, np.ones((len(kept), 1))]))[:, None]
    prepared = np.asarray(IntegerSums().prepare(kept, norms, InNumpy()))
    weights = SeededNoise(3).gaussian(0.5, (3, WIDTH))
    truth = np.tile(np.eye(3)[:, :1], len(kept))
    scores = IntegerSums().scores(weights, prepared, InNumpy())
    factors = np.asarray(IntegerSums().pulls(scores, norms.T, truth, 1.0, np))
    return np.asarray(factors.T[:, :, None] * prepared[:, None, :])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f8", "i1"])
def test_an_exact_gradient_is_the_same_in_any_company(layout: str, kind: str) -> None:
    assert same_in_any_company(pulled, LAYOUTS[layout](drawn(10, kind)))
