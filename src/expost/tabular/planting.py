"""Planting: when and by which pairs a model grows, decided from what was released; no record is read here."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import final

import numpy as np

from expost.accounting.claim import Budget
from expost.mechanisms.gaussian import Measurement
from expost.noise import Integers
from expost.numerics import up
from expost.private import Neighbours
from expost.tabular.growth import Grown, candidates, shares
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.footprint import LARGEST_WALK, fit_bytes, grown_fits
from expost.tabular.model.graphical import Measured, Model, fit, record_count
from expost.tabular.model.inference import Allowed
from expost.tabular.model.junction import Clique as Places
from expost.tabular.model.junction import Junction
from expost.tabular.model.pairwise import pairwise_cells, pairwise_counts

MOST_NOISE = 0.04
"""The mean total variation that noise may make in the first pairs before it counts as small."""
ABSOLUTE = math.sqrt(2 / math.pi)
"""The mean of |N(0, 1)|."""
BY_SIZE = 0.6
"""Candidates are tried in order of their misfit over this power of their cells: what noise will take from the gain."""
TRIED = 64
"""Pairs that are tried for a place in the junction tree."""


@final
class Planting:
    """The gardener of one run: knows what was counted of each column alone, and fits a model to all that is measured.

    A pair is added where the misfit that it would end, less one standard error, exceeds what its noise, and the noise
    that it adds to all others, would bring back. What is not ``allowed`` has no place in the model. Where columns that
    it ties together make the model larger, ``room`` is how many bytes its fit may hold.
    """

    def __init__(
        self,
        domain: Mapping[str, int],
        first: tuple[Clique, ...],
        neighbours: Neighbours,
        ones: Sequence[Measured],
        *,
        allowed: Sequence[Allowed] = (),
        room: float = math.inf,
    ) -> None:
        self._domain, self._ones, self._neighbours = domain, tuple(ones), neighbours
        self.first, self.candidates = first, candidates(domain, first)
        self.whole = Marginals(domain, first, neighbours)
        self._place = {name: index for index, name in enumerate(domain)}
        self.records = record_count(ones)
        self._allowed = tuple(allowed)
        self._founded, self._junction = self._founding([self.places(clique) for clique in first], room)
        self._fitted: tuple[Grown, Model] | None = None

    def places(self, clique: Clique) -> Places:
        """The columns of a clique by number."""
        return tuple(self._place[name] for name in clique)

    def measured(self, grown: Grown) -> list[Measured]:
        """Everything measured of more than one column."""
        found = []
        for block in grown.blocks:
            values = Marginals(self._domain, block.cliques, self._neighbours).apart(block.estimate.values)
            variance = up(1 / block.estimate.precision)
            found += [Measured(self.places(clique), counts, variance) for clique, counts in values.items()]
        return found

    def model(self, grown: Grown) -> Model:
        """The model of the pairs that a junction tree of modest size holds, the first ones among them.

        Only rules can keep some of the first ones out.
        """
        if self._fitted is None or self._fitted[0] is not grown:
            measured = self.measured(grown)
            kept, junction = self._held([each.clique for each in measured])
            fitted = [*self._ones, *(each for each in measured if each.clique in kept)]
            self._fitted = grown, fit(junction, fitted, allowed=self._allowed)
        return self._fitted[1]

    def _held(self, cliques: Sequence[Places]) -> tuple[set[Places], Junction]:
        kept, junction = list(self._founded), self._junction
        alone = [each.clique for each in self._ones]
        for clique in cliques[len(self.first) : len(self.first) + TRIED]:
            larger = self._tied([*kept, clique])
            if grown_fits(larger, [*alone, *kept, clique]):
                kept, junction = [*kept, clique], larger
        return set(kept), junction

    def _tied(self, cliques: Sequence[Places]) -> Junction:
        """The junction tree of these cliques, and of the columns that rules tie together."""
        return Junction.of(tuple(self._domain.values()), [*(each.clique for each in self._allowed), *cliques])

    def _founding(self, first: list[Places], room: float) -> tuple[list[Places], Junction]:
        """The first pairs, all of them unless rules make the model too large for that; those of a hub come first."""
        alone, degree = [each.clique for each in self._ones], Counter(place for pair in first for place in pair)

        def holding(kept: list[Places], more: list[Places]) -> list[Places]:
            """The pairs with as many more as fit, by halves: most do, and a tree takes long to make."""
            wanted = [*kept, *more]
            junction = self._tied(wanted)
            if fit_bytes(junction, [*alone, *wanted]) <= room or grown_fits(junction, [*alone, *wanted]):
                return wanted
            middle = len(more) // 2
            return holding(holding(kept, more[:middle]), more[middle:]) if middle else kept

        if self._allowed:
            order = sorted(first, key=lambda pair: -max(degree[place] for place in pair))
            held = set(holding([], order))
            first = [pair for pair in first if pair in held]
        return first, self._tied(first)

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        """Whether noise has become small beside what pairs that are not measured may be off by."""
        before = 0.0 if grown is None else up(grown.blocks[0].estimate.precision)
        small = _is_quiet(self.whole, before + _precision(self.whole, 0, budget)[0], self.records)
        return pairwise_cells(self._junction) <= LARGEST_WALK and small

    def expected(self, grown: Grown) -> dict[Clique, Integers]:
        """The model's counts of each candidate, to the nearest integer."""
        model = self.model(grown)
        wanted = {self.places(clique): clique for clique in self.candidates}
        pairs = ((wanted[pair], counts) for pair, counts in pairwise_counts(model) if pair in wanted)
        return {clique: np.rint(counts).astype(np.int64).ravel() for clique, counts in pairs}

    def chosen(self, grown: Grown, scores: Measurement, budget: Budget) -> tuple[Clique, ...]:
        """The candidates that are worth their noise, worst fit first."""
        taken = set(grown.cliques)
        gains = dict(zip(self.candidates, (scores.values - scores.std).tolist(), strict=True))
        cells = {clique: math.prod(self._domain[name] for name in clique) for clique in gains}
        order = sorted(gains, key=lambda clique: -gains[clique] / cells[clique] ** BY_SIZE)
        chosen: list[Clique] = []
        least = self._noise(grown, 0, 0, budget)
        for clique in order:
            if clique in taken or gains[clique] <= 0:
                continue
            more = self._noise(grown, len(chosen) + 1, sum(cells[each] for each in chosen) + cells[clique], budget)
            if more - least < gains[clique]:
                least = more
                chosen.append(clique)
        return tuple(sorted(chosen, key=lambda clique: -gains[clique]))

    def _noise(self, grown: Grown, added: int, cells: int, budget: Budget) -> float:
        """The sum of absolute noise in all counts after a step that adds marginals, with their cells together."""
        later = len(grown.cliques) - len(self.first) + added
        fresh = _precision(self.whole, later, budget)
        old = [(block.estimate.values.size, up(block.estimate.precision)) for block in grown.blocks]
        places = enumerate([*old, (cells, 0.0)] if added else old)
        total = math.fsum(size / math.sqrt(before + fresh[min(place, 1)]) for place, (size, before) in places)
        return ABSOLUTE * total


def settled(first: Marginals, budgets: Sequence[Budget], records: float) -> tuple[bool, ...]:
    """Whether noise is small in the first marginals by each of these steps, were none of them divided to add others."""
    precisions = accumulate(_precision(first, 0, budget)[0] for budget in budgets)
    return tuple(_is_quiet(first, precision, records) for precision in precisions)


def _is_quiet(first: Marginals, precision: float, records: float) -> bool:
    """Whether noise of this precision makes ``MOST_NOISE`` of total variation at most, on average over marginals."""
    std = 1 / math.sqrt(precision)
    return ABSOLUTE / 2 * std * first.cells / len(first.cliques) <= MOST_NOISE * records


def _precision(first: Marginals, others: int, budget: Budget) -> tuple[float, float]:
    """One over the variance that a step gives to the first marginals, and to that many others."""
    moved = 1 if first.neighbours is Neighbours.ADD_REMOVE else 2
    number = len(first.cliques)
    numbers, parts = (number, max(1, others)), shares(number, others)
    mine, theirs = (up(2 * budget.rho * part / (each * moved)) for each, part in zip(numbers, parts, strict=True))
    return mine, theirs
