"""The accuracy-first search: release, check, and stop at the first candidate that is accurate enough."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.checks.question import PublicCheck
from expost.errors import BudgetExceeded, InvalidValue, SpentCheck
from expost.ladder import Planned, Priced, Rung, Selector, Strides
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Split
from expost.protocols import Check, Inquiry, Mechanism, Verdict, agree
from expost.release import Past, Release

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")
U_co = TypeVar("U_co", covariant=True)


class Ended(Enum):
    """Why a search stopped."""

    HALTED = "a candidate passed the check"
    EXHAUSTED = "the last rung was climbed; no candidate passed the check"
    FLAT = "the noisy answers no longer rose"
    CAPPED = "the next step or question was refused, by the cap or the check's plan; nothing is known to pass"


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One rung: its budget and how often it was spent, the bill after it, the verdict if there is one, and ε so far."""

    budget: Budget
    spent: Spent
    verdict: Verdict | None
    epsilon: AdpEpsilon
    times: int


@final
@dataclass(frozen=True, repr=False)
class Outcome(Generic[U_co]):
    """What a search returns; the release carries the bill of the whole procedure, checks included.

    ``ledger`` is that of its odometer, by which a report tells its bill from that of an equal run.
    """

    release: Release[U_co]
    ended: Ended
    history: tuple[Line, ...]
    ledger: object

    @property
    def pledge(self) -> Pledge | None:
        """The odometer's, made before the first release."""
        return self.release.pledge

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the (ε, δ) statement under the odometer's pledge; infinite without one."""
        return self.release.epsilon

    def __repr__(self) -> str:
        return f"Outcome({self.release.brief}, {self.ended.name.lower()})"


@final
class Search(Generic[D, T, U]):
    """A search that is taken a step at a time; ``search`` takes one to its end, and says what it promises.

    Without a check, whoever steps it decides when to stop. ``keep`` says what of the past the next step goes on from.
    A search that goes on begins with the ``candidate`` of an earlier process, and judges it first if a rung is
    ``pending``. ``flat`` says from the verdicts so far whether climbing further is in vain.
    """

    def __init__(
        self,
        split: Split[D],
        mechanism: Mechanism[D, T],
        select: Selector[T],
        build: Callable[[tuple[T, ...]], U],
        check: Check[D, U] | PublicCheck[U] | None,
        *,
        noise: Noise,
        odometer: Odometer,
        keep: Callable[[Past[T], Release[T]], Past[T]] = Past.then,
        flat: Callable[[tuple[Verdict | None, ...]], bool] | None = None,
        candidate: Release[U] | None = None,
        pending: Rung | None = None,
    ) -> None:
        self._judge = _judge(split, check, odometer, noise)
        self._mechanism, self._train, self._noise, self._odometer = mechanism, split.train, noise, odometer
        self._select, self._build, self._keep, self._flat = select, build, keep, flat
        self._past = self._latest = Past[T]()
        self._spent, self._history, self._verdicts = 0, list[Line](), tuple[Verdict | None, ...]()
        self._candidate, self._pending, self._rung = candidate, pending, pending
        self._ended: Ended | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended: a candidate passed, the answers are flat, a step was refused, or no rung is left."""
        return self._ended is not None or self._next() is None

    @property
    def latest(self) -> Past[T]:
        """What the next step goes on from: the releases so far, and how far the rung that is being climbed has come."""
        return self._latest

    @property
    def outcome(self) -> Outcome[U]:
        """The result so far; the bill is that of the whole odometer."""
        if self._candidate is None:
            raise InvalidValue("the selector stopped before the first release; there is nothing to return.")
        release = self._odometer.charge(self._candidate)
        return Outcome(release, self._ended or Ended.EXHAUSTED, tuple(self._history), self._odometer.ledger)

    def step(self) -> Line | None:
        """Spend the next budget: the line of its rung once all of the rung is climbed and judged, and None before.

        None too where the budget is refused: the search is over then, or without a candidate the refusal is raised.
        """
        rung = self._next()
        if self._ended is not None or rung is None:
            raise InvalidValue("the search is over; read its outcome.")
        climbed, verdict = False, None
        try:
            climbed = rung is self._pending or self._climb(rung)
            if climbed:
                assert self._candidate is not None  # what is climbed has a candidate
                verdict = self._judge(self._candidate, rung)
        except (BudgetExceeded, SpentCheck):
            if self._candidate is None:
                raise
            self._ended = Ended.CAPPED
        if not climbed:
            return None
        if verdict is not None and verdict.passed:
            self._ended = Ended.HALTED
        self._rung, self._pending, self._verdicts = None, None, (*self._verdicts, verdict)
        self._history.append(Line(rung.budget, self._odometer.spent, verdict, self._odometer.epsilon, rung.times))
        if not (self._flat is None or self._ended or self._next() is None) and self._flat(self._verdicts):
            self._ended = Ended.FLAT
        return self._history[-1]

    def _next(self) -> Rung | None:
        """The rung that is being climbed, or the next one."""
        if self._rung is None:
            self._rung = self._select(self._past, self._verdicts)
        return self._rung

    def _climb(self, rung: Rung) -> bool:
        """Spend one budget of the rung; True if it was the last, whose release carries the bill of all."""
        made = self._odometer.spend(self._mechanism, self._train, rung.budget, self._latest, self._noise)
        self._latest = self._keep(self._past, made)
        self._spent += 1
        if self._spent < rung.times:
            return False
        self._past, self._spent = self._latest, 0
        self._candidate = self._past.joint().map(self._build)
        return True


def search(
    split: Split[D],
    mechanism: Mechanism[D, T],
    select: Selector[T],
    build: Callable[[tuple[T, ...]], U],
    check: Check[D, U] | PublicCheck[U],
    *,
    noise: Noise,
    odometer: Odometer,
    on_step: Callable[[Line], None] | None = None,
) -> Outcome[U]:
    """Climb until the check passes, the selector stops, or a step or question is refused for its price.

    A check that costs something is asked where the rung says so; if nothing passes, the last candidate is returned.
    ``select`` and ``build`` see releases only. The bill is the larger of what the training and the held-out part
    spent, plus whatever else the odometer has seen.

    Implements: accuracy-first search (Algorithm 1, Theorem 4.6).
    Uses: fully adaptive odometer; parallel odometer; post-processing immunity; adaptive composition.
    """
    return finish(Search(split, mechanism, select, build, check, noise=noise, odometer=odometer), on_step)


def finish(running: Search[D, T, U], on_step: Callable[[Line], None] | None = None) -> Outcome[U]:
    """Take a search to its end; ``on_step`` hears of each rung."""
    while not running.over:
        if (line := running.step()) is not None and on_step is not None:
            on_step(line)
    return running.outcome


def planned_stops(
    mechanism: Priced,
    ladder: Planned,
    check: Check[D, U] | PublicCheck[U],
    *,
    prior: Promise = NOTHING,
    whole: Promise = NOTHING,
) -> tuple[Promise, ...]:
    """What a search on this ladder will have cost at each rung if it stops there: the stops of a pledge.

    ``prior`` is what reads the training part before the first rung, ``whole`` what reads both parts. Nothing here
    touches data. Strides may leave rungs out, and one large step of integer noise has a slightly wider profile than
    several small ones, so their stops are planned for one step from the ground.
    """
    trained, asked, looks, stops = prior, NOTHING, 0, list[Promise]()
    for index, rung in enumerate(ladder.rungs):
        for _ in range(rung.times):  # added up as an odometer does, to the last bit
            trained = trained + mechanism.promise(rung.budget)
        if isinstance(ladder, Strides):
            trained = trained.beside(prior + mechanism.promise(Budget(ladder.levels[index], ladder.alpha)))
        held = asked
        if not isinstance(check, PublicCheck) and rung.asked:
            price = check.price(looks, trained.as_spent(), asked.as_spent())
            held, asked, looks = asked + price.passed, asked + price.failed, looks + 1
            if isinstance(ladder, Strides):
                held = held.beside(check.price(0, trained.as_spent(), NOTHING.as_spent()).passed)
        stops.append(whole + (trained if held == NOTHING else trained.with_held(held)))
    return tuple(stops)


def _judge(
    split: Split[D], check: Check[D, U] | PublicCheck[U] | None, odometer: Odometer, noise: Noise
) -> Callable[[Release[U], Rung], Verdict | None]:
    """The check as a function of the candidate; one that reads data needs a held-out part, and may skip a rung."""
    if check is None:
        return lambda candidate, rung: None
    if isinstance(check, PublicCheck):
        return lambda candidate, rung: check.verdict(candidate.value)
    held = split.held
    agree(check.neighbours, split.train)
    if held is None:
        raise InvalidValue("this check reads held-out data and nothing was held out; split the data first.")
    inquiry = Inquiry(check)

    def ask(candidate: Release[U], rung: Rung) -> Verdict | None:
        if not rung.asked:
            return None
        return odometer.ask(inquiry, held, candidate, trained=odometer.spent_on(split.train), noise=noise).value

    return ask
