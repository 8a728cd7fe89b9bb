"""The tables of the envelope sampler: blocks of integers, and certified 64-bit thresholds of their shares.

The integers are cut into blocks of ``width`` consecutive values, block m holding [m·width, (m+1)·width), for
−n ≤ m < n; what lies beyond are two tails. Over a block the envelope is flat, as high as the law at the
block's smallest magnitude; over a tail it is geometric. Block −n−1 is the negative tail, block n the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.sampling.bounds import exp_bounds

TAIL_BITS = 32
"""The table ends where about 2**-32 of the mass is left: the tails are slow, exact and rarely visited."""
COARSE = 512
"""Blocks a side that suffice: the envelope then wastes at most a few per cent of the proposals."""
FINE = 1 << 14
"""Most blocks a side of width 1: with more, 16 bits would seldom settle the block."""
VALUES_PER_BLOCK = 64
"""Values a vector needs for each further block, so that building the table does not dominate."""
UNSETTLED = np.int16(-(1 << 15))
"""Lookup entry for 16 bits that do not settle the block."""
MARGIN = 2.0**-20
"""Floating point settles no acceptance closer than this (unit: 2**-16); its own error is below 2**-33."""


@final
@dataclass(frozen=True, slots=True)
class Law:
    """The law P(k) ∝ exp(−energy(k)) on the integers, energy(k) = quadratic·k² + linear·|k|."""

    quadratic: Fraction
    linear: Fraction

    def energy(self, k: int) -> Fraction:
        """How improbable k is: the negative logarithm of its weight."""
        return self.quadratic * k * k + self.linear * abs(k)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """An envelope ready to draw from: where each block's share of a uniform real u in [0, 1) ends.

    With C_j the exact share of the first j + 1 blocks, the ``thresholds`` satisfy T_j ≤ 2**64·C_j < T_j + 2.
    Let U be the first 64 bits of u, so U ≤ 2**64·u < U + 1. If U < T_j then 2**64·u < U + 1 ≤ T_j, hence
    u < C_j; if U ≥ T_j + 2 then u > C_j; only U in {T_j, T_j + 1} leaves the two unordered. ``lookup`` holds
    the block for each value of the first 16 bits, or UNSETTLED where it is not certain or a tail; ``sure`` how many
    of the 65536 beginnings of a coin accept every value of that block, none where the block is not certain.
    """

    law: Law
    width: int
    blocks: int
    thresholds: NDArray[np.uint64]
    lookup: NDArray[np.int16]
    sure: NDArray[np.uint16]


def extent(law: Law, count: int) -> tuple[int, int]:
    """Width and number of blocks a side that suit a vector of ``count`` values; any choice is exact."""
    needed, cap = TAIL_BITS * math.log(2), Fraction(TAIL_BITS)
    # Steeper laws end within one step anyway; capping them keeps the floats finite.
    a, b = float(min(law.quadratic, cap)), float(min(law.linear, cap))
    reach = math.ceil(2 * needed / (b + math.sqrt(b * b + 4 * a * needed)))
    if reach <= min(FINE, max(COARSE, count // VALUES_PER_BLOCK)):
        return 1, reach
    width = 1 << (-(-reach // COARSE) - 1).bit_length()
    return width, -(-reach // width)


@lru_cache(maxsize=16)
def tabulate(law: Law, width: int, blocks: int) -> Envelope:
    """The table of one law; the working precision is raised until every threshold is certified."""
    bits = 128
    while True:
        lows, highs = cumulative(law, width, blocks, bits)
        # highs[j]/lows[-1] − lows[j]/highs[-1] ≤ 2·error/lows[-1], and it must stay below 2**-64.
        error = highs[-1] - lows[-1]
        if error << 65 < lows[-1]:
            break
        bits *= 2
    thresholds = np.array([(low << 64) // highs[-1] for low in lows[:-1]], np.uint64)
    lookup = _lookup(thresholds, blocks)
    sure = _sure(law, width, lookup) if width > 1 else np.full(lookup.shape, 65535, np.uint16)
    return Envelope(law, width, blocks, thresholds, lookup, sure)


def cumulative(law: Law, width: int, blocks: int, bits: int) -> tuple[list[int], list[int]]:
    """Bounds, in units of 2**-bits, on the running sums of the blocks' envelope masses over ``width``."""
    cells = [
        _tail_mass(law, width, blocks * width + 1, bits),
        *reversed(list(_heights(law, width, 1, blocks, bits))),
        *_heights(law, width, 0, blocks, bits),
        _tail_mass(law, width, blocks * width, bits),
    ]
    return list(accumulate(low for low, _ in cells)), list(accumulate(high for _, high in cells))


def _heights(law: Law, width: int, start: int, count: int, bits: int) -> Iterator[tuple[int, int]]:
    """Bounds on exp(−energy(start + j·width)), j < count, by second differences with directed rounding."""
    low, high = exp_bounds(law.energy(start), bits)
    ratio_low, ratio_high = exp_bounds(law.energy(start + width) - law.energy(start), bits)
    bend_low, bend_high = exp_bounds(2 * law.quadratic * width * width, bits)
    for _ in range(count):
        yield low, high
        low, high = low * ratio_low >> bits, -(-high * ratio_high >> bits)
        ratio_low, ratio_high = ratio_low * bend_low >> bits, -(-ratio_high * bend_high >> bits)


def _tail_mass(law: Law, width: int, start: int, bits: int) -> tuple[int, int]:
    """Bounds on the geometric envelope's mass exp(−energy(start)) / (1 − exp(−step)), over ``width``."""
    low, high = exp_bounds(law.energy(start), bits)
    step_low, step_high = exp_bounds(step(law, start), bits)
    one = 1 << bits
    return (low << bits) // ((one - step_low) * width), -((-high << bits) // ((one - step_high) * width))


def step(law: Law, start: int) -> Fraction:
    """Slope of the tail's envelope: the energy is convex, so it rises by at least this much at every step."""
    return law.energy(start + 1) - law.energy(start)


def _lookup(thresholds: NDArray[np.uint64], blocks: int) -> NDArray[np.int16]:
    """The block for each value of the first 16 bits, UNSETTLED where they do not settle it."""
    buckets = thresholds >> np.uint64(48)
    cells = np.cumsum(np.bincount(buckets.astype(np.intp), minlength=1 << 16)) - blocks - 1
    lookup = cells.astype(np.int16)
    lookup[(cells < -blocks) | (cells >= blocks)] = UNSETTLED
    lookup[buckets] = UNSETTLED
    # A threshold at a bucket's end unsettles the next one too (after the last the sum wraps to 0: harmless).
    lookup[(thresholds + np.uint64(1)) >> np.uint64(48)] = UNSETTLED
    return lookup


def _sure(law: Law, width: int, lookup: NDArray[np.int16]) -> NDArray[np.uint16]:
    """For how many values of its first 16 bits a coin accepts whatever value of the block that was looked up.

    Of block m ≥ 0 and of block −m − 1 no value is above (m + 1)·width in magnitude, nor further than width − 1 from the
    smallest. The chance falls with both. If the first bits are p and p + 1 ≤ 65536·chance, the coin lies below it.
    """
    blocks, distance = lookup.astype(np.float64), width - 1.0
    furthest = np.where(blocks < 0, -blocks, blocks + 1) * width
    exponents = distance * (float(law.quadratic) * (2.0 * furthest - distance) + float(law.linear))
    whole = np.floor(np.clip(65536.0 * np.exp(-exponents) - MARGIN, 0, None))
    return np.where(lookup == UNSETTLED, 0, whole).astype(np.uint16)
