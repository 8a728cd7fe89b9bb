"""Persons with many rows: the error of weighted rows beside that of keeping a few rows of each, at the same price.

And the time of ``expost synth`` on a Parquet file of a million rows of a hundred thousand persons, with their unit
declared and without, to the same number of synthetic rows on a ladder that both climb to its end; CPU seconds of
processes of their own, on one core each. Where there are fewer persons than rows, noise is larger beside the counts and
less is added to the model, so that a unit can take less time. What it takes where the work is the same is timed beside
it: on one rung with so much noise that neither run adds a pair, and with the same share held out.

And what another allowance, of rows of a person that count in full, would gain if the best were known for nothing.
"""

import sys
import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean, median, stdev
from typing import TypeAlias

import numpy as np
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
from expost.tabular.source.relations import relation_of
from expost.tabular.table import Table

PERSONS, COLUMNS, VALUES, MOST = 20_000, 12, 50, 500
EXPONENTS, PRICES, REPEATS, FEWER = (1.4, 1.6), (0.005, 0.05), 12, 3
KEPT, MORE_KEPT = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32), (48, 64, 96, 128)
DRAWN = 4
"""Tables of each kind, of which one is up to a hundredth better or worse for us than another."""
MANY = 200_000
"""More persons, for whom noise is smaller beside the counts."""
COUNTING = Fraction(1, 50)
"""The share of the price that goes to how many persons have how many rows, by which ours chooses an allowance."""
STATIC = {"varying": 0.0, "half": 0.5, "static": 0.97}
"""The share of a row that is the same in all rows of its person."""
TIMED, OF_THEM, TURNS = 10**6, 10**5, 1
"""Rows and persons of the synthesis that is timed, and how often it is."""
WORK = {"": [], ".alike": ["--ladder", "0.004:0.004:1", "--validation", "0.05"]}
"""Options that are timed: all rungs, and one on which both runs measure and fit the same pairs."""
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
    figures = dict[str, float]()
    with tempfile.TemporaryDirectory(prefix="expost-persons-") as folder:
        visits, schemas = write_visits(Path(folder))
        for work, options in WORK.items():
            for name, schema in schemas.items():
                progress(f"a synthesis of {TIMED:,} rows {name} a unit{work}")
                out = [Path(folder) / f"{name}{work}-{turn}" for turn in range(TURNS)]
                seconds = median(taken([*command(visits, schema, each), *options]) for each in out)
                figures[f"person.cpu_seconds.{name}{work}"] = seconds
            with_it, without = (figures[f"person.cpu_seconds.{name}{work}"] for name in schemas)
            figures[f"person.time_ratio{work}"] = with_it / without
    return figures


def taken(synthesis: list[str]) -> float:
    """CPU seconds of a synthesis, which must end as it should."""
    ran = limited(synthesis, Limits())
    if ran.failure:
        raise RuntimeError(f"a synthesis did not end: {ran.failure}")
    return ran.cpu_seconds


def write_visits(folder: Path) -> tuple[Path, dict[str, Path]]:
    """Rows of Adult, drawn anew, each of somebody, in a file; and the schema with their unit and without."""
    table, draws = load(), np.random.default_rng(16)
    rows = draws.integers(0, len(table), TIMED)
    drawn = Table(table.schema, {name: codes[rows] for name, codes in table.columns.items()})
    whose = {"patient": draws.integers(0, OF_THEM, TIMED)}
    relation_of(whose | drawn.decode(SeededNoise(1))).write_parquet(str(folder / "visits.parquet"))
    plain = adult_schema()
    of_persons = replace(plain, unit="patient", neighbours=plain.neighbours.of_persons)
    schemas = {"with": folder / "with.toml", "without": folder / "without.toml"}
    schemas["with"].write_text(of_persons.dumps(), encoding="utf-8")
    schemas["without"].write_text(plain.dumps(), encoding="utf-8")
    return folder / "visits.parquet", schemas


def command(visits: Path, schema: Path, out: Path) -> list[str]:
    """A synthesis that asks for more than can be had, climbs every rung, and ends with the status that says so.

    The confidence lets noise pass it once in a million runs, and not in one of twenty.
    """
    expost = str(Path(sys.executable).with_name("expost"))
    asked = ["--target", "income", "--accuracy", "0.99", "--confidence", "0.999999", "--patience", "0"]
    asked += ["--rows", str(OF_THEM)]
    given = [expost, "synth", str(visits), "--schema", str(schema), "--out", str(out), *asked]
    return ["sh", "-c", '"$@"; [ $? -eq 3 ]', "sh", *given]


def run(progress: Progress) -> dict[str, float]:
    """``person.time_ratio``, and ``person.over_keep_k``: our error over the best number of kept rows in hindsight.

    ``person.best_allowance`` is the error with the best allowance in hindsight, chosen for nothing, over ours, and
    ``person.allowance_of_one`` that with an allowance of 1. ``.worst`` and ``.least`` are of the exponent and the price
    where they are largest and smallest, and ``.error`` is the standard error over tables. Figures that end in ``.many``
    are of 200,000 persons.
    """
    return times(progress) | errors(progress)


def errors(progress: Progress) -> dict[str, float]:
    """The errors of all of them, by how rows vary and by how many persons there are."""
    draws, figures = np.random.default_rng(15), dict[str, float]()
    crowds = ((PERSONS, "", REPEATS, DRAWN), (MANY, ".many", FEWER, 1))
    for (persons, name, repeats, drawn), kind in product(crowds, STATIC):
        found = []
        for table in range(drawn):
            progress(f"{kind} rows of {persons:,} persons, table {table + 1} of {drawn}")
            found.append(quotients(kind, persons, draws, repeats))
        over, best, one = np.moveaxis(np.array(found), 2, 0)
        for what, each in (("over_keep_k", over), ("best_allowance", best), ("allowance_of_one", one)):
            figures[f"person.{what}.{kind}{name}"] = float(each.mean())
        figures[f"person.over_keep_k.{kind}{name}.worst"] = float(over.mean(axis=0).max())
        figures[f"person.best_allowance.{kind}{name}.least"] = float(best.mean(axis=0).min())
        if drawn > 1:
            figures[f"person.over_keep_k.{kind}{name}.error"] = stdev(over.mean(axis=1)) / drawn**0.5
    return figures


def quotients(kind: str, persons: int, draws: Generator, repeats: int) -> list[tuple[float, float, float]]:
    """For each exponent and price: ours over kept rows, and the best allowance and an allowance of 1 over ours."""
    found = []
    for exponent in EXPONENTS:
        case = made(kind, exponent, draws, persons)
        grouped = Grouped.of(case.table, case.owners)
        for rho in PRICES:
            ours = fmean(weighed(case, grouped, rho, seed) for seed in draws.integers(0, 2**32, repeats).tolist())
            others = [allowed(case, rho, allowance, draws) for allowance in ALLOWANCES]
            found.append((ours / best_kept(case, rho, draws, repeats), min(others) / ours, others[0] / ours))
    return found
