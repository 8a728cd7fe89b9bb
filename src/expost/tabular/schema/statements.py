"""Statements: what a rule says in a sentence of conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from expost.tabular.schema.sentences import Condition, Relation, Token, Words, condition_in

BEHIND = (None, Token("and", False), Token("implies", False))
"""What comes behind a column of which nothing is said."""


@final
@dataclass(frozen=True, slots=True)
class Never:
    """Conditions that do not all hold together."""

    conditions: tuple[Condition, ...]


@final
@dataclass(frozen=True, slots=True)
class Implies:
    """Where all of the first conditions hold, so do all of the others."""

    when: tuple[Condition, ...]
    then: tuple[Condition, ...]


@final
@dataclass(frozen=True, slots=True)
class Determines:
    """A column whose values say what another one is."""

    column: str
    other: str
    pairs: tuple[tuple[str, str], ...]


Statement: TypeAlias = Never | Implies | Determines


def statement_in(tokens: Sequence[Token]) -> Statement:
    """What a sentence says."""
    words = Words(tokens)
    if words.takes("never"):
        found: Statement = Never(_conditions(words))
    elif tuple(tokens[1:2]) == (Token("determines", False),):
        found = _determines(words)
    else:
        when = _conditions(words)
        words.require("implies")
        found = Implies(when, _conditions(words))
    words.finish()
    return found


def _conditions(words: Words) -> tuple[Condition, ...]:
    found = [_ruled(words)]
    while words.takes("and"):
        found.append(_ruled(words))
    return tuple(found)


def _ruled(words: Words) -> Condition:
    """The condition of a rule that comes next, which may be a boolean column alone, or that with not before it."""
    if words.takes("not"):
        return Condition(words.name("a column"), Relation.EQUAL, ("false",), alone=True)
    if words.peek(1) in BEHIND:
        return Condition(words.name("a column"), Relation.EQUAL, ("true",), alone=True)
    return condition_in(words)


def _determines(words: Words) -> Determines:
    column = words.name("a column")
    words.require("determines")
    other = words.name("a column")
    words.require(":")
    pairs = [_pair(words)]
    while words.takes(","):
        pairs.append(_pair(words))
    return Determines(column, other, tuple(pairs))


def _pair(words: Words) -> tuple[str, str]:
    value = words.name("a value")
    words.require("->")
    return value, words.name("a value")
