"""Somebody who knows all records but one tells no more of it, by the first steps of a synthesis, than is billed.

The best test between two neighbours looks at what was released along the line between their exact values. Released is
the number of records, by which records are held out, and the counts that edges are chosen by. Under Gaussian
noise that costs ρ, the two laws lie μ = √(2ρ) standard deviations apart. Each comparison goes wrong with probability
1e-6, reaches what is billed, and tells noise of half the size apart.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.jobs.synthesis import found
from expost.jobs.synthesis.choice import COUNTING, FINDING, PairSelection
from expost.noise import Floats, Integers, SeededNoise, Shape
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

pytestmark = pytest.mark.statistical

RUNS, FAR_OUT = 400, 4.9
"""Runs on each of the two tables, and standard errors that are exceeded with probability 1e-6."""
ALPHA, MU = 20, 1.0
COUNT = 400
Attack: TypeAlias = Callable[[Any, Private[Table], Any], Floats]


class Halved:
    """Noise of half the size that is asked for."""

    def __init__(self, seed: int) -> None:
        self._noise, self.seeded = SeededNoise(seed), True

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        return self._noise.discrete_gaussian(variance / 4, shape)


def schema(neighbours: Neighbours) -> Schema:
    one, other = (PrivateBins(name, 0, 3, 2, True, Closed.LEFT, Missing.FALLBACK) for name in ("one", "other"))
    return Schema((one, other, Boolean("late", Missing.FALLBACK)), True, neighbours)


def recipe(neighbours: Neighbours, share: Fraction) -> Any:
    """As much of a recipe as the steps look at; one that takes this share of the selection is billed for μ."""
    query = Budget.of(ALPHA * Fraction(MU) ** 2 / 2 / share, alpha=ALPHA)
    form = schema(neighbours)
    return SimpleNamespace(schema=form, sized=True, selection=PairSelection(form, ("late",), query, sized=True))


def table(neighbours: Neighbours, *last: tuple[int, int, int]) -> Table:
    """Records that are known, and a last one that may be there, by their codes on the grids."""
    form = schema(neighbours).fine
    codes = np.array([*[(0, 2, 0)] * COUNT, *last], dtype=np.uint8)
    return Table(form, dict(zip(form.names, codes.T, strict=True)))


def told(step: Callable[[], object], name: str) -> Any:
    """What a step calls the rest of the run with, which is not run."""
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(found, name, lambda *given, **more: seen.append((given, more)))
        patch.setattr(found, "replace", lambda chosen, **more: SimpleNamespace(schema=None))
        patch.setattr(found, "coarsened", lambda table, schema: table)
        step()
    return seen[0][0]


def records_told(chosen: Any, data: Private[Table], noise: Any) -> Floats:
    """The number of records that the share to hold out is worked out from."""
    (number,) = told(lambda: found.sized(data, chosen, Odometer(rehearsal=True), noise), "usual_share")
    return np.array([number], dtype=np.float64)


def counts_told(chosen: Any, data: Private[Table], noise: Any) -> Floats:
    """The counts on both grids that edges are chosen by."""
    whole = Split.whole(data)
    step = partial(found.find_edges, whole, chosen, Odometer(rehearsal=True), noise)
    _, counts, _ = told(step, "settled_schema")
    return np.concatenate([*counts.values()])


ATTACKS: dict[str, tuple[Attack, Neighbours, Fraction]] = {
    "the number of records": (records_told, ADD, COUNTING),
    "the counts": (counts_told, ADD, FINDING),
    "the counts, a record replaced": (counts_told, Neighbours.REPLACE_ONE, FINDING),
}


def told_apart(attack: str, noise: Callable[[int], Any]) -> float:
    """How many standard deviations two neighbours lie apart in what is released, on the line between them."""
    run, neighbours, share = ATTACKS[attack]
    chosen = recipe(neighbours, share)
    without = table(neighbours) if neighbours is ADD else table(neighbours, (0, 2, 0))
    laws = [
        np.array([run(chosen, Private(data, neighbours), noise(RUNS * side + place)) for place in range(RUNS)])
        for side, data in enumerate((without, table(neighbours, (1, 0, 1))))
    ]
    line = np.rint(laws[1].mean(axis=0) - laws[0].mean(axis=0))
    one, other = (law @ line for law in laws)
    return float((other.mean() - one.mean()) / math.sqrt((one.var() + other.var()) / 2))


@pytest.mark.parametrize("attack", ATTACKS)
def test_neighbours_lie_as_far_apart_as_is_billed_and_at_half_the_noise_further(attack: str) -> None:
    error = FAR_OUT * math.sqrt(2 / RUNS + MU**2 / (4 * RUNS))

    honest, halved = told_apart(attack, SeededNoise), told_apart(attack, Halved)

    assert abs(honest - MU) < error
    assert halved > MU + error
