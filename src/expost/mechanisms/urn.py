"""An urn: candidates drawn one after another by their scores, each among those still open, exactly and in few tries."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import takewhile
from typing import final

from expost.noise import Noise
from expost.sampling.bounds import exp_bounds

HALVING = Fraction(25, 36)
"""The exponent that is one level: a little over ln 2 = 0.6931…, so that a level down halves the chance, or more."""
DEEPEST = 64
"""Levels that are told apart below the best one: what lies deeper is proposed as if it lay there, and rarely is."""


@final
class Urn:
    """Candidates with integer scores, drawn with probability ∝ exp(rate·score) among those that are open, exactly.

    A candidate that falls short of the best by s lies on level ⌊rate·s/HALVING⌋. With t the highest level that has any,
    one of level k is proposed with a chance ∝ 2^−(k−t), by a whole number, and accepted with probability
    2^(k−t)·exp(−(rate·s − HALVING·t)), which is 1 at most and mostly above 2/5. The product is exp(−rate·s) times one
    constant, whatever k is. A level beyond the deepest one told apart counts as that.

    A candidate that is proposed and not open is taken out, which changes no other's chance: so all draws together
    propose each closed candidate once at most. How many tries there are depends on the scores, and so does the time.

    Implements: draws without replacement.
    """

    __slots__ = ("_left", "_levels", "_order", "_rate", "_short")

    def __init__(self, scores: Sequence[int], rate: Fraction) -> None:
        best = max(scores, default=0)
        self._rate, self._short, self._left = rate, [best - score for score in scores], len(scores)
        self._levels: dict[int, list[int]] = {}
        per_level = rate / HALVING
        for place, short in enumerate(self._short):
            self._levels.setdefault(short * per_level.numerator // per_level.denominator, []).append(place)
        self._order = sorted(self._levels, reverse=True)

    def draw(self, is_open: Callable[[int], bool], noise: Noise) -> int:
        """The place of the next candidate, which is taken out; one that is not open now must never be open later."""
        while True:
            while not self._levels[self._order[-1]]:
                self._order.pop()
            top = self._order[-1]
            depth = min(DEEPEST, self._order[0] - top)
            level, place = self._proposed(top, depth, noise)
            candidate = self._levels[level][place]
            if not is_open(candidate):
                self._take(level, place)
            elif noise.bernoulli_real(self._chance(candidate, top, min(depth, level - top))):
                return self._take(level, place)

    def _proposed(self, top: int, depth: int, noise: Noise) -> tuple[int, int]:
        """A level and a place in it: each candidate with weight 2^(depth − its levels below the top), at least 1."""
        near = list(takewhile(lambda level: level < top + depth, reversed(self._order)))
        found = [(level, len(self._levels[level]), depth - (level - top)) for level in near]
        deeper = self._left - sum(count for _, count, _ in found)
        number = noise.below(deeper + sum(count << shift for _, count, shift in found))
        for level, count, shift in found:
            if number < count << shift:
                return level, number >> shift
            number -= count << shift
        return next(self._deeper(top + depth, number))

    def _deeper(self, first: int, number: int) -> Iterator[tuple[int, int]]:
        for level in reversed(self._order):
            if level >= first:
                if number < len(self._levels[level]):
                    yield level, number
                number -= len(self._levels[level])

    def _chance(self, candidate: int, top: int, below: int) -> Callable[[int], tuple[int, int]]:
        exponent = self._rate * self._short[candidate] - HALVING * top
        return lambda bits: exp_bounds(exponent, bits + below)

    def _take(self, level: int, place: int) -> int:
        """The candidate at this place, whose place its level's last one takes."""
        candidates = self._levels[level]
        candidates[place], candidates[-1] = candidates[-1], candidates[place]
        self._left -= 1
        return candidates.pop()
