"""A DataFrame of Spark in, rows in the cluster out: coded by the schema where they lie, and pinned."""

from dataclasses import dataclass
from typing import TypeGuard, final

from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Noise
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import require_columns, units_of
from expost.tabular.source.pace import Progress, silent
from expost.tabular.spark.rows import SparkRows
from expost.tabular.spark.snapshot import Snapshot


@final
@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns of a DataFrame, as Spark has them."""

    names: tuple[str, ...]


def read_spark(frame: object, schema: Schema, noise: Noise, tell: Progress = silent) -> SparkRows:
    """The records of a DataFrame under a schema that its owner has reviewed: rows, or persons where it has a unit.

    Each cell is coded by the in-memory coder, in a task of Spark, so that what one record says does not change how
    another is read, and the codes are written once; nothing is read of the DataFrame afterwards. The rows must be those
    of the table: a DataFrame whose rows depend on several records, by ranks, limits or averages over others, is on no
    bill. With a unit all rows of a person are brought together by a digest of the identifier under a secret key, which
    is kept nowhere.
    """
    if not _classic(frame):
        raise InvalidValue(
            "the DataFrame is not of a session with a Spark context of its own (classic mode); those of Spark Connect "
            "cannot be read."
        )
    if not schema.reviewed:
        raise SchemaMismatch("the schema is a draft; check that all it says is public, then set reviewed = true.")
    names = tuple(frame.columns)
    require_columns(Header(names), schema)
    # a name with a dot, or with a twin in capitals, would not be found again
    numbered = frame.toDF(*(f"column{place}" for place in range(len(names))))
    wanted = [f"column{names.index(name)}" for name in (*schema.names, *units_of(schema))]
    return SparkRows.of(Snapshot.of(numbered.select(wanted), schema.fine, noise.key(), tell), schema.fine)


def _classic(frame: object) -> TypeGuard[ClassicFrame]:
    return isinstance(frame, ClassicFrame)
