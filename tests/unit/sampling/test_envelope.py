"""The fast path at its edges: which law is asked for, the ends of the table, and coins where floats are off."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np
import pytest

from expost.noise import SeededNoise
from expost.sampling import Bytes, envelope
from expost.sampling.bounds import Bounds
from expost.sampling.bounds import less as exact_less
from expost.sampling.table import Envelope, Law, cumulative, tabulate

Script: TypeAlias = Callable[[bytes], Bytes]

PREFIXES = np.arange(1 << 16, dtype="<u2").tobytes()
"""Every value of the first 16 bits, once."""


class First:
    """A source of the given bytes, and of a seed's after them."""

    def __init__(self, given: bytes) -> None:
        self.given, self.rest = given, SeededNoise(1)

    def bytes(self, count: int, /) -> bytes:
        taken, self.given = self.given[:count], self.given[count:]
        return taken + self.rest.bytes(count - len(taken))


def gaussian_weight(variance: Fraction, k: int) -> float:
    return math.exp(-(k**2) / (2 * float(variance)))


def laplace_weight(scale: Fraction, k: int) -> float:
    return math.exp(-abs(k) / float(scale))


def furthest_from(weight: Callable[[Fraction, int], float], parameter: Fraction, values: envelope.Integers) -> float:
    """By how much the number of times that a value was drawn differs most from its share of all draws."""
    total = math.fsum(weight(parameter, k) for k in range(-2000, 2001))
    seen = Counter(values.tolist())
    return max(abs(seen[k] - values.size * weight(parameter, k) / total) for k in range(-2000, 2001))


DRAWS = [
    (envelope.discrete_gaussians, gaussian_weight, Fraction(4)),
    (envelope.discrete_gaussians, gaussian_weight, Fraction(250, 7)),
    (envelope.discrete_laplaces, laplace_weight, Fraction(5, 2)),
    (envelope.discrete_laplaces, laplace_weight, Fraction(1, 3)),
]


@pytest.mark.parametrize(("draw", "weight", "parameter"), DRAWS)
def test_over_all_first_bits_each_value_is_drawn_as_often_as_its_share(
    draw: Callable[[Bytes, Fraction, int], envelope.Integers],
    weight: Callable[[Fraction, int], float],
    parameter: Fraction,
) -> None:
    """All 65536 values of the first 16 bits: a block gets its share of them, give or take the two at its ends."""
    values = draw(First(PREFIXES), parameter, 1 << 16)

    assert furthest_from(weight, parameter, values) < 2
    assert furthest_from(weight, parameter * Fraction(1001, 1000), values) > 2


EDGE = Law(Fraction(1, 8), Fraction(0))
"""Of variance 4; a table of two blocks a side leaves it heavy tails."""


@pytest.mark.parametrize("j", range(5))
@pytest.mark.parametrize(("following", "above"), [(b"\x00" * 8, 0), (b"\xff" * 8, 1)])
@pytest.mark.parametrize("agreeing", [64, 128, 192])
def test_a_uniform_that_meets_any_threshold_is_settled_by_what_follows(
    script: Script, j: int, following: bytes, above: int, agreeing: int
) -> None:
    """From the first threshold to the last: the uniform agrees with the exact share in its first bits, then differs."""
    lows, highs = cumulative(EDGE, 1, 2, 512)
    share = (lows[j] << 192) // highs[-1]
    first, *words = (share >> shift & (1 << 64) - 1 for shift in range(128, 128 - agreeing, -64))
    rest = (first << 16 & (1 << 64) - 1).to_bytes(8, "little")
    more = b"".join(word.to_bytes(8, "little") for word in words)

    blocks = envelope._locate(tabulate(EDGE, 1, 2), script(rest + more + following), np.array([first >> 48], np.uint16))

    assert blocks.tolist() == [j + above - 3]


WIDTH = 8
NONE = np.zeros(1, np.uint16)
"""No beginning of a coin is sure: each chance is computed."""


def accepting_with(chance: mpmath.mpf) -> Envelope:
    """A table whose law accepts the last value of a block of eight with nearly this chance, to 200 bits."""
    exponent = Fraction(int(mpmath.ldexp(-mpmath.log(chance), 200)), 1 << 200)
    return dataclasses.replace(tabulate(EDGE, WIDTH, 2), law=Law(exponent / (WIDTH - 1) ** 2, Fraction(0)))


@pytest.mark.parametrize("accepted", [True, False])
def test_no_rounding_of_floats_decides_a_coin(script: Script, accepted: bool) -> None:
    """For 64 chances within 2**-66 of a multiple of 2**-16, so that about one float in ten is on the wrong side of it.

    The 80 bits of the coin are that multiple, just below the chance, or one less, just above it.
    """
    offset = (WIDTH - 1).to_bytes(2, "little")

    for whole in range(24000, 24064):
        with mpmath.workdps(70):
            ready = accepting_with((whole + (1 if accepted else -1) * mpmath.ldexp(1, -50)) / 65536)
        coin = (whole << 64) - (not accepted)
        first, rest = (coin >> 64).to_bytes(2, "little"), (coin & (1 << 64) - 1).to_bytes(8, "little")

        values, rejected = envelope._within(ready, script(offset + first + rest), np.array([0]), NONE)

        assert (values.tolist(), rejected.tolist()) == ([WIDTH - 1], [not accepted])


def test_floats_settle_every_coin_but_the_one_that_meets_its_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    with mpmath.workdps(70):
        ready = accepting_with((mpmath.mpf(24000) + 0.5) / 65536)
    settled: list[int] = []

    def less(source: Bytes, prefix: int, bits: int, bounds: Bounds) -> bool:
        settled.append(prefix)
        return exact_less(source, prefix, bits, bounds)

    monkeypatch.setattr(envelope, "less", less)
    offsets = np.full(1 << 16, WIDTH - 1, "<u2").tobytes()

    _, rejected = envelope._within(ready, First(offsets + PREFIXES), np.zeros(1 << 16, np.int64), NONE)

    assert settled == [24000]
    assert np.flatnonzero(~rejected).tolist() in (list(range(24000)), list(range(24001)))


@pytest.mark.parametrize(("width", "size"), [(2, 2), (1 << 16, 2), (1 << 17, 4), (1 << 32, 4), (1 << 33, 8)])
def test_an_offset_takes_no_more_bytes_than_the_width_needs(script: Script, width: int, size: int) -> None:
    """The bytes of the offset and two of the coin, all of them 0: the block's first value, which is always taken."""
    ready = tabulate(Law(Fraction(1, width**2), Fraction(0)), width, 2)

    values, rejected = envelope._within(ready, script(bytes(size + 2)), np.array([1]), NONE)

    assert (values.tolist(), rejected.tolist()) == ([width], [False])
