"""Apart: what one record says must never change how another is scored; tried on made-up records before any is seen.

A check bills one record by what it adds to a sum of scores, which is true only if no score hangs on the other records,
on their order or number, or on records that were scored before. No finite trial proves that. What it does not find: a
score that mixes records unlike those tried, or more than a few thousand at once, or that settles ties by rounding.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Learner, Lesson, Score
from expost.tabular.table import Table
from expost.tabular.teaching import learn

INVENTED = 8
"""Records of each kind that are tried: each costs a few predictions of one record, which take milliseconds."""

REPEATS = 100
"""How often they are repeated in a large batch, so that what is done in blocks only shows."""

CROWD = 1000
"""Rows of the synthetic table that are tried in halves: one by one they would take too long."""

HALVED = 16
"""Columns by whose codes these are put in halves, evenly spread where there are more."""

TAUGHT = 240
"""Made-up records to learn from in a rehearsal: enough for a classifier to tell some codes apart."""

Places = NDArray[np.intp]


def rehearse(schema: Schema, lessons: Sequence[Lesson], learner: Learner, scores: Sequence[Score]) -> None:
    """Learn from made-up records and require that they are scored apart; draws nothing from the noise of a run."""
    sizes = tuple(schema.domain.values())
    records = invented(schema, max(TAUGHT, *sizes))
    model = fit(
        Junction.of(sizes, [(place,) for place in range(len(sizes))]),
        [Measured((place,), np.full(size, len(records) / size), 1.0) for place, size in enumerate(sizes)],
    )
    learnt = {lesson: learn(learner, records, model, lesson, SeededNoise(0)) for lesson in lessons}
    counts = {lesson.target: (np.bincount(records.codes(lesson.target)).astype(float), 1.0) for lesson in lessons}
    for score in scores:
        require_apart(score, Candidate(records, model, learnt, counts, len(records)))


def require_apart(score: Score, candidate: Candidate) -> None:
    """Refuse a score that changes with what else is scored, on made-up records and on rows of the synthetic table."""
    table = candidate.table
    records = _joined(invented(table.schema, INVENTED), _taken(table, np.arange(min(INVENTED, len(table)))))
    crowd = _taken(table, np.arange(min(CROWD, len(table))))
    tried = (records, _batches(len(records))), (crowd, _halves(crowd))
    same = [_same(score, candidate, some, batches) for some, batches in tried]
    if None in same:
        raise InvalidValue(
            "the score fails on made-up records; give one that takes any records of the schema, few or many, and "
            "returns one number for each."
        )
    if not all(same):
        raise InvalidValue(
            "the score of a record changes with the records scored beside it or before it; give an estimator and a "
            "score that judge each record by itself."
        )


def _same(score: Score, candidate: Candidate, records: Table, batches: Iterator[Places]) -> bool | None:
    """Whether the records score the same in every batch; None if the score fails, whose reason is not kept."""
    try:
        together = np.asarray(score(candidate, records))
        if together.shape != (len(records),):
            return None
        return all(
            np.array_equal(np.asarray(score(candidate, _taken(records, places))), together[places], equal_nan=True)
            for places in batches
        )
    except Exception:  # noqa: BLE001  whatever it is, the same would happen with private records open
        return None


def invented(schema: Schema, count: int) -> Table:
    """Made-up records in which every column goes through all its codes, each at a pace of its own."""
    paces = [
        next(pace for pace in range(place + 1, place + size + 2) if math.gcd(pace, size) == 1)
        for place, size in enumerate(schema.domain.values())
    ]
    columns = zip(schema.domain.items(), paces, strict=True)
    return Table(schema, {name: np.arange(count, dtype=np.uint64) * pace % size for (name, size), pace in columns})


def _batches(count: int) -> Iterator[Places]:
    """Each record alone, in twos and sevens, backwards, amid copies of the first, many at once, and all again."""
    everybody = np.arange(count)
    for size in (1, 2, 7):
        yield from np.array_split(everybody, -(-count // size))
    yield everybody[::-1]
    yield np.concatenate([everybody, np.zeros(count, dtype=np.intp)])
    yield np.tile(everybody, REPEATS)
    yield everybody


def _halves(table: Table) -> Iterator[Places]:
    """For many columns the records with lower codes, then those with higher ones: what is common differs."""
    columns = list(table.columns.values())
    for codes in columns[:: -(-len(columns) // HALVED)]:
        yield from np.array_split(np.argsort(codes, kind="stable"), 2)


def _taken(table: Table, places: Places) -> Table:
    return Table(table.schema, {name: codes[places] for name, codes in table.columns.items()})


def _joined(one: Table, other: Table) -> Table:
    return Table(one.schema, {name: np.concatenate([one.codes(name), other.codes(name)]) for name in one.schema.names})
