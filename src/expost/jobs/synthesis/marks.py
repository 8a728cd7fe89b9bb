"""Marks: that a table was checked against its schema, by the digest of the schema and the name of the table alone.

A mark knows nothing of the records: were it bound to the content of the table, whether a later run finds it would tell
something of them. A table that has changed since counts as checked.
"""

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from expost.jobs.synthesis.declared import schema_digest
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import files_of
from expost.text import bounded_text

HEAD = "expost: tables that were checked under a schema, by its digest and their names; nothing of their content."
MOST_BYTES = 2**20
MOST_MARKS = 1000


def marks_of(schema_path: Path) -> Path:
    """The file of marks, beside that of the schema."""
    return schema_path.with_name(f"{schema_path.name}.checked")


def note_checked(source: str, schema: Schema, schema_path: Path) -> None:
    """Leave a mark, readable by the owner alone; OSError if that cannot be done."""
    place, marks = marks_of(schema_path), []
    if os.path.lexists(place):
        head, *marks = _lines(place)
        if head != HEAD:
            raise FileExistsError("there is a file of that name that expost did not write")
    mark = _mark(source, schema)
    kept = [each for each in marks if each and each != mark][1 - MOST_MARKS :]
    number, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")  # readable by its owner alone
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write("\n".join((HEAD, *kept, mark, "")))
        Path(name).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def was_checked(source: str, schema: Schema, schema_path: Path) -> bool:
    """Whether there is a mark for this table and this schema."""
    try:
        head, *marks = _lines(marks_of(schema_path))
    except OSError:
        return False
    return head == HEAD and _mark(source, schema) in marks


def _lines(place: Path) -> list[str]:
    try:
        return bounded_text(place, MOST_BYTES).split("\n")
    except ValueError:
        raise FileExistsError("there is a file of that name that expost did not write") from None


def _mark(source: str, schema: Schema) -> str:
    """One line; whether the schema was reviewed by then does not change how it reads a table."""
    paths = () if source.startswith("duckdb:") else files_of(source)
    names = str(paths[0].resolve()) if len(paths) == 1 else source
    return json.dumps({"schema": schema_digest(replace(schema, reviewed=True)), "table": names})
