"""What a command spends is kept by the journal of its folder and, where one is named, by a ledger that lasts."""

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, final

from expost.errors import InvalidValue, LedgerConflict
from expost.folders.claim import Claim
from expost.ledgers.book import Book, open_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.settling import is_settled
from expost.recorded import Booked, Booking, ReadableLedger
from expost.report.booked import fitting, held_and_returned, standing
from expost.terminal.options import TOKEN, VARIABLE


@final
class OnRecord:
    """The ledger of a command, once the folder is claimed; refused at once where the options do not go together."""

    def __init__(self, claim: Claim, what: str, settings: Mapping[str, Any]) -> None:
        self._claim, self._what, self._name, self._dataset = claim, what, settings["ledger"], settings["dataset"]
        self._book: Book | None = None
        self._run: LedgerRun | None = None
        self.unreturned: str | None = None
        if self._name is None and self._dataset is not None:
            raise InvalidValue(f"--dataset is one of a ledger, and none is named; give --ledger or set {VARIABLE}.")
        if self._name is not None and self._dataset is None:
            raise InvalidValue("the ledger is named without a data set; say with --dataset which one the run reads.")
        if self._name is not None and settings["seed"] is not None:
            raise InvalidValue(
                "--seed makes a rehearsal, which is not put on a lasting ledger; leave --seed out, or name no ledger, "
                f"neither by --ledger nor in {VARIABLE}."
            )

    def __enter__(self) -> Self:
        if self._name is not None:
            self._book = open_ledger(self._name)
            token, journal = os.environ.get(TOKEN), self._claim.journal
            self._run = self._book.run(self._dataset, self._what, token=token, beside=journal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._book is not None:
            self._book.home.close()

    @property
    def ledger(self) -> ReadableLedger:
        """What the run is given."""
        return self._claim.journal if self._run is None else self._run

    def close(self) -> None:
        """Return what the run still holds; a ledger that is gone by now keeps the hold, and why is kept here."""
        if self._run is not None and self.unreturned is None:
            try:
                self._run.close()
            except LedgerConflict as refused:
                self.unreturned = self._why(refused)

    def _why(self, refused: LedgerConflict) -> str:
        """Why the run could not return what it held."""
        try:
            settled = self._book is not None and self._run is not None and is_settled(self._book, self._run.id)
        except LedgerConflict:
            settled = False
        if settled:
            return "Somebody has settled the run, and with it what it still held."
        return f"What the run still holds on the ledger was not returned: {refused}"

    @property
    def told(self) -> str:
        """What the ledger says of a run that ended without a release, if anything, after a space."""
        try:
            where = None if self._run is None else self._run.booking()
        except LedgerConflict:  # it held nothing, or the ledger is gone
            where = None
        told = [held_and_returned(where)] if where is not None and self.unreturned is None else []
        return "".join(f" {each}" for each in (*told, *([self.unreturned] if self.unreturned else [])))


def foretold(ledger: ReadableLedger, rung: str) -> tuple[str, ...]:
    """What is said of a ledger that lasts before any data is read; nothing of one that does not."""
    if not isinstance(ledger, Booked):
        return ()
    where: Booking = ledger.booking()
    room = fitting(where, rung)
    return (standing(where), *(() if room is None else (room,)))
