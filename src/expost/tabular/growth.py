"""Growth: pairs of columns refined rung by rung, and more of them measured where the model fits the records worst."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from typing import ClassVar, Protocol, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.gaussian import MOST_CHANGES
from expost.errors import InvalidValue
from expost.ledger import Fact
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Floats, Integers, Noise
from expost.private import Neighbours
from expost.release import Past
from expost.rules import Due, Recorded
from expost.statistic import Statistic
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.table import Table

SCORED, FOUNDED = Fraction(1, 16), Fraction(1, 4)
"""The shares of a growing step that go to the scores and, where nothing is measured yet, to the first pairs before."""

MOST_CANDIDATES, MOST_COUNTS = 10_000, 2**20
"""Pairs that may be scored, and the counts that they may have together: each is counted anew on every rung."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Marginals that have been measured since the same step, and so with the same noise; one estimate of them all."""

    cliques: tuple[Clique, ...]
    estimate: Estimate


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """How far the counts of each candidate were from those that a model expected: noisy l1 distances, as released."""

    cliques: tuple[Clique, ...]
    distances: Floats
    std: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """Everything that has been measured so far, oldest first; within a block, in the order it was chosen.

    ``scored`` is of the last step that grew, before it added anything.
    """

    blocks: tuple[Block, ...]
    scored: Scored | None = None

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """All marginals."""
        return tuple(clique for block in self.blocks for clique in block.cliques)


class Gardener(Protocol):
    """Decides from what was released whether a step grows, and by what. Implemented by Planting."""

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        """Whether a step with this budget is divided to add marginals; None if nothing is measured yet."""

    def expected(self, grown: Grown) -> Mapping[Clique, Integers]:
        """The counts that the model expects of each candidate, flat, as integers."""

    def chosen(self, grown: Grown, scores: Measurement, budget: Budget) -> tuple[Clique, ...]:
        """Candidates to measure besides, given how badly each fits; ``budget`` is what is left to measure with."""


@final
@dataclass(frozen=True)
class Growing:
    """Each step refines all marginals that are measured, by fresh noise; a step that grows first adds some.

    Such a step scores each candidate by the l1 distance between its counts and those that a model expects. Noise on
    the scores makes them a release, from which the choice follows. The ``first`` marginals get half of what is measured
    with at least, however many are added. No part of the step has less noise than the whole
    would have undivided, and the parts add up to it: so it costs what an undivided step on the ``first`` marginals
    costs, whatever is chosen. Without a ``gardener`` no step grows.

    Implements: misfits under Gaussian noise; divided Gaussian step.
    Uses: discrete Gaussian mechanism; integer noise under the Gaussian profile; adaptive composition.
    """

    domain: Mapping[str, int]
    first: tuple[Clique, ...]
    candidates: tuple[Clique, ...]
    neighbours: Neighbours
    gardener: Gardener | None = None
    name: ClassVar[str] = "Growing"
    floating: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if {*map(frozenset, self.first)} & {*map(frozenset, self.candidates)}:
            raise InvalidValue("a candidate is measured from the first step on; leave it out.")
        if 4 * (len(self.first) + len(self.candidates)) > MOST_CHANGES:
            raise InvalidValue(f"there are {len(self.candidates)} candidates, too many to score; name fewer.")

    @property
    def divisible(self) -> bool:
        """Whether a share for the scores would leave them as much noise as the undivided step has."""
        if not self.candidates:
            return False
        scores = misfits(self.domain, dict.fromkeys(self.candidates, np.zeros(0, np.int64)), self.neighbours)
        return scores.l2_squared >= SCORED * self._whole.statistic.l2_squared

    @property
    def _whole(self) -> Gaussian[Table]:
        """The undivided step."""
        return Gaussian(Marginals(self.domain, self.first, self.neighbours).statistic)

    def promise(self, budget: Budget) -> Promise:
        """The undivided step's."""
        return self._whole.promise(budget)

    def sample(self, data: Table, budget: Budget, past: Past[Grown], noise: Noise) -> Grown:
        """The refined estimates, maybe of more marginals than before."""
        grown, gardener = past.steps[-1].value if past.steps else None, self.gardener
        if gardener is None or not self.divisible or not gardener.grows(grown, budget):
            return self._refined(data, grown, (), budget, noise)
        left = budget
        if grown is None:
            grown, left = self._refined(data, None, (), _share(budget, FOUNDED), noise), _share(budget, 1 - FOUNDED)
        scored = _share(budget, SCORED)
        left = Budget(left.epsilon - scored.epsilon, budget.alpha)
        found = gardener.expected(grown)
        statistic = misfits(self.domain, {each: found[each] for each in self.candidates}, self.neighbours)
        scores = Gaussian(statistic).sample(data, scored, Past(), noise)
        chosen = gardener.chosen(grown, scores, left)
        if not set(chosen) <= set(self.candidates):
            raise InvalidValue("a marginal was chosen that is not a candidate.")
        refined = self._refined(data, grown, chosen, left, noise)
        return replace(refined, scored=Scored(self.candidates, scores.values, scores.std))

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The undivided step's, and how many candidates there are."""
        return {**self._whole.facts(budget), "candidates": len(self.candidates)}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """The undivided step's."""
        return Gaussian.rule(line)

    def _refined(
        self, data: Table, grown: Grown | None, added: tuple[Clique, ...], budget: Budget, noise: Noise
    ) -> Grown:
        """All marginals measured once more, and those added for the first time: the first ones, then all others."""
        before = () if grown is None else grown.blocks
        later = [block.cliques for block in before[1:]] + ([added] if added else [])
        mine, theirs = shares(len(self.first), sum(map(len, later)))
        fresh = self._measured(data, [self.first], _share(budget, mine), noise)
        if later:
            fresh += self._measured(data, later, _share(budget, theirs), noise)
        blocks = []
        for place, (cliques, values) in enumerate(zip([self.first, *later], fresh, strict=True)):
            old = before[place].estimate if place < len(before) else None
            new = Estimate(values.values, 1 / values.variance) if old is None else old.refine(values)
            blocks.append(Block(cliques, new))
        return Grown(tuple(blocks), None if grown is None else grown.scored)

    def _measured(
        self, data: Table, blocks: list[tuple[Clique, ...]], budget: Budget, noise: Noise
    ) -> list[Measurement]:
        """The marginals of some blocks in one step, block by block."""
        together = Marginals(self.domain, tuple(clique for each in blocks for clique in each), self.neighbours)
        fresh = Gaussian(together.statistic).sample(data, budget, Past(), noise)
        ends = accumulate((Marginals(self.domain, each, self.neighbours).cells for each in blocks), initial=0)
        return [Measurement(fresh.values[start:end], fresh.variance) for start, end in pairwise(ends)]


def shares(first: int, others: int) -> tuple[Fraction, Fraction]:
    """What of a budget goes to the first marginals and to the others: evenly, but at least half to the first.

    Neither has less noise than the first would have if all of it went to them: with k of them and r of others, the
    noise of these is r/k times as large over their share, which is at most r/(k + r).
    """
    less = min(Fraction(1, 2), Fraction(others, first + others))
    return 1 - less, less


def misfits(domain: Mapping[str, int], expected: Mapping[Clique, Integers], neighbours: Neighbours) -> Statistic[Table]:
    """For each marginal the l1 distance between its counts and the expected ones, which do not come from the records.

    A record counts in one cell of each marginal, so it moves each distance by 1 at most, by 2 if it is replaced.
    """
    moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2

    def compute(table: Table) -> Integers:
        found = (
            np.abs(Marginals(domain, (clique,), neighbours).statistic.evaluate(table) - counts).sum()
            for clique, counts in expected.items()
        )
        return np.fromiter(found, dtype=np.int64, count=len(expected))

    size = len(expected)
    return Statistic(compute, (size,), Fraction(size * moved**2), Fraction(size * moved), neighbours, "misfits")


def candidates(domain: Mapping[str, int], first: tuple[Clique, ...]) -> tuple[Clique, ...]:
    """The pairs that may be added to the first marginals: those of fewest cells if there are too many of them."""
    taken = {frozenset(clique) for clique in first}
    pairs = [pair for pair in combinations(domain, 2) if frozenset(pair) not in taken]
    cells = {pair: domain[pair[0]] * domain[pair[1]] for pair in pairs}
    smallest = sorted(pairs, key=cells.__getitem__)[:MOST_CANDIDATES]
    together = accumulate(cells[pair] for pair in smallest)
    kept = {pair for pair, total in zip(smallest, together, strict=True) if total <= MOST_COUNTS}
    return tuple(pair for pair in pairs if pair in kept)


def _share(budget: Budget, share: Fraction) -> Budget:
    return Budget(budget.epsilon * share, budget.alpha)
