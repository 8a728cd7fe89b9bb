"""Native frames: a table that was made, as the kind of frame that the private one came as."""

from collections.abc import Mapping
from typing import Any

from expost.tabular.schema.column import Decoded
from expost.tabular.source.frames import frame
from expost.tabular.table import Kind


def native_frame(kind: Kind, columns: Mapping[str, Decoded]) -> Any:
    """The columns as a frame of this kind; nothing of them is private any more."""
    if kind is not Kind.SPARK:
        return frame(kind, columns)
    from expost.tabular.spark.framing import spark_frame  # noqa: PLC0415  whoever came with one has it

    return spark_frame(columns)
