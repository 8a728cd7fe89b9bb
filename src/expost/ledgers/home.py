"""Homes: where a ledger lives, as transactions that are on the disk when they end, or never were."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TypeAlias

from expost.errors import ExpostError, InvalidValue, Unreadable

Cell: TypeAlias = str | int | None
Row: TypeAlias = Sequence[Cell]
Change: TypeAlias = tuple[str, tuple[Cell, ...]]
"""A statement that changes something, and its cells."""

CHANGED = "the ledger has a row that was changed by another program; `expost ledger verify` says which."
WAIT_SECONDS = 30
"""How long a transaction waits for others to end before it is refused."""


class Writing(Protocol):
    """One transaction that alone may write what it has read. Implemented by the homes.

    ``written`` is how many rows the last of its changes touched, once it has ended.
    """

    written: int

    def rows(self, sql: str, *cells: Cell) -> list[Row]:
        """What a query finds, its places marked by ``?``; `{lock}` keeps the rows from others until the end."""

    def soon(self, sql: str, *cells: Cell) -> None:
        """A query that will be asked after the next one, with which a server answers it, in one round trip."""

    def later(self, sql: str, *cells: Cell) -> None:
        """A change, made at the end of the transaction together with all others, in order."""


class Home(Protocol):
    """Where a ledger lives. Implemented by SqliteHome and PostgresHome.

    What ``writing`` does is durable when its block ends, whole or not at all; whatever is raised in the block, nothing
    of it was done. What ``enter`` does is durable when it returns. Two of them that lock the same row follow one
    another. A home that is busy, full, read-only, cut off or not ours says so by a LedgerConflict, in one sentence.
    """

    @property
    def name(self) -> str:
        """What a person calls it; without passwords."""

    def writing(self) -> AbstractContextManager[Writing]:
        """A transaction that writes."""

    def enter(self, change: Change, entry: Row) -> bool:
        """A transaction that reads nothing: a change to one row, and the entry that says so.

        Neither is made if there is no such row; returns whether they are.
        """

    def reading(self) -> AbstractContextManager[Writing]:
        """A transaction that sees one state of everything, and writes nothing."""

    def flaws(self) -> list[str]:
        """What the home itself finds wrong with what it keeps, if it can look."""

    def close(self) -> None:
        """Let it go."""


@contextmanager
def legible() -> Iterator[None]:
    """What rows say that expost did not write, in a sentence of ours."""
    try:
        yield
    except InvalidValue:  # of a cap, say, that nobody could have given
        raise Unreadable(CHANGED) from None
    except ExpostError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, RecursionError):
        raise Unreadable(CHANGED) from None
