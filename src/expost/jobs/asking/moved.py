"""What a record or a person can have moved: the lines of an answer beside the tallies that its questions call for.

How far one of them moves a tally follows from the question alone; how many groups there are follows from the schema.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from expost.bill import Item
from expost.jobs.asking.contribution import BOUNDS, LENGTHS
from expost.jobs.asking.joint import FACTOR
from expost.jobs.asking.retold import AnswerTestimony
from expost.jobs.asking.tallies import Tally
from expost.receipts.notation import fraction, text
from expost.tabular.schema.schema import Schema

BETWEEN = "; "
"""Between the names of tallies that were measured in one step."""


def measured_faults(told: AnswerTestimony) -> Iterator[str]:
    """Whether each line is about tallies of the questions, and one record or person moves them as far as it says."""
    yield from _bound_faults(told)
    if told.bounds.keys() < told.cuts.keys():
        return
    for place, item in enumerate(told.bill, start=1):
        if told.cuts and place == 1:
            if not _counts_persons(told, item):
                yield "the first line does not count persons by their rows, which decides how they are cut."
        elif not _moves(told, item):
            yield f"line {place} is not about what was asked, or has another sensitivity than that."


def _bound_faults(told: AnswerTestimony) -> Iterator[str]:
    """Whether persons were weighed down to lengths that are public, or that the first line or earlier answers told."""
    names, declared = {tally.name for tally in told.tallies}, told.rows_per_person
    if {*told.bounds} != (names if told.persons else set()):
        yield "the lengths that persons are weighed down to are not those of what was measured."
    if declared is not None and (told.cuts or {*told.bounds.values()} - {declared}):
        yield "persons were weighed down to another length than the one that was given."
    if declared is None and not {*told.bounds.values()} <= {*BOUNDS}:
        yield "persons were weighed down to a length that is none of those to choose from."
    plain = declared is not None or all(tally.once for tally in told.tallies)
    counted = told.persons and not plain and not told.recalled
    if told.cuts.keys() != (names if counted or told.cuts else set()):
        yield "what is told of how persons were cut is not about what was measured, or was not called for."


def cell_faults(told: AnswerTestimony, schema: Schema) -> Iterator[str]:
    """Whether each line has as many cells as the schema makes of what it is about."""
    for place, item in enumerate(told.bill[bool(told.cuts) :], start=1 + bool(told.cuts)):
        cells = sum(tally.cells(schema) for tally in tallies_named(told, text(item.entry.facts["statistic"])))
        if item.entry.facts["cells"] != cells:
            yield f"line {place} has another number of cells than the schema makes of the questions."


def _counts_persons(told: AnswerTestimony, item: Item) -> bool:
    """Whether a line is the histogram of how long persons are, in which each of them is once in every tally."""
    facts, tallies = item.entry.facts, len(told.tallies)
    moved = (2 if told.neighbours.replaces else 1) * tallies
    known = facts["statistic"] == LENGTHS and fraction(facts["l2_squared"]) == moved
    return known and facts["cells"] == (len(BOUNDS) + 1) * tallies


def _moves(told: AnswerTestimony, item: Item) -> bool:
    """Whether the tallies of a line can be moved so far: each multiplied by a whole number, the largest of them known.

    Uses: several tallies at once.
    """
    measured = tallies_named(told, text(item.entry.facts["statistic"]))
    squared, reaches = fraction(item.entry.facts["l2_squared"]), [_reach(told, tally) for tally in measured]
    if len(reaches) < 2:
        return reaches == [squared]
    return any(
        _makes_up(squared - FACTOR**2 * largest, [*reaches[:place], *reaches[place + 1 :]])
        for place, largest in enumerate(reaches)
    )


def _makes_up(squared: Fraction, reaches: Sequence[Fraction]) -> bool:
    """Whether the other tallies can make up the rest; where there is one, that is known exactly."""
    if len(reaches) > 1:
        least = sum(reaches, Fraction(0))
        return least <= squared <= FACTOR**2 * least
    times = squared / reaches[0]
    return times.denominator == 1 and 1 <= times <= FACTOR**2 and math.isqrt(int(times)) ** 2 == times


def _reach(told: AnswerTestimony, tally: Tally) -> Fraction:
    length = tally.unit * told.bounds.get(tally.name, told.rows_per_person or 1) if told.persons else tally.unit
    return Fraction((2 if told.neighbours.replaces else 1) * length**2)


def tallies_named(told: AnswerTestimony, name: str) -> list[Tally]:
    """The tallies that a line is about, each once; none where its name is not made of theirs."""
    return _named(told.measurable, name)


def _named(tallies: Sequence[Tally], name: str) -> list[Tally]:
    for tally in tallies:
        if name == tally.name:
            return [tally]
        if name.startswith(f"{tally.name}{BETWEEN}"):
            others = _named(tallies, name.removeprefix(f"{tally.name}{BETWEEN}"))
            if others and tally not in others:
                return [tally, *others]
    return []
