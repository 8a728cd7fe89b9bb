"""Any table in, coded columns out: the file is read by its schema and no message ever shows a cell."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

import duckdb
import numpy as np
from duckdb import DuckDBPyRelation

from expost.errors import ExpostError, SchemaMismatch, Unreadable
from expost.tabular.schema.cells import Cell, Plain
from expost.tabular.schema.column import Codes, Column
from expost.tabular.schema.schema import Schema
from expost.tabular.source import files
from expost.tabular.source.frames import Frame
from expost.tabular.table import Kind, Table

T = TypeVar("T")

SPELLED_ALIKE = frozenset({str, int, float, bool, date})
"""Types of which equal values have one spelling. Not so across types, where 1 equals True, nor for zoned times."""


LONGEST = 2**13
"""Bits of a whole number that is spelled out: Python refuses to spell those of many thousand digits."""


class Opened(Protocol):
    """A table that can be read. Implemented by files.Rows, delimited.Delimited and frames.Frame."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Withheld:
    """Why something could not be read, without anything of what was."""

    sentence: str
    kind: type[ExpostError | KeyboardInterrupt | SystemExit] = Unreadable


def read_table(source: object, schema: Schema) -> Table:
    """The table as coded columns, under a schema that its owner has reviewed.

    ``source`` is the path of a CSV or Parquet file, a text ``duckdb:SELECT …``, a DuckDB relation, or a pandas,
    polars or pyarrow frame. A value outside its domain is coded by the schema's rule, silently. A file that is
    malformed is refused as a whole: where a line ends would depend on other lines. Columns with private edges are
    coded on their grid.

    What one record says does not change how another is read. That no longer holds once another reader has guessed the
    types of a CSV file: ``pandas.read_csv`` turns 007 into 7 unless one record has a letter there, and whole numbers
    into fractions if one is missing. Give the path instead, or read all columns as text (``dtype=str``; in polars
    ``infer_schema=False``). Nor does it hold for a query whose rows depend on several records: ranks, averages over
    others and LIMIT are on no bill.
    """
    if not schema.reviewed:
        del source  # a traceback that shows variables would show its rows
        raise SchemaMismatch("the schema is a draft; check that all it says is public, then set reviewed = true.")
    result = quietly(partial(_read, source, schema.fine), source)
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
        interrupted = isinstance(error, duckdb.Error) and str(error) == "Query interrupted"
        return Withheld(_complaint(source), KeyboardInterrupt if interrupted else Unreadable)


def encoded(column: Column, values: Sequence[object], absent: frozenset[str | None]) -> Codes:
    """The codes of a column's values; each distinct value is looked at once where equal ones are spelled alike."""
    kinds = {*map(type, values)} - {type(None)}
    if len(kinds) > 1 or not kinds <= SPELLED_ALIKE:
        return column.encode(cells_of(values, absent))
    distinct = list(set(values))
    found = column.encode(cells_of(distinct, absent))
    code = dict(zip(distinct, found.tolist(), strict=True))
    codes: Codes = np.fromiter(map(code.__getitem__, values), found.dtype, len(values))
    return codes


def cells_of(values: Iterable[object], absent: frozenset[str | None]) -> list[Cell | None]:
    """The values as cells; None for those that are missing, or in ``absent``."""
    return [_cell(value, absent) for value in values]


def _cell(value: object, absent: frozenset[str | None]) -> Cell | None:
    text = canonical_text(value)
    if text is None or text in absent:
        return None
    return text if isinstance(value, str) else Plain(text)


def canonical_text(value: object) -> str | None:
    """One spelling for each value, whatever library it came from: 1 and 1.0 are "1", dates are in ISO form and UTC."""
    if type(value) is str:
        return value.strip()
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, int | float | np.floating | Decimal):
        return _number_text(value)
    if isinstance(value, date):
        return _in_utc(value).isoformat()
    return str(value).strip()


def _number_text(value: int | np.floating[Any] | float | Decimal) -> str | None:
    if isinstance(value, int):
        return str(value) if value.bit_length() <= LONGEST else "inf" if value > 0 else "-inf"
    if isinstance(value, Decimal) and value.is_nan():  # one that signals cannot be made a float
        return None
    if not math.isfinite(value):
        return None if math.isnan(value) else repr(float(value))
    whole = value == int(value)
    return str(int(value)) if whole else str(value.normalize() if isinstance(value, Decimal) else float(value))


def _in_utc(day: date) -> date:
    """The day itself, or a time with a zone as the time in UTC, where the calendar has one."""
    if isinstance(day, datetime) and day.tzinfo is not None:
        with suppress(OverflowError):
            return day.astimezone(UTC).replace(tzinfo=None)
    return day


def absent(schema: Schema) -> frozenset[str | None]:
    """The cells that stand for a missing value."""
    return frozenset({None, "", *schema.missing_marks})


def _read(source: object, schema: Schema) -> Table:
    table = opened(source)
    lacking = [name for name in schema.names if table.names.count(name) != 1]
    if lacking:
        raise SchemaMismatch(f"the table does not have exactly one column {', '.join(lacking)}; correct the schema.")
    parts = [_coded(chunk, schema) for chunk in table.chunks(schema.names)]
    if not parts:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in schema.names}
    return Table(schema, columns, table.kind if isinstance(table, Frame) else Kind.DUCKDB)


def _coded(chunk: Sequence[Sequence[object]], schema: Schema) -> dict[str, Codes]:
    """The codes of a chunk of rows, without those that a column drops."""
    missing = absent(schema)
    codes = {
        column.name: encoded(column, values, missing) for column, values in zip(schema.columns, chunk, strict=True)
    }
    kept = np.logical_and.reduce([codes[column.name] < column.size for column in schema.columns])
    return {name: column[kept] for name, column in codes.items()}


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
