"""Measures: what is measured of a synthetic table, how that is asked, and of how many records a margin is a share."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias, final, runtime_checkable

from expost.checks.question import CentredSum, Question
from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Floats
from expost.private import Neighbours
from expost.tabular.marginals import Clique
from expost.tabular.overlaps import WorstOverlap, crosstabs
from expost.tabular.questions import BalancedSum, GuessingGain, RankMargin, balancing
from expost.tabular.schema.column import MISSING_LABEL
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Lesson, Score, correct
from expost.tabular.table import Table

Asking: TypeAlias = Question[Table, Candidate]

THOUSANDTHS = 1000
"""Steps to 1 of a score of the caller's own; each record's is rounded down to one. A target of four decimals fits."""


@final
@dataclass(frozen=True, slots=True)
class About:
    """What a question is about: what was learnt, the columns there are, and who are neighbours."""

    lesson: Lesson
    names: tuple[str, ...]
    neighbours: Neighbours


class Measure(Protocol):
    """What is measured of a table, and how that is asked.

    Implemented by TargetAccuracy, BalancedTargetAccuracy, AboveGuessing, AreaUnderCurve, MeanScore and Overlap.
    """

    @property
    def name(self) -> str:
        """In words; also what a receipt calls it."""

    def lesson(self, schema: Schema, target: str) -> Lesson | None:
        """What must be learnt from a table first, if anything."""

    def question(self, about: About, at_least: Fraction) -> Asking:
        """What is asked of the held-out records: at or above 0 just when the measure is ``at_least`` that."""


@runtime_checkable
class OfRare(Protocol):
    """A measure whose margin is a share of the rarer records, and not of all.

    Implemented by BalancedTargetAccuracy and AreaUnderCurve.
    """

    def share(self, counts: Floats, std: float, lesson: Lesson) -> tuple[float, float]:
        """Of how many of the records that these counts of the target are of, and the standard error of that."""


@final
@dataclass(frozen=True, slots=True)
class TargetAccuracy:
    """The share of records whose target is predicted."""

    name: ClassVar[str] = "accuracy"

    def lesson(self, schema: Schema, target: str) -> Lesson:
        """The codes."""
        return Lesson(target)

    def question(self, about: About, at_least: Fraction) -> Asking:
        """A centred sum."""
        return CentredSum(correct(about.lesson.target), at_least, about.neighbours)


@final
@dataclass(frozen=True, slots=True)
class BalancedTargetAccuracy:
    """The mean over the target's values of how often each is predicted; for rare outcomes."""

    name: ClassVar[str] = "balanced accuracy"

    def lesson(self, schema: Schema, target: str) -> Lesson:
        """The codes."""
        return Lesson(target)

    def question(self, about: About, at_least: Fraction) -> Asking:
        """A balanced sum."""
        return BalancedSum(about.lesson.target, at_least, about.neighbours)

    def share(self, counts: Floats, std: float, lesson: Lesson) -> tuple[float, float]:
        """As many records of each value as the rarest has."""
        weights = balancing(counts, std)
        values = int((weights > 0).sum())
        return values * max(1.0, float(counts[weights > 0].min())), values * std


@final
@dataclass(frozen=True, slots=True)
class AboveGuessing:
    """How much larger the accuracy is than that of always guessing the target's commonest value."""

    name: ClassVar[str] = "gain over guessing"

    def lesson(self, schema: Schema, target: str) -> Lesson:
        """The codes."""
        return Lesson(target)

    def question(self, about: About, at_least: Fraction) -> Asking:
        """A gain over guessing."""
        return GuessingGain(about.lesson.target, at_least, about.neighbours)


@final
@dataclass(frozen=True, slots=True)
class AreaUnderCurve:
    """The area under the ROC curve: how often a record with the ``positive`` value is ranked above one without it.

    Without a ``positive`` value the target must have two; the second one is meant.
    """

    positive: str | None = None
    name: ClassVar[str] = "AUC"

    def lesson(self, schema: Schema, target: str) -> Lesson:
        """How likely the positive value is."""
        labels = schema[target].labels
        known = [label for label in labels if label != MISSING_LABEL]
        named = known[1] if self.positive is None and len(known) == 2 else self.positive
        if named not in labels:
            wanted = "name" if named is None else f"{named} is not among its values: name"
            listed = ", ".join(known[:12])
            raise InvalidValue(
                f"an AUC is about one value of {target}; {wanted} one of {listed} as the positive value."
            )
        return Lesson(target, labels.index(named))

    def question(self, about: About, at_least: Fraction) -> Asking:
        """A rank margin."""
        return RankMargin(about.lesson, at_least, about.neighbours)

    def share(self, counts: Floats, std: float, lesson: Lesson) -> tuple[float, float]:
        """The records of the rarer kind."""
        positive = float(counts[lesson.positive])
        rarer = min(positive, float(counts.sum()) - positive)
        return max(1.0, rarer), std * max(1.0, len(counts) - 1) ** 0.5


@final
@dataclass(frozen=True)
class MeanScore:
    """The mean of a score of the caller's own, which gives each record a number from 0 to 1."""

    score: Score
    name: ClassVar[str] = "mean score"

    def lesson(self, schema: Schema, target: str) -> Lesson:
        """The codes."""
        return Lesson(target)

    def question(self, about: About, at_least: Fraction) -> Asking:
        """A centred sum, in thousandths."""
        return CentredSum(self.score, at_least, about.neighbours, THOUSANDTHS)


@final
@dataclass(frozen=True, slots=True)
class Overlap:
    """The overlap of the worst of some tables with those of the held-out records, 1 less their total variation.

    Without ``crosstabs`` all pairs of columns are meant.
    """

    crosstabs: tuple[Clique, ...] = ()
    name: ClassVar[str] = "overlap"

    def lesson(self, schema: Schema, target: str) -> None:
        """Nothing."""

    def question(self, about: About, at_least: Fraction) -> Asking:
        """The worst overlap."""
        for clique in self.crosstabs:
            for name in clique:
                require_column(about.names, name)
            if len({*clique}) < max(2, len(clique)):
                raise InvalidValue(f"the table {', '.join(clique)} needs at least two columns, each named once.")
        found = self.crosstabs or tuple(crosstabs(about.names))
        if not found:
            raise SchemaMismatch("the schema has a single column, and so no table of two; declare more of them.")
        return WorstOverlap(found, at_least, about.neighbours)


def require_column(names: tuple[str, ...], name: str, word: str = "") -> None:
    """Refuse a column that is not among those of the schema."""
    if name not in names:
        raise SchemaMismatch(f"{word}{name} is not a column of the schema; it has {', '.join(names)}.")
