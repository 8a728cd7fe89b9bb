"""The fast path: vectors of discrete Gaussian or Laplace noise by exact rejection from a step envelope."""

from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from expost.sampling import Bytes, reference
from expost.sampling.bounds import exp_bounds, less
from expost.sampling.table import MARGIN, UNSETTLED, Envelope, Law, cumulative, extent, step, tabulate

Integers: TypeAlias = NDArray[np.int64]

SHORT = 24
"""Vectors shorter than this are cheaper by the reference sampler than by building a table."""
CHUNK = 1 << 16
"""Values drawn at a time, so that the work arrays stay in the processor's cache."""


def discrete_gaussians(source: Bytes, variance: Fraction, count: int) -> Integers:
    """Independent integers with P(k) ∝ exp(−k²/(2·variance)), whatever the length."""
    if count < SHORT:
        return np.array([reference.discrete_gaussian(source, variance) for _ in range(count)], np.int64)
    law = Law(1 / (2 * variance), Fraction(0))
    return draw(tabulate(law, *extent(law, count)), source, count)


def discrete_laplaces(source: Bytes, scale: Fraction, count: int) -> Integers:
    """Independent integers with P(k) ∝ exp(−|k|/scale), whatever the length."""
    if count < SHORT:
        return np.array([reference.discrete_laplace(source, scale) for _ in range(count)], np.int64)
    law = Law(Fraction(0), 1 / scale)
    return draw(tabulate(law, *extent(law, count)), source, count)


def draw(ready: Envelope, source: Bytes, count: int) -> Integers:
    """Independent values of the table's law, exactly: nothing is truncated and no rounding decides a draw.

    A block is proposed with its exact share of the envelope, because the uniform real that chooses it is
    extended by further bits until its place is certain. Within the block every k is equally likely and is
    accepted with probability exp(energy(smallest magnitude) − energy(k)); in a tail the geometric proposal is
    corrected likewise. Either way k leaves a round with probability exp(−energy(k)) times one constant, and
    rejected rounds start again with fresh bits: the law of ``reference``, by the same rejection argument.

    Implements: envelope sampler with lazily refined uniforms.
    """
    values, refused = np.empty(count, np.int64), np.empty(count, np.bool_)
    for first in range(0, count, CHUNK):
        chunk = slice(first, min(first + CHUNK, count))
        values[chunk], refused[chunk] = _propose(ready, source, chunk.stop - first)
    again = np.flatnonzero(refused)
    while again.size:
        values[again], rejected = _propose(ready, source, again.size)
        again = again[rejected]
    return values


def _propose(ready: Envelope, source: Bytes, count: int) -> tuple[Integers, NDArray[np.bool_]]:
    """One round: a value for each place, and whether it is rejected."""
    prefixes = np.frombuffer(source.bytes(2 * count), "<u2")
    found = ready.lookup.take(prefixes)
    unsettled = np.flatnonzero(found == UNSETTLED)
    blocks = found.astype(np.int64)
    blocks[unsettled] = settled = _locate(ready, source, prefixes[unsettled])
    if ready.width == 1:
        values, rejected = blocks, np.zeros(count, np.bool_)
    else:
        values, rejected = _within(ready, source, blocks, ready.sure.take(prefixes))
    for place in unsettled[(settled < -ready.blocks) | (settled >= ready.blocks)]:
        values[place], rejected[place] = _beyond(ready, source, negative=bool(blocks[place] < 0))
    return values, rejected


def _locate(ready: Envelope, source: Bytes, prefixes: NDArray[np.uint16]) -> Integers:
    """The blocks of uniform reals whose first 16 bits are known."""
    more = np.frombuffer(source.bytes(8 * prefixes.size), "<u8") >> np.uint64(16)
    uniforms = prefixes.astype(np.uint64) << np.uint64(48) | more
    cells = np.searchsorted(ready.thresholds, uniforms, side="right")
    near = (cells > 0) & (uniforms - ready.thresholds[cells - 1] < 2)
    for place in np.flatnonzero(near):
        cells[place] = _refine(ready, source, int(uniforms[place]))
    return cells - ready.blocks - 1


def _refine(ready: Envelope, source: Bytes, prefix: int) -> int:
    """How many thresholds a uniform real lies above, given 64 bits of it that do not tell."""
    bits = 64
    while True:
        prefix = prefix << 64 | int.from_bytes(source.bytes(8), "little")
        bits += 64
        lows, highs = cumulative(ready.law, ready.width, ready.blocks, bits + 64)
        surely = sum(high << bits <= prefix * lows[-1] for high in highs[:-1])
        possibly = sum(low << bits < (prefix + 1) * highs[-1] for low in lows[:-1])
        if surely == possibly:
            return surely


def _within(
    ready: Envelope, source: Bytes, blocks: Integers, sure: NDArray[np.uint16]
) -> tuple[Integers, NDArray[np.bool_]]:
    """A uniform value of each block, and whether the law, lower than the envelope there, rejects it.

    A coin whose first 16 bits are below ``sure`` accepts every value of the block: nearly all are settled by that.
    """
    law, last = ready.law, ready.width - 1
    size = 2 if last >> 16 == 0 else 4 if last >> 32 == 0 else 8
    offsets = np.frombuffer(source.bytes(size * blocks.size), f"<u{size}").astype(np.int64) & last
    prefixes = np.frombuffer(source.bytes(2 * blocks.size), "<u2")
    values = blocks * ready.width + offsets
    rejected = np.zeros(blocks.size, np.bool_)
    places = np.flatnonzero(prefixes >= sure)
    some, coins = values[places], prefixes[places]
    inward = (some ^ (some >> 63)) & last
    exponents = inward * (float(law.quadratic) * (2.0 * np.abs(some) - inward) + float(law.linear))
    excess = np.exp(-exponents) * 65536.0 - coins
    rejected[places] = excess < 0.5
    # The coin is settled by its first 16 bits unless 0 < excess < 1, give or take the floating-point error.
    for place in np.flatnonzero(np.abs(excess - 0.5) < 0.5 + MARGIN):
        k, distance = abs(int(some[place])), int(inward[place])
        exponent = law.energy(k) - law.energy(k - distance)
        rejected[places[place]] = not less(source, int(coins[place]), 16, partial(exp_bounds, exponent))
    return values, rejected


def _beyond(ready: Envelope, source: Bytes, *, negative: bool) -> tuple[int, bool]:
    """A value of one tail, and whether the law, lower than its geometric envelope, rejects it."""
    start = ready.blocks * ready.width + negative
    i = reference.geometric(source, step(ready.law, start))
    # energy(start + i) − energy(start) − i·step
    accepted = reference.bernoulli_exp(source, ready.law.quadratic * (i * i - i))
    return (-(start + i) if negative else start + i), not accepted
