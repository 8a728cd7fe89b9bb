"""One run on a lasting ledger: the ledger that its odometer is given, like any other."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from threading import RLock
from typing import Self, final

from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import Pledge
from expost.errors import BudgetExceeded, LedgerConflict, NotPrivate
from expost.ledger import Entry, Hold, MemoryLedger
from expost.ledgers.amounts import Amount, larger
from expost.ledgers.moves import Moves
from expost.ledgers.moving import Also, Begun, Books, Move
from expost.ledgers.offer import offer, that_or_less
from expost.ledgers.posting import Account
from expost.ledgers.recall import Recalled, recall
from expost.ledgers.saying import Sayings
from expost.ledgers.slots import Slots, Tab, are_within, larger_slots, require_kept, run_cost
from expost.ledgers.standing import accounts_of, booking_of
from expost.recorded import Asking, Booking, ReadableLedger


@final
class LedgerRun:
    """A run on a lasting ledger, to be given to one odometer, and used in a ``with`` statement.

    Nothing is opened before its hold is on the disk, and no value leaves before its capture is. What is still held
    when the block ends is returned, except for steps that did not finish, which stay billed in full. A process that
    dies leaves its hold, which counts until somebody settles it. What is put on record goes ``beside`` too.
    """

    def __init__(
        self,
        book: Books,
        dataset: str,
        what: str = "a run",
        *,
        token: str | None = None,
        split: str | None = None,
        because: str = "",
        key: str | None = None,
        request: str | None = None,
        beside: ReadableLedger | None = None,
    ) -> None:
        self._book, self._dataset, self._what, self._token = book, dataset, what, token
        self.split, self._because, self._key, self._request = split, because, key, request
        self._beside: ReadableLedger = MemoryLedger() if beside is None else beside
        self._lock, self._pid, self._says, self._before = RLock(), os.getpid(), Sayings(), ("", "")
        self._begun: Begun | None = None
        self._moves: Moves
        self._tab: Tab
        self._pledged: Pledge | None = None
        self._neighbours: str | None = None
        self._given, self._over, self._stops = False, False, (0, 0)
        self._open: dict[int, Hold] = {}
        nothing: Slots = {}
        self._spent = self._committed = nothing
        self._reserved: Slots | None = None
        self._most: Amount = ()
        self._payload: str | None = None
        self._also: Also | None = None
        self._known: Mapping[str, Account] = {}

    def pledge(self, pledge: Pledge | None) -> None:
        """Begin the run, with how its total will be stated on record, unless ``reserve`` has with the same pledge."""
        with self._lock:
            if self._given or (self._begun is not None and pledge is not self._pledged):
                raise LedgerConflict("a run on a ledger is for one odometer; begin another run for another.")
            if self._begun is None:
                self._begin(pledge)
            self._given = True
            self._beside.pledge(pledge)

    def reserve(
        self, stops: Sequence[Promise], *, of: str | None = None, pledge: Pledge | None = None,
        ask: Asking = that_or_less,
    ) -> int:  # fmt: skip
        """Hold the most that the run may come to, before any data is read: the last of its stops that fits.

        Returns how many fit. If not even the first does, the run is refused, and ``ask`` says what to ask for; so is a
        run ``of`` other neighbours than its data set has. It begins here, with this ``pledge``, if it has not yet.
        """
        with self._lock:
            if self._begun is None:
                self._begin(pledge)
            self._catch_up()
            for number in range(len(stops), 0, -1):
                most = reduce(Promise.beside, stops[:number])
                held = {name: self._opened.terms.amount(most.as_spent()) for name in self._committed}
                try:
                    self._raise(larger_slots(self._committed, held), self._says.reserve(most, of), of)
                except BudgetExceeded:
                    if number == 1:
                        raise BudgetExceeded(offer(self._charged(), stops, self._pledged, ask)) from None
                else:
                    self._reserved, self._stops, self._known = held, (number, len(stops)), self._charged()
                    return number
        return 0

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on the disk that at most this promise is about to be spent, unless what is held covers it."""
        if entry.seeded:
            raise NotPrivate("seeded noise makes nothing private, so a lasting ledger takes no rehearsal.")
        require_kept(entry, self.split)
        self._says.require(entry)
        if self._opened.earlier:
            raise LedgerConflict("this key has a stored release already; use that, or a new key for a new release.")
        with self._lock:
            self._catch_up()
            wanted = self._tab.after(entry.part, promise.curve).slots(self._open.values())
            if entry.neighbours != self._neighbours or not are_within(wanted, self._committed):
                self._raise(larger_slots(self._committed, wanted), self._says.hold(entry, promise), entry.neighbours)
            hold = self._beside.hold(entry, promise)
            self._open[id(hold)] = hold
            return hold

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Put on the disk what a step did spend; only then does its value leave."""
        with self._lock:
            self._catch_up()
            if self._open.get(id(hold)) is not hold:
                raise LedgerConflict("this hold was captured before or was made by another ledger; hold anew.")
            self._settle(hold, spent, finished=True)
            self._beside.capture(hold, spent)

    def keep(self, payload: str) -> None:
        """What the next capture stores with the bill, in the same transaction."""
        self._payload = payload

    def also(self, write: Also) -> None:
        """What the next capture writes besides, in the same transaction, and says in its entry."""
        self._also = write

    def recalled(self) -> Recalled:
        """What earlier runs of this kind on the data set have kept, as far as this one may see it."""
        return recall(self._book.home, self._dataset, self._what, self._token)

    def close(self) -> None:
        """Return what is still held; steps that did not finish are captured in full."""
        with self._lock:
            if self._begun is None or self._begun.earlier or os.getpid() != self._pid:
                return
            self._moves.catch_up()
            if not self._over:
                for hold in [*self._open.values()]:
                    self._settle(hold, hold.promise.as_spent(), finished=False)
                self._moves.make(Move("close", "", self._spent, self._spent, state="closed"), self._become_over)
                self._known = self._charged()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    @property
    def id(self) -> str:
        """The identity of the run on the ledger."""
        return self._opened.id

    @property
    def payload(self) -> str | None:
        """What is stored under the key of the run, by itself or by an earlier one, if anything is."""
        return self._opened.payload

    def booking(self) -> Booking:
        """Where the run stands on the ledger, and its data set as it was when the run ended, or is now."""
        latest = None if self._begun is None else self._moves.latest
        if latest is None:
            raise LedgerConflict("this run has not held anything; give it to an odometer, and take a step.")
        accounts, amounts = self._known if self._over else self._charged(), (self._largest(), run_cost(self._spent))
        return booking_of(self._opened, latest, accounts, name=self._book.home.name, amounts=amounts, stops=self._stops)

    @property
    def pledged(self) -> Pledge | None:
        """The pledge of the run, if it has one."""
        return self._beside.pledged

    @property
    def lines(self) -> tuple[tuple[Entry, Spent, int], ...]:
        """What was captured: entry, bill of one step, and how many equal steps in a row."""
        return self._beside.lines

    @property
    def held(self) -> tuple[Hold, ...]:
        """Holds that were never captured: steps that failed or are under way."""
        return self._beside.held

    def _begin(self, pledge: Pledge | None) -> None:
        begun = self._book.begin(
            self._dataset, self._what, pledge=pledge, token=self._token, split=self.split, because=self._because,
            key=self._key, request=self._request,
        )  # fmt: skip
        self._pledged, self._moves = pledge, Moves(self._book, begun)
        self._tab = Tab(begun.terms, {}, named=self.split is not None)
        self._spent = self._committed = self._tab.slots()
        self._most, self._begun = run_cost(self._spent), begun

    def _raise(self, committed: Slots, said: str, neighbours: str | None) -> None:
        def become() -> None:
            self._committed, self._neighbours = committed, neighbours or self._neighbours

        self._moves.make(Move("hold", said, self._spent, committed, neighbours), become)

    def _settle(self, hold: Hold, spent: Spent, *, finished: bool) -> None:
        """Capture one step; where steps are alike the next is held as well, and then waits for one commit only."""
        entry, payload = hold.entry, self._payload
        pending = [each for each in self._open.values() if each is not hold] if len(self._open) > 1 else []
        tab, this = self._tab.after(entry.part, spent.curve), (entry.part, self._says.curve(hold.promise.curve))
        paid, committed = tab.slots(), tab.slots(pending)
        if self._reserved is not None:
            committed = larger_slots(self._reserved, committed)
        if not are_within(committed, self._committed):
            raise LedgerConflict("a step cost more than was held for it; its mechanism promises too little.")
        ahead = larger_slots(committed, tab.slots([*pending, hold])) if finished and self._before == this else committed

        def become(held: Slots) -> None:
            if held is not self._committed:
                self._most, self._committed = self._largest(), held
            self._tab, self._spent, self._before = tab, paid, this
            if payload is not None:
                self._begun = replace(self._opened, payload=payload)
            self._payload = self._also = None
            self._open.pop(id(hold), None)

        said = self._says.capture(hold, spent, payload, finished=finished)
        self._moves.capture(Move("capture", said, paid, committed, payload=payload, also=self._also), become, ahead)

    def _become_over(self) -> None:
        self._most, self._committed, self._over = self._largest(), self._spent, True

    def _largest(self) -> Amount:
        return larger(self._most, run_cost(self._committed))

    def _charged(self) -> Mapping[str, Account]:
        return accounts_of(self._book.home, self._opened.id, self._known)

    @property
    def _opened(self) -> Begun:
        if self._begun is None:
            raise LedgerConflict("this run has not begun; give it to an odometer.")
        return self._begun

    def _catch_up(self) -> None:
        if os.getpid() != self._pid:
            raise LedgerConflict("this run was copied into another process; begin one in each process.")
        self._moves.catch_up()
