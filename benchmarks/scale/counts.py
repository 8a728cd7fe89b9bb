"""All pairs of columns counted, beside polars used the obvious way: one group-by for each pair.

The columns have as many codes as those of the census table in bins, low codes being common and high ones rare. Both
have the two cores as they come and codes of eight bits; ours counts on one of them.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl

from benchmarks.harness import Progress, seconds
from expost.private import Neighbours
from expost.tabular.marginals import Marginals
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

SIZES: Final = (16, 8, 16, 16, 7, 14, 6, 5, 2, 24, 20, 10, 42)
ROWS, REPEATS = 10**7, 1


def counts(progress: Progress, rows: int = ROWS) -> dict[str, float]:
    """Nanoseconds per row and marginal, and polars' time over ours."""
    progress(f"all pairs of {len(SIZES)} columns, {rows:,} rows")
    table = census(rows)
    pairs = tuple(combinations(table.domain, 2))
    marginals = Marginals(table.domain, pairs, Neighbours.ADD_REMOVE)
    frame = pl.DataFrame(dict(table.columns))
    ours, polars = seconds(lambda: marginals.counts(table), _group_bys(frame, pairs), repeats=REPEATS)
    each = 1e9 / (rows * len(pairs))
    return {
        "scale.counts_ns": ours * each,
        "scale.polars_ns": polars * each,
        "scale.counts_vs_polars": polars / ours,
    }


def census(rows: int) -> Table:
    """Random records of public columns."""
    names, generator = [f"c{place}" for place in range(len(SIZES))], np.random.default_rng(1)
    columns = zip(names, SIZES, strict=True)
    schema = Schema(
        tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in columns),
        True,
        Neighbours.ADD_REMOVE,
    )
    return Table(
        schema,
        {name: (generator.random(rows) ** 2 * size).astype(np.uint8) for name, size in zip(names, SIZES, strict=True)},
    )


def _group_bys(frame: pl.DataFrame, pairs: tuple[tuple[str, ...], ...]) -> Callable[[], object]:
    return lambda: [frame.group_by(pair).len() for pair in pairs]
