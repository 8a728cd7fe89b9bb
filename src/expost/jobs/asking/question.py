"""Questions: queries with their targets, and all that is fixed of an answer before any data is read."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import final

from scipy.special import ndtri

from expost.errors import InvalidValue, SchemaMismatch
from expost.jobs.asking.query import Count, Mean, Persons, Quantile, Query, Sum
from expost.jobs.asking.tallies import MOST_ROWS, OfValues, Tally
from expost.jobs.asking.targets import FINEST, Above, Compare, Target, Top, WithinDistance, require_groups
from expost.jobs.asking.values import bounded_column, ends_of, narrowest_bin, rounding_of
from expost.numerics import probability
from expost.tabular.schema.schema import Schema

MOST_QUERIES = 50
MAY_SPEND = (0.001, 100.0)
"""The least and the largest ε that an answer may cost at most."""
MOST_GROUP = 10**12
"""The largest size of a small group: no table has as many rows."""
MOST_CELLS = 2**22
"""All numbers that are counted for one call."""


@final
@dataclass(frozen=True, slots=True)
class Targeted:
    """A query, and how precise its answer is to be."""

    query: Query
    target: Target

    def __str__(self) -> str:
        return f"{self.query}, {self.target}"

    @property
    def linear(self) -> bool:
        """Whether the noise in its answer is known beforehand."""
        return isinstance(self.query.measure, Count | Persons | Sum)


@final
@dataclass(frozen=True, kw_only=True)
class AskRecipe:
    """What is asked, how sure the answers are to be, and at what most.

    ``together`` makes all error bars hold at once and not each by itself. ``fewer_than`` is the size of groups that a
    share of the truth is not asked for; by default the one that the cap leaves out of reach. ``rows_per_person`` is how
    many rows of a person in one group count in full; where it is None and records are persons it is found first.
    """

    schema: Schema
    questions: tuple[Targeted, ...]
    confidence: Fraction
    together: bool
    delta: float
    max_epsilon: float
    fewer_than: int | None = None
    rows_per_person: int | None = None

    def __post_init__(self) -> None:
        probability(self.delta, "delta")
        if not 1 <= len(self.questions) <= MOST_QUERIES:
            raise InvalidValue(f"{len(self.questions)} questions were asked; ask from 1 to {MOST_QUERIES} at once.")
        low, high = MAY_SPEND
        if not low <= self.max_epsilon <= high:
            raise InvalidValue(f"max_epsilon is {self.max_epsilon:g}; it lies between {low:g} and {high:g}.")
        for each in self.questions:
            each.query.require(self.schema)
            self._require_grid(each)
        self._require_bins()
        self._require_decision()
        self._require_bound()
        if sum(tally.cells(self.schema) for tally in self.tallies) > MOST_CELLS:
            raise SchemaMismatch(f"the questions need more than {MOST_CELLS:,} counts; ask by fewer columns.")
        if self.fewer_than is not None and not (type(self.fewer_than) is int and 1 <= self.fewer_than <= MOST_GROUP):
            raise InvalidValue(f"fewer_than is {self.fewer_than}; it is a whole number between 1 and {MOST_GROUP:,}.")

    def _require_bins(self) -> None:
        """Refuse a quantile that the bins of its column are too wide for."""
        for each in self.questions:
            measure = each.query.measure
            if isinstance(measure, Quantile) and isinstance(each.target, WithinDistance):
                narrowest = narrowest_bin(bounded_column(self.schema[measure.column]))
                if narrowest / 2 > each.target.distance:
                    raise InvalidValue(
                        f"the bins of {measure.column} are {narrowest:g} wide or more, so that no quantile of it is "
                        f"known to within {float(each.target.distance):g}; ask for {narrowest / 2:g}, or declare "
                        "narrower bins."
                    )

    def _require_decision(self) -> None:
        decisions = [each for each in self.questions if isinstance(each.target, Above | Top | Compare)]
        if decisions and len(self.questions) > 1:
            raise InvalidValue("a decision is asked for beside other questions; ask for it by itself.")
        for each in decisions:
            require_groups(each.target, self.labels(each.query))  # type: ignore[arg-type]  # a decision, as was seen

    def _require_grid(self, question: Targeted) -> None:
        target, measure = question.target, question.query.measure
        if not isinstance(target, WithinDistance) or question.linear:
            return
        if target.distance < Fraction(self.span(question)) * FINEST:
            raise InvalidValue(f"within {float(target.distance):g} is finer than noise can be; ask for less.")
        if not isinstance(measure, Mean):
            return
        finest = rounding_of(bounded_column(self.schema[measure.column]))
        if target.distance <= 2 * finest:
            raise InvalidValue(
                f"within {float(target.distance):g} is finer than {measure.column} is read; ask for more than "
                f"{2 * finest:.3g}, or declare narrower ends."
            )

    def _require_bound(self) -> None:
        bound = self.rows_per_person
        if bound is not None and self.schema.unit is None:
            raise InvalidValue("rows_per_person is for tables whose schema names a unit; leave it out.")
        if bound is not None and not (type(bound) is int and 1 <= bound <= MOST_ROWS):
            raise InvalidValue(f"rows_per_person is {bound}; it is a whole number between 1 and {MOST_ROWS}.")

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """What is measured, each once, the most groups first."""
        found = dict.fromkeys(Tally.of(each.query) for each in self.questions)
        return tuple(sorted(found, key=lambda tally: -tally.groups(self.schema)))

    @property
    def decision(self) -> Targeted | None:
        """The question that asks for a decision, if one does."""
        first = self.questions[0]
        return first if isinstance(first.target, Above | Top | Compare) else None

    @property
    def priced(self) -> bool:
        """Whether one release answers everything, at a price that is known beforehand."""
        return self.bounded and all(each.linear and isinstance(each.target, WithinDistance) for each in self.questions)

    @property
    def bounded(self) -> bool:
        """Whether it is known beforehand how far one record or person moves what is counted."""
        return self.schema.unit is None or self.rows_per_person is not None or all(each.once for each in self.tallies)

    def labels(self, query: Query) -> tuple[str, ...]:
        """The groups of a query, in the order of their cells."""
        return tuple(" × ".join(each) for each in product(*(self.schema[name].labels for name in query.by)))

    def chance(self, share: float = 1.0) -> float:
        """How often an error bar may miss, of a share of what all looks may."""
        bars = sum(len(self.labels(each.query)) for each in self.questions) if self.together else 1
        return float(1 - self.confidence) * share / bars

    def width(self, share: float = 1.0) -> float:
        """Standard errors on either side of an error bar."""
        return float(-ndtri(self.chance(share) / 2))

    def length(self, question: Targeted) -> float:
        """What a standard deviation of 1 in every cell makes of a linear answer."""
        tally = Tally.of(question.query)
        if isinstance(question.query.measure, Sum) and isinstance(tally.kind, OfValues):
            return math.hypot(*ends_of(bounded_column(self.schema[tally.kind.column])))
        return 1.0

    def std_within(self, question: Targeted, width: float) -> float:
        """The standard deviation of a cell, in rows, with which a linear answer is within its distance.

        Sums of integer noise are not quite normal, for which a step of their grid is left.
        """
        assert isinstance(question.target, WithinDistance)  # and known beforehand therefore
        finest = float(question.target.distance) / (width * self.length(question)) * (1 - 1e-9)
        step = 1 / Tally.of(question.query).per_row(self.schema)
        if finest <= 2 * step:
            raise InvalidValue(f"within {float(question.target.distance):g} is finer than noise can be; ask for less.")
        return finest - step

    def span(self, question: Targeted) -> float:
        """How far apart the answers of a question can be: the width of its column, or 1 for a share."""
        measure = question.query.measure
        if isinstance(measure, Sum | Mean | Quantile):
            low, high = ends_of(bounded_column(self.schema[measure.column]))
            return high - low
        return 1.0

    def is_idle(self, question: Targeted) -> bool:
        """Whether the middle of what its answers can be is as near to each of them as is asked for."""
        target = question.target
        return isinstance(target, WithinDistance) and not question.linear and self.span(question) <= 2 * target.distance
