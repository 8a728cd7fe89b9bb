"""Consistent estimates agree in what they have in common, and have as little noise as linear unbiased ones can have.

The noise of a margin S with n_S cells of variance σ² falls into independent parts, one for each set T of its axes. The
part of T in all measured margins S ⊇ T gives the precision R_T = Σ 1/(n_S σ_S²) to the total; a cell of a margin A of
consistent estimates then has the variance n_A⁻² Σ_{T⊆A} d_T / R_T, d_T = Π_{x∈T} (n_x − 1). Checked against least
squares with the whole covariance, on small tables; of the two cells of a share or a mean in any sum.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from expost.jobs.asking.consistent import consistent_cells
from expost.jobs.asking.joint import fold
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.query import Mean
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.run import ask
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import WithinDistance
from expost.mechanisms.brownian import Estimate
from expost.noise import Floats, SeededNoise
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

SCHEMA = Schema(
    (
        Integer("a", (0, 1), Missing.FALLBACK),
        Integer("b", (0, 1, 2), Missing.FALLBACK),
        Integer("c", (0, 1), Missing.FALLBACK),
        Integer("v", (0, 1, 2, 3, 4), Missing.FALLBACK),
    ),
    True,
    ADD,
)
OVERLAPS: list[tuple[str, ...]] = [
    ("count by a, b", "count by a, c"),
    ("count by a", "count by b"),
    ("count by a, b", "count by a", "count by b"),
    ("count by a, b", "count by b, c", "count by c, a"),
    ("count by a, b, c", "count by c, a", "count by b", "count"),
    ("mean of v by a", "mean of v by b"),
    ("mean of v by a", "count by a, b"),
    ("count by a, b", "mean of v by b", "share of c = 1 by a"),
]


def recipe_of(*asked: str) -> AskRecipe:
    questions = tuple(Targeted(queries_in(each)[0], WithinDistance(Fraction(40))) for each in asked)
    return AskRecipe(
        schema=SCHEMA, questions=questions, confidence=Fraction(19, 20), together=False, delta=1e-5, max_epsilon=4.0
    )


def base(recipe: AskRecipe) -> tuple[Tally, int]:
    """A tally of rows by everything, which all others are sums of where parts are columns too."""
    finest = Tally.of(queries_in("count by a, b, c, v")[0])
    return finest, finest.cells(recipe.schema)


def sums(recipe: AskRecipe, tally: Tally) -> Floats:
    """A tally as a matrix over rows of every kind; of a mean, v/4 goes to one part and the rest to the other."""
    schema, (finest, size) = recipe.schema, base(recipe)
    sizes = [schema[name].size for name in finest.by]
    rows = np.indices(sizes).reshape(len(sizes), -1)
    group = np.zeros(size, dtype=np.int64)
    for name in tally.by:
        group = group * schema[name].size + rows[finest.by.index(name)]
    matrix = np.zeros((tally.cells(schema), size))
    if tally.width == 1:
        matrix[group, np.arange(size)] = 1
        return matrix
    mean = isinstance(queries_in(tally.name)[0].measure, Mean)
    first = rows[3] / 4 if mean else rows[2].astype(np.float64)
    matrix[2 * group, np.arange(size)] = first
    matrix[2 * group + 1, np.arange(size)] = 1 - first
    return matrix


def least_squares(
    recipe: AskRecipe, known: Mapping[Tally, Estimate], tally: Tally, *, wanted: Floats
) -> tuple[Floats, Floats]:
    """The best linear unbiased estimate of the wanted sums, and its covariance."""
    scales = {each: each.per_row(recipe.schema) for each in known}
    design = np.vstack([sums(recipe, each) * math.sqrt(known[each].precision) * scales[each] for each in known])
    seen = np.concatenate([known[each].values * math.sqrt(known[each].precision) for each in known])
    inverse = np.linalg.pinv(design.T @ design, rcond=1e-10)
    return wanted @ inverse @ design.T @ seen, wanted @ inverse @ wanted.T


def measured(recipe: AskRecipe, seed: int) -> dict[Tally, Estimate]:
    noise = np.random.default_rng(seed)
    return {
        tally: Estimate(
            noise.normal(500, 200, tally.cells(recipe.schema)) * tally.per_row(recipe.schema),
            Fraction(int(noise.integers(1, 9)), tally.per_row(recipe.schema) ** 2),
        )
        for tally in recipe.tallies
    }


@pytest.mark.parametrize("asked", OVERLAPS, ids="; ".join)
def test_consistent_estimates_are_the_best_linear_unbiased_ones(asked: tuple[str, ...]) -> None:
    recipe = recipe_of(*asked)
    known = measured(recipe, 3)

    found = consistent_cells(recipe, known)

    for tally, cells in found.items():
        best, covariance = least_squares(recipe, known, tally, wanted=sums(recipe, tally))
        assert cells.values == pytest.approx(best, rel=1e-6)
        std = cells.std - 1 / tally.per_row(recipe.schema)
        if tally.width == 1:
            assert std**2 == pytest.approx(covariance.diagonal(), rel=1e-6)


@pytest.mark.parametrize("asked", [each for each in OVERLAPS if "mean" in "".join(each)], ids="; ".join)
def test_the_noise_of_two_parts_is_that_of_the_noisiest_sum_of_them(asked: tuple[str, ...]) -> None:
    """Which is their difference; what is counted by itself tells of their sum alone."""
    recipe = recipe_of(*asked)
    known = measured(recipe, 4)

    found = consistent_cells(recipe, known)

    for tally, cells in found.items():
        if tally.width == 2:
            _, covariance = least_squares(recipe, known, tally, wanted=sums(recipe, tally))
            std = cells.std - 1 / tally.per_row(recipe.schema)
            assert std**2 == pytest.approx(np.linalg.eigvalsh(covariance[:2, :2])[-1], rel=1e-6)


def test_the_variance_of_a_single_part_is_too_small_for_their_difference() -> None:
    """The twin: error bars of a mean by the noise of one cell would be too short."""
    recipe = recipe_of("mean of v by a", "count by a, b")
    known = measured(recipe, 4)
    mean = next(tally for tally in recipe.tallies if tally.width == 2)
    _, covariance = least_squares(recipe, known, mean, wanted=sums(recipe, mean))

    assert covariance[0, 0] < 0.99 * np.linalg.eigvalsh(covariance[:2, :2])[-1]


def shared_sums(recipe: AskRecipe, cells: Mapping[Tally, Floats]) -> list[Floats]:
    """What each answer says of a margin that all have in common."""
    common = frozenset.intersection(*(frozenset(tally.by) for tally in cells))
    margin = Tally.of(queries_in(f"count by {', '.join(sorted(common))}" if common else "count")[0])
    return [fold(recipe, tally, margin, values)[0] for tally, values in cells.items()]


@pytest.mark.parametrize("asked", OVERLAPS, ids="; ".join)
def test_answers_agree_in_what_they_have_in_common_although_nobody_asked_for_it(asked: tuple[str, ...]) -> None:
    recipe = recipe_of(*asked)

    found = consistent_cells(recipe, measured(recipe, 5))

    first, *others = shared_sums(recipe, {tally: cells.values for tally, cells in found.items()})
    for other in others:
        assert other == pytest.approx(first, rel=1e-9)


@pytest.mark.parametrize("asked", OVERLAPS, ids="; ".join)
def test_what_was_measured_by_itself_does_not_agree(asked: tuple[str, ...]) -> None:
    """The twin."""
    recipe = recipe_of(*asked)
    alone = {tally: each.values / tally.per_row(SCHEMA) for tally, each in measured(recipe, 5).items()}

    first, *others = shared_sums(recipe, alone)

    assert all(np.abs(other - first).max() > 1 for other in others)


def test_answers_that_are_asked_for_together_add_up() -> None:
    noise = np.random.default_rng(1)
    columns = {name: noise.integers(0, SCHEMA[name].size, 4000).astype(np.uint8) for name in SCHEMA.names}

    answer = ask(
        Table(SCHEMA, columns), "count by a, b", "count by a, c", "count by b", schema=SCHEMA, within=60,
        noise=SeededNoise(2),
    )  # fmt: skip

    by_ab, by_ac, by_b = (np.array([line.estimate for line in told.lines]) for told in answer.told)
    assert by_ab.reshape(2, 3).sum(axis=1) == pytest.approx(by_ac.reshape(2, 2).sum(axis=1), rel=1e-9)
    assert by_ab.reshape(2, 3).sum(axis=0) == pytest.approx(by_b, rel=1e-9)
    assert answer.passed
