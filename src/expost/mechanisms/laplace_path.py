"""Noise that follows a path of Laplace laws: from little noise to much, and back down given the noisier value."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Protocol, TypeAlias, final

import numpy as np

from expost.noise import Floats, Integers, Noise
from expost.sampling import limits
from expost.sampling.bounds import exp_bounds

Values: TypeAlias = Floats | Integers

SLOWEST = Fraction(2, limits.MAX_STD)
"""The lowest rate of which samplers draw noise; two rates may be closer to each other."""


class Kernel(Protocol):
    """How Laplace noise of one rate turns into that of another; a rate e means density ∝ exp(−e·|noise|).

    What must hold: ``start`` has the law of its rate; for low < high, ``rise`` of noise at ``high`` has the law at
    ``low``, and ``descend`` undoes it: it draws from the conditional law at ``high`` given the value at ``low``.
    Implemented by IntegerPath and RealPath.
    """

    @property
    def floating(self) -> bool:
        """Whether draws are in floating point."""

    def start(self, rate: Fraction, shape: tuple[int, ...], noise: Noise) -> Values:
        """Fresh noise."""

    def rise(self, fine: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Noise at the low rate given that at the high one."""

    def descend(self, coarse: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Noise at the high rate given that at the low one."""


@final
@dataclass(frozen=True, slots=True)
class RealPath:
    """Continuous Laplace noise in floating point.

    Implements: Laplace noise reduction, continuous.
    """

    floating: ClassVar[bool] = True

    def start(self, rate: Fraction, shape: tuple[int, ...], noise: Noise) -> Floats:
        """Fresh noise."""
        return noise.laplace(float(1 / rate), shape)

    def rise(self, fine: Values, low: Fraction, high: Fraction, noise: Noise) -> Floats:
        """Stay with probability (low/high)², else add fresh noise at the low rate."""
        stay = noise.uniform(fine.shape) < float((low / high) ** 2)
        return np.where(stay, fine, fine + noise.laplace(float(1 / low), fine.shape))

    def descend(self, coarse: Values, low: Fraction, high: Fraction, noise: Noise) -> Floats:
        """One of four: stay, cross to the other sign, fall between zero and the old value, or move beyond it."""
        a, b = float(low), float(high)
        size, sign = np.abs(coarse), np.where(coarse < 0, -1.0, 1.0)
        falls = -np.expm1(-(b - a) * size)  # 1 − exp(−(b−a)·|v|)
        choice, place = noise.uniform(coarse.shape), noise.uniform(coarse.shape)
        step = -np.log(place) / (a + b)
        between = -np.log1p(-place * falls) / (b - a)
        stay, cross = a / b * (1 - falls), np.full_like(size, (b - a) / (2 * b))
        fall = (a + b) / (2 * b) * falls
        cases = [choice < stay, choice < stay + cross, choice < stay + cross + fall]
        return np.asarray(sign * np.select(cases, [size, -step, between], size + step))


@final
@dataclass(frozen=True, slots=True)
class IntegerPath:
    """Two-sided geometric noise on the integers, drawn exactly.

    Implements: Laplace noise reduction, exact on integers.
    """

    floating: ClassVar[bool] = False

    def start(self, rate: Fraction, shape: tuple[int, ...], noise: Noise) -> Values:
        """Fresh noise."""
        return noise.discrete_laplace(1 / rate, shape)

    def rise(self, fine: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Stay with probability π, else add fresh noise at the low rate."""
        jumps = noise.discrete_laplace(1 / low, fine.shape)
        stays = [noise.bernoulli_real(lambda bits: _stay_chance(low, high, bits)) for _ in range(fine.size)]
        return np.where(np.reshape(stays, fine.shape), fine, fine + jumps)

    def descend(self, coarse: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Cell by cell, in the same four cases as the continuous law."""
        cells = [_descend_one(int(value), low, high, noise) for value in coarse.ravel()]
        return np.array(cells, dtype=np.int64).reshape(coarse.shape)


@final
@dataclass(frozen=True, slots=True)
class Between:
    """A real number, not negative, between two fractions."""

    low: Fraction
    high: Fraction

    def __add__(self, other: "Between") -> "Between":
        return Between(self.low + other.low, self.high + other.high)

    def __mul__(self, other: "Between") -> "Between":
        return Between(self.low * other.low, self.high * other.high)

    def __truediv__(self, other: "Between") -> "Between":
        return Between(self.low / other.high, self.high / other.low)

    def complement(self) -> "Between":
        """One minus the number, which is below 1."""
        return Between(1 - self.high, 1 - self.low)


def _exp(exponent: Fraction, bits: int) -> Between:
    """exp(−exponent), between bounds at most two units of 2**-bits apart."""
    low, high = exp_bounds(exponent, bits)
    return Between(Fraction(low, 1 << bits), Fraction(high, 1 << bits))


def _working(low: Fraction, high: Fraction, bits: int) -> int:
    """The bits to work with so that about this number is left.

    Dividing by 1 − exp(−x) loses as many as x is small by: x is a rate, or the difference of two, which 1 − π is about
    as small as. All else that is divided by is 1 or more, so that weights need no more digits for being small.
    """
    return bits + int(1 / low).bit_length() + int(1 / (high - low)).bit_length() + 32


def _bits(number: Between, bits: int) -> tuple[int, int]:
    """Whole numbers of 2**-bits around the number."""
    scale = 1 << bits
    return int(number.low * scale), min(scale, -int(-number.high * scale // 1))


def _stay(low: Fraction, high: Fraction, bits: int) -> Between:
    """π = (1−q_a)²·q_b / ((1−q_b)²·q_a): the chance that going from rate b up to rate a changes nothing."""
    work = _working(low, high, bits)
    a, b, ratio = _exp(low, work).complement(), _exp(high, work).complement(), _exp(high - low, work)
    return a * a * ratio / (b * b)


@lru_cache(maxsize=256)
def _stay_chance(low: Fraction, high: Fraction, bits: int) -> tuple[int, int]:
    return _bits(_stay(low, high, bits), bits)


def _descend_one(value: int, low: Fraction, high: Fraction, noise: Noise) -> int:
    """One cell of the conditional law at the high rate; the mirror image for negative values."""
    size, sign = abs(value), -1 if value < 0 else 1

    def is_case(case: int) -> bool:
        return noise.bernoulli_real(lambda bits: _case_chances(size, low, high, bits)[case])

    if is_case(0):
        return value
    if is_case(1):
        return -sign * (1 + _geometric(low + high, noise))
    if is_case(2):
        return sign * _truncated(high - low, size, noise)
    return sign * (size + 1 + _geometric(low + high, noise))


@lru_cache(maxsize=4096)
def _case_chances(size: int, low: Fraction, high: Fraction, bits: int) -> tuple[tuple[int, int], ...]:
    """Bounds on the chances to stay, to cross zero and to fall to [0, size], each given that no earlier case holds.

    The weights, with q = exp(−rate), are π/(1−π)·d/c_a, s/(1−s), (1−d·t)/(1−t) and, for going beyond, d·s/(1−s),
    where s = q_a·q_b, t = q_b/q_a, d = t^size and c_a = (1−q_a)/(1+q_a): the joint law over (1−π)·c_b·c_a·q_a^size.
    """
    work = _working(low, high, bits)
    pi, both, ratio = _stay(low, high, work), _exp(low + high, work), _exp(high - low, work)
    a, decay, one = _exp(low, work), _exp((high - low) * size, work), Between(Fraction(1), Fraction(1))
    cross = both / both.complement()
    fall, beyond = (decay * ratio).complement() / ratio.complement(), cross * decay
    stay = pi / pi.complement() * decay * (one + a) / a.complement()
    later = fall + beyond
    return tuple(
        _bits(weight / (weight + rest), bits)
        for weight, rest in ((stay, cross + later), (cross, later), (fall, beyond))
    )


def _geometric(rate: Fraction, noise: Noise) -> int:
    """An integer k ≥ 0 with probability ∝ exp(−rate·k)."""
    while (draw := int(noise.discrete_laplace(1 / rate, ()))) < 0:
        pass  # given that it is not negative a two-sided draw is one-sided
    return draw


def _truncated(rate: Fraction, last: int, noise: Noise) -> int:
    """An integer 0 ≤ k ≤ last with probability ∝ exp(−rate·k), by whichever rejection accepts often."""
    if rate * last <= 1 or rate < SLOWEST:
        while not noise.bernoulli_exp(rate * (draw := noise.below(last + 1))):
            pass
        return draw
    while (draw := _geometric(rate, noise)) > last:
        pass
    return draw
