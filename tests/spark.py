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

ROOT = Path(__file__).parents[1]
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    "spark.python.daemon.module": "tests.spark_workers",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
LOG = "log"
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

    folder = Path(tempfile.mkdtemp(prefix="expost-spark-tests-"))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # a worker must find what this process has installed
    builder = SparkSession.builder.master(master).config("spark.local.dir", str(folder))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    with _errors_to(folder / LOG):
        made = builder.config("spark.sql.warehouse.dir", str(folder)).getOrCreate()
    try:
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


def logged(session: "SparkSession") -> str:
    """All that Java and the workers printed so far."""
    return (Path(str(session.conf.get("spark.local.dir"))) / LOG).read_text(encoding="utf-8", errors="replace")


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """What is begun here prints its errors to a file."""
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
