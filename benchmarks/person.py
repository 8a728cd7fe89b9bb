"""Persons with many rows: the error of weighted rows beside that of keeping a few rows of each, at the same price.

And the time of ``expost synth`` on a Parquet file of a million rows of a hundred thousand persons, with their unit
declared and without, to the same number of synthetic rows on a ladder that both climb to its end; CPU seconds of
processes of their own, on one core each. Where there are fewer persons than rows, noise is larger beside the counts and
less is added to the model, which is why a unit can take less time.

And what another allowance, of rows of a person that count in full, would gain if the best were known for nothing.
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
from expost.tabular.allowance import ALLOWANCES, allowance_of
from expost.tabular.growth import Growing
from expost.tabular.marginals import Marginals
from expost.tabular.persons import Grouped, rows_per_person
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import frame
from expost.tabular.table import Kind, Table

PERSONS, COLUMNS, VALUES, MOST = 20_000, 12, 50, 500
EXPONENTS, PRICES, REPEATS, FEWER = (1.4, 1.6), (0.005, 0.05), 12, 3
KEPT, MORE_KEPT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32), (48, 64, 96, 128)
MANY = 200_000
"""More persons, for whom noise is smaller beside the counts."""
COUNTING = Fraction(1, 50)
"""The share of the price that goes to how many persons have how many rows, by which ours chooses an allowance."""
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


def weighed(case: Case, persons: Grouped, rho: float, seed: int) -> float:
    """Ours: every row by its person's weight, with the allowance that a run chooses, which is paid for as well."""
    whole, noise = Budget.of(Fraction(rho) * 2, alpha=2), SeededNoise(seed)
    counting, left = (Budget(whole.epsilon * share, whole.alpha) for share in (COUNTING, 1 - COUNTING))
    marginals = Marginals(SCHEMA.domain, CLIQUES, Neighbours.ADD_REMOVE_PERSON)
    rows = Gaussian(rows_per_person(Neighbours.ADD_REMOVE_PERSON)).sample(persons, counting, Past(), noise)
    allowance = allowance_of(rows.values.tolist(), rows.std, marginals, [left])
    growing = Growing(SCHEMA.domain, CLIQUES, (), Neighbours.ADD_REMOVE_PERSON, allowance=allowance)
    (block,) = growing.sample(persons, left, Past(), noise).blocks
    return error(block.estimate.values.reshape(COLUMNS, VALUES), case)


def allowed(case: Case, rho: float, allowance: int, draws: Generator) -> float:
    """Every row by its person's weight with some allowance, and noise for it."""
    counts = case.counted(np.minimum(1, allowance / case.lengths)[case.owners])
    std = allowance * np.sqrt(COLUMNS / (2 * rho))
    return fmean(error(counts + draws.normal(0, std, counts.shape), case) for _ in range(REPEATS))


def kept_rows(case: Case, rho: float, most: int, draws: Generator) -> float:
    """A peer's: some rows of each person, chosen at random, and noise for as many identical ones."""
    noise = draws.normal(0, most * np.sqrt(COLUMNS / (2 * rho)), (COLUMNS, VALUES))
    return error(case.counted((case.places < most).astype(np.float64)) + noise, case)


def best_kept(case: Case, rho: float, draws: Generator, repeats: int) -> float:
    """The error with the best number of kept rows in hindsight."""
    kept = (*KEPT, *MORE_KEPT) if len(case.lengths) > PERSONS else KEPT
    return min(fmean(kept_rows(case, rho, most, draws) for _ in range(repeats)) for most in kept)


def times(progress: Progress) -> dict[str, float]:
    """``person.time_ratio``: CPU seconds with a unit over those without, medians where there are several turns."""
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
    rows = frame(Kind.PYARROW, table.decode(SeededNoise(1))).take(draws.integers(0, len(table), TIMED))
    visits = rows.add_column(0, "patient", pa.array(draws.integers(0, OF_THEM, TIMED)))
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

    ``person.best_allowance`` is the error with the best allowance in hindsight, chosen for nothing, over ours, and
    ``person.allowance_of_one`` that with an allowance of 1. Figures that end in ``.many`` are of 200,000 persons.
    """
    return times(progress) | errors(progress)


def errors(progress: Progress) -> dict[str, float]:
    """The errors of all of them, by how rows vary and by how many persons there are."""
    draws, figures = np.random.default_rng(15), dict[str, float]()
    for (persons, name, repeats), kind in product(((PERSONS, "", REPEATS), (MANY, ".many", FEWER)), STATIC):
        quotients = dict[str, list[float]](over_keep_k=[], best_allowance=[], allowance_of_one=[])
        for exponent in EXPONENTS:
            case = made(kind, exponent, draws, persons)
            grouped = Grouped.of(case.table, case.owners)
            for rho in PRICES:
                progress(f"{kind} rows of {persons:,} persons, exponent {exponent}, ρ = {rho}")
                ours = fmean(weighed(case, grouped, rho, seed) for seed in range(repeats))
                others = [allowed(case, rho, allowance, draws) for allowance in ALLOWANCES]
                quotients["over_keep_k"].append(ours / best_kept(case, rho, draws, repeats))
                quotients["best_allowance"].append(min(others) / ours)
                quotients["allowance_of_one"].append(others[0] / ours)
        for what, found in quotients.items():
            figures[f"person.{what}.{kind}{name}"] = fmean(found)
        figures[f"person.over_keep_k.{kind}{name}.worst"] = max(quotients["over_keep_k"])
        figures[f"person.best_allowance.{kind}{name}.least"] = min(quotients["best_allowance"])
    return figures
