"""The envelope's tables: thresholds certified against mpmath, and a lookup that never claims too much."""

import dataclasses
from bisect import bisect_left, bisect_right
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from expost.sampling import table as tables
from expost.sampling.table import FINE, UNSETTLED, Envelope, Law, _lookup, _sure, cumulative, extent, tabulate


def gaussian(variance: Fraction) -> Law:
    return Law(1 / (2 * variance), Fraction(0))


def laplace(scale: Fraction) -> Law:
    return Law(Fraction(0), 1 / scale)


TABLES = [
    (gaussian(Fraction(4)), 1, 14),
    (gaussian(Fraction(1, 10)), 1, 3),
    (gaussian(Fraction(10**6)), 16, 417),
    (gaussian(Fraction(10**18)), 1 << 24, 397),
    (gaussian(Fraction(2**104)), 1 << 46, 500),
    (gaussian(Fraction(2**200)), 1 << 94, 250),  # wider than noise allows: needs more than the first precision
    (laplace(Fraction(5, 2)), 1, 56),
    (laplace(Fraction(1000, 3)), 32, 231),
    (Law(Fraction(1, 50), Fraction(1, 7)), 4, 9),
]


def weight(law: Law, k: int) -> mpmath.mpf:
    energy = law.energy(k)
    return mpmath.exp(-mpmath.mpf(energy.numerator) / energy.denominator)


def shares(law: Law, width: int, blocks: int) -> list[mpmath.mpf]:
    """Where each block's share of the envelope ends, summed in floating point of 60 digits."""
    smallest = [*(1 + i * width for i in reversed(range(blocks))), *(j * width for j in range(blocks))]
    starts = blocks * width + 1, blocks * width
    tails = [weight(law, s) / (1 - weight(law, s + 1) / weight(law, s)) for s in starts]
    cells = [tails[0], *(width * weight(law, magnitude) for magnitude in smallest), tails[1]]
    total = mpmath.fsum(cells)
    running, ends = mpmath.mpf(0), []
    for cell in cells[:-1]:
        running += cell
        ends.append(running / total)
    return ends


def is_certified(ready: Envelope) -> bool:
    """Whether every threshold T satisfies T ≤ 2**64·C < T + 2."""
    with mpmath.workdps(60):
        ends = shares(ready.law, ready.width, ready.blocks)
        scaled = [mpmath.ldexp(end, 64) for end in ends]
        return all(t <= c < t + 2 for t, c in zip(ready.thresholds.tolist(), scaled, strict=True))


@pytest.mark.parametrize(("law", "width", "blocks"), TABLES)
def test_every_threshold_is_within_two_units_below_its_share(law: Law, width: int, blocks: int) -> None:
    assert is_certified(tabulate(law, width, blocks))


@pytest.mark.parametrize("shift", [-2, 2])
def test_a_corrupted_threshold_is_not_certified(shift: int) -> None:
    """The twin: two units of 2**-64 in one threshold are seen."""
    ready = tabulate(*TABLES[0])
    thresholds = ready.thresholds.copy()
    thresholds[17] = int(thresholds[17]) + shift

    assert not is_certified(dataclasses.replace(ready, thresholds=thresholds))


@pytest.mark.parametrize("slack", [1 << 60, (1 << 63) - (1 << 55), 1 << 63, 1 << 70])
def test_thresholds_are_certified_by_the_sums_that_they_are_made_of(
    monkeypatch: pytest.MonkeyPatch, slack: int
) -> None:
    """Sums known up to some units of 2**-128 or of a later precision: the last ones asked for must leave no doubt."""
    asked: list[tuple[list[int], list[int]]] = []

    def sums(law: Law, width: int, blocks: int, bits: int) -> tuple[list[int], list[int]]:
        true = [(1 << bits) * share // 1000 for share in (1, 500, 999, 1000)]
        asked.append(([each - slack for each in true], [each + slack for each in true]))
        return asked[-1]

    monkeypatch.setattr(tables, "cumulative", sums)

    thresholds = tabulate.__wrapped__(gaussian(Fraction(4)), 1, 1).thresholds.tolist()

    lows, highs = asked[-1]
    for threshold, low, high in zip(thresholds, lows[:-1], highs[:-1], strict=True):
        assert threshold <= Fraction(low << 64, highs[-1])
        assert Fraction(high << 64, lows[-1]) < threshold + 2


@pytest.mark.parametrize(("law", "width", "blocks"), [*TABLES, (gaussian(Fraction(100)), 1, 2)])
def test_the_lookup_claims_a_block_exactly_where_the_whole_bucket_lies_in_it(law: Law, width: int, blocks: int) -> None:
    """Bucket b lies in a block if the threshold before is at most b·2**48 − 2 and the next one beyond the bucket.

    The last table has heavy tails, which the lookup never claims.
    """
    ready = tabulate(law, width, blocks)
    thresholds = ready.thresholds.tolist()

    claims = []
    for start in range(0, 1 << 64, 1 << 48):
        before, within = bisect_right(thresholds, start - 2), bisect_left(thresholds, start + (1 << 48))
        settled = before == within and 0 < before <= 2 * blocks
        claims.append(before - blocks - 1 if settled else int(UNSETTLED))

    assert ready.lookup.tolist() == claims


@pytest.mark.parametrize(("gap", "claim"), [(1, int(UNSETTLED)), (2, 0)])
def test_a_bucket_that_starts_just_above_a_threshold_is_unsettled(gap: int, claim: int) -> None:
    """U = T + 1 is not yet above the share, even where it starts a new bucket; U = T + 2 is."""
    ready = tabulate(*TABLES[0])
    thresholds = ready.thresholds.copy()
    thresholds[14] = (30000 << 48) - gap

    assert _lookup(thresholds, ready.blocks)[30000] == claim


def least_chance(law: Law, width: int, block: int) -> mpmath.mpf:
    """Of being accepted, among all values of a block: their weights over that of the smallest magnitude."""
    magnitudes = [abs(value) for value in range(block * width, (block + 1) * width)]
    return min(weight(law, each) / weight(law, min(magnitudes)) for each in magnitudes)


WIDE = [
    (gaussian(Fraction(9)), 2, 9),
    (gaussian(Fraction(900)), 16, 12),
    (Law(Fraction(1, 50), Fraction(1, 7)), 4, 9),
    (laplace(Fraction(1, 20)), 4, 3),  # most values of a block are hardly ever accepted
    (Law(Fraction(1, 10**30), Fraction(1, 10**30)), 2, 40),  # and here nearly always
]


@pytest.mark.parametrize(("law", "width", "blocks"), WIDE)
def test_a_coin_accepts_the_whole_block_below_what_is_sure_and_hardly_anything_more_is_sure(
    law: Law, width: int, blocks: int
) -> None:
    """A coin that begins with p is below (p + 1)/65536, whatever follows."""
    ready = tabulate(law, width, blocks)
    sure = {(block, count) for block, count in zip(ready.lookup.tolist(), ready.sure.tolist(), strict=True)}

    for block, count in sure - {(int(UNSETTLED), 0)}:
        with mpmath.workdps(60):
            certain = 65536 * least_chance(law, width, block)
            spared = mpmath.exp(-2 * (width - 1) * mpmath.mpf(law.quadratic.numerator) / law.quadratic.denominator)
            assert count <= certain
            assert count > certain * spared - 1 - 2.0**-16


@pytest.mark.parametrize("whole", [2, 20000, 65535])
@pytest.mark.parametrize(("off", "lacking"), [(-(2.0**-30), 1), (-(2.0**-22), 1), (2.0**-19, 0)])
def test_what_is_sure_stays_clear_of_what_floats_cannot_tell(whole: int, off: float, lacking: int) -> None:
    """Of two values the second is accepted with a chance just below or above a multiple of 2⁻¹⁶."""
    with mpmath.workdps(60):
        scale = Fraction(str(-mpmath.log((whole + mpmath.mpf(off)) / 65536)))

    assert _sure(Law(Fraction(0), scale), 2, np.array([3, -4], np.int16)).tolist() == [whole - lacking] * 2


@pytest.mark.parametrize("bits", [128, 192, 256])
def test_running_sums_enclose_and_tighten(bits: int) -> None:
    law, width, blocks = TABLES[-1]

    lows, highs = cumulative(law, width, blocks, bits)

    assert all(low <= high for low, high in zip(lows, highs, strict=True))
    assert highs[-1] - lows[-1] < 1 << 16


def test_a_law_so_narrow_that_no_precision_separates_its_thresholds_still_has_a_table() -> None:
    ready = tabulate(gaussian(Fraction(1, 10**400)), 1, 1)

    assert ready.thresholds.tolist() == [0, 0, (1 << 64) - 1]


def probability(variance: Fraction, k: int) -> float:
    """P(k) from the table's own sums, which reach so far that the tails do not matter."""
    lows, _ = cumulative(gaussian(variance), 1, 60, 256)
    return (lows[k + 61] - lows[k + 60]) / lows[-1]


@pytest.mark.parametrize(
    ("variance", "k", "expected"),
    [
        (Fraction(4), 0, 0.1994711402),
        (Fraction(4), 1, 0.1760326634),
        (Fraction(4), 2, 0.1209853623),
        (Fraction(4), -5, 0.0087641502),
        (Fraction(5, 2), 0, 0.2523132522),
    ],
)
def test_the_table_holds_the_published_probabilities(variance: Fraction, k: int, expected: float) -> None:
    assert probability(variance, k) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("variance", "expected"),
    [(Fraction(1, 10), 0.0132967), (Fraction(1, 2), 0.4989791), (Fraction(1), 0.9999998), (Fraction(4), 4.0)],
)
def test_the_table_holds_the_published_variances(variance: Fraction, expected: float) -> None:
    spread = sum(k * k * probability(variance, k) for k in range(-59, 60))

    assert spread == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("std", [10, 1000])
def test_a_million_values_of_moderate_scale_use_blocks_of_one(std: int) -> None:
    width, blocks = extent(gaussian(Fraction(std**2)), 10**6)

    assert width == 1
    assert 6 * std < blocks <= FINE


@pytest.mark.parametrize("std", [10**5, 10**7, 10**9, 2**52])
@pytest.mark.parametrize("count", [10**6, 10**10])
def test_large_scales_use_a_few_hundred_blocks(std: int, count: int) -> None:
    """However long the vector: the lookup has 16 bits for a block."""
    width, blocks = extent(gaussian(Fraction(std**2)), count)

    assert width & (width - 1) == 0
    assert 256 <= blocks <= 512


@pytest.mark.parametrize("count", [100, 1000])
def test_short_vectors_do_not_pay_for_a_long_table(count: int) -> None:
    """Between half and all of the 512 blocks that suffice, from the first scale that needs wider ones."""
    laws = [law(Fraction(10 * each) ** power) for each in range(8, 80) for law, power in ((gaussian, 2), (laplace, 1))]

    assert all(256 <= extent(law, count)[1] <= 512 for law in laws)


@pytest.mark.parametrize("law", [gaussian(Fraction(1, 10**400)), laplace(Fraction(1, 10**400))])
def test_narrow_laws_need_few_blocks(law: Law) -> None:
    assert extent(law, 100) == (1, 1)


@pytest.mark.parametrize("law", [gaussian(Fraction(100)), laplace(Fraction(100)), gaussian(Fraction(10**10))])
def test_the_tails_are_rarely_visited_and_the_table_goes_no_further_than_that_takes(law: Law) -> None:
    width, blocks = extent(law, 10**6)

    first, last = tabulate(law, width, blocks).thresholds[[0, -1]].tolist()

    assert 2**26 < first + 2**64 - last < 2**34
