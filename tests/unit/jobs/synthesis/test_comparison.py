"""Released marginals beside synthetic ones: distances, grades, and errors that are never larger than told."""

import numpy as np
import pytest

from expost.jobs.synthesis.comparison import COARSE, GOOD, MOST_CELLS, Comparison, Grade, alone, error_of, joint
from expost.jobs.synthesis.counted import NORMAL_95, Released
from expost.noise import Floats, SeededNoise
from expost.tabular.schema.column import Codes, Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD
from tests.unit.report.examples import schema

REGIONS = Released(("region",), np.array([30.0, 20, 10]), 1.0)


def drawn(form: Schema, counts: tuple[int, int, int]) -> Table:
    codes: Codes = np.repeat(np.arange(3, dtype=np.uint8), counts)
    blank = np.zeros(len(codes), dtype=np.uint8)
    return Table(form, {name: codes if name == "region" else blank for name in form.names})


def test_a_column_is_added_up_from_every_marginal_that_holds_it_by_precision() -> None:
    """Over the two cells of plan the noise doubles, over the four of age it quadruples: weights 2 to 1."""
    released = [
        Released(("region", "plan"), np.array([[30.0, 30], [20, 20], [10, 10]]), 3.0),
        Released(("region", "age"), np.array([[9.0] * 4, [9] * 4, [9] * 4]), 3.0),
    ]

    compared = alone(released, 120, drawn(schema(), (3, 2, 1)), "region")

    assert [cell.released for cell in compared.cells] == pytest.approx([52, (80 + 36) / 3, (40 + 36) / 3])
    assert compared.cells[0].half == pytest.approx(NORMAL_95 * 3 / np.sqrt(1 / 2 + 1 / 4))


def test_a_synthetic_marginal_is_scaled_to_the_released_total() -> None:
    compared = alone([REGIONS], 60, drawn(schema(), (300, 200, 100)), "region")

    assert [cell.synthetic for cell in compared.cells] == pytest.approx([30, 20, 10])
    assert compared.distance == pytest.approx(0)
    assert compared.noise == pytest.approx(3 / np.sqrt(2 * np.pi) / 60)


def test_total_variation_is_half_the_sum_of_differences() -> None:
    compared = alone([REGIONS], 60, drawn(schema(), (20, 20, 20)), "region")

    assert compared.distance == pytest.approx(1 / 6)


def test_a_large_marginal_shows_some_cells_and_adds_up_the_rest() -> None:
    edges = ", ".join(map(str, range(31)))
    form = Schema.load(
        'reviewed = true\nneighbours = "add-remove"\n[[column]]\nname = "age"\nkind = "integer"\n'
        f'edges = [{edges}]\nclosed = "left"\nmissing = false\n'
    )
    table = Table(form, {"age": np.arange(30, dtype=np.uint8)})

    cells = alone([Released(("age",), np.arange(30.0), 1.0)], 435, table, "age").cells

    assert len(cells) == MOST_CELLS + 1
    assert cells[-1].label == "the 18 others"
    assert [cell.rest for cell in cells] == [False] * MOST_CELLS + [True]
    assert cells[-1].released == sum(range(18))
    assert cells[-1].half == pytest.approx(NORMAL_95 * np.sqrt(18))


def test_a_single_cell_is_shown_and_not_added_up_as_others() -> None:
    form = Schema((Integer("visits", tuple(range(MOST_CELLS + 1)), Missing.FALLBACK),), True, ADD)
    table = Table(form, {"visits": np.arange(MOST_CELLS + 1, dtype=np.uint8)})

    cells = joint(Released(("visits",), np.arange(MOST_CELLS + 1.0), 1.0), 78, table).cells

    assert [cell.label for cell in cells] == [str(place) for place in range(MOST_CELLS + 1)]
    assert not any(cell.rest for cell in cells)


def test_the_cells_that_are_not_shown_are_marked() -> None:
    wide = Released(("region", "age"), np.ones((3, 4)), 1.0)

    assert not any(cell.rest for cell in joint(REGIONS, 60, drawn(schema(), (3, 2, 1))).cells)
    assert len(joint(wide, 60, drawn(schema(), (3, 2, 1))).cells) == 12


def graded(error: float, misfit: float = 0.0) -> Grade:
    return Comparison(("a",), (), 0.0, 0.0, error, misfit).grade


def test_a_grade_is_absolute_and_blames_what_most_of_the_error_comes_from() -> None:
    assert (graded(0.0), graded(GOOD)) == (Grade.GOOD, Grade.GOOD)
    assert (graded(GOOD + 1e-9), graded(COARSE)) == (Grade.COARSE, Grade.COARSE)
    assert (graded(COARSE + 1e-9), graded(0.4, 0.3)) == (Grade.LOST, Grade.OFF)


TABLES = {
    "a few large cells": np.array([400.0, 300, 200, 100]),
    "one large cell and many empty ones": np.array([1000.0, *[0] * 300]),
    "many small cells": np.full(200, 5.0),
    "a long tail": 1000 / np.arange(1, 101) ** 1.5,
}


def mean_errors(true: Floats, std: float, weakened: float = 1.0) -> tuple[float, float]:
    """The error told, and the true one, of tables that follow the noisy counts; on average over many draws."""
    told, real, noise = [], [], SeededNoise(5)
    for _ in range(300):
        released = true + noise.gaussian(std, true.shape)
        kept = np.where(released > 0, released, 0.0)
        synthetic = kept * (true.sum() / kept.sum())
        told.append(error_of(released, synthetic, std * weakened, float(true.sum()))[0])
        real.append(np.abs(synthetic - true).sum() / (2 * true.sum()))
    return float(np.mean(told)), float(np.mean(real))


@pytest.mark.parametrize("true", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("std", [1.0, 10.0, 40.0])
def test_the_error_told_is_on_average_no_smaller_than_the_true_one(true: Floats, std: float) -> None:
    told, real = mean_errors(true, std)

    assert told >= real


def test_with_a_tenth_of_the_noise_the_error_told_would_be_smaller_than_the_true_one() -> None:
    told, real = mean_errors(TABLES["a few large cells"], 10.0, weakened=0.1)

    assert told < real


def test_many_empty_cells_do_not_make_a_pair_lost() -> None:
    """Each of 300 empty cells may be wrong by the noise, but all together only by what is left of the records."""
    true = TABLES["one large cell and many empty ones"]
    released = true + SeededNoise(6).gaussian(5.0, true.shape)

    error, _ = error_of(released, true, 5.0, 1000.0)

    assert error < 0.02
    assert np.abs(released - true).sum() / 2000 > 0.5


def test_a_table_that_is_not_like_its_counts_is_told_apart_from_noise() -> None:
    error, misfit = error_of(np.array([500.0, 500]), np.array([900.0, 100]), 1.0, 1000.0)

    assert misfit == pytest.approx(0.4)
    assert graded(error, misfit) is Grade.OFF
