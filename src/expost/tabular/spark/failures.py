"""What a task says of its failure: a mark in its output, since Spark prints the rest, which may quote rows, to logs."""

import warnings
from collections.abc import Iterable, Iterator
from typing import final

import numpy as np
import pyarrow as pa

from expost import errors
from expost.errors import ExpostError, Unreadable

UNKNOWN = "?"
"""The mark of a failure of which nothing may be said."""


@final
class NotFed(Exception):
    """The rows that a task works on stopped coming: Spark's to tell and to try again, and nothing of ours."""


def fed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches that come, and a failure of their source told from failures of what is done with them."""
    try:
        yield from batches
    except Exception:  # noqa: BLE001  whatever it is, it may quote rows
        raise NotFed from None


def caught(made: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """What is made, or a row with nothing but the mark of the failure."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield from made
    except (NotFed, GeneratorExit):
        raise
    except ExpostError as refusal:
        yield _marked(f"{type(refusal).__name__}: {refusal}", schema)
    except BaseException:  # noqa: BLE001  whatever it is, it may quote rows
        yield _marked(UNKNOWN, schema)


def refuse_marked(marks: Iterable[str | None], complaint: str) -> None:
    """Fail as a task did that failed: in its own words if they are ours."""
    failures = sorted({mark for mark in marks if mark is not None}, reverse=True)  # a question mark comes last
    if failures:
        name, _, sentence = failures[0].partition(": ")
        kind = getattr(errors, name, None)
        raise kind(sentence) if isinstance(kind, type) and issubclass(kind, ExpostError) else Unreadable(complaint)


def _marked(mark: str, schema: pa.Schema) -> pa.RecordBatch:
    columns = {each.name: [mark if each.name == "failure" else None] for each in schema}
    return pa.RecordBatch.from_pydict(columns, schema=schema)
