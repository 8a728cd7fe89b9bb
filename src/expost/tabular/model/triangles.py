"""Triples of columns whose pairs are known: what a model expects of them, and what they tell of the pairs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from expost.noise import Floats
from expost.tabular.model.graphical import Measured, Model
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.pairwise import walk

ROUNDS = 10
"""How often the three pairs of a triple are gone through: more changes its counts by less than noise does."""
EMPTY = 1e-200
"""Records that are none: pairs that contradict each other drive cells below, and no finite factor brings them back."""


def triangles(pairs: Iterable[Clique]) -> Iterator[Clique]:
    """The triples of columns all whose pairs are among these, each once."""
    near: dict[int, set[int]] = defaultdict(set)
    for one, other in map(sorted, pairs):
        near[one].add(other)
    for first in sorted(near):
        for second in sorted(near[first]):
            yield from ((first, second, third) for third in sorted(near[first] & near[second]))


def base(junction: Junction, triple: Clique, most: int) -> Clique | None:
    """The two columns of a triple that a walk to the third starts from, None if it would hold more cells than that."""
    sizes = {
        pair: prod(junction.domain[column] for column in pair)
        for pair in combinations(triple, 2)
        if junction.home(pair) is not None
    }
    pair = min(sizes, key=sizes.__getitem__, default=None)
    return None if pair is None or sizes[pair] * junction.cells > most else pair


def triple_counts(
    model: Model, bases: Mapping[Clique, Clique], pairs: Mapping[Clique, Floats]
) -> Iterator[tuple[Clique, Floats]]:
    """The expected counts of each triple, given two of its columns that one clique of the model holds.

    Where a pair of its columns was measured and the model not fitted to it, they are made to agree with its counts, by
    iterative proportional fitting: what raking will do to the rows of the model.
    """
    wanted: dict[Clique, dict[int, Clique]] = defaultdict(dict)
    for triple, pair in bases.items():
        (third,) = {*triple} - {*pair}
        wanted[pair][third] = triple
    for pair, thirds in wanted.items():
        for third, counts in walk(model, pair, thirds.keys()):
            ordered = counts.transpose(np.argsort([*pair, third]))
            yield thirds[third], _agreeing(ordered, thirds[third], pairs)


def informed(measured: Sequence[Measured]) -> list[Measured]:
    """The same marginals, but that a pair is averaged with what triples say of it, each weighted by its precision."""
    triples = [each for each in measured if len(each.clique) == 3]
    return [_informed(each, triples) if len(each.clique) == 2 else each for each in measured]


def _informed(pair: Measured, triples: Iterable[Measured]) -> Measured:
    values, weight = pair.values / pair.variance, 1 / pair.variance
    for each in triples:
        others = [axis for axis, column in enumerate(each.clique) if column not in pair.clique]
        if len(others) == 1:
            variance = each.variance * np.shape(each.values)[others[0]]
            values, weight = values + each.values.sum(axis=others[0]) / variance, weight + 1 / variance
    return pair if weight == 1 / pair.variance else Measured(pair.clique, values / weight, 1 / weight)


def _agreeing(counts: Floats, triple: Clique, pairs: Mapping[Clique, Floats]) -> Floats:
    total = counts.sum()
    known = {}
    for axis in range(3):
        pair = tuple(column for place, column in enumerate(triple) if place != axis)
        if pair in pairs:
            values = np.maximum(pairs[pair], 0.0)
            known[axis] = np.expand_dims(values * (total / max(values.sum(), 1.0)), axis)
    for _ in range(ROUNDS if known else 0):
        for axis, wanted in known.items():
            found = counts.sum(axis=axis, keepdims=True)
            counts = counts * np.divide(wanted, found, out=np.zeros_like(found), where=found > EMPTY)
    return counts
