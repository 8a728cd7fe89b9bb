"""Phrases: what SQL says of the cells of a text column for sure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.tabular.schema.binned import Dates
from expost.tabular.schema.column import Codes
from expost.tabular.schema.listed import Boolean, Categorical
from expost.tabular.schema.spelling import DIRECTIVE, DayFormat
from expost.tabular.source.engine.domains import Domain
from expost.tabular.source.engine.kinds import CellKind

Coder: TypeAlias = Callable[[NDArray[Any]], Codes]

MOST_LISTED = 2**13
"""Texts that are looked up by the engine; it takes minutes to learn a list of many more."""
TRIMMED = "[!-~](?s:.*[!-~])?"
"""A text that begins and ends with a letter of ASCII that is not a space: nothing of it can be stripped."""
PRINTED = "[!-~](?:[ -~]*[!-~])?"
"""The same, all of it in ASCII."""
NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{0,17})?(?:[eE][+-]?[0-9]{1,2})?"
PARTED = "-?(?:[0-9]{{1,15}}|[0-9]{{1,3}}(?:{0}[0-9]{{3}}){{1,4}})(?:{1}[0-9]{{1,17}})?"
WITHOUT_PARTS = "-?[0-9]{{1,15}}(?:{1}[0-9]{{1,17}})?"
ISO_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.]+)?"
"""A day, maybe with a time that has no zone: it is that day, whatever the time is."""
TWO, SIXTY = "[0-9]{2}", "[0-5][0-9]"
PARTS = {"d": TWO, "m": TWO, "Y": "[0-9]{4}", "H": "(?:[01][0-9]|2[0-3])", "M": SIXTY, "S": SIXTY, "%": "%"}
"""The directives of a date's format where all their digits are written."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """An expression that is NULL where a text is missing or nothing is sure of it, and what its values mean."""

    value: str
    code: Coder


def lookup(codes: Codes) -> Coder:
    """The code at each place; where there is no value the engine leaves any number."""
    return lambda places: codes.take(places, mode="clip")


def sql_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def among(text: str, others: tuple[str, ...]) -> str:
    """Whether a text is one of others, letter by letter, whatever order of letters the database is set to."""
    return f"({text}) COLLATE C IN ({', '.join(map(sql_text, filter(_in_sql, others)))})"


def phrase_of(domain: Domain, text: str) -> Phrase | None:
    """What is sure of a column of texts that is given in SQL; None where nothing is."""
    column = domain.column
    if isinstance(column, Categorical | Boolean):
        words = domain.known if isinstance(column, Categorical) else _in_any_case(domain.known)
        if len(words) > MOST_LISTED or not all(map(_in_sql, words)):
            return None
        return _listed(domain, column, words, text) if isinstance(column, Categorical) else _words(domain, words, text)
    steps = domain.steps(CellKind.TIME if isinstance(column, Dates) else CellKind.TEXT)
    value = _day(column.format, text) if isinstance(column, Dates) else _number(column.settings, text)
    return None if steps is None else Phrase(f"CASE WHEN NOT {among(text, domain.marks)} THEN {value} END", steps)


def _listed(domain: Domain, column: Categorical, known: tuple[str, ...], text: str) -> Phrase:
    """The place of a text, or of its first letters, in a list; the one behind it for texts that surely are not there.

    Where a text is known by its first letters the list comes twice: as what whole texts are, and as what heads are.
    """
    shape, count, other = TRIMMED, len(known), f"{len(known)}"
    if column.prefix is not None:
        head = _place(f"rtrim(left({text}, {column.prefix}))", domain.listed)
        shape, other = PRINTED, f"coalesce({head} + {count + 1}, {count})"
    heads = [column.taken(each)[1] for each in domain.listed]
    codes = np.array([*domain.codes(known).tolist(), domain.unlisted, *heads], domain.kind)
    beyond = f"CASE WHEN regexp_full_match({text}, {sql_text(shape)}) THEN {other} END"
    return Phrase(f"coalesce({_place(text, known)}, {beyond})::INTEGER", lookup(codes))


def _words(domain: Domain, words: tuple[str, ...], text: str) -> Phrase:
    return Phrase(_place(text, words), lookup(domain.codes(words)))


def _in_any_case(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words as most tables write them."""
    return tuple(dict.fromkeys(each for word in words for each in (word, word.upper(), word.capitalize())))


def _place(text: str, known: tuple[str, ...]) -> str:
    """The place of a text in a list; NULL where it has none."""
    return f"enum_code(TRY_CAST({text} AS ENUM({', '.join(map(sql_text, known))})))::INTEGER"


def _number(settings: Any, text: str) -> str:
    """The number that a text spells in digits that a float has room for."""
    decimal, thousands = settings.get("decimal", "."), settings.get("thousands")
    if decimal == "." and thousands is None:
        return f"CASE WHEN regexp_full_match({text}, {sql_text(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"
    shape = (WITHOUT_PARTS if thousands is None else PARTED).format(re.escape(thousands or ""), re.escape(decimal))
    plain = text if thousands is None else f"replace({text}, {sql_text(thousands)}, '')"
    pointed = f"replace({plain}, {sql_text(decimal)}, '.')"
    return f"CASE WHEN regexp_full_match({text}, {sql_text(shape)}) THEN TRY_CAST({pointed} AS DOUBLE) END"


def _day(format_: DayFormat | None, text: str) -> str:
    """The day that a text names where it is written in full."""
    if format_ is None:
        shape, day = ISO_DAY, f"left({text}, 10)"
    else:
        shape, day = _formatted(format_.text, text)
    found = f"TRY_CAST({day} AS DATE)"
    known = f"{found} BETWEEN DATE '{date.min}' AND DATE '{date.max}'"
    return f"CASE WHEN regexp_full_match({text}, {sql_text(shape)}) AND {known} THEN {found} END"


def _formatted(format_: str, text: str) -> tuple[str, str]:
    """The shape of a text in this format, and its day in ISO form."""
    shape, starts, width, end = "", {}, 0, 0
    for found in DIRECTIVE.finditer(format_):
        between = format_[end : found.start()]
        starts[found[1]] = width + len(between) + 1
        shape += re.escape(between) + PARTS[found[1]]
        width, end = width + len(between) + {"Y": 4, "%": 1}.get(found[1], 2), found.end()
    parts = (f"substring({text}, {starts[part]}, {size})" for part, size in (("Y", 4), ("m", 2), ("d", 2)))
    return shape + re.escape(format_[end:]), " || '-' || ".join(parts)


def _in_sql(text: str) -> bool:
    """Whether a text can be written in a statement."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
