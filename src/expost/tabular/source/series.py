"""Columns of frames coded as arrays, where their type leaves no doubt; any other, and what is rare, value by value.

The types are those that a frame declares. Nothing is inferred from values.
"""

from collections.abc import Callable
from datetime import date
from typing import Any, TypeAlias, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from expost.tabular.schema.column import Codes, Column
from expost.tabular.source.coding import encoded
from expost.tabular.source.engine.domains import EPOCH, Domain
from expost.tabular.source.engine.kinds import CellKind
from expost.tabular.source.engine.steps import StepCodes

Series: TypeAlias = "nw.Series[Any]"

OWN_DAYS = (nw.Implementation.POLARS, nw.Implementation.PYARROW)
"""Libraries that hold days and times as numbers since 1970, in UTC."""
PER_DAY = {"s": 86400, "ms": 86400 * 10**3, "us": 86400 * 10**6, "ns": 86400 * 10**9}
"""In the units that times are held in."""
CALENDAR = (date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH)


@final
class SeriesCoder:
    """One column of a schema for one column of a frame, of which pieces come one after another."""

    def __init__(self, column: Column, absent: frozenset[str | None], values: Callable[[Series], list[object]]) -> None:
        self._domain, self._values = Domain(column, absent), values
        self._steps: dict[CellKind, StepCodes | None] = {}

    def codes(self, series: Series) -> Codes:
        """The codes of a piece."""
        found = self._by_arrays(series)
        return encoded(self._domain.column, self._values(series), self._domain.absent) if found is None else found

    def _by_arrays(self, series: Series) -> Codes | None:
        if series.dtype == nw.String:
            return self._by_texts(series)
        held = _held(series)
        if held is None:
            return None
        kind, values = held
        if kind is CellKind.TRUTH:
            codes = self._domain.codes([False, True]).take(values)
        else:
            if kind not in self._steps:
                self._steps[kind] = self._domain.steps(kind)
            steps = self._steps[kind]
            if steps is None or not self._known(kind, values):
                return None
            codes = steps(values)
        codes[series.is_null().to_numpy()] = self._domain.missing
        return codes

    def _known(self, kind: CellKind, values: NDArray[Any]) -> bool:
        """Whether each day is one of Python's calendar, and none that a listed time is on."""
        if kind not in (CellKind.DAY, CellKind.TIME):
            return True
        listed = [day.toordinal() - EPOCH for day in self._domain.times] if kind is CellKind.TIME else []
        inside = bool(((values >= CALENDAR[0]) & (values <= CALENDAR[1])).all())
        return inside and not np.isin(values, listed).any()

    def _by_texts(self, series: Series) -> Codes | None:
        """Each distinct text is taken once; the library itself finds out which are."""
        native: Any = series.to_native()
        if series.implementation.is_pyarrow():
            return self._by_dictionary(native.combine_chunks().dictionary_encode())
        if not series.implementation.is_polars():
            return None
        texts = native.drop_nulls().unique()
        codes = self._domain.codes(texts.to_list()).tolist()
        if not codes:
            return np.full(len(series), self._domain.missing, self._domain.kind)
        found: Codes = native.replace_strict(texts, codes, default=self._domain.missing).to_numpy()
        return np.asarray(found, self._domain.kind)

    def _by_dictionary(self, native: Any) -> Codes:
        """A column of Arrow that is held as its distinct values and the place of each row's among them."""
        whole = native.combine_chunks() if hasattr(native, "combine_chunks") else native
        known = self._domain.codes(whole.dictionary.to_pylist())
        codes = np.append(known, np.array([self._domain.missing], self._domain.kind))
        places: NDArray[Any] = whole.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return codes.take(places)


def _held(series: Series) -> tuple[CellKind, NDArray[Any]] | None:
    """The values as NumPy has them, with any number where one is missing; None for types that it has not."""
    kind = series.dtype
    if kind.is_integer() and kind not in (nw.Int128, nw.UInt128):
        values = series.fill_null(0).to_numpy()
        fits = values.dtype.kind in "iu" and (values.dtype != np.uint64 or values.max(initial=0) < 2**63)
        # beside breaks that are signed NumPy would take unsigned numbers for floats, which round them
        return (CellKind.WHOLE, values.astype(np.int64)) if fits else None
    if kind in (nw.Float64, nw.Float32):
        return CellKind.REAL, series.fill_null(0.0).to_numpy().astype(np.float64)
    return _held_by_arrow(series) if series.implementation in OWN_DAYS else None


def _held_by_arrow(series: Series) -> tuple[CellKind, NDArray[Any]] | None:
    """The same for types that pandas has several of."""
    kind = series.dtype
    if kind == nw.Boolean:
        return CellKind.TRUTH, series.fill_null(value=False).to_numpy().astype(np.intp)
    if isinstance(kind, nw.Date):
        return CellKind.DAY, series.cast(nw.Int32).fill_null(0).to_numpy().astype(np.int64)
    if isinstance(kind, nw.Datetime):
        return CellKind.TIME, series.cast(nw.Int64).fill_null(0).to_numpy() // PER_DAY[kind.time_unit]
    return None
