"""Planting: when a model grows, and by which pairs and triples, decided from releases; no record is read here."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import final

import numpy as np

from expost.accounting.claim import Budget
from expost.noise import Floats, Integers
from expost.numerics import up
from expost.private import Neighbours
from expost.tabular.candidates import candidates, scored_triples
from expost.tabular.growth import Block, Grown, Scored, group_of
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.footprint import LARGEST_WALK, fit_bytes, grown_fits
from expost.tabular.model.graphical import Measured, Model, fit, record_count, total_std
from expost.tabular.model.inference import Allowed
from expost.tabular.model.junction import Clique as Places
from expost.tabular.model.junction import Junction
from expost.tabular.model.pairwise import pairwise_cells, pairwise_counts
from expost.tabular.model.triangles import base, informed, triangles, triple_counts
from expost.tabular.occupancy import Occupancy
from expost.tabular.precisions import ABSOLUTE, MOST_NOISE, is_quiet, precisions_of

SETTLED_NOISE = 0.002
"""The mean total variation that noise may make in all pairs before triples are scored: on 80,000 records, where it made
three times that, errors of two and of three columns grew with the triples that were added."""
BY_HARM = 0.6
"""Candidates are tried in order of their misfit over this power of the harm that noise in them would do."""
APART = 4.0
"""Standard errors by which two numbers of persons must differ before that is more than noise."""
TRIED = 64
"""Pairs that are tried for a place in the junction tree."""


@final
class Planting:
    """The gardener of one run: knows what was counted of each column alone, and fits a model to all that is measured.

    A pair or a triple is added where the misfit that it would end, less one standard error, exceeds the harm that its
    noise, and the noise that it adds to all others, would do to the table. What is not ``allowed`` has no place in the
    model. Where columns that it ties together make the model larger, ``room`` is how many bytes its fit may hold.
    ``allowance`` is that of the persons.
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
        allowance: int = 1,
    ) -> None:
        self._domain, self._ones, self._neighbours = domain, tuple(ones), neighbours
        self._std, self.allowance = total_std(ones), allowance
        self.first, self.candidates = first, candidates(domain, first)
        self.whole = Marginals(domain, first, neighbours)
        self._place = {name: index for index, name in enumerate(domain)}
        self.records = record_count(ones)
        self._allowed = tuple(allowed)
        self._founded, self._junction = self._founding([self.places(clique) for clique in first], room)
        self._fitted: tuple[Grown, Model] | None = None
        self._counted: tuple[Grown, dict[Clique, Floats]] | None = None

    def places(self, clique: Clique) -> Places:
        """The columns of a clique by number."""
        return tuple(self._place[name] for name in clique)

    def measured(self, grown: Grown) -> list[Measured]:
        """Everything measured of more than one column; of persons, as counts of these."""
        found = []
        for block, scale in zip(grown.blocks, self._scales(grown), strict=True):
            values = Marginals(self._domain, block.cliques, self._neighbours).apart(block.estimate.values * scale)
            variance = up(1 / block.estimate.precision) * scale**2
            found += [Measured(self.places(clique), counts, variance) for clique, counts in values.items()]
        return found

    def scale(self, grown: Grown) -> float:
        """How many persons there are to what all their rows weigh in the first marginals; 1 where rows are records.

        It is 1 as well where noise may be all that makes these differ, as it is if every person has one row.
        """
        if self._neighbours.unit == "record":
            return 1.0
        first = grown.blocks[0]
        weight, number = _weight(first), len(first.cliques)
        std = math.sqrt(first.estimate.values.size / up(first.estimate.precision)) / number
        apart = abs(weight - self.records) > APART * math.hypot(std, self._std)
        return self.records / weight if apart and weight > 0 else 1.0

    def _scales(self, grown: Grown) -> list[float]:
        """The same for each block: rows that are alike in what was added weigh less there, but no less than one each.

        Uses: marginals of persons.
        """
        scale = self.scale(grown)
        # A weight that noise has made larger than that of the first, or smaller than one of each, is neither.
        weights = (min(max(_weight(block), self.records), self.records / scale) for block in grown.blocks[1:])
        return [scale, *(self.records / weight for weight in weights)]

    def informed(self, grown: Grown) -> list[Measured]:
        """The same, but what triples say of a pair is in it."""
        return informed(self.measured(grown))

    def model(self, grown: Grown) -> Model:
        """The model of the pairs that a junction tree of modest size holds, the first ones among them.

        Only rules can keep some of the first ones out. Triples are left to raking, like the other pairs: with those
        that the tree holds a fit took up to ten times as long, and the rows were no better.
        """
        if self._fitted is None or self._fitted[0] is not grown:
            measured = self.informed(grown)
            kept, junction = self._held([each.clique for each in measured])
            fitted = [*self._ones, *(each for each in measured if each.clique in kept)]
            self._fitted = grown, fit(junction, fitted, allowed=self._allowed)
        return self._fitted[1]

    def _held(self, cliques: Sequence[Places]) -> tuple[set[Places], Junction]:
        kept, junction = list(self._founded), self._junction
        alone = [each.clique for each in self._ones]
        pairs = [clique for clique in cliques[len(self.first) :] if len(clique) == 2]
        if not grown_fits(junction, [*alone, *kept]):  # nor will a larger model, and each takes a while to make
            pairs = []
        for clique in pairs[:TRIED]:
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
        small = is_quiet(self.whole, before + self._fresh(0, 0, budget)[0], self.records)
        return pairwise_cells(self._junction) <= LARGEST_WALK and small

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        """Where the noise in all pairs is small: triples of measured pairs, with few enough cells for their noise."""
        every, names = dict.fromkeys((*grown.cliques, *pairs)), tuple(self._domain)
        known = [self.places(each) for each in every if len(each) == 2]
        sizes = [block.estimate.values.size for block in grown.blocks]
        sizes += [sum(map(self._cells, pairs))] if pairs else []
        noise = _harm(map(Occupancy.full, sizes), self._stds(grown, 1, len(pairs), budget))
        if noise > 2 * SETTLED_NOISE * self.records * len(every):
            return ()
        larger = len(every) - len(known)
        precision = self._fresh(len(known) - len(self.first), larger + 1, budget)[2]
        most = 2 * MOST_NOISE * self.records * math.sqrt(precision) / ABSOLUTE
        found, junction = (
            {tuple(names[place] for place in each): each for each in triangles(known)},
            self._held(known)[1],
        )
        cells = {each: self._cells(each) for each in found if each not in every}
        fit = {each: size for each, size in cells.items() if size <= most and base(junction, found[each], LARGEST_WALK)}
        return scored_triples(fit, [self._cells(each) for each in every if len(each) > 2])

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
        """The model's counts of each of these pairs, or triples, to the nearest integer."""
        return {each: np.rint(counts).astype(np.int64) for each, counts in self._counts(grown, cliques).items()}

    def _counts(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Floats]:
        """The model's counts of each of these, flat; who scores them and then chooses among them asks twice."""
        if self._counted is None or self._counted[0] is not grown or {*cliques} != self._counted[1].keys():
            model, wanted = self.model(grown), {self.places(clique): clique for clique in cliques}
            found = pairwise_counts(model, wanted) if len(cliques[0]) == 2 else self._triples(grown, model, wanted)
            self._counted = grown, {wanted[each]: counts.ravel() for each, counts in found}
        return self._counted[1]

    def _triples(self, grown: Grown, model: Model, wanted: Iterable[Places]) -> Iterator[tuple[Places, Floats]]:
        fitted = {clique for clique, _ in model.potentials}
        apart = {each.clique: each.values for each in self.informed(grown) if each.clique not in fitted}
        bases = ((triple, base(model.junction, triple, LARGEST_WALK)) for triple in wanted)
        return triple_counts(model, {triple: pair for triple, pair in bases if pair is not None}, apart)

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        """The candidates that are worth their noise, worst fit first."""
        taken, group = set(grown.cliques), group_of(scored.cliques)
        gains = dict(zip(scored.cliques, (scored.distances - scored.std).tolist(), strict=True))
        expected = self._counts(grown, scored.cliques)
        fresh = {each: Occupancy.of(expected[each]) for each in gains if gains[each] > 0 and each not in taken}
        scale = self.scale(grown)
        held = [Occupancy.of(block.estimate.values * scale) for block in grown.blocks]
        *_, std = self._stds(grown, group, 1, budget)
        order = sorted(fresh, key=lambda clique: -gains[clique] / fresh[clique].harm(std) ** BY_HARM)
        chosen, added = list[Clique](), Occupancy.full(0)
        least = _harm(held, self._stds(grown, group, 0, budget))
        for clique in order:
            more = _harm([*held, added + fresh[clique]], self._stds(grown, group, len(chosen) + 1, budget))
            if more - least < gains[clique]:
                least, added = more, added + fresh[clique]
                chosen.append(clique)
        return tuple(sorted(chosen, key=lambda clique: -gains[clique]))

    def _cells(self, clique: Clique) -> int:
        return math.prod(self._domain[name] for name in clique)

    def _stds(self, grown: Grown, group: int, added: int, budget: Budget) -> list[float]:
        """The noise in each block after a step that adds this number of marginals, and in these, if there are any."""
        groups, numbers = [0, *(group_of(block.cliques) for block in grown.blocks[1:])], [0, 0, 0]
        for each, block in zip(groups, grown.blocks, strict=True):
            numbers[each] += len(block.cliques)
        numbers[group] += added
        fresh, scale = self._fresh(numbers[1], numbers[2], budget), self.scale(grown)
        known = [up(block.estimate.precision) + fresh[each] for each, block in zip(groups, grown.blocks, strict=True)]
        return [scale / math.sqrt(each) for each in (*known, *([fresh[group]] if added else []))]

    def _fresh(self, pairs: int, triples: int, budget: Budget) -> tuple[float, float, float]:
        """One over the variances that a step brings, with this many pairs and triples beside the first marginals."""
        return precisions_of(self.whole, pairs, triples, budget, self.allowance)


def _harm(held: Iterable[Occupancy], stds: Iterable[float]) -> float:
    """What noise of these standard deviations does to cells."""
    return math.fsum(each.harm(std) for each, std in zip(held, stds, strict=True))


def _weight(block: Block) -> float:
    """What all rows weigh together, on average over the marginals of a block."""
    return float(np.sum(block.estimate.values)) / len(block.cliques)
