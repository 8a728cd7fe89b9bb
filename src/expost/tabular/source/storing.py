"""Storing: rows of any number as they are read, and by person where they belong to persons."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Noise
from expost.persons.digests import Digests, numbered_digests
from expost.tabular.persons import Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import Chunk
from expost.tabular.source.pace import Pace, Progress, silent
from expost.tabular.source.room import Room
from expost.tabular.source.shelf import Shelf, Shelved
from expost.tabular.source.stored import Gathering, StoredRows
from expost.tabular.source.texts import absent
from expost.tabular.table import Kind, Table

BUCKETS = 64
"""Parts that persons are sorted into; each must fit into memory."""


def stored_rows(
    chunks: Iterable[Chunk], schema: Schema, native: Kind, room: Room, noise: Noise, *, tell: Progress = silent
) -> StoredRows:
    """The rows of all chunks, of which as many are kept in memory as there is room for; a person's are in one piece.

    Digests of identifiers have a key that is drawn for them, and are forgotten once it is known which rows belong
    together.
    """
    shelf, at_once = Shelf(room.codes), room.rows(schema)
    gathering = Gathering(schema, shelf, at_once)
    rows = (Table(schema, dict(zip(schema.names, each.codes, strict=True)), native) for each in chunks)
    buckets = [_Bucket(shelf, at_once // BUCKETS) for _ in range(BUCKETS)]
    if schema.unit is not None:
        _scatter(chunks, schema, buckets, noise.key())
    for each in rows if schema.unit is None else _by_person(schema, native, buckets, tell):
        gathering.add(each)
    return StoredRows(schema, native, schema, shelf, gathering.pieces(), at_once, _tell=tell)


def _scatter(chunks: Iterable[Chunk], schema: Schema, buckets: Sequence["_Bucket"], key: bytes) -> None:
    """Put all rows into buckets by a digest of whose they are."""
    digests, place = Digests(key, absent(schema)), 0
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


def _by_person(schema: Schema, native: Kind, buckets: Sequence["_Bucket"], tell: Progress) -> Iterator[Grouped]:
    """All rows by person, in any order, bucket by bucket."""
    told = Pace("bringing the rows of each person together", tell)
    for number, bucket in enumerate(buckets, 1):
        *codes, one, other = bucket.emptied(len(schema.names) + 2)
        table = Table(schema, dict(zip(schema.names, codes, strict=True)), native)
        yield Grouped.of(table, numbered_digests(np.column_stack([one, other])))
        told.passed(len(table), number / len(buckets))


@final
class _Bucket:
    """Arrays that lie on a shelf in parts, and are taken from it as a whole."""

    def __init__(self, shelf: Shelf, at_once: int) -> None:
        self._shelf, self._at_once = shelf, at_once
        self._waiting: list[list[NDArray[Any]]] = []
        self._put: list[Shelved] = []

    def add(self, arrays: list[NDArray[Any]]) -> None:
        self._waiting.append(arrays)
        if sum(len(each[0]) for each in self._waiting) >= self._at_once:
            self._put.append(self._shelf.put([np.concatenate(each) for each in zip(*self._waiting, strict=True)]))
            self._waiting = []

    def emptied(self, width: int) -> list[NDArray[Any]]:
        """The arrays, each as one."""
        parts = [*(each.arrays() for each in self._put), *map(tuple, self._waiting)]
        self._put, self._waiting = [], []
        return [np.concatenate(each) for each in zip(*parts, strict=True)] if parts else [np.zeros(0, np.uint8)] * width
