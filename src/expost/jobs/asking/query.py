"""Queries: what is asked of a table, as one value that is checked against the schema before any data is opened."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from expost.errors import InvalidValue, SchemaMismatch
from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.column import Column
from expost.tabular.schema.conditions import truth_of
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.schema import Schema
from expost.tabular.schema.sentences import COMPARED, Condition, Relation, Token, sentence_of, tokens_of

MOST_GROUPS = 2**20
FINEST = 10**6
"""The largest denominator of a quantile's level: nobody has a table in which a finer one would differ."""

JOINTS = ("and", "by", "in", "is", "missing", "not", "of", "where")
"""Words that join the parts of a question; a column or a value of that name is put in quotes."""
OPENERS = (
    "average", "count", "cross-tab", "crosstab", "distinct", "histogram", "mean", "median", "persons", "quantile",
    "rows", "share", "sum",
)  # fmt: skip
"""Words that a measure begins with."""
WORDS = frozenset((*JOINTS, *OPENERS))


@final
@dataclass(frozen=True, slots=True)
class Count:
    """How many rows."""


@final
@dataclass(frozen=True, slots=True)
class Persons:
    """How many different persons."""


@final
@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a column's numbers."""

    column: str


@final
@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a column's numbers."""

    column: str


@final
@dataclass(frozen=True, slots=True)
class Share:
    """The share of the group's rows for which all conditions hold."""

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if not self.conditions:
            raise InvalidValue("a share has no condition; say of what, as in share of emergency = true.")


@final
@dataclass(frozen=True, slots=True)
class Quantile:
    """The number that a share ``level`` of a column's numbers does not exceed; the median is that of 1/2."""

    column: str
    level: Fraction

    def __post_init__(self) -> None:
        if not (0 < self.level < 1 and self.level.denominator <= FINEST):
            raise InvalidValue(
                f"the level of a quantile of {self.column} is not between 0 and 1 in at most six decimals; "
                "say 0.5 for the median."
            )


Measure: TypeAlias = Count | Persons | Sum | Mean | Share | Quantile


@final
@dataclass(frozen=True, slots=True)
class Query:
    """A measure of every group, of the rows for which all conditions hold; without ``by`` all rows are one group.

    As text it is a plain question, which ``queries_in`` reads as an equal query.

    >>> str(Query(Mean("days"), by=("ward", "sex"), where=(Condition("emergency", Relation.EQUAL, ("true",)),)))
    'mean of days by ward, sex where emergency = true'
    """

    measure: Measure
    by: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        told = _measure_tokens(self.measure)
        for place, name in enumerate(self.by):
            told += [Token("," if place else "by", False), Token(name, True)]
        for place, condition in enumerate(self.where):
            told += [Token("and" if place else "where", False), *tokens_of(condition)]
        return sentence_of(told, keywords=WORDS)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it reads, each once: those of the measure, of the groups, of the conditions."""
        match self.measure:
            case Sum(column) | Mean(column) | Quantile(column):
                measured = [column]
            case Share(conditions):
                measured = [each.column for each in conditions]
            case Count() | Persons():
                measured = []
        return tuple(dict.fromkeys((*measured, *self.by, *(each.column for each in self.where))))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions that it states: those of a share, then those of the rows."""
        return (*(self.measure.conditions if isinstance(self.measure, Share) else ()), *self.where)

    def require(self, schema: Schema) -> None:
        """Refuse what this schema cannot answer; it is public, so that no data is needed."""
        for name in self.columns:
            _require_public(name, schema)
        if isinstance(self.measure, Persons) and schema.unit is None:
            raise SchemaMismatch(
                "persons cannot be counted, because the schema does not say whose row it is; name that column as its "
                "unit, or ask for a count of rows."
            )
        if isinstance(self.measure, Sum | Mean | Quantile):
            _require_number(self.measure, schema[self.measure.column])
        for condition in self.conditions:
            _require_values(condition)
            truth_of(condition, schema[condition.column])
        self._require_groups(schema)

    def _require_groups(self, schema: Schema) -> None:
        twice = [name for place, name in enumerate(self.by) if name in self.by[:place]]
        if twice:
            raise InvalidValue(f"{twice[0]} stands twice after by; name each column once.")
        if isinstance(self.measure, Quantile) and self.measure.column in self.by:
            raise InvalidValue(
                f"{self.measure.column} stands after by, and a quantile of it is asked for; group by other columns."
            )
        groups = math.prod(schema[name].size for name in self.by)
        if groups > MOST_GROUPS:
            raise InvalidValue(
                f"there would be {groups:,} groups, and at most {MOST_GROUPS:,} are answered; ask by fewer columns, or "
                "declare fewer values."
            )


def _measure_tokens(measure: Measure) -> list[Token]:
    match measure:
        case Count():
            return [Token("count", False)]
        case Persons():
            return [Token("persons", False)]
        case Sum(column):
            return [Token("sum", False), Token("of", False), Token(column, True)]
        case Mean(column):
            return [Token("mean", False), Token("of", False), Token(column, True)]
        case Quantile(column, level):
            opened = [Token("median", False)] if level == Fraction(1, 2) else [Token("quantile", False), _told(level)]
            return [*opened, Token("of", False), Token(column, True)]
        case Share(conditions):
            told = [Token("share", False)]
            for place, condition in enumerate(conditions):
                told += [Token("and" if place else "of", False), *tokens_of(condition)]
            return told


def _told(level: Fraction) -> Token:
    """A level in decimals where six of them suffice, else as a fraction."""
    millionths, rest = divmod(level.numerator * FINEST, level.denominator)
    return Token(str(level) if rest else f"0.{millionths:06}".rstrip("0"), True)


def _require_public(name: str, schema: Schema) -> None:
    """Refuse a column that is unknown, or whose values are not public."""
    if name == schema.unit:
        raise SchemaMismatch(
            f"{name} says whose row it is, and its values are not public; ask for persons, or about another column."
        )
    if isinstance(schema[name], PrivateBins):
        raise SchemaMismatch(f"the bins of {name} are not public yet; declare its edges in the schema to ask about it.")


def _require_number(measure: Sum | Mean | Quantile, column: Column) -> None:
    """Refuse a column in which one row could count for any amount, or for none."""
    asked, name = type(measure).__name__.lower(), column.name
    if isinstance(column, Integer):
        return
    if isinstance(column, Boolean):
        raise SchemaMismatch(
            f"{name} is true or false, and has no {asked}; ask for the share of "
            f"{sentence_of([Token(name, True)], keywords=WORDS)} = true."
        )
    if isinstance(column, Dates):
        raise SchemaMismatch(f"{name} has dates, of which no {asked} is answered; ask for counts by {name}.")
    if not isinstance(column, Numeric | IntegerBins):
        raise SchemaMismatch(f"{name} is not a number, and has no {asked}; ask for counts by {name}.")
    if not (math.isfinite(column.edges[0]) and math.isfinite(column.edges[-1])):
        raise SchemaMismatch(
            f"{name} has an infinite edge, and one row could count for any amount; say where {name} begins and ends."
        )


def _require_values(condition: Condition) -> None:
    """Refuse a condition that was made by hand with too many values, or too few."""
    given, relation = len(condition.values), condition.relation
    fits = given == 1 if relation in COMPARED else given > 0 if relation is Relation.AMONG else given == 0
    if not fits:
        raise InvalidValue(f"the condition {condition.column} {relation.value} does not go with {given} values.")
