"""The readable truth: exact samplers in integers and fractions, one value at a time."""

import math
from fractions import Fraction

from expost.sampling import Bytes


def below(source: Bytes, bound: int) -> int:
    """A uniform integer in [0, bound)."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        value = int.from_bytes(source.bytes(size), "little") >> (8 * size - bits)
        if value < bound:
            return value


def bernoulli(source: Bytes, probability: Fraction) -> bool:
    """True with the given probability."""
    return below(source, probability.denominator) < probability.numerator


def bernoulli_exp(source: Bytes, exponent: Fraction) -> bool:
    """True with probability exp(−exponent), for any exponent ≥ 0: one coin per unit, one for the rest."""
    while exponent > 1:
        if not _bernoulli_exp_unit(source, Fraction(1)):
            return False
        exponent -= 1
    return _bernoulli_exp_unit(source, exponent)


def geometric(source: Bytes, rate: Fraction) -> int:
    """An integer i ≥ 0 with P(i) ∝ exp(−rate·i).

    With rate = n/d, x = u + d·v has P(x) ∝ exp(−x/d), and the n values of x with floor(x/n) = i together
    weigh exp(−i·n/d) times a constant.
    """
    while True:
        u = below(source, rate.denominator)
        if _bernoulli_exp_unit(source, Fraction(u, rate.denominator)):
            break
    v = 0
    while _bernoulli_exp_unit(source, Fraction(1)):
        v += 1
    return (u + rate.denominator * v) // rate.numerator


def discrete_laplace(source: Bytes, scale: Fraction) -> int:
    """An integer k with P(k) ∝ exp(−|k|/scale), for any rational scale > 0.

    Implements: exact discrete Laplace sampler.
    """
    while True:
        magnitude = geometric(source, 1 / scale)
        negative = below(source, 2) == 1
        # Zero has one sign only, or it would be twice as likely as it should be.
        if magnitude > 0 or not negative:
            return -magnitude if negative else magnitude


def discrete_gaussian(source: Bytes, variance: Fraction) -> int:
    """An integer k with P(k) ∝ exp(−k²/(2·variance)), for any rational variance > 0.

    Rejection from a discrete Laplace of scale t = floor(σ) + 1: exp(−|k|/t) · exp(−(|k| − σ²/t)²/(2σ²)) is
    exp(−k²/(2σ²)) times a constant.

    Implements: exact discrete Gaussian sampler.
    """
    t = math.isqrt(math.floor(variance)) + 1
    while True:
        k = discrete_laplace(source, Fraction(t))
        if bernoulli_exp(source, (abs(k) - variance / t) ** 2 / (2 * variance)):
            return k


def _bernoulli_exp_unit(source: Bytes, exponent: Fraction) -> bool:
    """True with probability exp(−exponent), 0 ≤ exponent ≤ 1: the parity of the run of coins exponent/k."""
    k = 1
    while below(source, exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1
