"""Aims: what a synthetic table is for, each with the least that it must reach."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from expost.checks.least import Least
from expost.checks.question import as_typed
from expost.errors import InvalidValue, SchemaMismatch
from expost.numerics import Real
from expost.tabular.marginals import Clique
from expost.tabular.measures import (
    About,
    AboveGuessing,
    AreaUnderCurve,
    Asking,
    BalancedTargetAccuracy,
    MeanScore,
    Measure,
    OfRare,
    Overlap,
    TargetAccuracy,
    require_column,
)
from expost.tabular.overlaps import WorstOverlap
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Lesson, Score

MOST_NUMBERED = 2**62
"""Cells of a table, each of which has a number of its own in 64 bits."""


@final
@dataclass(frozen=True)
class Aim:
    """One thing that a table must be good for: of what, of which target if it has one, and how much at least."""

    measure: Measure
    target: str | None
    at_least: Fraction

    def __post_init__(self) -> None:
        typed = as_typed(self.at_least, f"the {self.measure.name}")
        object.__setattr__(self, "at_least", typed)
        if not 0 < typed < 1:
            raise InvalidValue(
                f"the {self.measure.name} asked for is {float(typed):g}; it must lie strictly between 0 and 1."
            )

    @classmethod
    def accuracy(cls, target: str, at_least: Real) -> "Aim":
        """Predict the target of this share of the held-out records."""
        return cls(TargetAccuracy(), target, as_typed(at_least))

    @classmethod
    def balanced_accuracy(cls, target: str, at_least: Real) -> "Aim":
        """Predict this share on average over the values of the target, rare ones counting as much as common ones."""
        return cls(BalancedTargetAccuracy(), target, as_typed(at_least))

    @classmethod
    def above_guessing(cls, target: str, at_least: Real) -> "Aim":
        """Predict this share more than always guessing the commonest value does."""
        return cls(AboveGuessing(), target, as_typed(at_least))

    @classmethod
    def auc(cls, target: str, at_least: Real, *, positive: str | None = None) -> "Aim":
        """Rank records with the positive value above others this often."""
        return cls(AreaUnderCurve(positive), target, as_typed(at_least))

    @classmethod
    def within(cls, distance: Real, *, crosstabs: Sequence[Clique] = ()) -> "Aim":
        """Keep all pairs of columns, or these tables, this close in total variation to those of held-out records."""
        typed = as_typed(distance, "the distance")
        if not 0 < typed < 1:
            raise InvalidValue(f"the distance asked for is {float(typed):g}; it must lie strictly between 0 and 1.")
        return cls(Overlap(tuple(map(tuple, crosstabs))), None, 1 - typed)

    @property
    def words(self) -> str:
        """What is asked for, as a phrase."""
        match self.measure:
            case Overlap(listed):
                tables = " and ".join(" × ".join(clique) for clique in listed) or "all pairs of columns"
                return f"{tables} within {float(100 * (1 - self.at_least)):g} %"
            case AboveGuessing():
                gain = float(100 * self.at_least)
                return f"a gain over guessing of {gain:g} point{'s' * (gain != 1)} for {self.target}"
            case AreaUnderCurve(positive) if positive is not None:
                return f"an AUC of {float(self.at_least):g} for {self.target} = {positive}"
        of = "" if self.target is None else f" for {self.target}"
        article = "an" if self.measure.name[0] in "AEIOUaeiou" else "a"
        return f"{article} {self.measure.name} of {float(self.at_least):g}{of}"

    def settled(self, schema: Schema) -> "Aim":
        """The same, with the value named that an AUC is about, which a target of two values need not say."""
        lesson = self.lesson(schema) if isinstance(self.measure, AreaUnderCurve) else None
        if lesson is None or lesson.positive is None:
            return self
        return replace(self, measure=AreaUnderCurve(schema[lesson.target].labels[lesson.positive]))

    @property
    def of_all(self) -> bool:
        """Whether a margin is a share of all held-out records."""
        return not isinstance(self.measure, OfRare)

    def lesson(self, schema: Schema) -> Lesson | None:
        """What must be learnt from a table first, if anything."""
        if self.target is None:
            return None
        require_column(schema.names, self.target, "the target ")
        return self.measure.lesson(schema, self.target)

    def question(self, schema: Schema) -> Asking:
        """What is asked of the held-out records; refused where the schema does not have the columns."""
        about = About(self.lesson(schema) or Lesson(""), schema.names, schema.neighbours)
        question = self.measure.question(about, self.at_least)
        for clique in question.cliques if isinstance(question, WorstOverlap) else ():
            if math.prod(schema.domain[name] for name in clique) > MOST_NUMBERED:
                raise SchemaMismatch(
                    f"the table of {', '.join(clique)} has more than {MOST_NUMBERED:,} cells; name fewer columns."
                )
        return question

    def alone(self, schema: Schema) -> Score | None:
        """What is computed of each record alone, which must not change with the records beside it."""
        if isinstance(self.measure, MeanScore):
            return self.measure.score
        lesson = self.lesson(schema)
        if lesson is None:
            return None
        return lambda candidate, records: candidate.told(lesson, records).astype(np.float64)


def together(questions: Sequence[Asking]) -> Asking:
    """What is asked where all of these are to be answered by yes: the least, which costs no more than one of them."""
    return questions[0] if len(questions) == 1 else Least(questions)


def targets_of(aims: Sequence[Aim]) -> tuple[str, ...]:
    """The columns to be predicted, each once."""
    return tuple(dict.fromkeys(aim.target for aim in aims if aim.target is not None))
