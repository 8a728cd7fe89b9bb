"""Going on with a run that was killed: where it stands, what of its plan remains, and what can still be stated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar, final

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.descent import Descent
from expost.ladder import Rung
from expost.ledger import Fact
from expost.noise import Noise
from expost.private import Neighbours
from expost.protocols import Answers, Check, Price
from expost.release import Past
from expost.training.schedule import CARRIED
from expost.training.torch.weights import Weights

D = TypeVar("D")
U = TypeVar("U")


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """Steps on the bill of a run and in its weights, the steps in the weights last judged, and the questions asked."""

    billed: int = 0
    kept: int = 0
    judged: int = 0
    looks: int = 0

    @property
    def lost(self) -> int:
        """Steps that were billed and whose weights were lost with their process."""
        return self.billed - self.kept


@final
@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a plan: the release to judge before any other step, if there is one, and the rungs to climb.

    ``reached`` is the last rung whose steps are all billed.
    """

    pending: Rung | None
    rungs: tuple[Rung, ...]
    reached: Rung | None = None


def remaining(rungs: Sequence[Rung], descent: Descent, standing: Standing) -> Remaining:
    """The plan less what was billed, not less what was kept.

    A run whose steps were lost takes as many fewer, from the stretch they were lost in on, so that at every release it
    is billed what was planned for that one and no more. A stretch that was lost to its end leaves a release of fewer
    steps, which waits to be judged unless its weights were before.
    """
    billed, left = standing.billed, []
    reached: Rung | None = None
    for rung in rungs:
        size = descent.steps(rung.budget)
        done = min(-(-billed // size), rung.times)
        billed = max(0, billed - done * size)
        if done < rung.times:
            left.append(replace(rung, times=rung.times - done))
        elif not billed:
            reached = rung
    return Remaining(reached if standing.kept > standing.judged else None, tuple(left), reached)


@final
@dataclass(frozen=True)
class Continued(Generic[D, U]):
    """A check of which earlier processes asked some questions: the plan, and its confidence, are for all of them.

    For checks with fresh noise for each question. One that was killed before its answer has been asked.

    Uses: confident checks.
    """

    check: Check[D, U]
    looks: int

    @property
    def name(self) -> str:
        return self.check.name

    @property
    def neighbours(self) -> Neighbours:
        return self.check.neighbours

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """Of the question that comes after all those."""
        return self.check.price(self.looks + index, trained, asked)

    def begin(self) -> Answers[D, U]:
        return self.check.begin()

    def facts(self) -> Mapping[str, Fact]:
        return self.check.facts()


@final
@dataclass(frozen=True, slots=True)
class Carried:
    """What earlier processes of the run spent on a part: reads nothing, and goes on the bill before all else."""

    carried: Promise
    weights: Weights
    neighbours: Neighbours
    name: ClassVar[str] = CARRIED
    floating: ClassVar[bool] = True

    def promise(self, budget: Budget) -> Promise:
        """The whole of it."""
        return self.carried

    def sample(self, data: object, budget: Budget, past: Past[Weights], noise: Noise) -> Weights:
        """The weights that were released then."""
        return self.weights

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """None but the bill."""
        return {}


@final
@dataclass(frozen=True, slots=True)
class Ahead:
    """A release that is still to come: the steps its weights will have taken, and the ε it will be stated as."""

    steps: int
    epsilon: float


@final
@dataclass(frozen=True, slots=True)
class Prospect:
    """What can still be stated of a run that was resumed, all of it announced by its plan; printed as sentences.

    Of a run that is over this is the one statement that it came to: who was killed just then has not heard it.
    """

    standing: Standing
    releases: tuple[Ahead, ...]
    delta: str

    @classmethod
    def of(cls, standing: Standing, planned: Sequence[tuple[int, float]], delta: str, *, over: bool) -> "Prospect":
        """From the steps and the ε that were planned for each release."""
        if over:
            covering = [Ahead(standing.kept, epsilon) for steps, epsilon in planned if steps >= standing.billed]
            return cls(standing, tuple(covering[:1]), delta)
        waiting = standing.kept > standing.judged
        ahead = [
            Ahead(steps - standing.lost, epsilon)
            for steps, epsilon in planned
            if steps > standing.billed or (waiting and steps == standing.billed)
        ]
        last = [Ahead(standing.kept, epsilon) for _, epsilon in planned[-1:]]
        return cls(standing, tuple(ahead or last), delta)

    def __str__(self) -> str:
        taken = f"{self.standing.billed} steps are billed and {self.standing.kept} of them are in the weights"
        releases = ", ".join(f"ε = {each.epsilon:.4g} after {each.steps} steps" for each in self.releases)
        return f"{taken}. What can still be stated at δ = {self.delta} is {releases}."
