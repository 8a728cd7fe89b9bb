"""Frames through narwhals: pandas, polars and pyarrow in, and synthetic tables back as what came in."""

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, final

import duckdb
import narwhals as nw
from duckdb import DuckDBPyRelation

from expost.errors import InvalidValue, NotInstalled
from expost.tabular.schema.column import Decoded
from expost.tabular.schema.schema import Schema
from expost.tabular.source.engine.kinds import of_16_bits, of_32_bits
from expost.tabular.source.engine.running import Batches
from expost.tabular.source.files import CHUNK
from expost.tabular.source.moments import day_of, moment_of
from expost.tabular.source.relations import relation_of
from expost.tabular.source.series import OWN_DAYS, PER_DAY, SeriesCoder
from expost.tabular.table import Kind

RESTORED = {"Float16": of_16_bits, "Float32": of_32_bits}
"""What becomes of numbers of a type, by its name, since not every version of narwhals has both."""


class Format(Enum):
    """How a table is written to a file."""

    CSV = "csv"
    PARQUET = "parquet"


@final
class _Beyond:
    """A value that Python has no object for: a length of time, or a day in a list, beyond its calendar."""

    __slots__ = ()

    def __str__(self) -> str:
        return "beyond the calendar"


BEYOND = _Beyond()


@final
@dataclass(frozen=True, slots=True, repr=False)
class Frame:
    """A frame of any library that narwhals knows; lazy ones are collected, but for those of Spark."""

    frame: nw.DataFrame[Any]

    @classmethod
    def of(cls, native: object) -> "Frame":
        known = _known(native)
        if _kind(known) is Kind.SPARK:
            raise InvalidValue(
                "a DataFrame of Spark is read by synthesize and ask only, which leave it where it lies; for anything "
                "else give a part of it as a file or a frame."
            )
        return cls(known.collect() if isinstance(known, nw.LazyFrame) else known)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def height(self) -> int:
        return len(self.frame)

    @property
    def kind(self) -> Kind:
        """The library it belongs to; arrow for those that have no kind here."""
        return _kind(self.frame)

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The values of these columns, a chunk of rows at a time."""
        for start in range(0, len(self.frame), CHUNK):
            part = self.frame[start : start + CHUNK]
            yield [_values(part.get_column(name)) for name in names]

    def coded(self, schema: Schema, absent: frozenset[str | None]) -> Batches:
        """The codes of all rows, and their identifiers."""
        coders = [SeriesCoder(column, absent, _values) for column in schema.columns]
        for start in range(0, len(self.frame), CHUNK):
            part = self.frame[start : start + CHUNK]
            codes = [each.codes(part.get_column(name)) for each, name in zip(coders, schema.names, strict=True)]
            yield codes, None if schema.unit is None else _values(part.get_column(schema.unit))


def kind_of(native: object) -> Kind:
    """The library that a frame belongs to; a lazy one is not collected for that."""
    return _kind(_known(native))


def _known(native: object) -> "nw.DataFrame[Any] | nw.LazyFrame[Any]":
    try:
        known: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(native)
    except TypeError:
        raise InvalidValue(
            f"a {type(native).__name__} is not a table; give a file, a DuckDB query, or a pandas, polars or Arrow "
            "frame."
        ) from None
    return known


def _kind(known: "nw.DataFrame[Any] | nw.LazyFrame[Any]") -> Kind:
    word = str(known.implementation).partition("[")[0]
    return Kind(word) if word in {kind.value for kind in Kind} else Kind.PYARROW


def frame(kind: Kind, columns: Mapping[str, Decoded]) -> Any:
    """The columns as a frame of this kind."""
    if kind is Kind.DUCKDB:
        return relation_of(columns)
    lists = {name: values.tolist() for name, values in columns.items()}
    if kind is Kind.PANDAS:
        return _pandas(lists)
    return nw.from_dict(lists, backend=kind.value).to_native()


def write_table(
    path: Path | str,
    table: object,
    format: Format | None = None,  # noqa: A002  the word for it
    *,
    delimiter: str = ",",
) -> None:
    """Write columns, or a frame of any kind, to a file; its name tells the format unless one is given.

    Another sign than a comma parts the fields of columns in CSV only, and not those of a frame.
    """
    place = Path(path)
    chosen = _format(place) if format is None else format
    if not place.parent.is_dir():
        raise InvalidValue(f"there is no folder {place.parent} to write {place.name} in; create it first.")
    native = relation_of(table) if isinstance(table, Mapping) else _collected(table)
    if isinstance(native, DuckDBPyRelation):
        try:
            if chosen is Format.CSV:
                native.write_csv(str(place), sep=delimiter)
            else:
                native.write_parquet(str(place))
        except duckdb.IOException as failure:  # the disk is full or gone; DuckDB has no errors of the system's kind
            raise OSError(errno.EIO, f"DuckDB could not write {place.name}") from failure
    elif chosen is Format.CSV:
        Frame.of(native).frame.write_csv(place)
    else:
        try:
            Frame.of(native).frame.write_parquet(place)
        except ImportError:  # pandas writes Parquet by another package, which it does not require
            raise NotInstalled("writing a pandas frame as Parquet needs pyarrow; install it, or write CSV.") from None


def _collected(native: object) -> object:
    """The frame itself, or as one of Arrow where it lies in Spark."""
    if isinstance(native, DuckDBPyRelation) or kind_of(native) is not Kind.SPARK:
        return native
    known = _known(native)
    return known.collect("pyarrow").to_native() if isinstance(known, nw.LazyFrame) else native


def _values(column: nw.Series[Any]) -> list[object]:
    """The values as Python has them.

    At a day or a time that Python's calendar lacks libraries fail; pandas also at one that its zone moves out of it.
    All hold times as numbers since 1970, in UTC.
    """
    column = _without_zone(column) if column.implementation.is_pandas() else column
    kind = column.dtype
    if isinstance(kind, nw.Date) and column.implementation in OWN_DAYS:
        return [day_of(number) for number in column.cast(nw.Int32).to_list()]
    if isinstance(kind, nw.Datetime):
        gone, numbers = column.is_null().to_list(), column.cast(nw.Int64).to_list()
        known = (None if each else number for each, number in zip(gone, numbers, strict=True))
        return [moment_of(number, PER_DAY[kind.time_unit]) for number in known]
    try:
        return RESTORED.get(str(kind), list)(column.to_list())
    except UnicodeError:
        raise
    except (OverflowError, ValueError):
        return [_one(column[place : place + 1]) for place in range(len(column))]


def _without_zone(column: nw.Series[Any]) -> nw.Series[Any]:
    """Times of pandas in UTC: narwhals does not know them as times where their zone has an underscore in its name."""
    native: Any = column.to_native()
    zoned = getattr(native.dtype, "tz", None) is not None
    return nw.from_native(native.dt.tz_convert(None), series_only=True) if zoned else column


def _one(column: nw.Series[Any]) -> object:
    """The only value of a column, or an object for those that Python lacks, of which any refuses the others too."""
    try:
        return column.to_list()[0]
    except (OverflowError, ValueError):
        return BEYOND


def _format(path: Path) -> Format:
    for chosen in Format:
        if path.suffix.lower() == f".{chosen.value}":
            return chosen
    raise InvalidValue(f"{path.name} ends in neither .csv nor .parquet; rename it or give a format.")


def _pandas(lists: Mapping[str, list[object]]) -> Any:
    """Whole numbers stay whole and truth values true next to missing ones, and dates are pandas' own."""
    pd = import_module("pandas")  # only whoever came with a pandas frame needs it

    def series(values: list[object]) -> Any:
        kinds = {type(value) for value in values if value is not None}
        if None in values and kinds in ({int}, {bool}):
            return pd.array(values, dtype="Int64" if kinds == {int} else "boolean")
        return pd.to_datetime(values) if kinds == {date} else values

    return pd.DataFrame({name: series(values) for name, values in lists.items()})
