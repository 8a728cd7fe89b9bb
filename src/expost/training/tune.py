"""Tuning on private data: many runs in secret, of which only the best passing one is shown and billed."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import ZERO, AdpEpsilon, Tabulated
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.errors import InvalidValue, LedgerConflict
from expost.ledger import Fact
from expost.noise import Noise
from expost.numerics import Real, exact, probability, up
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Records
from expost.release import Past
from expost.training.tuned import Contest, Selected, Tuned

R = TypeVar("R", bound=Records)
T = TypeVar("T")
D_contra = TypeVar("D_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)

NO_CLAIM = Promise(Tabulated.of((2.0,), (math.inf,)))
"""What a selection promises in Rényi terms: nothing. Its statement is the (ε, δ) of ``Tuned``."""
UNREAD = Budget.of(1, alpha=2)
"""An odometer hands every mechanism a budget; a selection's price is fixed by its configurations instead."""


class Configuration(Protocol[D_contra, T_co]):
    """One way to train and to score, with an (ε, δ) that is public and fixed beforehand.

    What must hold: on two pairs of parts of which one part differs, by one record under ``neighbours``, the value and
    the score together are (ε, δ)-indistinguishable. Trained on one part and scored on the other, that is the larger
    of the two prices. ``run`` keeps nothing from one call to the next, leaves the parts as they are, and accepts
    every record. The cheapest run that passes is shown, be it by luck: let the score's noise be small beside what
    scores differ by, or take a margin off the score. Implemented by whoever trains.
    """

    @property
    def name(self) -> str:
        """What the result calls it."""
        ...

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of its ε and δ."""
        ...

    @property
    def floating(self) -> bool:
        """Whether noise is drawn in floating point."""
        ...

    @property
    def epsilon(self) -> float:
        """The ε of one run."""
        ...

    @property
    def delta(self) -> float:
        """The δ of one run."""
        ...

    def run(self, train: D_contra, held: D_contra, noise: Noise) -> tuple[T_co, float]:
        """A trained value and its noisy score, the higher the better; called with the data open."""
        ...


class Best(NamedTuple, Generic[T]):
    """The best passing run so far: which configuration, what it made, and its noisy score."""

    place: int
    value: T
    score: float


@final
@dataclass(frozen=True)
class Selection(Generic[R, T]):
    """Trains and scores a random number of times in secret; gives the best run that is accurate enough, or None.

    An independent coin for each record divides the data once, for all runs alike. How long it takes depends on the
    secret number of runs: do not let others time it.

    Uses: private selection; private selection, approximate.
    """

    configurations: tuple[Configuration[R, T], ...]
    at_least: float
    held: Fraction
    runs: TruncatedNegativeBinomial
    name: ClassVar[str] = "Selection"

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", exact(self.held, "held"))
        if not 0 < self.held < 1:
            raise InvalidValue(f"held is {float(self.held):g}; it must lie strictly between 0 and 1.")
        exact(self.at_least, "at_least")
        names = [each.name for each in self.configurations]
        if len(set(names)) < len(names):
            raise InvalidValue("two configurations have the same name; give each its own, to tell which one was best.")
        if len({each.neighbours for each in self.configurations}) > 1:
            raise InvalidValue("the configurations are priced for different neighbours; a statement needs one kind.")
        _ = self.bill

    @property
    def bill(self) -> SelectionBill:
        """What each outcome costs."""
        return SelectionBill(self.runs, tuple(_statement(each) for each in self.configurations))

    @property
    def contest(self) -> Contest:
        """What is public about it, without what the configurations hold besides."""
        names = tuple(each.name for each in self.configurations)
        return Contest(names, self.bill, self.at_least, self.held, self.neighbours.value)

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of all configurations."""
        return self.configurations[0].neighbours

    @property
    def floating(self) -> bool:
        """Whether some configuration uses floating-point noise."""
        return any(each.floating for each in self.configurations)

    def promise(self, budget: Budget) -> Promise:
        """Nothing: the bill is an (ε, δ), and no Rényi bound is claimed."""
        return NO_CLAIM

    def sample(self, data: R, budget: Budget, past: Past[object], noise: Noise) -> Best[T] | None:
        """The best passing run; the smaller ε wins, then the higher score, then the earlier run."""
        coins = noise.coins(self.held, len(data))
        train, held = data[~coins], data[coins]
        best: Best[T] | None = None
        for _ in range(draw_runs(self.runs, noise)):
            place = noise.below(len(self.configurations))
            run = Best(place, *self.configurations[place].run(train, held, noise))
            # A NaN does not pass. The ε comes first: a run may be displaced by what costs no more than itself only.
            if run.score >= self.at_least and (best is None or self._rank(run) < self._rank(best)):
                best = run
        return best

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The configurations' prices, the law of the number of runs, and what a run must reach.

        Whoever reads the record of a run that was killed works the dearest statement out from them.
        """
        prices = [
            (each.name, up(exact(each.epsilon, "epsilon")), up(exact(each.delta, "delta")))
            for each in self.configurations
        ]
        return {
            "configurations": json.dumps(prices, ensure_ascii=False),
            "eta": str(self.runs.eta),
            "gamma": str(self.runs.gamma),
            "passing score": str(self.at_least),
            "held": str(self.held),
        }

    def _rank(self, run: Best[T]) -> tuple[float, float]:
        return self.configurations[run.place].epsilon, -run.score


def tune(
    data: Private[R],
    configurations: Sequence[Configuration[R, T]],
    *,
    at_least: float,
    delta: float,
    mean_runs: float,
    noise: Noise,
    odometer: Odometer,
    held: Real = Fraction(1, 5),
    eta: float = 0.0,
    on_announced: Callable[[Contest], None] | None = None,
) -> Tuned[T]:
    """Train and score ``mean_runs`` times on average, on a division of the data, and return the best passing run.

    A run passes whose score comes to ``at_least`` so much. The smallest ε among those that pass wins, and costs 2+η
    times itself however many runs there were; with none the largest ε is billed. ``delta`` is the most the δ of all
    runs may come to. The actual number of runs is secret, may be many times its mean, and must not be cut short. A
    Journal as the odometer's ledger states the dearest configuration until it is known which one is shown.
    ``on_announced`` is told, before a record is read, all that is fixed by then.
    """
    probability(delta, "delta")
    if odometer.spent.curve != ZERO:
        raise LedgerConflict("this odometer has spent before, which the statement would leave out; begin a new one.")
    runs = TruncatedNegativeBinomial.with_mean(mean_runs, eta=eta)
    selection = Selection(tuple(configurations), at_least, exact(held, "held"), runs)
    bill = selection.bill
    if bill.delta > delta:
        raise InvalidValue(
            f"the configurations' δ come to {bill.delta:.4g} over the runs, above the {delta:.4g} asked for; "
            f"give each a δ of at most {delta / runs.mean:.4g}."
        )
    contest = selection.contest
    contest.stated(None)  # a price that nothing states is refused while the data is closed
    if on_announced is not None:
        on_announced(contest)
    release = odometer.spend(selection, data, UNREAD, Past(), noise)
    best, marks = release.value, (release.seeded, release.floating)
    name = None if best is None else contest.names[best.place]
    with suppress(OSError, LedgerConflict):  # what is on record by now states no less, and the run is paid for
        odometer.spend(Selected(name, selection.neighbours), data, UNREAD, Past(), noise)
    if best is None:
        return Tuned(None, None, None, contest, *marks)
    return Tuned(name, best.value, best.score, contest, *marks)


def draw_runs(law: TruncatedNegativeBinomial, noise: Noise) -> int:
    """K, exactly: a walk from 1 that stops at k, goes on to k+1 or begins again, in 1/γ steps on average at most.

    Implements: exact number of runs.
    """
    gamma, eta = Fraction(law.gamma), Fraction(law.eta)
    more, less = max(eta, Fraction(0)), (1 - gamma) * max(-eta, Fraction(0))
    k = 1
    while not noise.coins(gamma + less / k, 1)[0]:
        onward = (gamma * (k + more) + less) / (gamma * (k + 1) + less)
        k = k + 1 if noise.coins(onward, 1)[0] else 1
    return k


def _statement(configuration: Configuration[R, T]) -> Statement:
    try:
        return Statement(AdpEpsilon(configuration.epsilon), configuration.delta)
    except InvalidValue as refused:
        raise InvalidValue(f"configuration {configuration.name}: {refused}") from None
