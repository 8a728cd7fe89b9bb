"""Tasks of Spark that fail, die, are tried again or interrupted: the same rows are counted, and none of them shows."""

import logging
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

from expost.errors import ExpostError, InvalidValue, Unreadable
from expost.noise import Integers, SeededNoise
from expost.tabular.source.reading import read_records
from tests.spark import logged
from tests.unit.examples import one_sentence
from tests.unit.tabular.spark.crowds import BY_PERSON, BY_ROW, cells_of, codes_of, crowd, in_order, in_spark

pa = pytest.importorskip("pyarrow")
pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed; install expost[spark].")

from expost.tabular.spark.folders import snapshot_folder  # noqa: E402
from expost.tabular.spark.reading import read_spark  # noqa: E402  which imports it
from expost.tabular.spark.rows import SparkRows  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


CANARY = "CANARY424242"
AT_ONCE = 10.0
"""Seconds that an interrupt may take. It takes one where nothing else runs."""
THIRD = Fraction(1, 3)


def attempt() -> tuple[int, int]:
    """Which task this is, and which attempt at it."""
    task = pyspark.TaskContext.get()
    return (task.partitionId(), task.attemptNumber()) if task else (0, 1)


def dies_at_first(rows: Any) -> Integers:
    """Count, by a process that is gone the first time that the last task does so."""
    if attempt() == (2, 0):
        os._exit(9)
    return cells_of(rows)


def fails_at_first(batches: Iterator[Any]) -> Iterator[Any]:
    """The rows, but for a failure in the midst of those of a task the first time."""
    task, again = attempt()
    for batch in batches:
        yield batch[: batch.num_rows // 2]
        if task == 1 and again == 0:
            raise OSError(f"the source went away at {CANARY}")
        yield batch[batch.num_rows // 2 :]


def shows_rows(rows: Any) -> NoReturn:
    """Fail with a canary in the message, the cause and the notes."""
    error = ValueError(f"{CANARY}, {len(rows)}")
    error.add_note(CANARY)
    raise error from KeyError(CANARY)


def leaves_with_rows(rows: Any) -> NoReturn:
    raise SystemExit(CANARY)


@pytest.fixture(scope="module")
def rows(spark: "SparkSession") -> Iterator[SparkRows]:
    found = read_spark(in_spark(spark, crowd()), BY_ROW, SeededNoise(1))
    yield found
    found.close()


def test_a_task_that_is_tried_again_finds_the_same_records_on_the_same_sides(rows: SparkRows) -> None:
    sides = rows.divided(THIRD, SeededNoise(2))

    assert sides[0].added(dies_at_first).tolist() == sides[0].added(cells_of).tolist()
    assert (sides[0].added(cells_of) + sides[1].added(cells_of)).tolist() == rows.added(cells_of).tolist()


@pytest.mark.parametrize("schema", [BY_ROW, BY_PERSON], ids=["rows", "persons"])
def test_rows_of_an_attempt_that_failed_are_not_in_the_snapshot(spark: "SparkSession", schema: Any) -> None:
    frame = in_spark(spark, crowd())
    failing = frame.mapInArrow(fails_at_first, frame.schema)

    found = read_spark(failing, schema, SeededNoise(1))

    assert in_order(found.joined(codes_of)) == in_order(codes_of(read_records(crowd(), schema)))
    found.close()


def with_canaries(spark: "SparkSession") -> "DataFrame":
    """Rows whose texts are canaries, and which Spark cannot read as numbers."""
    text = [f"{CANARY}{place}" for place in range(40)]
    table = pa.table({"age": text, "town": text, "who": text})
    return spark.createDataFrame(table).repartition(2).selectExpr("cast(age as int) age", "town", "who")


def failing_source(spark: "SparkSession", rows: SparkRows) -> object:
    return read_spark(with_canaries(spark), BY_ROW, SeededNoise(1))


def failing_unit(spark: "SparkSession", rows: SparkRows) -> object:
    return read_spark(in_spark(spark, crowd()).withColumn("who", pyspark.sql.functions.array("who")), BY_PERSON,
                      SeededNoise(1))  # fmt: skip


FAILURES: dict[str, tuple[Callable[["SparkSession", SparkRows], object], str]] = {
    "a source": (failing_source, "could not be read"),
    "identifiers without a spelling": (failing_unit, "the unit has times, lists or the like"),
    "a function": (lambda _, rows: rows.added(shows_rows), "did not come to its end"),
    "one that leaves": (lambda _, rows: rows.joined(leaves_with_rows), "did not come to its end"),
    "one that returns what cannot be added": (lambda _, rows: rows.added(_as_many), "different shapes"),
}


def _as_many(rows: Any) -> Integers:
    return np.zeros(len(rows), np.int64)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_says_nothing_of_the_rows(
    spark: "SparkSession", rows: SparkRows, failure: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run, words = FAILURES[failure]
    before = len(logged(spark))

    with pytest.raises(ExpostError) as failed:
        run(spark, rows)

    printed = capfd.readouterr()
    assert words in str(failed.value)
    assert one_sentence(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    told = (printed.out, logged(spark)[before:], *traceback.format_exception(failed.value))
    assert CANARY not in printed.err  # where Spark's daemon may say that a task was given up
    for text in told:
        assert CANARY not in text
        assert not text.startswith("Traceback") or text == "Traceback (most recent call last):\n"


def test_logs_speak_again_after_a_job(spark: "SparkSession", rows: SparkRows) -> None:
    rows.added(cells_of)
    with pytest.raises(Exception, match=CANARY):
        with_canaries(spark).collect()

    assert CANARY in logged(spark)


def test_the_interrupt_key_cancels_the_job_in_our_words(
    spark: "SparkSession",
    rows: SparkRows,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """And in nobody else's: the bridge to Spark would log that it was cut off, with a traceback."""
    driver, pressed = os.getpid(), tmp_path / "pressed"

    def interrupting(rows: Any) -> Integers:
        with suppress(FileExistsError):  # once, however many tasks there are
            pressed.touch(exist_ok=False)
            os.kill(driver, signal.SIGINT)
        Event().wait()
        return cells_of(rows)

    with pytest.raises(KeyboardInterrupt, match="interrupted while Spark worked on the table") as stopped:
        rows.added(interrupting)

    assert time.time() - pressed.stat().st_mtime < AT_ONCE
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == []
    assert "Traceback" not in capfd.readouterr().err
    assert stopped.value.__context__ is None
    assert rows.added(cells_of).sum() == len(rows.joined(codes_of))


def test_what_was_closed_is_deleted_and_cannot_be_read(spark: "SparkSession") -> None:
    found = read_spark(in_spark(spark, crowd(30)), BY_ROW, SeededNoise(1))
    (path,) = {Path(file.removeprefix("file://")).parent for file in found._snapshot._pieces.inputFiles()}
    modes = path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777
    side = found.divided(THIRD, SeededNoise(1))[0]

    side.close()

    assert modes == (0o700, 0o700)
    assert not path.exists()
    with pytest.raises(Unreadable, match="let go of"):
        found.added(cells_of)


def test_a_cluster_needs_a_folder_that_all_its_machines_reach(spark: "SparkSession", tmp_path: Path) -> None:
    context: Any = spark.sparkContext
    cluster = SimpleNamespace(master="yarn", getCheckpointDir=lambda: None, _jvm=context._jvm, _jsc=context._jsc)
    with pytest.raises(InvalidValue, match="setCheckpointDir"):
        snapshot_folder(cluster)  # type: ignore[arg-type]  # as if Spark ran elsewhere
    cluster.getCheckpointDir = lambda: f"file://{tmp_path}/checkpoints"

    folder = snapshot_folder(cluster)  # type: ignore[arg-type]

    (made,) = (tmp_path / "checkpoints").iterdir()
    assert folder.address == f"file://{made}"
    assert made.stat().st_mode & 0o777 == 0o700
    folder.delete()
    assert not made.exists()
