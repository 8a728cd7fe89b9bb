"""Sharing: which tallies are measured for several questions, and how precisely, so that all of them cost the least."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from expost.jobs.asking.design import Design, MarginGoal
from expost.jobs.asking.margins import Margins
from expost.jobs.asking.overlap import Family, axes_in_order, axis_size, covers
from expost.jobs.asking.query import MOST_GROUPS, Quantile
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import OfPersons, OfRows, Tally

MOST_UNIONS = 32
"""Tallies that nobody asked for and that may be measured."""


@final
@dataclass(frozen=True, slots=True)
class Need:
    """A tally that answers come from, and the precision of its cells; ``sums`` if sums of many cells are asked for."""

    tally: Tally
    precision: float
    sums: bool


def shared_precisions(
    recipe: AskRecipe, needed: Mapping[Tally, float], cost: Callable[[Tally], float]
) -> dict[Tally, float]:
    """The precision in which each tally is measured, 0 where others tell of it; ``cost`` is that of a precision of 1.

    A quantile is looked up in sums of cells, which what is counted by fewer columns tells nothing of.
    """
    schema = recipe.schema
    summed = {Tally.of(each.query) for each in recipe.questions if isinstance(each.query.measure, Quantile)}
    families: dict[Family, list[Need]] = {}
    for tally, precision in needed.items():
        home = home_among(recipe, tally)
        families.setdefault(Family.of(schema, home), []).append(Need(home, precision, tally in summed))
    unions = [each for each in measurable(recipe.tallies) if each not in needed] if recipe.bounded else []
    found = dict.fromkeys(needed, 0.0)
    for family, needs in families.items():
        found |= _least_costly(recipe, needs, [each for each in unions if Family.of(schema, each) == family], cost)
    return found


def _least_costly(
    recipe: AskRecipe, needs: Sequence[Need], unions: Sequence[Tally], cost: Callable[[Tally], float]
) -> dict[Tally, float]:
    """The tallies of one family that are measured: of those asked for and of those that tell of several of them."""
    schema, places = recipe.schema, {frozenset(axes_in_order(each.tally)): each.tally for each in needs}
    if len(places) == 1:
        return {needs[0].tally: max(each.precision for each in needs)}
    for union in unions:
        told = [each for margin, each in places.items() if margin <= {*axes_in_order(union)} and each not in unions]
        if union.cells(schema) < sum(each.cells(schema) for each in told):
            places.setdefault(frozenset(axes_in_order(union)), union)
    sizes = {axis: axis_size(schema, axis) for margin in places for axis in margin}
    wanted = [MarginGoal(frozenset(axes_in_order(each.tally)), 1 / each.precision, each.sums) for each in needs]
    design = Design(Margins.of(places, sizes), tuple(places), np.array([*map(cost, places.values())]), tuple(wanted))
    return dict(zip(places.values(), design.cheapest().tolist(), strict=True))


def home_among(recipe: AskRecipe, tally: Tally) -> Tally:
    """The tally whose groups hold those of another that has a condition, where it costs no more; else the same.

    What is counted under a condition are groups of what is counted by its column. Measured for all of them at once
    they have the same price, and tell of everything else that is asked about these columns.
    """
    schema = recipe.schema
    homes = [
        home
        for home in _homes_of(tally, recipe.tallies)
        if covers(schema, home, tally) and home.groups(schema) <= MOST_GROUPS
    ]
    return max(homes, key=lambda each: len(each.by), default=tally)


def measurable(asked: Sequence[Tally]) -> tuple[Tally, ...]:
    """All tallies that may be measured for those that are asked for, whatever the schema says of their columns."""
    homes = [home for tally in asked for home in _homes_of(tally, asked)]
    given = sorted({*asked, *homes}, key=lambda each: (len(each.by), each.name))
    found = {(frozenset(axes_in_order(each)), frozenset(each.where)): each for each in given}
    apart, fresh = len(found), list(found.values())
    while fresh and len(found) < apart + MOST_UNIONS:
        joined = [union for one in fresh for other in given for union in _union_of(one, other)]
        new = {(frozenset(axes_in_order(each)), frozenset(each.where)): each for each in joined}
        fresh = [each for key, each in new.items() if key not in found][: apart + MOST_UNIONS - len(found)]
        found |= {(frozenset(axes_in_order(each)), frozenset(each.where)): each for each in fresh}
    return tuple(dict.fromkeys((*asked, *homes, *found.values())))


def _homes_of(tally: Tally, asked: Iterable[Tally]) -> list[Tally]:
    """The same without conditions that others do not have, by their columns."""
    found = []
    for other in asked:
        dropped = [each.column for each in tally.where if each not in other.where]
        if dropped and {*other.where} < {*tally.where} and {*dropped} <= {*other.by} - {*tally.by}:
            found.append(Tally(tally.kind, (*tally.by, *dict.fromkeys(dropped)), other.where))
    return found


def _union_of(one: Tally, other: Tally) -> list[Tally]:
    """The tally by the columns of both, if there is one of the same rows."""
    kinds = {one.kind, other.kind}
    parts = [each for each in kinds if not isinstance(each, OfRows)]
    if {*one.where} != {*other.where} or len(parts) > 1 or any(isinstance(each, OfPersons) for each in kinds):
        return []
    kind = parts[0] if parts else one.kind
    return [Tally(kind, (*sorted({*one.by, *other.by}),), one.where)]
