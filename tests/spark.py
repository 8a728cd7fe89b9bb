"""A session of Spark of the tests' own, in this process and on as little of Java as it starts with."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
ATTEMPTS = 4
"""At a task, before its job fails."""
TWO_TASKS = f"local[2,{ATTEMPTS}]"


def lacking_java() -> str | None:
    """Why there can be no session, if so."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin/java").exists()):
        return "there is no Java to run Spark with; install Debian's package `default-jre-headless`."
    return None


@contextmanager
def session(master: str = TWO_TASKS) -> Iterator["SparkSession"]:
    """A session that runs as long as the block, and keeps what it writes in a temporary folder."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  optional

    folder = tempfile.mkdtemp(prefix="expost-spark-tests-")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # a worker must find what this process has installed
    builder = SparkSession.builder.master(master).config("spark.local.dir", folder)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    made = builder.config("spark.sql.warehouse.dir", folder).getOrCreate()
    try:
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)
