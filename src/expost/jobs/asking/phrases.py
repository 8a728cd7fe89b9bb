"""Phrases: questions in plain English, such as ``mean days by ward``, read into queries."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import final

from expost.errors import InvalidValue
from expost.jobs.asking.levels import level_in
from expost.jobs.asking.query import OPENERS, WORDS, Count, Mean, Measure, Persons, Quantile, Query, Share, Sum
from expost.jobs.asking.sql import LONGEST, queries_in_sql
from expost.tabular.schema.sentences import COMPARED, Condition, Relation, Token, Words, condition_in, tokens_in

SQL = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)
FIRST = re.compile(r"\s*[A-Za-z-]+")
EXAMPLE = "mean days by ward where emergency = true"
RELATIONS = frozenset(Token(word, False) for word in (*(each.value for each in COMPARED), "in", "is"))
OF_COLUMN: Mapping[str, Callable[[str], Measure]] = {
    "sum": Sum,
    "mean": Mean,
    "average": Mean,
    "median": partial(Quantile, level=Fraction(1, 2)),
}
COLUMNS = ("histogram", "cross-tab", "crosstab")
"""Openers that are followed by the columns to count by."""


def queries_in(text: str, *, unit: str | None = None, gaps: frozenset[str] = frozenset()) -> tuple[Query, ...]:
    """What a question asks: a query for each of its measures, in their order.

    A text that begins with SELECT or WITH is read as SQL, in which ``unit`` names the column that tells persons apart,
    and ``gaps`` are the columns whose values may be missing.

    >>> [str(query) for query in queries_in("count, mean days and median age by ward")]
    ['count by ward', 'mean of days by ward', 'median of age by ward']
    """
    if SQL.match(text):
        return queries_in_sql(text, unit=unit, gaps=gaps)
    if len(text) > LONGEST:
        raise InvalidValue(f"the question has more than {LONGEST:,} characters; ask several shorter ones.")
    first = FIRST.match(text)
    if first is not None and first[0].strip().lower() in OPENERS:
        text = first[0].lower() + text[first.end() :]
    return _Question(Words(tokens_in(text, keywords=WORDS), lenient=OPENERS)).queries()


@final
class _Question:
    """A question that is read from left to right."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def queries(self) -> tuple[Query, ...]:
        asked = [self._asked()]
        while self._continues():
            asked.append(self._asked())
        by, where = self._rest()
        return tuple(Query(measure, (*columns, *by), where) for measure, columns in asked)

    def _asked(self) -> tuple[Measure, tuple[str, ...]]:
        """The measure that comes next, with columns that belong to it alone."""
        words = self._words
        for opener in COLUMNS:
            if words.takes(opener):
                words.takes("of")
                return Count(), self._names()
        return self._measure(), ()

    def _measure(self) -> Measure:
        words = self._words
        if words.takes("count") or words.takes("rows"):
            return Count()
        if words.takes("distinct") or words.peek() == Token("persons", False):
            self._require("persons")
            return Persons()
        if words.takes("share"):
            self._require("of")
            return Share(self._conditions())
        for opener, measure in OF_COLUMN.items():
            if words.takes(opener):
                return measure(self._measured())
        return self._quantile()

    def _quantile(self) -> Quantile:
        """A quantile, whose level comes before or after that word."""
        if self._words.takes("quantile"):
            level = self._level()
        elif self._words.peek(1) == Token("quantile", False):
            level = self._level()
            self._require("quantile")
        else:
            raise self._unread()
        return Quantile(self._measured(), level)

    def _measured(self) -> str:
        self._words.takes("of")
        return self._words.name("a column")

    def _level(self) -> Fraction:
        if (word := self._words.peek()) is None or not word.named:
            raise InvalidValue("a quantile has no level; say, for example, quantile 0.9 of age.")
        return level_in(self._words.name("a level"))

    def _continues(self) -> bool:
        """Whether another measure follows, after a comma, and, or both; these are then read."""
        words = self._words
        if not (words.takes(",") or words.peek() == Token("and", False)):
            return False
        words.takes("and")
        return True

    def _names(self) -> tuple[str, ...]:
        """Columns, up to where another measure begins."""
        words = self._words
        found = [words.name("a column")]
        while words.peek() in (Token(",", False), Token("and", False)):
            ahead = 2 if words.peek(1) == Token("and", False) else 1
            if self._opens(ahead):
                break
            self._continues()
            found.append(words.name("a column"))
        return tuple(found)

    def _conditions(self) -> tuple[Condition, ...]:
        """Conditions joined by and, up to where another measure begins."""
        found = [self._condition()]
        while self._words.peek() == Token("and", False) and not self._opens(1):
            self._words.takes("and")
            found.append(self._condition())
        return tuple(found)

    def _condition(self) -> Condition:
        """A condition, or the name of a column that is to be true."""
        if self._words.peek(1) in RELATIONS:
            return condition_in(self._words)
        return Condition(self._words.name("a column"), Relation.EQUAL, ("true",))

    def _opens(self, ahead: int) -> bool:
        """Whether a measure begins there: by a word that is not in quotes, and that nothing is said of."""
        word, after = self._words.peek(ahead), self._words.peek(ahead + 1)
        if word is None or after in RELATIONS:
            return False
        return (not word.named and word.text in OPENERS) or after == Token("quantile", False)

    def _rest(self) -> tuple[tuple[str, ...], tuple[Condition, ...]]:
        """The columns after by and the conditions after where, each at most once, in either order."""
        by: tuple[str, ...] = ()
        where: tuple[Condition, ...] = ()
        while self._words.peek() is not None:
            if not by and self._words.takes("by"):
                by = self._grouped()
            elif not where and self._words.takes("where"):
                where = self._conditions()
            else:
                raise self._unread()
        return by, where

    def _grouped(self) -> tuple[str, ...]:
        found = [self._words.name("a column")]
        while self._continues():
            found.append(self._words.name("a column"))
        return tuple(found)

    def _require(self, word: str) -> None:
        if not self._words.takes(word):
            raise self._unread()

    def _unread(self) -> InvalidValue:
        found = self._words.peek()
        if found is None:
            return InvalidValue(f"the question ends too early; ask, for example, {EXAMPLE}.")
        return InvalidValue(f"{found.text[:40]} has no meaning there in a question; ask, for example, {EXAMPLE}.")
