"""All pairs of columns counted, beside polars, pandas and DuckDB used the obvious way: one group-by for each pair.

The columns have as many codes as those of the census table in bins, low codes being common and high ones rare. All
have the two cores as they come, codes of eight bits, and the records in memory in a form of their own; ours counts on
one of the cores.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Final, TypeAlias

import duckdb
import numpy as np
import pandas as pd
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

Pairs: TypeAlias = tuple[tuple[str, ...], ...]


def counts(progress: Progress, rows: int = ROWS) -> dict[str, float]:
    """Nanoseconds per row and marginal, and the time of each peer over ours."""
    progress(f"all pairs of {len(SIZES)} columns, {rows:,} rows")
    table = census(rows)
    pairs = tuple(combinations(table.domain, 2))
    marginals = Marginals(table.domain, pairs, Neighbours.ADD_REMOVE)
    peers = {"polars": by_polars(table, pairs), "pandas": by_pandas(table, pairs), "duckdb": by_duckdb(table, pairs)}
    ours, *theirs = seconds(lambda: marginals.counts(table), *peers.values(), repeats=REPEATS)
    each = 1e9 / (rows * len(pairs))
    figures = {"scale.counts_ns": ours * each}
    for name, taken in zip(peers, theirs, strict=True):
        figures |= {f"scale.{name}_ns": taken * each, f"scale.counts_vs_{name}": taken / ours}
    return figures


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


def by_polars(table: Table, pairs: Pairs) -> Callable[[], list[int]]:
    """Group by each pair in polars; returns how many records were counted for each."""
    frame = pl.DataFrame(dict(table.columns))
    return lambda: [int(frame.group_by(pair).len()["len"].sum()) for pair in pairs]


def by_pandas(table: Table, pairs: Pairs) -> Callable[[], list[int]]:
    """The same in pandas."""
    frame = pd.DataFrame(dict(table.columns))
    return lambda: [int(frame.groupby(list(pair)).size().sum()) for pair in pairs]


def by_duckdb(table: Table, pairs: Pairs) -> Callable[[], list[int]]:
    """The same in DuckDB, over a table of its own."""
    home = duckdb.connect()
    home.execute("SET enable_progress_bar = false")
    home.register("given", pl.DataFrame(dict(table.columns)).to_arrow())
    home.execute("CREATE TABLE records AS FROM given")
    home.unregister("given")
    told = [f"SELECT {', '.join(pair)}, count(*) AS number FROM records GROUP BY ALL" for pair in pairs]
    return lambda: [int(home.execute(query).fetchnumpy()["number"].sum()) for query in told]
