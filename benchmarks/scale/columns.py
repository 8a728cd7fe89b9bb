"""How long a synthesis takes by its number of columns: small domains, one target, two rungs, the default classifier.

Each column follows the one before it with noise. ``columns_exponent`` is that of the time to select pairs, from the
fewest columns to the most. Whole runs have none: where columns are many, noise is too large for pairs to be added, and
a run takes less time than one of half as many. CPU seconds are given beside: on a busy machine they say more.
``domains`` is the same of a few columns with many values.
"""

import math
from time import perf_counter, process_time
from typing import Final

import numpy as np

from benchmarks.harness import Progress
from expost import Budget, Ladder, Neighbours, Past, SeededNoise, synthesize
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.selection import SpanningTree, affordable
from expost.tabular.table import Table

COLUMNS: Final = (60, 125, 250, 500)
ROWS: Final = 10_000
FEW, VALUES = 13, 700
"""Columns of a table with large domains, and values of each."""


def columns(progress: Progress, numbers: tuple[int, ...] = COLUMNS, rows: int = ROWS) -> dict[str, float]:
    """Seconds of a synthesis and of a selection by number of columns, and the exponent by which a selection grows."""
    figures: dict[str, float] = {}
    synthesised(wide(8, 500))  # so that what is imported once is not measured
    for number in numbers:
        progress(f"{number} columns")
        table = wide(number, rows)
        figures[f"scale.columns_seconds.{number}"], figures[f"scale.columns_cpu.{number}"] = synthesised(table)
        figures[f"scale.selection_cpu.{number}"] = selected(table)
    few, most = min(numbers), max(numbers)
    grown = figures[f"scale.selection_cpu.{most}"] / figures[f"scale.selection_cpu.{few}"]
    figures["scale.columns_exponent"] = math.log(grown) / math.log(most / few)
    return figures


def domains(progress: Progress, values: int = VALUES, rows: int = ROWS) -> dict[str, float]:
    """Seconds of a synthesis of columns with many values each."""
    progress(f"{FEW} columns of {values} values")
    seconds, worked = synthesised(wide(FEW, rows, values))
    return {f"scale.domains_seconds.{values}": seconds, f"scale.domains_cpu.{values}": worked}


def synthesised(table: Table) -> tuple[float, float]:
    """Seconds, and CPU seconds, of a run that climbs both rungs."""
    start, worked = perf_counter(), process_time()
    synthesize(
        table, schema=table.schema, target="c0", accuracy=0.999, ladder=Ladder.of([1, 2], alpha=20),
        noise=SeededNoise(1),
    )  # fmt: skip
    return perf_counter() - start, process_time() - worked


def selected(table: Table) -> float:
    """CPU seconds of the choice of a tree."""
    edges = affordable(table.domain, ("c0",))
    alone = {
        name: np.bincount(codes, minlength=table.domain[name]).astype(np.float64)
        for name, codes in table.columns.items()
    }
    worked = process_time()
    SpanningTree(alone, edges, Neighbours.ADD_REMOVE).sample(table, Budget.of(1, alpha=20), Past(), SeededNoise(1))
    return process_time() - worked


def wide(number: int, rows: int, values: int | None = None) -> Table:
    """Random records of a column of two codes and others of two to six, or of so many."""
    generator = np.random.default_rng(1)
    sizes = {f"c{place}": (values or 2 + place % 5) if place else 2 for place in range(number)}
    level, codes = generator.random(rows), {}
    for name, size in sizes.items():
        level = 0.6 * level + 0.4 * generator.random(rows)
        codes[name] = np.minimum((np.clip((level - 0.15) / 0.7, 0, 1) * size).astype(np.uint16), size - 1)
    declared = (Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in sizes.items())
    return Table(Schema(tuple(declared), True, Neighbours.ADD_REMOVE), codes)
