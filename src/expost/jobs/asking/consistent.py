"""Consistent estimates: all that was measured, put together so that answers agree in what they have in common."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from expost.jobs.asking.estimates import NoisyCells
from expost.jobs.asking.joint import fold
from expost.jobs.asking.margins import Margins, totals
from expost.jobs.asking.overlap import Axes, Axis, Family, axes_in_order, axis_size, codes_picked, covers
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.brownian import Estimate
from expost.noise import Floats


@final
@dataclass(frozen=True)
class Consistent:
    """What is known of the margins of one family, each as a table with all its axes, of size 1 where it lacks one."""

    axes: tuple[Axis, ...]
    margins: Margins
    measured: Sequence[tuple[Axes, Floats, float]]
    """Margin, table in rows, and the precision of the total from it."""
    found: dict[Axes, Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: AskRecipe, asked: Iterable[Tally], known: Mapping[Tally, Estimate]) -> "Consistent":
        """From the measurements of tallies of one family, always in the same order."""
        schema = recipe.schema
        ordered = sorted(known, key=lambda tally: tally.name)
        margins = [frozenset(axes_in_order(tally)) for tally in (*ordered, *asked)]
        axes = tuple(sorted({axis for each in margins for axis in each}, key=str))
        sizes = {axis: axis_size(schema, axis) for axis in axes}
        measured = []
        for tally, margin in zip(ordered, margins, strict=False):
            scale = tally.per_row(schema)
            values = _table_of(axes, sizes, tally, known[tally].values / scale)
            measured.append((margin, values, float(known[tally].precision) * scale**2 / tally.cells(schema)))
        return cls(axes, Margins.of(margins, sizes), measured)

    def cells(self, tally: Tally) -> Floats:
        """The estimates of a tally that was asked for."""
        order = axes_in_order(tally)
        table = self._table(frozenset(order))
        kept = [axis for axis in self.axes if axis in order]
        shape = [self.margins.sizes[axis] for axis in kept]
        return np.asarray(table.reshape(shape).transpose([kept.index(axis) for axis in order])).ravel()

    def variance(self, tally: Tally) -> float:
        """That of each cell, or of the parts of a group where a cell has two, in whatever sum."""
        margin, given = frozenset(axes_in_order(tally)), dict[Axes, float]()
        for each, _, precision in self.measured:
            given[each] = given.get(each, 0.0) + precision
        part = next((axis for axis in margin if not isinstance(axis, str)), None)
        weights = self.margins.weights(margin, part)
        known = totals(weights, given)
        return math.fsum(weight / known[each] for each, weight in weights.items())

    def _table(self, margin: Axes) -> Floats:
        """The table of a margin: what is measured of it, its sums put right by smaller margins, the fewest axes first.

        What those know better is spread evenly over the cells that it is a sum of.

        Implements: consistent estimates.
        """
        if margin not in self.found:
            finer = [each for each in self.measured if margin <= each[0]]
            precision = math.fsum(each for _, _, each in finer)
            table = np.zeros([self.margins.sizes[axis] if axis in margin else 1 for axis in self.axes])
            for _, values, each in finer:
                table = table + self._sums(values, margin) * (each / precision)
            for smaller in self.margins.within(margin):
                lacking = self._table(smaller) - self._sums(table, smaller)
                table = table + lacking * (self.margins.cells(smaller) / self.margins.cells(margin))
            self.found[margin] = table
        return self.found[margin]

    def _sums(self, table: Floats, margin: Axes) -> Floats:
        gone = tuple(place for place, axis in enumerate(self.axes) if axis not in margin)
        return np.asarray(table.sum(axis=gone, keepdims=True))


def consistent_cells(recipe: AskRecipe, known: Mapping[Tally, Estimate]) -> dict[Tally, NoisyCells]:
    """The consistent estimates of all tallies that were asked for, with the noise that is left in their cells."""
    homes = {tally: homes_of(recipe, tally, known) for tally in recipe.tallies}
    families = dict.fromkeys(Family.of(recipe.schema, home) for found in homes.values() for home in found)
    together = {
        family: Consistent.of(
            recipe,
            [home for found in homes.values() for home in found if Family.of(recipe.schema, home) == family],
            {each: one for each, one in known.items() if Family.of(recipe.schema, each) == family},
        )
        for family in families
    }
    told = {}
    for tally, found in homes.items():
        least = {home: together[Family.of(recipe.schema, home)].variance(home) for home in found}
        home = min(found, key=lambda each: least[each])
        values, _ = fold(recipe, home, tally, together[Family.of(recipe.schema, home)].cells(home))
        # A step of the grid more than the noise of integers: their sums are not quite normal.
        told[tally] = NoisyCells(tally, values, math.sqrt(least[home]) + 1 / tally.per_row(recipe.schema))
    return told


def homes_of(recipe: AskRecipe, tally: Tally, known: Iterable[Tally]) -> tuple[Tally, ...]:
    """The tallies that this one is all of, or some groups of, such that measured ones are of the same rows."""
    found = []
    for each in sorted(known, key=lambda one: one.name):
        if each == tally:
            found.append(tally)
        elif covers(recipe.schema, each, tally):
            codes = codes_picked(recipe.schema, each, tally) or {}
            found.append(Tally(tally.kind, (*tally.by, *codes), each.where) if codes else tally)
    return tuple(dict.fromkeys(found))


def _table_of(axes: Sequence[Axis], sizes: Mapping[Axis, int], tally: Tally, values: Floats) -> Floats:
    order = axes_in_order(tally)
    kept = [axis for axis in axes if axis in order]
    turned = values.reshape([sizes[axis] for axis in order]).transpose([order.index(axis) for axis in kept])
    return turned.reshape([sizes[axis] if axis in order else 1 for axis in axes])
