"""Whose row it is: identifiers become numbers as they are read, and no identifier is kept once a table has been."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from itertools import count
from typing import Any, TypeAlias, final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from expost.errors import Unreadable
from expost.noise import Integers
from expost.persons.canonical import LONGEST, NOTHING, canonical_text

Mask: TypeAlias = NDArray[np.bool_]

TENS = 10 ** np.arange(1, 19, dtype=np.int64)
WHOLE = re.compile("0|-?[1-9][0-9]{0,18}")
"""A whole number as it is spelled, where it may have 64 bits."""
PLAIN = (str, bool, np.bool_, int, np.integer, float, np.float32, np.float16, Decimal, date, UUID, bytes)
"""Types whose values have a spelling each. A time has none: what reads it may have cut it to microseconds."""
EXACT = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)
CUT = (
    "the unit has numbers that are longer than a float can hold, so that two persons may have been read as one; read "
    "it as whole numbers or as text."
)


@final
class Register:
    """The persons of rows that are being read; shows none of them.

    Two rows are of one person if their identifiers have the same spelling: 7, 7.0 and the text "7" are one, "007" is
    another, and blanks around a text do not count. A row whose identifier is missing is a person of its own.
    """

    __slots__ = ("_absent", "_alone", "_known", "_numbers", "_unused")

    def __init__(self, absent: frozenset[str | None]) -> None:
        self._absent, self._unused = absent, count()
        self._known: dict[str | None, int] = {}  # empty as long as all identifiers are whole numbers
        self._numbers: list[Integers] = []
        self._alone: list[Mask] = []

    def add(self, identifiers: Sequence[object], kept: Mask) -> None:
        """Note whose these rows are, of which some are kept."""
        found = None if self._known else _whole_numbers(identifiers, self._absent)
        if found is None:
            self._spell_out()
            numbers = self._numbered(_texts(identifiers), len(identifiers))
            found = numbers, numbers < 0
        self._numbers.append(found[0][kept])
        self._alone.append(found[1][kept])

    @property
    def missing(self) -> int:
        """How many of the rows that were kept have no identifier."""
        return sum(int(alone.sum()) for alone in self._alone)

    def numbers(self) -> Integers:
        """A number for each row that was kept, the same where the person is."""
        if not self._numbers:
            return np.zeros(0, np.int64)
        numbers, alone = np.concatenate(self._numbers), np.concatenate(self._alone)
        if alone.any():
            numbers[~alone] = np.unique(numbers[~alone], return_inverse=True)[1]
            numbers[alone] = -1 - np.arange(alone.sum())
        return numbers

    def _spell_out(self) -> None:
        """Number what was noted so far by how it is spelled, once there is an identifier that is not a whole number."""
        if not self._known:
            self._known = dict.fromkeys(self._absent, -1)
            self._numbers = [self._numbered(map(str, each.tolist()), len(each)) for each in self._numbers]

    def _numbered(self, texts: Iterable[str | None], rows: int) -> Integers:
        return np.fromiter(map(self._known.setdefault, texts, self._unused), np.int64, rows)


def _whole_numbers(identifiers: Sequence[object], absent: frozenset[str | None]) -> tuple[Integers, Mask] | None:
    """The identifiers themselves and where one is missing; None unless the others are whole numbers of 64 bits."""
    kinds = {*map(type, identifiers)}
    nothing = {kind for kind in kinds if kind.__name__ in NOTHING}
    alone = np.zeros(len(identifiers), np.bool_)
    if nothing:
        alone = np.fromiter((type(each) in nothing for each in identifiers), np.bool_, len(identifiers))
        identifiers = [0 if type(each) in nothing else each for each in identifiers]
    try:
        if kinds - nothing == {int}:
            numbers = np.array(identifiers, np.int64)
        elif kinds - nothing == {float}:
            reals = np.array(identifiers, np.float64)
            alone |= np.isnan(reals)
            numbers = _exactly(np.where(alone, 0, reals))
        elif kinds == {str}:
            numbers = _spelled([*map(str.strip, identifiers)])  # type: ignore[arg-type]  # all of them are texts
        else:
            return None
    except (OverflowError, ValueError):  # too large, or not whole numbers
        return None
    for mark in absent:
        if mark is not None and WHOLE.fullmatch(mark):
            alone |= numbers == int(mark)
    return numbers, alone


def _exactly(reals: NDArray[np.float64]) -> Integers:
    """These numbers, which must all be whole; refused where one may be another that was cut."""
    if (np.abs(reals) >= _end_of(float)).any():
        raise Unreadable(CUT)
    if not (reals == np.floor(reals)).all():
        raise ValueError("not all of them are whole")
    return reals.astype(np.int64)


def _end_of(kind: type) -> float:
    """The least whole number that a type of floats gives to another one too."""
    return 2.0 ** (np.finfo(kind).nmant + 1)


def _spelled(texts: Sequence[str]) -> Integers:
    """The whole numbers that these texts are, each in its one spelling.

    Python takes other spellings too, such as 007 and +7, which are longer; so are all together if any is.
    """
    numbers = np.fromiter(map(int, texts), np.int64, len(texts))
    together = "".join(texts)
    digits = 1 + np.searchsorted(TENS, np.abs(numbers), side="right")
    if not together.isascii() or len(together) != int(digits.sum()) + int((numbers < 0).sum()):
        raise ValueError("not all of them are spelled as whole numbers are")
    return numbers


def _texts(identifiers: Sequence[object]) -> Iterable[str | None]:
    """The one spelling of each identifier."""
    spell: Callable[[Any], str | None] = str.strip if {*map(type, identifiers)} == {str} else identifier_text
    return map(spell, identifiers)


def identifier_text(identifier: object) -> str | None:
    """The spelling of an identifier, which no other one has; refused where there is none, or it may have been cut.

    A whole number too long to be spelled is told from others in base 16.
    """
    if type(identifier).__name__ in NOTHING:
        return None
    if isinstance(identifier, float | np.float32 | np.float16) and abs(float(identifier)) >= _end_of(type(identifier)):
        raise Unreadable(CUT)
    if isinstance(identifier, datetime) or not isinstance(identifier, PLAIN):
        raise Unreadable("the unit has times, lists or the like, which have no one spelling; give it as text.")
    if isinstance(identifier, Decimal) and identifier.is_finite():
        whole = identifier.adjusted() < LONGEST and identifier == identifier.to_integral_value()
        return identifier_text(int(identifier)) if whole else str(identifier.normalize(EXACT))
    if type(identifier) is int and identifier.bit_length() > LONGEST:
        return hex(identifier)
    return canonical_text(identifier)
