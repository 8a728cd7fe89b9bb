"""Storing: rows of any number as they are read, and by person where they belong to persons."""

from collections.abc import Iterable, Iterator
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Noise
from expost.persons.digests import Digests, numbered_digests
from expost.tabular.persons import Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import Chunk
from expost.tabular.source.shelf import Shelf, Shelved
from expost.tabular.source.stored import PIECE, Gathering, StoredRows
from expost.tabular.source.texts import absent
from expost.tabular.table import Kind, Table

BUCKETS = 64
"""Parts that persons are sorted into; each must fit into memory."""


def stored_rows(chunks: Iterable[Chunk], schema: Schema, native: Kind, room: int, noise: Noise) -> StoredRows:
    """The rows of all chunks, of which up to ``room`` bytes are kept in memory; all rows of a person are in one piece.

    Digests of identifiers have a key that is drawn for them, and are forgotten once it is known which rows belong
    together.
    """
    shelf = Shelf(room)
    gathering = Gathering(schema, shelf)
    rows = (Table(schema, dict(zip(schema.names, each.codes, strict=True)), native) for each in chunks)
    for each in rows if schema.unit is None else _by_person(chunks, schema, native, shelf, noise.key()):
        gathering.add(each)
    return StoredRows(schema, native, schema, shelf, gathering.pieces())


def _by_person(chunks: Iterable[Chunk], schema: Schema, native: Kind, shelf: Shelf, key: bytes) -> Iterator[Grouped]:
    """All rows by person, in any order: put into buckets by a digest of whose they are, and then bucket by bucket."""
    digests, place = Digests(key, absent(schema)), 0
    buckets = [_Bucket(shelf) for _ in range(BUCKETS)]
    for chunk in chunks:
        assert chunk.identifiers is not None
        found = digests.of(chunk.identifiers, place)[chunk.kept]
        place += len(chunk.kept)
        which = (found[:, 0] % BUCKETS).astype(np.int64)
        order = np.argsort(which, kind="stable")
        arrays = [*(each[order] for each in chunk.codes), *found[order].T]
        ends = np.cumsum(np.bincount(which, minlength=BUCKETS))
        for bucket, start, end in zip(buckets, [0, *ends], ends, strict=False):
            bucket.add([each[start:end] for each in arrays])
    for bucket in buckets:
        *codes, one, other = bucket.emptied(len(schema.names) + 2)
        table = Table(schema, dict(zip(schema.names, codes, strict=True)), native)
        yield Grouped.of(table, numbered_digests(np.column_stack([one, other])))


@final
class _Bucket:
    """Arrays that lie on a shelf in parts, and are taken from it as a whole."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._waiting: list[list[NDArray[Any]]] = []
        self._put: list[Shelved] = []

    def add(self, arrays: list[NDArray[Any]]) -> None:
        self._waiting.append(arrays)
        if sum(len(each[0]) for each in self._waiting) >= PIECE // BUCKETS:
            self._put.append(self._shelf.put([np.concatenate(each) for each in zip(*self._waiting, strict=True)]))
            self._waiting = []

    def emptied(self, width: int) -> list[NDArray[Any]]:
        """The arrays, each as one."""
        parts = [*(each.arrays() for each in self._put), *map(tuple, self._waiting)]
        self._put, self._waiting = [], []
        return [np.concatenate(each) for each in zip(*parts, strict=True)] if parts else [np.zeros(0, np.uint8)] * width
