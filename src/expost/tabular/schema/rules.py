"""Edit rules: which combinations of values there are, declared with the schema and public as the rest of it.

A rule is broken only by what is known: a condition on a missing value, other than ``is missing``, neither holds nor
fails. So it calls for nothing before ``implies``, and breaks nothing after it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import final

import numpy as np

from expost.errors import SchemaMismatch
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.conditions import LISTED, Flags, code_of, truth_of
from expost.tabular.schema.listed import Boolean, Categorical
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.sentences import Condition, Relation, sentence_of, tokens_in
from expost.tabular.schema.statements import Determines, Implies, Never, Statement, statement_in

MOST_COMBINATIONS, MOST_COLUMNS = 2**20, 20
"""Of one rule: combinations of values, and columns, of which more would have as many combinations with two values."""
MOST_RULED = 2**24
"""Combinations of values of all rules together: a byte each, and checked several times before a run."""
SHOWN = 100
"""Letters of a rule that a message shows."""


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence, the columns it names, in the schema's order, and which combinations of their codes it allows.

    These are bytes and not an array, which two tables of one schema would seem to have their records in.
    """

    sentence: str
    columns: tuple[str, ...]
    sizes: tuple[int, ...] = field(repr=False)
    flags: bytes = field(repr=False, compare=False)

    @property
    def allowed(self) -> Flags:
        """True for each combination that is allowed, with an axis for each column; it cannot be written to."""
        return np.frombuffer(self.flags, dtype=np.bool_).reshape(self.sizes)


def rule_in(sentence: str, columns: Sequence[Column]) -> Rule:
    """The rule that a sentence states of some of these columns, refused unless each word of it has a meaning."""
    try:
        tokens = tokens_in(sentence)
        return _rule(sentence_of(tokens), statement_in(tokens), columns)
    except SchemaMismatch as refusal:
        raise SchemaMismatch(f'in the rule "{short_rule(sentence)}", {refusal}') from None


def rules_in(sentences: Sequence[str], columns: Sequence[Column]) -> tuple[Rule, ...]:
    """The rules that sentences state, refused where there are too many to check."""
    found, cells = [], 0
    for sentence in sentences:
        found.append(rule_in(sentence, columns))
        cells += len(found[-1].flags)
        if cells > MOST_RULED:
            raise SchemaMismatch(
                f'the rules up to "{short_rule(sentence)}" have {cells:,} combinations of values together; the limit '
                f"is {MOST_RULED:,}: use coarser bins, or fewer rules."
            )
    return tuple(found)


def short_rule(sentence: str) -> str:
    """The beginning of a sentence, on one line."""
    told = " ".join(sentence.split())
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}…"


def _rule(sentence: str, statement: Statement, columns: Sequence[Column]) -> Rule:
    names, known = _names(statement), {each.name: each for each in columns}
    lacking = [name for name in names if name not in known]
    if lacking:
        raise SchemaMismatch(f"{lacking[0]} is not a column of the schema; it has {', '.join(known)}.")
    hidden = [name for name in names if isinstance(known[name], PrivateBins)]
    if hidden:
        raise SchemaMismatch(f"{hidden[0]} has private edges, which nobody knows beforehand; declare its edges.")
    named = {each.name: each for each in columns if each.name in names}
    for each in _conditions(statement):
        if each.alone and not isinstance(named[each.column], Boolean):
            first = named[each.column].labels[0]
            raise SchemaMismatch(
                f"{each.column} alone would mean that it is true, and it is not boolean; say what it is to be, such as "
                f"{each.column} = {first}."
            )
    cells = math.prod(each.size for each in named.values())
    if cells > MOST_COMBINATIONS or len(named) > MOST_COLUMNS:
        raise SchemaMismatch(
            f"{', '.join(named)} have {cells:,} combinations of values, and a rule may have {MOST_COMBINATIONS:,} of "
            f"{MOST_COLUMNS} columns at most; use coarser bins, or several rules."
        )
    sizes = tuple(each.size for each in named.values())
    return Rule(sentence, tuple(named), sizes, np.broadcast_to(~_broken(statement, named), sizes).tobytes())


def _names(statement: Statement) -> list[str]:
    if isinstance(statement, Determines):
        return [statement.column, statement.other]
    return [each.column for each in _conditions(statement)]


def _conditions(statement: Statement) -> tuple[Condition, ...]:
    match statement:
        case Never(conditions):
            return conditions
        case Implies(when, then):
            return (*when, *then)
        case Determines():
            return ()


def _broken(statement: Statement, named: Mapping[str, Column]) -> Flags:
    """The combinations that break a rule, with an axis for each column, which may be of length 1."""
    match statement:
        case Never(conditions):
            return reduce(
                and_, (_placed(each.column, truth_of(each, named[each.column]).holds, named) for each in conditions)
            )
        case Implies(when, then):
            applies = (_placed(each.column, truth_of(each, named[each.column]).holds, named) for each in when)
            fails = (_placed(each.column, truth_of(each, named[each.column]).fails, named) for each in then)
            return reduce(and_, applies) & reduce(or_, fails)
        case Determines(column, other, pairs):
            if column == other:
                raise SchemaMismatch(f"{column} determines itself; name two columns.")
            others = _otherwise(named[column], named[other], pairs)
            return others if tuple(named) == (column, other) else others.T


def _placed(name: str, flags: Flags, named: Mapping[str, Column]) -> Flags:
    """Flags of one column's codes along the axis of that column."""
    return flags.reshape([-1 if each == name else 1 for each in named])


def _otherwise(column: Column, other: Column, pairs: Sequence[tuple[str, str]]) -> Flags:
    """For each code of a column, the codes of the other one that do not follow from it; a missing one always may."""
    broken, listed = np.zeros((column.size, other.size), dtype=np.bool_), set[int]()
    for value, follows in pairs:
        code = code_of(column, value)
        if code in listed:
            raise SchemaMismatch(f"{column.name} has {value} twice; say once what follows from it.")
        listed.add(code)
        broken[code] = truth_of(Condition(other.name, Relation.EQUAL, (follows,)), other).fails
    left_out = [label for code, label in enumerate(column.labels) if code not in listed and not _is_open(column, code)]
    if left_out:
        shown = ", ".join(left_out if len(left_out) <= LISTED else (*left_out[:LISTED], "…"))
        raise SchemaMismatch(f"nothing follows from {shown} of {column.name}; say what does, for each value.")
    return broken


def _is_open(column: Column, code: int) -> bool:
    """Whether a code is that of missing values or of all texts that are not listed, from which nothing need follow."""
    if column.missing is Missing.CATEGORY and code == column.size - 1:
        return True
    return isinstance(column, Categorical) and column.other is not None and code == len(column.values)
