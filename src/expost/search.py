"""The accuracy-first search: release, check, and stop at the first candidate that is accurate enough."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.checks.public import PublicCheck
from expost.errors import BudgetExceeded, InvalidBound, SchemaMismatch, SpentCheck
from expost.ladder import Planned, Rung, Selector, Strides
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Private, Split
from expost.release import Past, Release
from expost.step import Check, Inquiry, Mechanism, Verdict, agree

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")
U_co = TypeVar("U_co", covariant=True)


class Ended(Enum):
    """Why a search stopped."""

    HALTED = "a candidate passed the check"
    EXHAUSTED = "the last rung was climbed; no candidate passed the check"
    CAPPED = "the next step or question was refused, by the cap or the check's plan; nothing is known to pass"


@final
@dataclass(frozen=True, slots=True)
class Line:
    """One rung of the history: its budget, the bill after it, the verdict if there was a check, and ε so far.

    ``times`` is how often the budget was spent.
    """

    budget: Budget
    spent: Spent
    verdict: Verdict | None
    epsilon: AdpEpsilon
    times: int = 1


@final
@dataclass(frozen=True, repr=False)
class Outcome(Generic[U_co]):
    """What a search returns; the release carries the bill of the whole procedure, checks included."""

    release: Release[U_co]
    ended: Ended
    history: tuple[Line, ...]

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
    judge = _judge(split, check, odometer, noise)
    past: Past[T] = Past()
    candidate: Release[U] | None = None
    history: list[Line] = []
    ended = Ended.EXHAUSTED
    while (rung := select(past, tuple(line.verdict for line in history))) is not None:
        verdict: Verdict | None = None
        try:
            past = _climb(mechanism, split.train, rung, past, odometer=odometer, noise=noise)
            candidate = past.joint().map(build)
            verdict = judge(candidate, rung)
        except (BudgetExceeded, SpentCheck):
            if candidate is None:
                raise
            ended = Ended.CAPPED
        if len(past.steps) > len(history):
            history.append(Line(rung.budget, odometer.spent, verdict, odometer.epsilon, rung.times))
            if on_step is not None:
                on_step(history[-1])
        if verdict is not None and verdict.passed:
            ended = Ended.HALTED
        if ended is not Ended.EXHAUSTED:
            break
    if candidate is None:
        raise InvalidBound("the selector stopped before the first release; there is nothing to return.")
    return Outcome(candidate.at_least(odometer.spent), ended, tuple(history))


def _climb(
    mechanism: Mechanism[D, T], train: Private[D], rung: Rung, past: Past[T], *, odometer: Odometer, noise: Noise
) -> Past[T]:
    """The past with what the rung released; of several steps the last, which carries the bill of all."""
    after = past
    for _ in range(rung.times):
        after = past.then(odometer.spend(mechanism, train, rung.budget, after, noise))
    return after


def planned_stops(
    mechanism: Mechanism[D, T],
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
    trained, asked, looks = prior, NOTHING, 0
    stops: list[Promise] = []
    for index, rung in enumerate(ladder.rungs):
        for _ in range(rung.times):  # added up as an odometer does, to the last bit
            trained = trained + mechanism.promise(rung.budget)
        if isinstance(ladder, Strides):
            trained = trained.beside(prior + mechanism.promise(Budget(ladder.levels[index], ladder.alpha)))
        stop = trained.beside(asked)
        if not isinstance(check, PublicCheck) and rung.asked:
            price = check.price(looks, trained.as_spent(), asked.as_spent())
            stop, asked, looks = trained.beside(asked + price.passed), asked + price.failed, looks + 1
            if isinstance(ladder, Strides):
                stop = stop.beside(check.price(0, trained.as_spent(), NOTHING.as_spent()).passed)
        stops.append(whole + stop)
    return tuple(stops)


def _judge(
    split: Split[D], check: Check[D, U] | PublicCheck[U], odometer: Odometer, noise: Noise
) -> Callable[[Release[U], Rung], Verdict | None]:
    """The check as a function of the candidate; one that reads data needs a held-out part, and may skip a rung."""
    if isinstance(check, PublicCheck):
        return lambda candidate, rung: check.verdict(candidate.value)
    held = split.held
    agree(check.relation, split.train)
    if held is None:
        raise SchemaMismatch("this check reads held-out data and nothing was held out; split the data first.")
    inquiry = Inquiry(check)

    def ask(candidate: Release[U], rung: Rung) -> Verdict | None:
        if not rung.asked:
            return None
        return odometer.ask(inquiry, held, candidate, trained=odometer.spent_on(split.train), noise=noise).value

    return ask
