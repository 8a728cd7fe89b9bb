"""Tables of any size: what reading, counting and making them takes, and how it grows with rows, columns and steps.

``coding`` reads and codes a million rows beside DuckDB's own scan and cast of the same columns, ``counts`` all pairs of
ten million beside polars, pandas and DuckDB, ``columns`` makes tables of 60 to 500 columns, ``domains`` one of 700
values in each, ``odometer`` takes a hundred thousand steps, ``finetuning`` measures memory over that of the features,
and ``ends`` is ``expost synth`` from end to end and by phase, from a hundred thousand rows to a hundred million.
``widths`` is the same of up to 200 columns, ``bounded`` that of the largest table with ``--memory 4GB``, and
``cluster`` codes and counts ten million rows in Spark, where there is one. Tables are made once, in a folder for
temporary files, of about a gigabyte. ``python -m benchmarks.scale.page`` then puts what was recorded into
docs/large-tables.md.
"""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from benchmarks.harness import Progress
from benchmarks.scale.cluster import cluster
from benchmarks.scale.coding import coding
from benchmarks.scale.columns import columns, domains
from benchmarks.scale.counts import counts
from benchmarks.scale.ends import bounded, ends, widths
from benchmarks.scale.finetuning import finetuning_memory
from benchmarks.scale.odometer import odometer_growth, plan_seconds

Part: TypeAlias = Callable[[Progress], dict[str, float]]


def _folder() -> Path:
    folder = Path(tempfile.gettempdir()) / "expost-scale"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


PARTS: Mapping[str, Part] = {
    "coding": coding,
    "counts": counts,
    "columns": columns,
    "domains": domains,
    "odometer": odometer_growth,
    "plan": plan_seconds,
    "finetuning": finetuning_memory,
    "ends": partial(ends, _folder()),
    "widths": partial(widths, _folder()),
    "bounded": partial(bounded, _folder()),
    "cluster": partial(cluster, _folder()),
}


def run(progress: Progress) -> dict[str, float]:
    """All parts, one after another."""
    return {name: figure for part in PARTS.values() for name, figure in part(progress).items()}
