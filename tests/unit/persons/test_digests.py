"""Digests of identifiers: alike for whom a register takes for one person, and nothing without their key."""

from datetime import date
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest

from expost.errors import Unreadable
from expost.noise import SeededNoise
from expost.persons.digests import Digests, numbered_digests
from expost.persons.identifiers import Register

KEY, OTHER = SeededNoise(1).key(), SeededNoise(2).key()
ABSENT = frozenset({None, "", "?", "-9"})
WHO: list[object] = [
    "7", 7, 7.0, " 7 ", "007", "+7", None, "?", " ", -9, "a", "A", "a\u0301", "á", True, "true", Decimal("1.50"), "1.5",
    2**70, str(2**70), date(2020, 1, 1), "2020-01-01", "\0", "a\0", "6", "8", UUID(int=5), b"a", "b'a'", "1.5 ", 0.1,
]  # fmt: skip


def partition(numbers: object) -> list[tuple[int, ...]]:
    """Which rows are of one person."""
    found = np.asarray(numbers).tolist()
    return sorted(tuple(place for place, each in enumerate(found) if each == one) for one in set(found))


def test_digests_tell_the_persons_that_a_register_tells() -> None:
    register = Register(ABSENT)
    register.add(WHO, np.ones(len(WHO), np.bool_))

    digests = Digests(KEY, ABSENT).of(WHO, 0)

    assert partition(numbered_digests(digests)) == partition(register.numbers())


def test_who_is_missing_is_nobody_else_whatever_the_place() -> None:
    """Not even the person whose identifier is that place."""
    digests = Digests(KEY, ABSENT)

    found = np.concatenate([digests.of([None, None], 6), digests.of([None], 8), digests.of(["6", "7", "8"], 0)])

    assert len({tuple(each) for each in found.tolist()}) == len(found)


def test_digests_are_alike_under_one_key_and_differ_in_both_halves_under_another() -> None:
    found, again, other = (Digests(key, ABSENT).of(["a", "b", None], 3) for key in (KEY, KEY, OTHER))

    assert np.array_equal(found, again)
    assert not (found == other).any()


def test_persons_whose_digests_share_a_half_are_two() -> None:
    one, other = np.array([[1, 2], [1, 3]], np.uint64), np.array([[1, 2], [2, 2]] * 20, np.uint64)

    assert partition(numbered_digests(one)) == [(0,), (1,)]
    assert partition(numbered_digests(other)) == [tuple(range(0, 40, 2)), tuple(range(1, 40, 2))]


def test_an_identifier_that_was_cut_is_refused_and_nothing_shows() -> None:
    digests = Digests(KEY, ABSENT)

    with pytest.raises(Unreadable, match="longer than a float can hold"):
        digests.of([np.float32(2**24)], 0)
    assert repr(digests) == "Digests"
