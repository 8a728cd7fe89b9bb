"""Persons with many rows: the error of weighted rows beside that of keeping a few rows of each, at the same price."""

from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Progress
from expost.accounting.claim import Budget
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.tabular.marginals import Marginals
from expost.tabular.persons import Grouped
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

PERSONS, COLUMNS, VALUES, MOST = 20_000, 12, 50, 500
EXPONENTS, PRICES, REPEATS = (1.4, 1.6), (0.005, 0.05), 12
KEPT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
STATIC = {"varying": 0.0, "half": 0.5, "static": 0.97}
"""The share of a row that is the same in all rows of its person."""
NAMES = [f"column {place}" for place in range(COLUMNS)]
SCHEMA = Schema(
    tuple(Integer(name, tuple(range(VALUES)), Missing.FALLBACK) for name in NAMES), True, Neighbours.ADD_REMOVE
)
CLIQUES = tuple((name,) for name in NAMES)
Generator: TypeAlias = np.random.Generator


@dataclass(frozen=True, eq=False)
class Case:
    """Rows of persons, how many there are of each value, and which of a person's rows comes in which place."""

    owners: Integers
    codes: NDArray[np.uint8]
    places: Integers

    @property
    def table(self) -> Table:
        return Table(SCHEMA, dict(zip(NAMES, self.codes, strict=True)))

    @property
    def truth(self) -> Floats:
        return self.counted(np.ones(len(self.owners)))

    def counted(self, weights: Floats) -> Floats:
        return np.array([np.bincount(each, weights, minlength=VALUES) for each in self.codes])


def made(kind: str, exponent: float, draws: Generator) -> Case:
    """Persons with a Zipf number of rows; some of a row is drawn anew each time, the rest once for all."""
    sizes = np.arange(1, MOST + 1)
    chances = sizes**-exponent
    rows = draws.choice(sizes, PERSONS, p=chances / chances.sum())
    owners = np.repeat(np.arange(PERSONS), rows)
    columns = []
    for place, shares in enumerate(draws.dirichlet(np.full(VALUES, 0.5), COLUMNS)):
        own, fresh = (draws.choice(VALUES, size, p=shares) for size in (PERSONS, len(owners)))
        kept = (
            draws.random(len(owners)) < STATIC[kind] if kind == "static" else np.bool_(place < STATIC[kind] * COLUMNS)
        )
        columns.append(np.where(kept, own[owners], fresh))
    places = np.concatenate([draws.permutation(size) for size in rows])
    return Case(owners, np.array(columns, dtype=np.uint8), places)


def _stays(kind: str, place: int, rows: int, draws: Generator) -> NDArray[np.bool_]:
    """Where a column has the value that its person has for good: half of the columns, or nearly all cells."""
    if kind == "static":
        return draws.random(rows) < STATIC[kind]
    return np.full(rows, place < STATIC[kind] * COLUMNS)


def error(found: Floats, case: Case) -> float:
    """The l1 distance from the counts, both as shares of the number of rows."""
    positive = np.maximum(found, 0)
    rescaled = positive * len(case.owners) / np.maximum(positive.sum(axis=1, keepdims=True), 1)
    return float(np.abs(rescaled - case.truth).sum())


def weighed(case: Case, rho: float, seed: int) -> float:
    """Ours: every row by its person's weight."""
    counted = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE_PERSON).weighed(CLIQUES)
    budget = Budget.of(Fraction(rho) * 2, alpha=2)
    made = Gaussian(counted).sample(Grouped.of(case.table, case.owners), budget, Past(), SeededNoise(seed))
    return error(made.values.reshape(COLUMNS, VALUES), case)


def kept_rows(case: Case, rho: float, most: int, draws: Generator) -> float:
    """A peer's: some rows of each person, chosen at random, and noise for as many identical ones."""
    noise = draws.normal(0, most * np.sqrt(COLUMNS / (2 * rho)), (COLUMNS, VALUES))
    return error(case.counted((case.places < most).astype(np.float64)) + noise, case)


def best_kept(case: Case, rho: float, draws: Generator) -> float:
    """The error with the best number of kept rows in hindsight."""
    return min(fmean(kept_rows(case, rho, most, draws) for _ in range(REPEATS)) for most in KEPT)


def run(progress: Progress) -> dict[str, float]:
    """``person.over_keep_k``: our error over that of the best number of kept rows in hindsight, by how rows vary."""
    draws, figures = np.random.default_rng(15), dict[str, float]()
    for kind in STATIC:
        quotients = []
        for exponent in EXPONENTS:
            case = made(kind, exponent, draws)
            for rho in PRICES:
                progress(f"{kind} rows, exponent {exponent}, ρ = {rho}")
                ours = fmean(weighed(case, rho, seed) for seed in range(REPEATS))
                quotients.append(ours / best_kept(case, rho, draws))
        figures[f"person.over_keep_k.{kind}"] = fmean(quotients)
        figures[f"person.over_keep_k.{kind}.worst"] = max(quotients)
    return figures
