"""Any table in, coded columns out: the file is read by its schema and no message ever shows a cell."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar, final

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.persons.identifiers import Register
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files
from expost.tabular.source.coding import Opened, coded_chunks, require_columns
from expost.tabular.source.frames import Frame
from expost.tabular.source.texts import absent
from expost.tabular.table import Kind, Table

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Withheld:
    """Why something could not be read, without anything of what was."""

    sentence: str
    kind: type[ExpostError | KeyboardInterrupt | SystemExit] = Unreadable


def read_records(source: object, schema: Schema) -> Rows:
    """The records as coded columns, under a schema that its owner has reviewed: rows, or persons where it has a unit.

    ``source`` is the path of a CSV or Parquet file, a text ``duckdb:SELECT …``, a DuckDB relation, or a pandas,
    polars or pyarrow frame. A value outside its domain is coded by the schema's rule, silently. A file that is
    malformed is refused as a whole: where a line ends would depend on other lines. Columns with private edges are
    coded on their grid.

    What one record says does not change how another is read. That no longer holds once another reader has guessed the
    types of a CSV file: ``pandas.read_csv`` turns 007 into 7 unless one record has a letter there, and whole numbers
    into fractions if one is missing. Give the path instead, or read all columns as text (``dtype=str``; in polars
    ``infer_schema=False``). Nor does it hold for a query whose rows depend on several records: ranks, averages over
    others and LIMIT are on no bill.

    With a unit the rows of each person are together, the persons in the order in which they first appear, once rows
    that a column drops are gone. Of an identifier nothing is kept but which rows have the same. A float holds whole
    numbers up to 2**53 only: where missing identifiers have made floats of longer ones, read them as text.
    """
    result = quietly(partial(_read, source, schema), source)
    del source  # a traceback that shows variables would show its rows
    rows, persons = revealed(result)
    return rows if persons is None else persons


def read_table(source: object, schema: Schema) -> Table:
    """The same where every row is a record of its own; a schema with a unit is refused, lest rows pass for persons."""
    result = quietly(partial(_rows, source, schema), source)
    del source  # a traceback that shows variables would show its rows
    return revealed(result)


def revealed(result: T | Withheld) -> T:
    """The result, or a refusal or an interrupt that shows nothing of the rows."""
    if isinstance(result, Withheld):
        raise result.kind(result.sentence)
    return result


def opened(source: object) -> Opened:
    """The rows behind whatever was given."""
    if isinstance(source, DuckDBPyRelation):
        return files.Rows(source)
    if isinstance(source, str) and source.startswith(files.QUERY):
        return files.from_query(source.removeprefix(files.QUERY))
    return files.from_file(Path(source)) if isinstance(source, str | Path) else Frame.of(source)


def files_of(source: object) -> tuple[Path, ...]:
    """The files that a source is read from, as far as it names them; opens none."""
    if isinstance(source, str) and source.startswith(files.QUERY):
        return files.named_files(source.removeprefix(files.QUERY))
    return (Path(source),) if isinstance(source, str | Path) else ()


def quietly(run: Callable[[], T], source: object) -> T | Withheld:
    """What ``run`` returns, or why it could not: its own words if they are ours, else nothing of the cause."""
    try:
        return run()
    except ExpostError as refusal:
        return Withheld(str(refusal), type(refusal))
    except KeyboardInterrupt:
        return Withheld("interrupted while the table was read.", KeyboardInterrupt)
    except SystemExit:
        return Withheld("stopped while the table was read.", SystemExit)
    except BaseException as error:  # noqa: BLE001  whatever it is, it may quote rows; a panic of polars is not an Exception
        # DuckDB tells of the interrupt key in an error of its own
        interrupted = isinstance(error, duckdb.Error | RuntimeError) and str(error) == "Query interrupted"
        return Withheld(_complaint(source), KeyboardInterrupt if interrupted else Unreadable)


def _rows(source: object, schema: Schema) -> Table:
    if schema.unit is not None:
        raise SchemaMismatch(
            f"the schema names the unit {schema.unit}, so that its records are persons; read them by read_records."
        )
    return _read(source, schema)[0]


def _read(source: object, declared: Schema) -> tuple[Table, Grouped | None]:
    """The rows, and by person where the schema has a unit."""
    if not declared.reviewed:
        raise SchemaMismatch("the schema is a draft; check that all it says is public, then set reviewed = true.")
    table, schema = opened(source), declared.fine
    require_columns(table, schema)
    persons, parts = Register(absent(schema)), []
    for chunk in coded_chunks(table, schema):
        parts.append(chunk.codes)
        if chunk.identifiers is not None:
            persons.add(chunk.identifiers, chunk.kept)
    if not parts:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    columns = dict(zip(schema.names, map(np.concatenate, zip(*parts, strict=True)), strict=True))
    rows = Table(schema, columns, table.kind if isinstance(table, Frame) else Kind.DUCKDB)
    return rows, None if schema.unit is None else Grouped.of(rows, persons.numbers())


def _complaint(source: object) -> str:
    if isinstance(source, str) and source.startswith(files.QUERY):
        return (
            "the DuckDB query could not be run to its end: a query reads the Parquet files that it names, and nothing "
            "else; try it in DuckDB, whose message may show data."
        )
    if not isinstance(source, str | Path):
        return f"the {type(source).__name__} could not be read; check that its columns hold plain values."
    name = Path(source).name
    if name.lower().endswith(files.PARQUET_SUFFIXES):
        return f"{name} could not be read to its end: it is damaged or not a Parquet file; write it again."
    return (
        f"{name} is refused as a whole: it is damaged, is not UTF-8, or has a line that is not well-formed on its own "
        "(as many fields as the header, quotes only around whole fields and doubled inside, no line break or NUL in a "
        "field); repair it or write it again."
    )
