"""Odometers and filters: spend adaptively, add up what was spent, stop before a cap."""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import count
from threading import RLock
from typing import Protocol, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated, exceeds
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated
from expost.errors import BudgetExceeded, LedgerConflict, MechanismFailed, NotPrivate
from expost.ledger import Entry, Fact, Ledger, MemoryLedger
from expost.noise import Noise
from expost.numerics import down, positive, up
from expost.private import Neighbours, Part, Private
from expost.release import Bill, Past, Release
from expost.step import Bond, Inquiry, Mechanism, Stateful, Till, Verdict, agree, inquire, perform, recorded_name

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)


class Run(Protocol[T_co]):
    """A step that is ready to run."""

    def __call__(self, *, till: Till) -> Release[T_co]:
        """Open, sample, settle and seal."""
        ...


class Cap(Protocol):
    """A limit on the total, tested before data is opened. Implemented by Filter and PledgedFilter."""

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the total stays within the limit."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Filter:
    """A cap on ε at one order: whatever is chosen below it, the whole run has that ex-ante bound.

    Implements: filter (Theorem 4.3).
    """

    cap: Budget

    @property
    def promise(self) -> Promise:
        """The ex-ante bound of any run under this filter."""
        return Promise(Tabulated.of([down(self.cap.alpha)], [up(self.cap.epsilon)]))

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the total at the order stays within the cap, compared exactly."""
        alpha, epsilon = self.cap.alpha, self.cap.epsilon
        if exceeds(total.curve, alpha, epsilon):
            raise BudgetExceeded(
                f"would spend ε = {total.at(alpha):.6g} at α = {up(alpha):g}; the cap is {up(epsilon):.6g}. "
                "Ask for less, or stop here."
            )


@final
@dataclass(frozen=True, slots=True)
class PledgedFilter:
    """A cap on the ε that a pledge would state: the whole run is (ε, δ)-DP.

    Implements: filter on the pledged statement.
    """

    pledge: Pledge
    cap: AdpEpsilon

    def __post_init__(self) -> None:
        positive(self.cap, "cap")

    def require(self, total: Spent) -> None:
        """Raise BudgetExceeded unless the stated ε stays within the cap."""
        reached = stated(total, self.pledge)
        if not reached <= self.cap:
            raise BudgetExceeded(
                f"would be stated as ε = {reached:.6g} at δ = {self.pledge.delta:g}; the cap is {self.cap:.6g}. "
                "Ask for less, or stop here."
            )


@final
@dataclass(slots=True)
class _Account:
    """What one body of records has spent itself, what is pending, and the accounts of its parts by division."""

    own: Spent = field(default_factory=NOTHING.as_spent)
    pending: dict[int, Promise] = field(default_factory=dict)
    divisions: dict[object, dict[Part, "_Account"]] = field(default_factory=dict)

    def total(self) -> Spent:
        """Own spending, pending steps in full and, for each division, that of its most expensive part."""
        spent = reduce(Spent.__add__, (promise.as_spent() for promise in self.pending.values()), self.own)
        for sides in self.divisions.values():
            spent = spent + reduce(Spent.beside, (side.total() for side in sides.values()))
        return spent


@final
class Odometer:
    """Runs steps whose budgets depend on earlier releases, and knows the total at any time.

    Each step is put on record in full, then run, then billed; a step that fails stays billed in full. Steps on
    disjoint parts of a split cost the maximum over the parts of the sums within; all else adds up. An odometer stays
    with the neighbour relation of its first step, for bills under two relations have no sum. Seeded noise is refused
    unless this is a ``rehearsal``, and then every release says NOT PRIVATE.

    Implements: fully adaptive odometer (Theorem 4.5); parallel odometer.
    """

    __slots__ = (
        "_cap",
        "_ledger",
        "_lock",
        "_names",
        "_neighbours",
        "_paid",
        "_pid",
        "_pledge",
        "_seeded",
        "_steps",
    )

    def __init__(
        self,
        *,
        pledge: Pledge | None = None,
        cap: Cap | None = None,
        ledger: Ledger | None = None,
        rehearsal: bool = False,
    ) -> None:
        self._pledge, self._cap, self._seeded = pledge, cap, rehearsal
        self._ledger = MemoryLedger() if ledger is None else ledger
        self._paid, self._steps = _Account(), count()
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
            promise, facts = mechanism.promise(budget), mechanism.facts(budget)
            entry = self._entry(recorded_name(mechanism), data, noise, mechanism.floating, facts)
            run = partial(perform, mechanism, data, budget, past, noise, cost=promise.as_spent())
            return self._step(mechanism.bond if isinstance(mechanism, Stateful) else None, entry, promise, data, run)

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
            entry = self._entry(check.name, held, noise, False, check.facts())
            run = partial(inquire, inquiry, price, held, candidate, noise)
            return self._step(inquiry.bond, entry, price.passed.beside(price.failed), held, run)

    def _require_home(self) -> None:
        if os.getpid() != self._pid:
            raise LedgerConflict("this odometer was copied into another process; give each process its own.")

    def _step(self, bond: Bond | None, entry: Entry, promise: Promise, data: Private[D], run: Run[T]) -> Release[T]:
        """Refuse, bind, hold, run, settle; whatever happens after the hold, the promise stays billed."""
        if entry.seeded and not self._seeded:
            raise NotPrivate("seeded noise makes nothing private; use SystemNoise, or an odometer for a rehearsal.")
        agree(self._neighbours, data)
        step, account = next(self._steps), self._account(data.part)
        account.pending[step] = promise
        try:
            if self._cap is not None:
                self._cap.require(self.spent)
            if bond is not None:  # after what may be refused, so that it stays free; before the hold
                bond.bind((self, data.part))
            hold = self._ledger.hold(entry, promise)
        except BaseException:  # refused, or not on record: nothing is opened
            del account.pending[step]
            raise
        self._neighbours = data.neighbours

        def settle(spent: Spent) -> Bill:
            self._ledger.capture(hold, spent)
            account.own = account.own + spent
            del account.pending[step]
            return Bill(self.spent, data.neighbours, self._pledge)

        with nullcontext() if bond is None else bond:
            try:
                return run(till=Till(self, settle))
            except MechanismFailed as failed:
                failure = MechanismFailed(f"{failed} {self._spending()}")
            raise failure  # outside, so that it has no context

    def _spending(self) -> str:
        """What everything so far, pending steps in full, is stated as: nobody else will say it after a failure."""
        if self._pledge is None:
            return "Nothing was pledged, so that no ε is stated."
        return f"With it, ε = {self.epsilon:.6g} at δ = {self._pledge.delta:g} is spent."

    def _account(self, part: Part) -> _Account:
        above = self._paid if part.parent is None else self._account(part.parent)
        division = part if part.parent is None else part.division  # unrelated data adds up: a division of its own
        return above.divisions.setdefault(division, {}).setdefault(part, _Account())

    def _entry(self, what: str, data: Private[D], noise: Noise, floating: bool, facts: Mapping[str, Fact]) -> Entry:
        return Entry(what, self._label(data.part), data.neighbours.value, noise.seeded or data.seeded, floating, facts)

    def _label(self, part: Part) -> str:
        """The part's name on record, whose readers take the larger of ``x/train`` and ``x/held`` and add up all else.

        The first division of a part keeps its name; another one begins a name of its own.
        """
        if part.parent is None:
            return part.label
        above = self._label(part.parent)
        own = f"data {len(self._names) + 1}" if above in self._names.values() else above
        return f"{self._names.setdefault(part.division, own)}/{part.label.rpartition('/')[2]}"
