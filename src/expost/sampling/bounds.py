"""Integer interval arithmetic: coins for real numbers that are only known by ever tighter bounds."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from expost.sampling import Bytes

Bounds: TypeAlias = Callable[[int], tuple[int, int]]
"""Knows a real number p: bounds(bits) is (lo, hi) with lo ≤ 2**bits · p ≤ hi, as tight as bits allow."""

EXTENSION = 64
"""Bits added to an undecided uniform at a time; it stays undecided with chance about 2**-64."""


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers lo ≤ 2**bits · exp(−exponent) ≤ hi, at most 2 apart, for exponent ≥ 0.

    The argument is halved until it is below 1/2, its alternating series is summed with every rounding
    directed outwards and the first omitted term (which bounds the rest) taken on both sides, and the result
    is squared back. A squaring at most doubles an absolute error: one guard bit per halving makes up for it.
    """
    if exponent > bits:
        # exp(-x) < 2**-x: below one unit of the last place, without summing anything.
        return 0, 1
    halvings = (exponent.numerator // exponent.denominator).bit_length() + 1
    guard = halvings + bits.bit_length() + 8
    work = bits + guard
    denominator = exponent.denominator << halvings
    y = (exponent.numerator << work) // denominator, -((-exponent.numerator << work) // denominator)
    lo, hi = _alternating(y, work)
    for _ in range(halvings):
        lo, hi = lo * lo >> work, -(-hi * hi >> work)
    return lo >> guard, min(1 << bits, -(-hi >> guard))


def less(source: Bytes, prefix: int, bits: int, bounds: Bounds) -> bool:
    """Whether a uniform real with the given first bits lies below the real number that ``bounds`` knows.

    The uniform u lies in [prefix, prefix + 1)·2**-bits. Only while the number may lie there too are more bits
    of u drawn, so the answer is that of the infinite expansion, and it is reached with probability 1.
    """
    while True:
        lo, hi = bounds(bits)
        if prefix + 1 <= lo:
            return True
        if prefix >= hi:
            return False
        prefix = prefix << EXTENSION | int.from_bytes(source.bytes(EXTENSION // 8), "little")
        bits += EXTENSION


def bernoulli_real(source: Bytes, bounds: Bounds) -> bool:
    """True with exactly the probability that ``bounds`` knows."""
    return less(source, 0, 0, bounds)


def _alternating(y: tuple[int, int], work: int) -> tuple[int, int]:
    """Bounds on 2**work · exp(−y) for an interval 0 ≤ y ≤ 1/2 given in units of 2**-work."""
    term = lo, hi = 1 << work, 1 << work
    k = 0
    while True:
        k += 1
        term = term[0] * y[0] // (k << work), -(-term[1] * y[1] // (k << work))
        if term[1] <= 1:
            return lo - term[1], hi + term[1]
        lo, hi = (lo - term[1], hi - term[0]) if k % 2 else (lo + term[0], hi + term[1])
