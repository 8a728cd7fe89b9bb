"""Coding and counting in Spark, by rows and cores: what an estimate for a cluster is worked out from.

The session is of this process and has two tasks at a time; a small table goes through it before anything is measured.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from pyspark.sql import SparkSession

from benchmarks.harness import Progress
from benchmarks.scale.tables import write_table
from expost.noise import SystemNoise
from expost.tabular.marginals import Marginals
from expost.tabular.schema.schema import Schema
from expost.tabular.spark.reading import read_spark

ROWS, TASKS = 10**7, 2
PART = 2**23
"""Bytes of a file that a task reads, so that there are several tasks for each core."""


def cluster(folder: Path, progress: Progress, rows: int = ROWS) -> dict[str, float]:
    """Core seconds for a million rows: of writing the snapshot, and of a pass that counts all pairs."""
    with session() as spark:
        for number in (10**4, rows):
            progress(f"coding and counting {number:,} rows in Spark")
            figures = _measured(spark, *write_table(folder, number), number)
    return figures


@contextmanager
def session() -> Iterator[SparkSession]:
    """Spark in this process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with TemporaryDirectory(prefix="expost-scale-") as folder:
        settings: dict[str, str | bool | int | float | None] = {
            "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "2g",
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder, "spark.sql.files.maxPartitionBytes": str(PART),
        }  # fmt: skip
        made = SparkSession.builder.master(f"local[{TASKS}]").config(map=settings).getOrCreate()
        try:
            yield made
        finally:
            made.stop()


def _measured(spark: SparkSession, file: Path, declared: Path, rows: int) -> dict[str, float]:
    schema = Schema.load(declared)
    pairs = Marginals(schema.domain, tuple(combinations(schema.names, 2)), schema.neighbours)
    begun = perf_counter()
    kept = read_spark(spark.read.parquet(str(file)), schema, SystemNoise())
    coded = perf_counter()
    try:
        counts = pairs.statistic.evaluate(kept)
    finally:
        counted = perf_counter()
        kept.close()
    if counts.sum() != rows * len(pairs.cliques):
        raise RuntimeError("Spark did not count every row")
    each = TASKS * 10**6 / rows
    return {
        "scale.spark_code_core_seconds": (coded - begun) * each,
        "scale.spark_count_core_seconds": (counted - coded) * each,
    }
