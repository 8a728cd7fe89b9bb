"""Any table in, coded columns out: the file is read by its schema and no message ever shows a cell."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar, final

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.noise import Noise
from expost.persons.identifiers import Register
from expost.tabular.persons import Grouped, Rows
from expost.tabular.pieced import AnyPieces
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files
from expost.tabular.source.coding import Chunk, Opened, coded_chunks, require_columns
from expost.tabular.source.delimited import delimiter_of
from expost.tabular.source.frames import Frame
from expost.tabular.source.pace import Progress, with_pace
from expost.tabular.source.room import Room
from expost.tabular.source.storing import stored_rows
from expost.tabular.source.texts import absent
from expost.tabular.table import Kind, Table

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Withheld:
    """Why something could not be read, without anything of what was."""

    sentence: str
    kind: type[ExpostError | KeyboardInterrupt | SystemExit] = Unreadable

    @property
    def error(self) -> BaseException:
        """What to raise."""
        return self.kind(self.sentence)


INTERRUPTED = Withheld("interrupted while the table was read.", KeyboardInterrupt)
CRAMPED = (
    "reading the table needs more memory than it may take, or more room for temporary files; allow more memory, for a "
    "connection of your own by its memory_limit, or read fewer columns."
)


def read_records(source: object, schema: Schema) -> Rows:
    """The records as coded columns, under a schema that its owner has reviewed: rows, or persons where it has a unit.

    ``source`` is the path of a CSV or Parquet file, a text with a pattern of such paths, ``duckdb:SELECT …`` or
    ``duckdb:FILE.duckdb/TABLE``, a DuckDB relation, or a pandas, polars or pyarrow frame. A value outside its domain is
    coded by the schema's rule, silently. A file that is malformed is refused as a whole: where a line ends would depend
    on other lines. Columns with private edges are coded on their grid.

    What one record says does not change how another is read. That no longer holds once another reader has guessed the
    types of a CSV file: ``pandas.read_csv`` turns 007 into 7 unless one record has a letter there, and whole numbers
    into fractions if one is missing. Give the path instead, or read all columns as text (``dtype=str``; in polars
    ``infer_schema=False``). Nor does it hold for a query whose rows depend on several records: ranks, averages over
    others and LIMIT are on no bill.

    With a unit the rows of each person are together, the persons in the order in which they first appear, once rows
    that a column drops are gone. Of an identifier nothing is kept but which rows have the same. A float holds whole
    numbers up to 2**53 only: longer ones are refused, which missing identifiers may have made of whole numbers.
    """
    read: Callable[[], Rows] = partial(_read, source, schema)
    result: Rows | Withheld = quietly(read, source)
    del source, read  # a traceback that shows variables would show its rows
    if isinstance(result, Withheld):
        raise result.error
    return result


def read_pieces(source: object, schema: Schema, room: Room, noise: Noise, tell: Progress) -> AnyPieces:
    """The same where there may be too many rows for the memory: those beyond a million are kept in pieces.

    The source is read once, so that what happens to it later changes nothing. Persons in pieces are in an order that
    follows from a secret key.
    """
    read: Callable[[], AnyPieces] = partial(_read_pieces, source, schema, room, noise, tell)
    result: AnyPieces | Withheld = quietly(read, source)
    del source, read  # a traceback that shows variables would show its rows
    if isinstance(result, Withheld):
        raise result.error
    return result


def read_table(source: object, schema: Schema) -> Table:
    """The same where every row is a record of its own; a schema with a unit is refused, lest rows pass for persons."""
    result = quietly(partial(_rows, source, schema), source)
    del source  # a traceback that shows variables would show its rows
    return revealed(result)


def revealed(result: T | Withheld) -> T:
    """The result, or a refusal or an interrupt that shows nothing of the rows."""
    if isinstance(result, Withheld):
        raise result.error
    return result


def opened(source: object, *, memory: int | None = None) -> Opened:
    """The rows behind whatever was given, of which an engine of ours takes up to this number of bytes to read them."""
    if isinstance(source, DuckDBPyRelation):
        return files.Rows(source)
    if isinstance(source, str) and source.startswith(files.QUERY):
        return files.from_query(source.removeprefix(files.QUERY), memory=memory)
    return files.from_path(source, memory=memory) if isinstance(source, str | Path) else Frame.of(source)


def files_of(source: object) -> tuple[Path, ...]:
    """The files that a source is read from, as far as it names them; opens none."""
    if isinstance(source, str) and source.startswith(files.QUERY):
        named = files.named_table(source.removeprefix(files.QUERY))
        return files.named_files(source.removeprefix(files.QUERY)) if named is None else named[:1]
    return files.paths_of(source) if isinstance(source, str | Path) else ()


def parted_by(source: object) -> str | None:
    """The sign between the fields of a delimited file, by its header, or of the first of several; None of others."""
    named = [path for path in files_of(source) if path.name.lower().endswith(files.CSV_SUFFIXES)]
    if not named:
        return None
    return revealed(quietly(partial(delimiter_of, named[0]), source))


def quietly(run: Callable[[], T], source: object) -> T | Withheld:
    """What ``run`` returns, or why it could not: its own words if they are ours, else nothing of the cause."""
    try:
        return run()
    except ExpostError as refusal:
        return Withheld(str(refusal), type(refusal))
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:
        return Withheld("stopped while the table was read.", SystemExit)
    except BaseException as error:  # noqa: BLE001  whatever it is, it may quote rows; a panic of polars is not an Exception
        # DuckDB tells of the interrupt key in an error of its own
        interrupted = isinstance(error, duckdb.Error | RuntimeError) and str(error) == "Query interrupted"
        if isinstance(error, duckdb.OutOfMemoryException):
            return Withheld(CRAMPED)
        return INTERRUPTED if interrupted else Withheld(_complaint(source))


def _rows(source: object, schema: Schema) -> Table:
    if schema.unit is not None:
        raise SchemaMismatch(
            f"the schema names the unit {schema.unit}, so that its records are persons; read them by read_records."
        )
    rows = _read(source, schema)
    assert isinstance(rows, Table)  # of a schema without a unit
    return rows


def _read(source: object, schema: Schema) -> Rows:
    """All rows at once."""
    table = _opened_under(source, schema)
    return _assembled([*coded_chunks(table, schema.fine)], schema.fine, _kind(table))


def _read_pieces(source: object, declared: Schema, room: Room, noise: Noise, tell: Progress) -> AnyPieces:
    """All rows at once unless they are many."""
    table, schema = _opened_under(source, declared, memory=room.engine), declared.fine
    chunks, first, rows = with_pace(coded_chunks(table, schema), table.height, tell), list[Chunk](), 0
    for chunk in chunks:
        first.append(chunk)
        rows += len(chunk.codes[0])
        if rows > room.rows(schema):
            return stored_rows(chain(_emptied(first), chunks), schema, _kind(table), room, noise, tell=tell)
    return _assembled(first, schema, _kind(table))


def _opened_under(source: object, declared: Schema, *, memory: int | None = None) -> Opened:
    """The table, if its columns are those of a schema that was reviewed."""
    if not declared.reviewed:
        raise SchemaMismatch("the schema is a draft; check that all it says is public, then set reviewed = true.")
    table = opened(source, memory=memory)
    require_columns(table, declared)
    return table


def _assembled(chunks: Sequence[Chunk], schema: Schema, kind: Kind) -> Rows:
    """The rows of all chunks in one piece, by person where the schema has a unit."""
    if not chunks:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    codes = map(np.concatenate, zip(*(each.codes for each in chunks), strict=True))
    rows = Table(schema, dict(zip(schema.names, codes, strict=True)), kind)
    if schema.unit is None:
        return rows
    persons = Register(absent(schema))
    for each in chunks:
        assert each.identifiers is not None  # of a schema with a unit
        persons.add(each.identifiers, each.kept)
    return Grouped.of(rows, persons.numbers())


def _emptied(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Each of the chunks, which are let go of one by one."""
    chunks.reverse()
    while chunks:
        yield chunks.pop()


def _kind(table: Opened) -> Kind:
    return table.kind if isinstance(table, Frame) else Kind.DUCKDB


def _complaint(source: object) -> str:
    if isinstance(source, str) and source.startswith(files.QUERY):
        named = files.named_table(source.removeprefix(files.QUERY))
        if named is not None:
            return (
                f"table {named[1]} of {named[0].name} could not be read to its end: another program is writing to the "
                "database, or it is damaged or of another version; close the program or write it again."
            )
        return (
            "the DuckDB query could not be run to its end: a query reads the Parquet files that it names, each by its "
            "whole name without * or ?, and nothing else; try it in DuckDB, whose message may show data."
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
