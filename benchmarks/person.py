"""Persons with many rows: the error of weighted rows beside that of keeping a few rows of each, at the same price.

And the time of ``expost synth`` on a Parquet file of a million rows of a hundred thousand persons, with their unit
declared and without, to the same number of synthetic rows on a ladder that both climb to its end; CPU seconds of
processes of their own, on one core each. Where there are fewer persons than rows, noise is larger beside the counts and
less is added to the model, which is why a unit can take less time.

And what a larger bound on a person than that of one row would gain, if the best one were known for nothing.
"""

import sys
import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.harness import Progress
from benchmarks.quality.limited import Limits, limited
from expost.accounting.claim import Budget
from expost.datasets.adult import adult_schema, load
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
MANY, BOUNDS = 200_000, (1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
"""More persons, and bounds on what one of them adds, in rows that are alike; the first is ours."""
STATIC = {"varying": 0.0, "half": 0.5, "static": 0.97}
"""The share of a row that is the same in all rows of its person."""
TIMED, OF_THEM, TURNS = 10**6, 10**5, 1
"""Rows and persons of the synthesis that is timed, and how often it is."""
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

    @cached_property
    def truth(self) -> Floats:
        return self.counted(np.ones(len(self.owners)))

    @cached_property
    def lengths(self) -> Floats:
        """How far all rows of each person move the counts, where one row moves them by 1."""
        persons, squared = int(self.owners[-1]) + 1, np.zeros(int(self.owners[-1]) + 1)
        for each in self.codes:
            times = np.bincount(self.owners * VALUES + each, minlength=persons * VALUES).astype(np.float64)
            squared += (times**2).reshape(persons, VALUES).sum(axis=1)
        return np.sqrt(squared / COLUMNS)

    def counted(self, weights: Floats) -> Floats:
        return np.array([np.bincount(each, weights, minlength=VALUES) for each in self.codes])


def made(kind: str, exponent: float, draws: Generator, persons: int = PERSONS) -> Case:
    """Persons with a Zipf number of rows; some of a row is drawn anew each time, the rest once for all."""
    sizes = np.arange(1, MOST + 1)
    chances = sizes**-exponent
    rows = draws.choice(sizes, persons, p=chances / chances.sum())
    owners = np.repeat(np.arange(persons), rows)
    columns = []
    for place, shares in enumerate(draws.dirichlet(np.full(VALUES, 0.5), COLUMNS)):
        own, fresh = (draws.choice(VALUES, size, p=shares) for size in (persons, len(owners)))
        kept = (
            draws.random(len(owners)) < STATIC[kind] if kind == "static" else np.bool_(place < STATIC[kind] * COLUMNS)
        )
        columns.append(np.where(kept, own[owners], fresh))
    places = np.concatenate([draws.permutation(size) for size in rows])
    return Case(owners, np.array(columns, dtype=np.uint8), places)


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


def bounded(case: Case, rho: float, bound: float, draws: Generator) -> float:
    """Every row by its person's weight under some bound, and noise for that bound."""
    counts = case.counted(np.minimum(1, bound / case.lengths)[case.owners])
    std = bound * np.sqrt(COLUMNS / (2 * rho))
    return fmean(error(counts + draws.normal(0, std, counts.shape), case) for _ in range(REPEATS))


def kept_rows(case: Case, rho: float, most: int, draws: Generator) -> float:
    """A peer's: some rows of each person, chosen at random, and noise for as many identical ones."""
    noise = draws.normal(0, most * np.sqrt(COLUMNS / (2 * rho)), (COLUMNS, VALUES))
    return error(case.counted((case.places < most).astype(np.float64)) + noise, case)


def best_kept(case: Case, rho: float, draws: Generator) -> float:
    """The error with the best number of kept rows in hindsight."""
    return min(fmean(kept_rows(case, rho, most, draws) for _ in range(REPEATS)) for most in KEPT)


def times(progress: Progress) -> dict[str, float]:
    """``person.time_ratio``: the time with a unit over that without, medians of a few turns."""
    taken: dict[str, list[float]] = {"with": [], "without": []}
    with tempfile.TemporaryDirectory(prefix="expost-persons-") as folder:
        visits, schemas = write_visits(Path(folder))
        for turn in range(TURNS):
            for name, schema in schemas.items():
                progress(f"a synthesis of {TIMED:,} rows {name} a unit, {turn + 1} of {TURNS}")
                ran = limited(command(visits, schema, Path(folder) / f"{name}-{turn}"), Limits())
                if ran.failure:
                    raise RuntimeError(f"a synthesis {name} a unit did not end: {ran.failure}")
                taken[name].append(ran.cpu_seconds)
    seconds = {name: median(each) for name, each in taken.items()}
    figures = {f"person.cpu_seconds.{name}": each for name, each in seconds.items()}
    return {"person.time_ratio": seconds["with"] / seconds["without"], **figures}


def write_visits(folder: Path) -> tuple[Path, dict[str, Path]]:
    """Rows of Adult, drawn anew, each of somebody, in a file; and the schema with their unit and without."""
    table, draws = load(), np.random.default_rng(16)
    rows, decoded = draws.integers(0, len(table), TIMED), table.decode(SeededNoise(1))
    columns = {name: np.asarray(values)[rows] for name, values in decoded.items()}
    visits = pa.table({"patient": draws.integers(0, OF_THEM, TIMED), **columns})
    pq.write_table(visits, folder / "visits.parquet")
    plain = adult_schema()
    of_persons = replace(plain, unit="patient", neighbours=plain.neighbours.of_persons)
    schemas = {"with": folder / "with.toml", "without": folder / "without.toml"}
    schemas["with"].write_text(of_persons.dumps(), encoding="utf-8")
    schemas["without"].write_text(plain.dumps(), encoding="utf-8")
    return folder / "visits.parquet", schemas


def command(visits: Path, schema: Path, out: Path) -> list[str]:
    """A synthesis that asks for more than can be had, climbs every rung, and ends with the status that says so."""
    expost = str(Path(sys.executable).with_name("expost"))
    asked = ["--target", "income", "--accuracy", "0.99", "--patience", "0", "--rows", str(OF_THEM)]
    given = [expost, "synth", str(visits), "--schema", str(schema), "--out", str(out), *asked]
    return ["sh", "-c", '"$@"; [ $? -eq 3 ]', "sh", *given]


def run(progress: Progress) -> dict[str, float]:
    """``person.time_ratio``, and ``person.over_keep_k``: our error over the best number of kept rows in hindsight.

    ``person.best_bound`` is the error with the best bound in hindsight, chosen for nothing, over that with ours.
    """
    return times(progress) | errors(progress) | bounds(progress)


def errors(progress: Progress) -> dict[str, float]:
    """The errors of both, by how rows vary."""
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


def bounds(progress: Progress) -> dict[str, float]:
    """What the best bound would gain, by how rows vary and by how many persons there are."""
    draws, figures = np.random.default_rng(17), dict[str, float]()
    for kind, (persons, name) in product(STATIC, ((PERSONS, ""), (MANY, ".many"))):
        quotients = []
        for exponent in EXPONENTS:
            progress(f"bounds for {kind} rows of {persons:,} persons, exponent {exponent}")
            case = made(kind, exponent, draws, persons)
            for rho in PRICES:
                found = [bounded(case, rho, bound, draws) for bound in BOUNDS]
                quotients.append(min(found) / found[0])
        figures[f"person.best_bound.{kind}{name}"] = fmean(quotients)
        figures[f"person.best_bound.{kind}{name}.least"] = min(quotients)
    return figures
