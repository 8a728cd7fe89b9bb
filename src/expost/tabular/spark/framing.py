"""DataFrames made of what was released."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from expost.tabular.schema.column import Decoded
from expost.tabular.source.frames import frame
from expost.tabular.table import Kind


def spark_frame(columns: Mapping[str, Decoded]) -> DataFrame:
    """The columns as a DataFrame of the session that there is."""
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    return session.createDataFrame(frame(Kind.PYARROW, columns))
