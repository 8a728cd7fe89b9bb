"""Snapshots: coded rows that a cluster wrote once, and passes over them.

A DataFrame is a recipe: a task that is tried again may find other rows than the first time, and so may the next pass.
So the codes are written once, to files that all executors reach, and everything after that reads those. What was
written is known by the places of its pieces; a pass that finds others, or one of them twice, fails.
"""

import weakref
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from expost.errors import Unreadable
from expost.noise import Integers
from expost.tabular.schema.schema import Schema
from expost.tabular.source.pace import Progress
from expost.tabular.spark.failures import refuse_marked
from expost.tabular.spark.folders import SnapshotFolder, snapshot_folder
from expost.tabular.spark.passing import MADE, AddTogether, AddUp, LineUp, array_in
from expost.tabular.spark.quiet import quiet_job
from expost.tabular.spark.watching import Watch
from expost.tabular.spark.writing import PIECES, SCATTERED, CodeRows, GatherPersons, ScatterRows

Pass: TypeAlias = AddUp | LineUp

WRITTEN = {
    "compression": "zstd",
    "parquet.enable.dictionary": "false",
    "parquet.block.row.count.limit": "16",
    "parquet.page.size.row.check.min": "1",
}
"""How pieces are written, which are large and unlike each other: a few at a time."""
READ = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxPartitionBytes": str(2**24),
    "spark.sql.parquet.columnarReaderBatchSize": "16",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}
READ_ROWS = {**READ, "spark.sql.execution.arrow.maxRecordsPerBatch": "16384"} | {
    "spark.sql.parquet.columnarReaderBatchSize": "4096"
}
FEW = 32
"""Sums that the driver takes: those of more tasks are added up by as many others first."""
UNREADABLE = (
    "the DataFrame could not be read; check in Spark, whose words may show data, that its rows can be computed and its "
    "columns hold plain values."
)
LOST = "a pass over the rows in Spark did not come to its end; look for the cause in Spark, whose words may show data."
CLOSED = "the rows were let go of, and cannot be read any more; read the DataFrame again."


@final
class Snapshot:
    """The pieces of a table, in files of their own; deleted when it is closed, or when nobody has it any more."""

    __slots__ = ("__weakref__", "_delete", "_pieces", "_places", "_session", "_watch")

    def __init__(self, folder: SnapshotFolder, pieces: DataFrame, places: Integers, watch: Watch) -> None:
        self._session, self._pieces, self._places, self._watch = pieces.sparkSession, pieces, places, watch
        self._delete = weakref.finalize(self, folder.delete)

    @classmethod
    def of(cls, rows: DataFrame, schema: Schema, key: bytes, tell: Progress) -> "Snapshot":
        """The rows under the schema, whose columns they have in its order; the key is for whose they are."""
        coding = Watch("coding the table in Spark", None, tell)
        context = rows.sparkSession.sparkContext
        folder = snapshot_folder(context)
        try:
            return quiet_job(context, partial(_written, rows, schema, key, folder, tell), UNREADABLE, coding)
        except BaseException:
            folder.delete()
            raise

    def passed(self, task: Pass) -> list[tuple[Integers, NDArray[Any]]]:
        """What the tasks made, each of the pieces at some places: all pieces of the snapshot, each once."""
        if not self._delete.alive:
            raise Unreadable(CLOSED)
        made = quiet_job(self._session.sparkContext, partial(_collected, self._pieces, task), LOST, self._watch)
        found = [np.frombuffer(places, "<i8").astype(np.int64) for places, _ in made]
        if not np.array_equal(np.sort(np.concatenate([np.zeros(0, np.int64), *found])), self._places):
            raise Unreadable(LOST)
        return [(places, array_in(value)) for places, (_, value) in zip(found, made, strict=True)]

    def close(self) -> None:
        """Delete the files."""
        self._delete()


def _written(rows: DataFrame, schema: Schema, key: bytes, folder: SnapshotFolder, tell: Progress) -> Snapshot:
    session = _own_session(rows.sparkSession, READ)
    if schema.unit is None:
        coded, some = rows.mapInArrow(CodeRows(schema), _ddl(PIECES)), False
        _write(coded, folder.address)
    else:
        some = _gather(rows, schema, key, folder)
    pieces = session.read.schema(_ddl(PIECES)).parquet(folder.address)
    places, records = _places(pieces)
    if not (some or len(places)):
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    watch = Watch("passing over the table in Spark", records if schema.unit is None else None, tell)
    return Snapshot(folder, pieces, places, watch)


def _gather(rows: DataFrame, schema: Schema, key: bytes, folder: SnapshotFolder) -> bool:
    """Write the pieces of persons; whether there were any rows.

    The rows are pinned before they are shuffled, so that a shuffle which is made again brings the same ones.
    """
    session = rows.sparkSession
    scattered = snapshot_folder(session.sparkContext)
    try:
        rows.mapInArrow(ScatterRows(schema, key), _ddl(SCATTERED)).write.mode("append").parquet(scattered.address)
        pinned = _own_session(session, READ_ROWS).read.schema(_ddl(SCATTERED)).parquet(scattered.address)
        marks = pinned.where("place is null").select("failure").collect()
        refuse_marked((mark.failure for mark in marks), UNREADABLE)
        parts = int(session.conf.get("spark.sql.shuffle.partitions") or 1)
        together = pinned.where("place is not null").drop("failure").repartition(parts, "one", "other")
        ordered = together.sortWithinPartitions("one", "other", "place")
        _write(ordered.mapInArrow(GatherPersons(schema), _ddl(PIECES)), folder.address)
        return bool(marks)
    finally:
        scattered.delete()


def _write(pieces: DataFrame, address: str) -> None:
    pieces.write.mode("append").options(**WRITTEN).parquet(address)


def _places(pieces: DataFrame) -> tuple[Integers, int]:
    """The places of the pieces, in order, and how many records they have; refused if a task failed or two wrote one."""
    found = pieces.select("place", "count", "failure").collect()
    refuse_marked((row.failure for row in found), UNREADABLE)
    known = np.array([(row["place"], row["count"]) for row in found], np.int64).reshape(-1, 2)
    known = known[np.argsort(known[:, 0])]
    if (known[1:, 0] < known[:-1].sum(axis=1)).any() or (known[1:, 0] == known[:-1, 0]).any():
        raise Unreadable("two tasks of Spark wrote the same rows; read the DataFrame again.")
    return known[:, 0].copy(), int(known[:, 1].sum())


def _collected(pieces: DataFrame, task: Pass) -> list[tuple[bytes, bytes]]:
    made = pieces.mapInArrow(task, _ddl(MADE))
    if isinstance(task, AddUp) and pieces.rdd.getNumPartitions() > FEW:
        made = made.repartition(FEW).mapInArrow(AddTogether(), _ddl(MADE))
    rows = made.collect()
    refuse_marked((row.failure for row in rows), LOST)
    return [(bytes(row.places), bytes(row.value)) for row in rows]


def _own_session(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session with settings of its own, in the same cluster."""
    own = session.newSession()
    for name, value in settings.items():
        own.conf.set(name, value)
    return own


def _ddl(schema: pa.Schema) -> str:
    """The columns as Spark declares them."""
    kinds = {pa.int64(): "bigint", pa.binary(): "binary", pa.string(): "string"}
    return ", ".join(f"`{each.name}` {kinds[each.type]}" for each in schema)
