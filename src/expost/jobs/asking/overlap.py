"""Overlap: which cells of one tally are sums of those of another, so that they need not be measured twice.

A tally is a table whose axes are the columns that it is grouped by and, for a share or a mean, its two parts. Tallies
of the same rows are margins of one table, and agree with each other in what they have in common.
"""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from expost.jobs.asking.tallies import OfPersons, OfRows, OfTruth, OfValues, Tally, TallyKind
from expost.tabular.schema.column import Missing
from expost.tabular.schema.conditions import truth_of
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import Condition, Relation

Axis: TypeAlias = str | OfTruth | OfValues
"""A column, or the two parts of a share or a mean."""
Axes: TypeAlias = frozenset[Axis]


@final
@dataclass(frozen=True, slots=True)
class Family:
    """Tallies of the same rows; ``apart`` tells them from others where they leave rows out, or count persons."""

    where: frozenset[Condition]
    apart: TallyKind | Tally | None

    @classmethod
    def of(cls, schema: Schema, tally: Tally) -> "Family":
        """The family of a tally: parts that leave no row out add up to all of them, and persons never do."""
        if isinstance(tally.kind, OfPersons):
            return cls(frozenset(tally.where), tally)
        return cls(frozenset(tally.where), None if _adds_up(schema, tally.kind) else tally.kind)


def axes_in_order(tally: Tally) -> tuple[Axis, ...]:
    """The axes of a tally, in the order of its cells."""
    return (*tally.by, tally.kind) if isinstance(tally.kind, OfTruth | OfValues) else tally.by


def axis_size(schema: Schema, axis: Axis) -> int:
    """How many cells there are along an axis."""
    return schema[axis].size if isinstance(axis, str) else 2


def covers(schema: Schema, finer: Tally, tally: Tally) -> bool:
    """Whether the cells of a tally are sums of those of another, or some of these."""
    codes = codes_picked(schema, finer, tally)
    if codes is None or finer == tally or isinstance(finer.kind, OfPersons) or isinstance(tally.kind, OfPersons):
        return False
    same = finer.kind == tally.kind or (isinstance(tally.kind, OfRows) and _adds_up(schema, finer.kind))
    return same and {*axes_in_order(tally), *codes} <= {*axes_in_order(finer)}


def codes_picked(schema: Schema, finer: Tally, tally: Tally) -> dict[str, int] | None:
    """What conditions pick from the groups of a finer tally: a code of each column; None where they are others.

    Persons are weighed by the rows that a tally counts, so that a condition does not pick from those without it.
    """
    if not {*finer.where} <= {*tally.where}:
        return None
    found: dict[str, int] = {}
    for each in tally.where:
        if each in finer.where:
            continue
        if schema.unit is not None or each.column in (*found, *tally.by) or each.column not in finer.by:
            return None
        (codes,) = np.nonzero(truth_of(each, schema[each.column]).holds)
        if len(codes) != 1:
            return None
        found[each.column] = int(codes[0])
    return found


def _adds_up(schema: Schema, kind: TallyKind) -> bool:
    """Whether every row is in a part: no value that it is about may be missing."""
    if isinstance(kind, OfValues):
        return schema[kind.column].missing is not Missing.CATEGORY
    if isinstance(kind, OfTruth):
        return all(
            each.relation in (Relation.ABSENT, Relation.PRESENT) or schema[each.column].missing is not Missing.CATEGORY
            for each in kind.conditions
        )
    return isinstance(kind, OfRows)
