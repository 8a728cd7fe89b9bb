"""Whether two bodies of data lie in the same memory."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from expost.noise import Floats
from expost.private import Neighbours
from expost.storage import is_array, placed, shares_storage
from expost.tabular.schema.binned import IntegerBins
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from expost.training.head.labelled import Labelled

ROWS = np.arange(24.0).reshape(8, 3)
TENSOR = torch.arange(24.0).reshape(8, 3)
FRAME = pd.DataFrame({"age": np.arange(8), "city": np.array(["a", "b"] * 4, dtype=object)})
LABELLED = Labelled(ROWS.astype(np.float32), np.arange(8))
SCHEMA = Schema((IntegerBins("age", (0, 2, 8), Closed.LEFT, Missing.FALLBACK),), True, Neighbours.ADD_REMOVE)
RECORDS, THING = [1, 2], object()
Bytewise = NDArray[np.int8]


@dataclass(frozen=True)
class Pair:
    """Records in an array, with a note."""

    rows: Floats
    note: str = "the same words"


class Columns:
    """A frame that says of what type its columns are, and is no array itself."""

    dtype, columns = np.dtype(np.float64), ("a",)

    def items(self) -> list[tuple[str, Floats]]:
        """The columns by name."""
        return [("a", ROWS[:, 0])]


class Converted:
    """Turns into an array when asked, and holds none."""

    def __array__(self, dtype: object = None, copy: object = None) -> Floats:
        raise AssertionError("nothing was to be converted")


def coded() -> Table:
    """A table of its own, in the schema of all."""
    return Table(SCHEMA, {"age": np.zeros(5, dtype=np.uint8)})


SHARING: dict[str, tuple[object, object]] = {
    "one array": (ROWS, ROWS),
    "a slice": (ROWS, ROWS[3:]),
    "slices that overlap": (ROWS[:5], ROWS[4:]),
    "one row in common": (ROWS[::2], ROWS[4:5]),
    "reversed": (ROWS, ROWS[::-1]),
    "transposed": (ROWS, ROWS.T),
    "another shape": (ROWS, ROWS.reshape(4, 6)),
    "another type": (ROWS, ROWS.view(np.int64)),
    "a broadcast row": (ROWS, np.broadcast_to(ROWS[0], (9, 3))),
    "columns of a mapping": ({"a": ROWS[:, 0]}, {"b": ROWS[2:, 0]}),
    "in lists": ([ROWS[:2], ROWS[2:]], [ROWS[7:]]),
    "in dataclasses": (Pair(ROWS), Pair(ROWS[1:2])),
    "labelled records": (LABELLED, Labelled(LABELLED.features[2:], LABELLED.labels[2:])),
    "one frame": (FRAME, FRAME),
    "a column of a frame": (FRAME, FRAME["age"].to_numpy()),
    "part of a frame": (FRAME, FRAME.iloc[2:4]),
    "one tensor": (TENSOR, TENSOR.view(4, 6)),
    "a tensor of an array": (ROWS, torch.from_numpy(ROWS)[2:]),
    "columns by a name, of one type": (Columns(), ROWS),
    "one list": (RECORDS, RECORDS),
    "one object": (THING, THING),
}

APART: dict[str, tuple[object, object]] = {
    "a copy": (ROWS, ROWS.copy()),
    "one half and the other": (ROWS[:4], ROWS[4:]),
    "odd rows and even rows": (ROWS[::2], ROWS[1::2]),
    "no rows": (ROWS[:0], ROWS),
    "by a mask": (ROWS[ROWS[:, 0] < 9], ROWS[ROWS[:, 0] >= 9]),
    "dataclasses with one note": (Pair(ROWS[:4]), Pair(ROWS[4:])),
    "tables of one schema": (coded(), coded()),
    "two halves of a tensor": (TENSOR[:4], TENSOR[4:]),
    "a tensor and its copy": (TENSOR, TENSOR.clone()),
    "tensors on two devices": (TENSOR, TENSOR.to("meta")),
    "arrow tables, which are not looked into": (pa.table({"age": [1, 2]}), pa.table({"age": [1, 2]})),
    "polars frames, nor they": (pl.DataFrame({"age": [1, 2]}), pl.DataFrame({"age": [1, 2]})),
    "an order of items": (SimpleNamespace(items=[1]), SimpleNamespace(items=[1])),
    "what would first be converted": (Converted(), Converted()),
    "the same number": (0, 0),
    "the same words": ("ill", "ill"),
    "nothing": (None, None),
    "records as tuples": ((1, 2), (1, 2)),
}


@pytest.mark.parametrize("pair", SHARING.values(), ids=SHARING)
def test_shared_storage_is_found_from_both_sides(pair: tuple[object, object]) -> None:
    assert shares_storage(*pair)
    assert shares_storage(*pair[::-1])


@pytest.mark.parametrize("pair", APART.values(), ids=APART)
def test_storage_apart_is_told_from_it(pair: tuple[object, object]) -> None:
    assert not shares_storage(*pair)
    assert not shares_storage(*pair[::-1])


def test_what_is_too_hard_to_find_out_counts_as_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_hard(*arrays: object, max_work: int) -> bool:
        raise np.exceptions.TooHardError("too hard")

    monkeypatch.setattr(np, "shares_memory", too_hard)

    assert shares_storage(ROWS, ROWS.copy())


def test_where_a_tensor_lies_is_not_to_be_written_to() -> None:
    assert not placed(TENSOR).flags.writeable


BASE = np.zeros(10, np.int8)
"""One for all: where two of them would lie, and so what it takes to tell them apart, is up to the allocator."""


def spread(extent: int, strides: tuple[int, ...], start: int = 0) -> Bytewise:
    """Bytes so far apart that they are in no memory; nobody reads them."""
    return as_strided(BASE[start:], (extent,) * len(strides), strides, writeable=False)


SETTLED = (
    spread(12, (417691222, 940365532, 680626238, 410339079)),
    spread(12, (424572574, 352929679, 784678704, 769155491), 9),
)
"""They share nothing, and that takes between 2**19 and 2**20 entries to find out."""
OPEN = (
    spread(10, (377686402, 297448719, 899601391, 909849275)),
    spread(10, (298254222, 655664778, 879615471, 605359311), 2),
)
"""They share nothing, and that takes between 2**20 and 2**21."""


@pytest.mark.parametrize(("pair", "shared"), [(SETTLED, False), (OPEN, True)], ids=["settled", "open"])
def test_a_million_entries_are_tried_and_no_more(pair: tuple[Bytewise, Bytewise], shared: bool) -> None:
    assert shares_storage(*pair) is shared


@pytest.mark.parametrize(("value", "array"), [(ROWS, True), (TENSOR, True), (FRAME, False), ([1.0], False)])
def test_arrays_and_tensors_are_what_can_be_looked_up(value: object, array: bool) -> None:
    assert is_array(value) is array
