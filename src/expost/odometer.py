"""Odometers: spend adaptively, add up what was spent, stop before a cap; nothing else opens private data to a step."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from typing import TypeVar, final

from expost._seal import SEAL, guarded
from expost.account import PartAccount
from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge, Watching
from expost.accounting.statement import stated
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, MechanismFailed, NotPrivate
from expost.filters import Cap, PledgedFilter
from expost.ledger import Entry, Fact, Hold, Ledger, MemoryLedger
from expost.noise import Noise
from expost.private import Neighbours, Part, Private
from expost.protocols import Bond, Inquiry, Mechanism, Stateful, Verdict, agree, recorded_name
from expost.release import Bill, Past, Release, merged

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """A step on record, whose promise is pending in the account of its part."""

    entry: Entry
    hold: Hold
    account: PartAccount
    key: object


@final
class Odometer:
    """Runs steps whose budgets depend on earlier releases, and knows the total at any time.

    Each step is put on record in full, then run, then billed; a step that fails stays billed in full. Steps on
    disjoint parts of a split cost the maximum over the parts of the sums within; all else adds up. An odometer stays
    with the neighbour relation of its first step, for bills under two relations have no sum. Seeded noise is refused
    unless this is a ``rehearsal``, and then every release says NOT PRIVATE.

    Implements: fully adaptive odometer (Theorem 4.5); parallel odometer.
    """

    __slots__ = ("_cap", "_ledger", "_lock", "_names", "_neighbours", "_paid", "_pid", "_pledge", "_seeded", "_totals")

    def __init__(
        self,
        *,
        pledge: Pledge | None = None,
        cap: Cap | None = None,
        ledger: Ledger | None = None,
        rehearsal: bool = False,
    ) -> None:
        if isinstance(cap, PledgedFilter) and isinstance(cap.pledge, Watching) and cap.pledge is not pledge:
            raise InvalidValue("the pledge of the cap must watch every step; give the odometer the same pledge.")
        self._pledge, self._cap, self._seeded = pledge, cap, rehearsal
        self._ledger = MemoryLedger() if ledger is None else ledger
        self._paid = PartAccount()
        self._totals = [NOTHING.as_spent()]  # of a run that its pledge watches
        self._neighbours: Neighbours | None = None
        self._names: dict[object, str] = {}
        self._lock, self._pid = RLock(), os.getpid()
        self._ledger.pledge(pledge)

    @property
    def pledge(self) -> Pledge | None:
        """The rule that states the total as (ε, δ), fixed before the first step."""
        return self._pledge

    @property
    def ledger(self) -> Ledger:
        """Where its steps are put on record."""
        return self._ledger

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of everything so far under the pledge; infinite without one."""
        return stated(self.spent, self._pledge)

    @property
    def spent(self) -> Spent:
        """The ex-post bound on everything so far."""
        with self._lock:
            return self._paid.total()

    def spent_on(self, data: Private[D]) -> Spent:
        """The ex-post bound on steps that read just this part, or parts of it; what read the whole comes on top."""
        with self._lock:
            return self._account(data.part).total()

    def spend(
        self, mechanism: Mechanism[D, T], data: Private[D], budget: Budget, past: Past[T], noise: Noise
    ) -> Release[T]:
        """Run one step of a mechanism: on record, then on the data, then billed.

        The release carries the running total, so that no value is ever shown with less than what led to it.
        """
        self._require_home()
        agree(mechanism.neighbours, data)
        agree(past.neighbours, data)
        with self._lock:
            promise, facts, earlier = mechanism.promise(budget), mechanism.facts(budget), past.together
            entry = self._entry(recorded_name(mechanism), data, noise, mechanism.floating, facts)
            bond = mechanism.bond if isinstance(mechanism, Stateful) else Bond("step")
            held = self._hold(entry, promise, data, bond)
            with bond:
                value = self._open(lambda: mechanism.sample(data.open(SEAL), budget, past, noise))
                return self._seal(value, held, promise.as_spent(), earlier)

    def ask(
        self, inquiry: Inquiry[D, U], held: Private[D], candidate: Release[U], *, trained: Spent, noise: Noise
    ) -> Release[Verdict]:
        """Put one question of a check to the held-out part, given what the training part has spent."""
        check = inquiry.check
        self._require_home()
        agree(check.neighbours, held)
        agree(candidate.neighbours, held)
        with self._lock:
            inquiry.bond.require((self, held.part))
            price = inquiry.price(trained, self.spent_on(held))
            if isinstance(self._pledge, Watching) and price.passed != price.failed:
                raise BudgetExceeded("the pledge needs costs that are known beforehand; use a Gaussian check.")
            entry = self._entry(check.name, held, noise, False, check.facts())
            pending = self._hold(entry, price.passed.beside(price.failed), held, inquiry.bond)
            with inquiry.bond:
                verdict = self._open(lambda: inquiry.answer(price, held.open(SEAL), candidate.value, noise))
                cost = price.passed if verdict.passed else price.failed
                return self._seal(verdict, pending, cost.as_spent(), candidate)

    def charge(self, release: Release[T]) -> Release[T]:
        """The same value, billed for at least everything so far: what was spent since has judged it."""
        if not isinstance(self._pledge, Watching):
            return release.at_least(self.spent)
        bills = merged(release.bills(SEAL), {self: Bill(self.spent, self._neighbours, self._pledge)})
        return Release(release.value, bills, SEAL, seeded=release.seeded, floating=release.floating)

    def _require_home(self) -> None:
        if os.getpid() != self._pid:
            raise LedgerConflict("this odometer was copied into another process; give each process its own.")

    def _hold(self, entry: Entry, promise: Promise, data: Private[D], bond: Bond) -> _Held:
        """Refuse, or bind and put on record; whatever happens after that, the promise stays billed."""
        if entry.seeded and not self._seeded:
            raise NotPrivate("seeded noise makes nothing private; use SystemNoise, or an odometer for a rehearsal.")
        agree(self._neighbours, data)
        key, account = object(), self._account(data.part)
        account.hold(key, promise)
        try:
            after = self.spent
            if self._cap is not None:
                self._cap.require(after)
            if isinstance(self._pledge, Watching):
                self._pledge.require_step(self._totals, after)
            bond.bind((self, data.part))  # after what may be refused, so that it stays free; before the hold
            hold = self._ledger.hold(entry, promise)
        except BaseException:  # refused, or not on record: nothing is opened
            account.settle(key, NOTHING.as_spent())
            raise
        self._neighbours = data.neighbours
        if isinstance(self._pledge, Watching):
            self._totals.append(after)
        return _Held(entry, hold, account, key)

    def _open(self, run: Callable[[], T]) -> T:
        """What a step makes of the data; a failure says what is spent with it, and nothing of its cause."""
        try:
            return guarded(run)
        except MechanismFailed as failed:
            failure = MechanismFailed(f"{failed} {self._spending()}")
        raise failure  # outside, so that it has no context

    def _seal(self, value: T, held: _Held, spent: Spent, earlier: Release[object]) -> Release[T]:
        """Settle the bill, and seal the value with the running total and with what led to it."""
        entry = held.entry
        self._ledger.capture(held.hold, spent)
        held.account.settle(held.key, spent)
        bills = merged(earlier.bills(SEAL), {self: Bill(self.spent, self._neighbours, self._pledge)})
        seeded, floating = entry.seeded or earlier.seeded, entry.floating or earlier.floating
        return Release(value, bills, SEAL, seeded=seeded, floating=floating)

    def _spending(self) -> str:
        """What everything so far, pending steps in full, is stated as: nobody else will say it after a failure."""
        if self._pledge is None:
            return "Nothing was pledged, so that no ε is stated."
        return f"With it, ε = {self.epsilon:.6g} at δ = {self._pledge.delta:g} is spent."

    def _account(self, part: Part) -> PartAccount:
        above = self._paid if part.parent is None else self._account(part.parent)
        division = part if part.parent is None else part.division  # unrelated data adds up: a division of its own
        return above.part(division, part)

    def _entry(self, what: str, data: Private[D], noise: Noise, floating: bool, facts: Mapping[str, Fact]) -> Entry:
        label, drawn, seeded = self._label(data.part), data.part.drawn, noise.seeded or data.seeded
        return Entry(what, label, data.neighbours.value, seeded, floating, facts, drawn)

    def _label(self, part: Part) -> str:
        """The part's name on record, whose readers take the larger of ``x/train`` and ``x/held`` and add up all else.

        The first division of a part keeps its name; another one begins a name of its own.
        """
        if part.parent is None:
            return part.label
        if part.division not in self._names:
            above = self._label(part.parent)
            self._names[part.division] = f"data {len(self._names) + 1}" if above in self._names.values() else above
        return f"{self._names[part.division]}/{part.label.rpartition('/')[2]}"
