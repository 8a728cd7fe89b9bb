"""Answers: the table that was asked for, what it cost, and how to ask for more."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from expost.accounting.claim import Spent
from expost.accounting.curve import AdpEpsilon
from expost.jobs.asking.climb import AnswerLook
from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.query import Count, Persons, Query, Share
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Above, Compare, Top
from expost.noise import Floats
from expost.release import Release
from expost.tabular.schema.column import Values

SETTLED, OPEN, FEW, ASIDE = "yes", "no", "fewer than ", "not compared"


@final
@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group: its labels, its estimate between two ends, and whether it is settled.

    ``rows`` is about how many rows it is of, as far as noisy counts tell.
    """

    group: tuple[str, ...]
    estimate: float
    low: float
    high: float
    settled: str
    rows: float = math.nan

    @property
    def half(self) -> float:
        """The longer side of the error bar."""
        return max(self.high - self.estimate, self.estimate - self.low)

    @property
    def few(self) -> bool:
        """Whether the group is known to be too small for what was asked."""
        return self.settled.startswith(FEW)


@final
@dataclass(frozen=True, slots=True)
class QuestionTold:
    """The lines of one question, one for each group that the schema knows."""

    question: Targeted
    lines: tuple[GroupLine, ...]
    size: int

    @property
    def measure(self) -> str:
        """What the estimates are of, as a head of a column."""
        return str(Query(self.question.query.measure))


def answers_in(recipe: AskRecipe, look: AnswerLook) -> tuple[QuestionTold, ...]:
    """The answers of a look, in words and numbers."""
    return tuple(_told(recipe, look, place) for place in range(len(recipe.questions)))


def _told(recipe: AskRecipe, look: AnswerLook, place: int) -> QuestionTold:
    question, bars, size = recipe.questions[place], look.bars[place], look.sizes[place]
    least = 0.0 if isinstance(question.query.measure, Count | Persons | Share) else -np.inf
    most = np.inf if not isinstance(question.query.measure, Share) else 1.0
    point, low, high = (np.clip(each, least, most) for each in (bars.point, bars.low, bars.high))
    groups = np.ndindex(*(recipe.schema[name].size for name in question.query.by))
    labels, named = [recipe.schema[name].labels for name in question.query.by], recipe.labels(question.query)
    lines = tuple(
        GroupLine(
            tuple(names[code] for names, code in zip(labels, group, strict=True)),
            float(point[index]),
            float(low[index]),
            float(high[index]),
            _settled(question, look, place, index, named),
            float(bars.low_rows[index] + bars.high_rows[index]) / 2,
        )
        for index, group in enumerate(groups)
    )
    return QuestionTold(question, lines, size)


def _settled(question: Targeted, look: AnswerLook, place: int, index: int, labels: tuple[str, ...]) -> str:
    if isinstance(question.target, Above) and look.settled[place][index]:
        return "above" if look.bars[place].low[index] > float(question.target.threshold) else "not above"
    if isinstance(question.target, Top) and look.settled[place][index]:
        point = look.bars[place].point
        return "among them" if int((point > point[index]).sum()) < question.target.number else "not among them"
    if isinstance(question.target, Compare) and look.settled[place][index]:
        return _compared(question.target, look.bars[place].point, labels, index)
    if look.settled[place][index]:
        return SETTLED
    return f"{FEW}{look.sizes[place]:,}" if look.few[place][index] else OPEN


def _compared(target: Compare, point: Floats, labels: tuple[str, ...], index: int) -> str:
    if labels[index] not in (target.first, target.second):
        return ASIDE
    other = labels.index(target.second if labels[index] == target.first else target.first)
    return "larger" if point[index] > point[other] else "smaller"


def columns_of(told: tuple[QuestionTold, ...]) -> dict[str, Values]:
    """All answers as the columns of one table; groups of questions by other columns are left empty there."""
    names = list(dict.fromkeys(name for each in told for name in each.question.query.by))
    rows = [(each, line) for each in told for line in each.lines]
    found: dict[str, Values] = {}
    if len(told) > 1:
        found["question"] = _column([str(each.question.query) for each, _ in rows])
    for name in names:
        found[name] = _column(
            [dict(zip(each.question.query.by, line.group, strict=True)).get(name) for each, line in rows]
        )
    for name in ("estimate", "low", "high", "settled"):
        found[name] = _column([getattr(line, name) for _, line in rows])
    return found


def _column(values: list[Any]) -> Values:
    texts = any(value is None or isinstance(value, str) for value in values)
    return np.array(values, dtype=np.object_ if texts else np.float64)


@final
@dataclass(frozen=True, slots=True)
class Answered:
    """A finished answer: what is told, how persons were cut, what was spent and how that is stated."""

    recipe: AskRecipe
    release: Release[tuple[QuestionTold, ...]]
    look: AnswerLook
    cuts: Mapping[Tally, Cut]

    @property
    def reached(self) -> bool:
        """Whether every group of every question is settled."""
        return self.look.reached

    @property
    def spent(self) -> Spent:
        """The bound on everything that led to it."""
        return self.release.spent

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε that is stated; 0 where earlier answers were enough."""
        return self.release.epsilon if self.measured else AdpEpsilon(0.0)

    @property
    def measured(self) -> bool:
        """Whether anything was measured for it."""
        return self.release.neighbours is not None
