"""What every method of a comparison is given: divided records, a statistic, a predictor made of it, a question."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias, final

from expost import Budget, CentredSum, Ladder, Neighbours, Past, Private, SeededNoise, Split, Statistic
from expost.datasets import adult
from expost.ladder import Rung
from expost.noise import Noise
from expost.protocols import Verdict
from expost.tabular.table import Table
from paper.peers.predictors import Build, Marginals, Predictor, correct, naive_bayes, ridge

Question: TypeAlias = CentredSum[Table, Predictor]


@final
@dataclass(frozen=True)
class Settings:
    """The ladder at one order, δ, what to reach and how surely, guards to try in thousandths, the share held out."""

    alpha: int = 20
    low: str = "0.0001"
    high: str = "1"
    rungs: int = 13
    doublings: int = 14
    delta: float = 1e-5
    targets: tuple[tuple[str, str], ...] = (("ridge", "0.82"), ("naive Bayes", "0.79"))
    surely: float = 0.9
    held: str = "0.4"
    guards: tuple[int, ...] = (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    repeats: int = 150

    @property
    def ladder(self) -> Ladder:
        """Levels of the Gaussian methods."""
        return self._ladder(self.rungs)

    @property
    def closer(self) -> Ladder:
        """The same range with a level more between each two."""
        return self._ladder(2 * self.rungs - 1)

    def _ladder(self, rungs: int) -> Ladder:
        return Ladder.geometric(Fraction(self.low), Fraction(self.high), rungs, alpha=self.alpha)


@final
@dataclass(frozen=True)
class Afresh:
    """Budgets spent one after the other on releases that do not know of each other."""

    budgets: tuple[Budget, ...]

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """A rung for each; the last is not asked about."""
        return tuple(Rung(budget, place < len(self.budgets)) for place, budget in enumerate(self.budgets, start=1))

    def __call__(self, past: Past[object], verdicts: tuple[Verdict | None, ...]) -> Rung | None:
        """The next budget."""
        taken = len(past.steps)
        return self.rungs[taken] if taken < len(self.budgets) else None


@final
@dataclass(frozen=True, eq=False)
class Task:
    """One repeat: the records divided by coins, and what is asked of the held-out ones."""

    settings: Settings
    statistic: Statistic[Table]
    build: Build
    parts: Split[Table]
    held: Table
    question: Question
    noise: Noise


def task(settings: Settings, seed: int, predictor: str, guard: int) -> Task:
    """The same records for every method with a seed; the check asks for the target and ``guard`` thousandths more."""
    noise, table = SeededNoise(seed), _adult()
    coins = noise.coins(Fraction(settings.held), len(table))
    held = table[coins]
    parts = Split.from_parts(Private(table[~coins]), Private(held), because="a coin for each record")
    threshold = Fraction(dict(settings.targets)[predictor]) + Fraction(guard, 1000)
    question: Question = CentredSum(correct, threshold, Neighbours.ADD_REMOVE)
    statistic, build = _made_of(predictor)
    return Task(settings, statistic, build, parts, held, question, noise)


@cache
def _adult() -> Table:
    return adult.load()


@cache
def _made_of(predictor: str) -> tuple[Statistic[Table], Build]:
    schema = adult.adult_schema()
    if predictor == "ridge":
        pairs = Marginals.all_pairs(schema)
        return pairs.statistic, ridge(pairs)
    few = Marginals.with_target(schema)
    return few.statistic, naive_bayes(few)
