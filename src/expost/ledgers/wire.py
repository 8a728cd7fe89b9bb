"""The wire to a PostgreSQL server: statements that are sent together and answered together, in one round trip.

psycopg's own pipeline passes every statement on by itself, which took most of the time of a charge; here they wait for
each other, through the functions of libpq that psycopg offers.
"""

import re
import select
from collections.abc import Callable, Sequence
from itertools import count
from typing import final

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from expost.errors import LedgerConflict
from expost.ledgers.home import Cell, Row

INTEGERS = (20, 21, 23)
"""PostgreSQL's numbers for its types of integers; whatever else our tables have is text."""


@final
class Wire:
    """A connection on which each statement is prepared once, and which is given up after the first error.

    It is lost, too, when the server says nothing for ``patience`` seconds: one that hangs keeps no limits of its own.
    """

    def __init__(self, connection: psycopg.Connection[Row], patience: float) -> None:
        self._connection, self._line, self._patience = connection, connection.pgconn, patience
        self._line.nonblocking = 1
        self._line.enter_pipeline_mode()
        self._ready = select.poll()
        self._names: dict[str, bytes] = {}
        self._wanted: list[bool] = []
        self._waiting = False

    @property
    def is_lost(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._connection.closed

    def send(self, sql: str, *cells: Cell) -> None:
        """Have a statement go with the next round trip."""
        self._waiting = True  # until it was answered
        if sql not in self._names:
            self._names[sql] = b"expost%d" % len(self._names)
            self._line.send_prepare(self._names[sql], _spelled(sql))
            self._wanted.append(False)
        self._line.send_query_prepared(self._names[sql], [_sent(cell) for cell in cells])
        self._wanted.append(True)

    def answers(self) -> list[PGresult]:
        """What the server says to all that was sent; its first error is raised."""
        self._line.pipeline_sync()
        self._flush()
        found: list[PGresult] = []
        while (result := self._next()) is None or result.status != ExecStatus.PIPELINE_SYNC:
            if result is not None:
                found.append(result)
            elif self._line.status == ConnStatus.BAD:
                break
        for result in found:
            if result.status == ExecStatus.FATAL_ERROR:
                raise error_from_result(result)
        if len(found) != len(self._wanted):
            raise psycopg.OperationalError("the connection was lost")
        wanted, self._wanted, self._waiting = self._wanted, [], False
        return [result for result, is_wanted in zip(found, wanted, strict=True) if is_wanted]

    def end(self) -> None:
        """Take back what was not committed; a wire with something under way is given up, which does so too."""
        try:
            if not self._waiting:
                self.send("ROLLBACK")
                self.answers()
        except psycopg.Error:
            self._waiting = True
        if self._waiting:
            self.close()

    def close(self) -> None:
        """Give the connection up."""
        self._connection.close()

    def _flush(self) -> None:
        while self._line.flush():
            self._wait(select.POLLIN | select.POLLOUT)
            self._line.consume_input()

    def _next(self) -> PGresult | None:
        """The next result, or None between those of two statements; others may run while it is waited for."""
        while self._line.is_busy():
            self._wait(select.POLLIN)
            self._line.consume_input()
        return self._line.get_result()

    def _wait(self, events: int) -> None:
        self._ready.register(self._line.socket, events)
        if not self._ready.poll(1000 * self._patience):
            raise psycopg.OperationalError("the server does not answer")


def rows_of(result: PGresult) -> list[Row]:
    """The rows of a result."""
    columns = range(result.nfields)
    readers: Sequence[Callable[[bytes], Cell]] = [
        int if result.ftype(column) in INTEGERS else bytes.decode for column in columns
    ]
    values = [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]
    return [
        tuple(None if value is None else read(value) for read, value in zip(readers, row, strict=True))
        for row in values
    ]


def _sent(cell: Cell) -> bytes | None:
    if cell is None:
        return None
    text = str(cell)
    if "\0" in text:  # where libpq would end the text
        raise LedgerConflict("a text with a NUL character cannot be put on a ledger on a server; leave it out.")
    return text.encode()


def _spelled(sql: str) -> bytes:
    """A statement as the server takes it, which numbers its places."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql).replace("{lock}", " FOR UPDATE").encode()
