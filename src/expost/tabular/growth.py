"""Growth: pairs of columns refined rung by rung; more of them, then triples, measured where the model fits worst."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Protocol, final

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
from expost.tabular.candidates import most_triples
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.misfits import misfit_reach, misfits
from expost.tabular.persons import Rows

SCORED, FOUNDED = Fraction(1, 16), Fraction(1, 4)
"""The shares of a growing step that go to the scores and, where nothing is measured yet, to the first pairs before."""

SETTLED, SCORED_TRIPLES = Fraction(1, 8), Fraction(1, 32)
"""The shares that go to the scores of triples and, where pairs were chosen in the same step, to all pairs before."""

TRIPLED = Fraction(1, 2)
"""The largest share of what is measured with that triples get."""


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

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        """The triples to score once these pairs are measured as well; none if noise would be too large for them."""

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> Mapping[Clique, Integers]:
        """The counts that the model expects of each candidate, flat, as integers."""

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        """Candidates to measure besides, given how badly each fits; ``budget`` is what is left to measure with."""


@final
@dataclass(frozen=True)
class Growing:
    """Each step refines all marginals that are measured, by fresh noise; a step that grows first adds some.

    Such a step scores each candidate by the l1 distance between its counts and those that a model expects. Noise on
    the scores makes them a release, from which the choice follows. Pairs come first, the ``candidates``; where the
    gardener names triples, these are scored next. Of what is measured with, triples get half at most, and the ``first``
    marginals at least half of the rest, however many are added. No part of the step has less noise than the whole
    would have undivided, and the parts add up to it: so it costs what an undivided step on the ``first`` marginals
    costs, whatever is scored and chosen. Without a ``gardener`` no step grows.

    Where records are persons, ``allowance`` rows of one count in full if they are alike: what is measured is divided by
    it, and multiplied again once it is released, noise and all.

    Implements: misfits under Gaussian noise; divided Gaussian step.
    Uses: discrete Gaussian mechanism; integer noise under the Gaussian profile; adaptive composition.
    """

    domain: Mapping[str, int]
    first: tuple[Clique, ...]
    candidates: tuple[Clique, ...]
    neighbours: Neighbours
    gardener: Gardener | None = None
    allowance: int = 1
    name: ClassVar[str] = "Growing"
    floating: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if {*map(frozenset, self.first)} & {*map(frozenset, self.candidates)}:
            raise InvalidValue("a candidate is measured from the first step on; leave it out.")
        # A record changes two counts of a marginal each time it is measured, three times at most, and one score; what
        # persons change is in steps so fine that their number does not matter.
        if 6 * (len(self.first) + self._most) > MOST_CHANGES:
            raise InvalidValue(f"there are {len(self.candidates)} candidates, too many to score; name fewer.")

    def divisible(self, scored: tuple[Clique, ...], share: Fraction) -> bool:
        """Whether a share for the scores of these marginals leaves them as much noise as the undivided step has."""
        moved = 2 if self.neighbours.replaces else 1
        return misfit_reach(len({*scored}), self.neighbours) >= share * len(self.first) * moved

    @property
    def _most(self) -> int:
        """The most marginals that a step can score."""
        return len(self.candidates) + most_triples(len(self.domain))

    @property
    def _whole(self) -> Gaussian[Any]:
        """The undivided step."""
        return Gaussian(Marginals(self.domain, self.first, self.neighbours).weighed(self.first))

    def promise(self, budget: Budget) -> Promise:
        """The undivided step's."""
        return self._whole.promise(budget)

    def sample(self, data: Rows, budget: Budget, past: Past[Grown], noise: Noise) -> Grown:
        """The refined estimates, maybe of more marginals than before."""
        grown, gardener = None if past.newest is None else past.newest.value, self.gardener
        if gardener is None or not self.divisible(self.candidates, SCORED) or not gardener.grows(grown, budget):
            return self._refined(data, grown, (), budget, noise)
        left = budget
        if grown is None:
            left, founding = _apart(left, budget, FOUNDED)
            grown = self._refined(data, None, (), founding, noise)
        left, scoring = _apart(left, budget, SCORED)
        scored = self._scored(data, gardener.expected(grown, self.candidates), self.candidates, scoring, noise)
        chosen = _among(scored, gardener.chosen(grown, scored, left))
        triples = gardener.triples(grown, chosen, left)
        room = most_triples(len(self.domain)) - sum(len(clique) > 2 for clique in grown.cliques)
        if len(triples) <= room and self.divisible(triples, SCORED_TRIPLES):
            if chosen:
                left, settling = _apart(left, budget, SETTLED)
                grown = self._refined(data, grown, chosen, settling, noise)
            left, scoring = _apart(left, budget, SCORED_TRIPLES)
            larger = self._scored(data, gardener.expected(grown, triples), triples, scoring, noise)
            chosen = _among(larger, gardener.chosen(grown, larger, left))
        return replace(self._refined(data, grown, chosen, left, noise), scored=scored)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The undivided step's, and how many candidates it may score, pairs and triples, at most."""
        return {**self._whole.facts(budget), "candidates": self._most}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """The undivided step's."""
        return Gaussian.rule(line)

    def _scored(
        self,
        data: Rows,
        expected: Mapping[Clique, Integers],
        cliques: tuple[Clique, ...],
        budget: Budget,
        noise: Noise,
    ) -> Scored:
        """How far the counts of each of these are from the expected ones, with noise."""
        statistic = misfits(self.domain, {each: expected[each] for each in cliques}, self.neighbours)
        scores = Gaussian(statistic).sample(data, budget, Past(), noise)
        return Scored(cliques, scores.values, scores.std)

    def _refined(
        self, data: Rows, grown: Grown | None, added: tuple[Clique, ...], budget: Budget, noise: Noise
    ) -> Grown:
        """All marginals measured once more, and those added for the first time: first ones, other pairs, triples."""
        before = () if grown is None else grown.blocks
        blocks = [self.first, *(block.cliques for block in before[1:]), *([added] if added else [])]
        groups = [0, *(group_of(cliques) for cliques in blocks[1:])]
        placed = [[cliques for cliques, each in zip(blocks, groups, strict=True) if each == kind] for kind in range(3)]
        parts = shares(*(sum(map(len, each)) for each in placed))
        fresh = [
            iter(self._measured(data, each, _share(budget, part), noise) if each else ())
            for each, part in zip(placed, parts, strict=True)
        ]
        found = []
        for place, (cliques, group) in enumerate(zip(blocks, groups, strict=True)):
            values, old = next(fresh[group]), before[place].estimate if place < len(before) else None
            new = Estimate(values.values, 1 / values.variance) if old is None else old.refine(values)
            found.append(Block(cliques, new))
        return Grown(tuple(found), None if grown is None else grown.scored)

    def _measured(
        self, data: Rows, blocks: list[tuple[Clique, ...]], budget: Budget, noise: Noise
    ) -> list[Measurement]:
        """The marginals of some blocks in one step, block by block."""
        together = Marginals(self.domain, tuple(clique for each in blocks for clique in each), self.neighbours)
        fresh = Gaussian(together.weighed(self.first, self.allowance)).sample(data, budget, Past(), noise)
        values, variance = fresh.values * self.allowance, fresh.variance * self.allowance**2
        ends = accumulate((Marginals(self.domain, each, self.neighbours).cells for each in blocks), initial=0)
        return [Measurement(values[start:end], variance) for start, end in pairwise(ends)]


def group_of(cliques: tuple[Clique, ...]) -> int:
    """1 for marginals that were added as pairs, 2 for triples; the first ones are 0."""
    return 1 if len(cliques[0]) == 2 else 2


def shares(first: int, pairs: int, triples: int) -> tuple[Fraction, Fraction, Fraction]:
    """What of a budget goes to the first marginals, to other pairs and to triples.

    It goes evenly, but at most ``TRIPLED`` to triples, and at least half of the rest to the first. None has less noise
    than the first would have if all of it went to them: with k of them and r of others, the noise of these is r/k times
    as large over their share, which is at most r/(k + r).
    """
    larger = min(TRIPLED, Fraction(triples, first + pairs + triples))
    less = min(Fraction(1, 2), Fraction(pairs, first + pairs))
    return (1 - larger) * (1 - less), (1 - larger) * less, larger


def _among(scored: Scored, chosen: tuple[Clique, ...]) -> tuple[Clique, ...]:
    if not set(chosen) <= set(scored.cliques):
        raise InvalidValue("a marginal was chosen that is not a candidate.")
    return chosen


def _share(budget: Budget, share: Fraction) -> Budget:
    return Budget(budget.epsilon * share, budget.alpha)


def _apart(left: Budget, whole: Budget, share: Fraction) -> tuple[Budget, Budget]:
    """What is left without a share of the whole, and that share."""
    taken = _share(whole, share)
    return Budget(left.epsilon - taken.epsilon, whole.alpha), taken
