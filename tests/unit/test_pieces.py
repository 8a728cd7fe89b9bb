"""Records in pieces: sums over all of them, and what is not a sum."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from expost.accounting.claim import Budget
from expost.keyed import Keyed
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise
from expost.odometer import Odometer
from expost.pieces import Pieces, added_up, joined_up
from expost.private import Neighbours, Private, split
from expost.release import Past
from expost.statistic import Statistic, histogram

CODES = np.array([0, 1, 1, 2, 2, 2, 0])


@dataclass(frozen=True)
class Arrays:
    """Arrays one after another, as the pieces of one."""

    parts: tuple[NDArray[Any], ...]

    def added(self, f: Callable[[Any], Integers]) -> Integers:
        return np.asarray(np.sum([f(part) for part in self.parts], axis=0))

    def joined(self, f: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([f(part) for part in self.parts])

    def divided(self, share: Fraction, noise: Noise) -> "tuple[Arrays, Arrays]":
        keyed, first = Keyed(noise.key(), "sides"), 0
        sides: tuple[list[NDArray[Any]], list[NDArray[Any]]] = ([], [])
        for part in self.parts:
            coins = keyed.coins(share, first, len(part))
            first += len(part)
            sides[0].append(part[~coins])
            sides[1].append(part[coins])
        return Arrays(tuple(sides[0])), Arrays(tuple(sides[1]))


PIECES = Arrays((CODES[:2], CODES[2:2], CODES[2:]))


def _next(part: Any) -> NDArray[Any]:
    return np.asarray(part) + 1


def _codes(part: Any) -> Integers:
    return np.asarray(part)


def test_what_lies_in_one_place_has_no_pieces() -> None:
    assert isinstance(PIECES, Pieces)
    assert not isinstance(CODES, Pieces)
    assert added_up(CODES, np.bincount).tolist() == [2, 2, 3]
    assert joined_up(PIECES, _next).tolist() == (CODES + 1).tolist()


def test_an_additive_statistic_is_the_sum_over_the_pieces() -> None:
    counts = histogram(_codes, 3, Neighbours.ADD_REMOVE)

    assert counts.evaluate(PIECES).tolist() == counts.evaluate(CODES).tolist() == [2, 2, 3]


def test_a_statistic_that_is_not_additive_is_given_the_pieces_themselves() -> None:
    def largest(data: object) -> Integers:
        return np.array([joined_up(data, np.asarray).max()])

    statistic = Statistic(largest, (1,), Fraction(4), Fraction(2), Neighbours.ADD_REMOVE)

    assert statistic.evaluate(PIECES).tolist() == [2]


def test_pieces_are_divided_by_themselves_and_every_record_is_on_one_side() -> None:
    sides = split(Private(PIECES, Neighbours.ADD_REMOVE), Fraction(1, 2), SeededNoise(1))
    counts, odometer = Gaussian(histogram(_codes, 3, Neighbours.ADD_REMOVE)), Odometer(rehearsal=True)

    told = [
        odometer.spend(counts, side, Budget(Fraction(1), Fraction(2)), Past(), ScriptedNoise([0, 0, 0])).value.values
        for side in (sides.train, sides.held)
        if side is not None
    ]

    assert (told[0] + told[1]).tolist() == [2, 2, 3]
    assert all(each.sum() > 0 for each in told)
