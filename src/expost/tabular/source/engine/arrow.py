"""Batches of a relation as arrays: DuckDB's results through the Arrow C stream interface, without another package.

An array is a view of DuckDB's own memory, and is gone when the next batch is asked for.
"""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from duckdb import DuckDBPyRelation
from numpy.typing import NDArray

from expost.tabular.source.engine.ahead import read_ahead

NUMBERS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32, "l": np.int64,
    "L": np.uint64, "f": np.float32, "g": np.float64, "tdD": np.int32,
}  # fmt: skip
"""Formats of Arrow whose values lie one after another."""
BATCH, SPAN = 2**24, (2**11, 2**17)
"""Bytes of a batch at most, about, and between how many rows it has however wide they are."""
NUMBER = 8
"""Bytes that a value takes at most, about, as most of them are numbers."""
OFFSETS = {"u": np.int32, "U": np.int64}
"""Formats of texts that lie one after another, each with where it begins."""


class _Schema(ctypes.Structure):
    """ArrowSchema."""


class _Array(ctypes.Structure):
    """ArrowArray."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream."""


_POINTER, _WHOLE, _CALL = ctypes.c_void_p, ctypes.c_int64, ctypes.CFUNCTYPE
_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", _POINTER), ("flags", _WHOLE),
    ("n_children", _WHOLE), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", _POINTER),
    ("release", _CALL(None, ctypes.POINTER(_Schema))), ("private_data", _POINTER),
]  # fmt: skip
_Array._fields_ = [
    ("length", _WHOLE), ("null_count", _WHOLE), ("offset", _WHOLE), ("n_buffers", _WHOLE), ("n_children", _WHOLE),
    ("buffers", ctypes.POINTER(_POINTER)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", _POINTER), ("release", _CALL(None, ctypes.POINTER(_Array))), ("private_data", _POINTER),
]  # fmt: skip
_Stream._fields_ = [
    ("get_schema", _CALL(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", _CALL(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", _POINTER), ("release", _POINTER), ("private_data", _POINTER),
]  # fmt: skip
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchColumn:
    """One column of a batch: its values, where it has one, and how texts in it are found."""

    length: int
    valid: NDArray[np.bool_] | None
    values: NDArray[Any]
    texts: Callable[[NDArray[np.intp]], list[str]] | None = None

    def places(self) -> NDArray[np.intp]:
        """The rows that have a value."""
        return np.arange(self.length) if self.valid is None else np.flatnonzero(self.valid)

    def at(self, places: NDArray[np.intp]) -> list[Any]:
        """The values of these rows as Python has them."""
        return self.values[places].tolist() if self.texts is None else self.texts(places)


def batches(relation: DuckDBPyRelation) -> Iterator[list[BatchColumn]]:
    """The columns of a relation, which hold numbers, days or texts, a batch of rows at a time and in their order."""
    return map(_Batch.fields, read_ahead(relation, _streamed, _Batch.free))


def _streamed(relation: DuckDBPyRelation) -> "Iterator[_Batch]":
    at_once = min(SPAN[1], max(SPAN[0], BATCH // (NUMBER * len(relation.columns))))
    # as __arrow_c_stream__ does, which has no number of rows to give
    capsule = relation._submit("stream", at_once).arrow_capsule()
    stream = ctypes.cast(_pointer_in(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream)).contents
    schema = _Schema()
    if stream.get_schema(stream, schema):
        raise OSError("the stream has no schema")
    formats = [schema.children[place].contents.format.decode() for place in range(schema.n_children)]
    schema.release(schema)
    while True:
        array = _Array()
        if stream.get_next(stream, array):
            raise OSError("the stream broke off")  # its own words may quote a cell
        if not array.release:
            return
        yield _Batch(array, formats)


@final
class _Batch:
    """A batch that Arrow holds until it is released."""

    def __init__(self, array: _Array, formats: list[str]) -> None:
        self._array, self._formats = array, formats

    def fields(self) -> list[BatchColumn]:
        """Its columns."""
        columns = (self._array.children[place].contents for place in range(len(self._formats)))
        return [_field(column, kind) for column, kind in zip(columns, self._formats, strict=True)]

    def free(self) -> None:
        """Give its memory back."""
        if self._array.release:
            self._array.release(self._array)


def _field(column: Any, kind: str) -> BatchColumn:
    length, first, buffers = column.length, column.offset, column.buffers
    valid = None
    if buffers[0] and column.null_count:
        bits = _array(buffers[0], np.dtype(np.uint8), (first + length + 7) // 8)
        valid = np.unpackbits(bits, count=first + length, bitorder="little")[first:].view(np.bool_)
    if kind in NUMBERS:
        return BatchColumn(length, valid, _array(buffers[1], np.dtype(NUMBERS[kind]), first + length)[first:])
    if kind in OFFSETS:
        ends = _array(buffers[1], np.dtype(OFFSETS[kind]), first + length + 1)[first:]
        return BatchColumn(length, valid, ends, lambda places: _slices(buffers[2], ends, places))
    if kind == "vu":
        views = _array(buffers[1], np.dtype("V16"), first + length)[first:]
        return BatchColumn(length, valid, views, lambda places: _viewed(buffers, views, places))
    raise TypeError("the stream has a column that holds neither numbers nor texts")


def _array(address: int | None, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    if not address or not count:
        return np.zeros(count, kind)
    held = (ctypes.c_uint8 * (count * kind.itemsize)).from_address(address)
    return np.frombuffer(memoryview(held), kind)


def _slices(address: int | None, ends: NDArray[Any], places: NDArray[np.intp]) -> list[str]:
    """The texts that lie between these ends."""
    first, last = int(ends[0]), int(ends[-1])
    letters = ctypes.string_at(address + first, last - first) if address else b""
    begins, stops = ends[places] - first, ends[places + 1] - first
    return [letters[begin:stop].decode() for begin, stop in zip(begins.tolist(), stops.tolist(), strict=True)]


def _viewed(buffers: Any, views: NDArray[Any], places: NDArray[np.intp]) -> list[str]:
    """The texts that these views hold, or point at where they are longer than 12 bytes."""
    parts = np.frombuffer(views[places].tobytes(), np.int32).reshape(-1, 4).tolist()
    held = [view.tobytes()[4:] for view in views[places]]
    return [
        (inline[:size] if size <= 12 else ctypes.string_at(buffers[2 + buffer] + start, size)).decode()
        for (size, _, buffer, start), inline in zip(parts, held, strict=True)
    ]
