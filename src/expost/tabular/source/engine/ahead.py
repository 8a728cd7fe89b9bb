"""Ahead: what a query yields, read by a thread of its own, so that the interrupt key is heard while DuckDB is at work.

The thread is a batch or two ahead of whoever takes them.
"""

from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, Generic, TypeVar, final

from duckdb import DuckDBPyRelation

AHEAD = 2
"""Batches that are kept ready."""
PATIENCE = 0.05
"""Seconds between two looks whether an interrupted query has ended."""

Batch = TypeVar("Batch")


def read_ahead(
    relation: DuckDBPyRelation,
    stream: Callable[[DuckDBPyRelation], Iterator[Batch]],
    free: Callable[[Batch], None] = lambda batch: None,
) -> Iterator[Batch]:
    """What ``stream`` yields of a relation; each batch is freed when the next one is asked for."""
    reader = _Reader(relation, stream, free)
    try:
        yield from reader.batches()
    finally:
        reader.end()


def row_batches(relation: DuckDBPyRelation, size: int) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a relation as Python has them, a number of them at a time and in their order, all from one run."""
    return read_ahead(relation, partial(_streamed_rows, size))


def _streamed_rows(size: int, relation: DuckDBPyRelation) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as they are found: ``iter_rows`` of a relation would keep all of them before it hands over the first."""
    relation.limit(0).fetchall()  # refused where the connection has a result that its owner has yet to read
    home = relation._con  # there is no other way to the connection of a relation that was given
    try:
        home.execute(*relation._statement())
        while rows := home.fetchmany(size):
            yield rows
    finally:
        home.abort()


@final
class _Reader(Generic[Batch]):
    """A thread that reads, and a queue of what it has read."""

    def __init__(
        self,
        relation: DuckDBPyRelation,
        stream: Callable[[DuckDBPyRelation], Iterator[Batch]],
        free: Callable[[Batch], None],
    ) -> None:
        self._relation, self._stream, self._free = relation, stream, free
        self._ready: Queue[tuple[Batch] | BaseException | None] = Queue(AHEAD)
        self._halted = Event()
        self._thread = Thread(target=self._read, daemon=True)

    def batches(self) -> Iterator[Batch]:
        """One batch after another."""
        self._thread.start()
        while (found := self._ready.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            try:
                yield found[0]
            finally:
                self._free(found[0])

    def end(self) -> None:
        """End the query, if it has not ended, and see the thread out: it must not outlive the interpreter."""
        self._halted.set()
        if self._thread.is_alive():
            # it may just have ended, and another query of the connection is not ours to interrupt
            self._thread.join(PATIENCE)
        while self._thread.is_alive():
            self._relation._con.interrupt()
            try:
                self._let_go(self._ready.get(timeout=PATIENCE))
            except Empty:
                continue
        while not self._ready.empty():
            self._let_go(self._ready.get())

    def _let_go(self, left: tuple[Batch] | BaseException | None) -> None:
        if isinstance(left, tuple):
            self._free(left[0])

    def _read(self) -> None:
        """Put one batch after another; last, None or what went wrong."""
        try:
            if self._halted.is_set():  # as the thread began
                return
            for batch in self._stream(self._relation):
                self._ready.put((batch,))
                if self._halted.is_set():
                    break
            self._ready.put(None)
        except BaseException as failure:  # noqa: BLE001  whoever waits for the next batch is told
            self._ready.put(failure)
