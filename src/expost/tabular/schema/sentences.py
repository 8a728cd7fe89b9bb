"""Sentences: how conditions are written. Words in, conditions out, one clear sentence for each slip."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, final

from expost.errors import SchemaMismatch

KEYWORDS = ("never", "implies", "determines", "and", "in", "is", "not", "missing")
"""Words that mean something in a sentence; a column or a value of that name is put in quotes."""

BARE = r"""(?:[^\s,()=<>!:'"-]|-(?!>))+"""
TOKEN = re.compile(
    rf"""\s*(?:'(?P<single>(?:[^']|'')*)'|"(?P<double>(?:[^"]|"")*)"|(?P<sign>!=|<=|>=|->|[=<>(),:])|(?P<bare>{BARE}))"""
)


CLOSING, OPENING = (",", ")", ":"), "("
"""Signs with no space before them, and the one with none after it."""


@final
class Token(NamedTuple):
    """A name of a column or a value, or else a word or a sign that means something."""

    text: str
    named: bool


class Relation(Enum):
    """What a condition says of a column."""

    EQUAL = "="
    UNEQUAL = "!="
    BELOW = "<"
    UP_TO = "<="
    ABOVE = ">"
    FROM = ">="
    AMONG = "in"
    ABSENT = "is missing"
    PRESENT = "is not missing"


COMPARED = tuple(Relation)[:6]
"""Relations with one value."""


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """A column, what is said of it, and the values it is compared with, as they are written.

    ``alone`` says that only the column was named, or ``not`` and the column, which then has to be boolean.
    """

    column: str
    relation: Relation
    values: tuple[str, ...] = ()
    alone: bool = False


def tokens_in(sentence: str, *, keywords: Collection[str] = KEYWORDS) -> list[Token]:
    """The words and signs of a sentence; text in quotes is a name, whatever it says, and a doubled quote is one."""
    found, end, last = [], 0, len(sentence.rstrip())
    while end < last:
        match = TOKEN.match(sentence, end)
        if match is None:
            unread = sentence[end:].split(maxsplit=1)[0]
            raise SchemaMismatch(f"{unread} cannot be read; put a name or a value that has signs in quotes.")
        single, double, sign, bare = match.group("single", "double", "sign", "bare")
        if single is not None:
            found.append(Token(single.replace("''", "'"), True))
        elif double is not None:
            found.append(Token(double.replace('""', '"'), True))
        else:
            found.append(Token(sign or bare, sign is None and bare not in keywords))
        end = match.end()
    return found


def sentence_of(tokens: Sequence[Token], *, keywords: Collection[str] = KEYWORDS) -> str:
    """The sentence as it is usually written: names in quotes where they need them, one space between words."""
    told = ""
    for each in tokens:
        closing = not each.named and each.text in CLOSING
        told += ("" if closing or not told or told.endswith(OPENING) else " ") + _spelled(each, keywords)
    return told


def tokens_of(condition: Condition) -> list[Token]:
    """A condition as it is written."""
    column, relation = Token(condition.column, True), condition.relation
    if relation in COMPARED:
        return [column, Token(relation.value, False), *(Token(value, True) for value in condition.values)]
    told = [column, *(Token(word, False) for word in relation.value.split())]
    if relation is Relation.AMONG:
        told.append(Token("(", False))
        for place, value in enumerate(condition.values):
            told += [Token(",", False)] * (place > 0) + [Token(value, True)]
        told.append(Token(")", False))
    return told


def _spelled(token: Token, keywords: Collection[str] = KEYWORDS) -> str:
    plain = not token.named or (token.text not in keywords and re.fullmatch(BARE, token.text))
    return token.text if plain else "'" + token.text.replace("'", "''") + "'"


@final
class Words:
    """The words of a sentence, read from left to right.

    ``lenient`` are words that mean something, but are also taken for a name where only a name can stand.
    """

    def __init__(self, tokens: Sequence[Token], *, lenient: Collection[str] = ()) -> None:
        self._tokens, self._place, self._lenient = tokens, 0, lenient

    def peek(self, ahead: int = 0) -> Token | None:
        """The word that comes next, or that many words later; it is not read."""
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else None

    def takes(self, word: str) -> bool:
        """Whether this word or sign comes next; it is then read."""
        found = self.peek() == Token(word, False)
        self._place += found
        return found

    def require(self, word: str) -> None:
        if not self.takes(word):
            raise self.lacks(word)

    def lacks(self, wanted: str) -> SchemaMismatch:
        """That something else should come next."""
        return SchemaMismatch(
            f"{wanted} should follow {self._before}, {self._instead}; write it as the page on schemas shows."
        )

    def name(self, what: str) -> str:
        """The name that comes next."""
        found = self.peek()
        if found is None or not (found.named or found.text in self._lenient):
            hint = f"put {found.text} in quotes if it is one" if found and found.text[0].isalpha() else "name one"
            raise SchemaMismatch(f"{what} should follow {self._before}, {self._instead}; {hint}.")
        self._place += 1
        return found.text

    def finish(self) -> None:
        if (left := self.peek()) is not None:
            raise SchemaMismatch(
                f"{left.text} after {self._before} has no meaning; join conditions by and, and put names of "
                "several words in quotes."
            )

    @property
    def _before(self) -> str:
        return _spelled(self._tokens[self._place - 1]) if self._place else "its beginning"

    @property
    def _instead(self) -> str:
        return "where it ends" if (found := self.peek()) is None else f"where it has {_spelled(found)}"


def condition_in(words: Words) -> Condition:
    """The condition that comes next."""
    column = words.name("a column")
    if words.takes("is"):
        relation = Relation.PRESENT if words.takes("not") else Relation.ABSENT
        words.require("missing")
        return Condition(column, relation)
    if words.takes("in"):
        words.require("(")
        values = [words.name("a value")]
        while words.takes(","):
            values.append(words.name("a value"))
        words.require(")")
        return Condition(column, Relation.AMONG, tuple(values))
    for relation in COMPARED:
        if words.takes(relation.value):
            return Condition(column, relation, (words.name("a value"),))
    raise words.lacks("=, !=, <, <=, >, >=, in or is")
