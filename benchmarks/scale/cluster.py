"""Coding and counting in Spark, by rows and cores: what an estimate for a cluster is worked out from.

The session is of this process and has two tasks at a time; a small table goes through it before anything is measured.
Where there is no Java, or no PySpark, nothing is measured.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.harness import Progress
from benchmarks.scale.tables import write_table
from expost.noise import SystemNoise
from expost.tabular.marginals import Marginals
from expost.tabular.schema.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, TASKS = 10**7, 2
PART = 2**23
"""Bytes of a file that a task reads, so that there are several tasks for each core."""


def cluster(folder: Path, progress: Progress, rows: int = ROWS) -> dict[str, float]:
    """Core seconds for a million rows: of writing the snapshot, and of a pass that counts all pairs."""
    without = lacking()
    if without is not None:
        progress(f"leaving out what Spark takes: {without}")
        return {}
    with session() as spark:
        for number in (10**4, rows):
            progress(f"coding and counting {number:,} rows in Spark")
            figures = _measured(spark, *write_table(folder, number), number)
    return figures


def lacking() -> str | None:
    """Why Spark cannot run here, if so."""
    if find_spec("pyspark") is None:
        return "PySpark is not installed; install expost[spark]."
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin/java").exists()):
        return "there is no Java; install Debian's package `default-jre-headless`."
    return None


@contextmanager
def session() -> Iterator["SparkSession"]:
    """Spark in this process."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  optional

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


def _measured(spark: "SparkSession", file: Path, declared: Path, rows: int) -> dict[str, float]:
    from expost.tabular.spark.reading import read_spark  # noqa: PLC0415  optional

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
