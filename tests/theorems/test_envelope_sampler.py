"""The fast path: the law it draws, read off the path it takes for each value, and every branch forced by bytes."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import mpmath
import numpy as np
import pytest

from expost.noise import SeededNoise
from expost.sampling import Bytes, envelope, reference
from expost.sampling import table as tables
from expost.sampling.bounds import exp_bounds
from expost.sampling.table import UNSETTLED, Envelope, Law, cumulative, tabulate

Script: TypeAlias = Callable[[bytes], Bytes]

GAUSSIAN = Law(Fraction(1, 200), Fraction(0))
LAPLACE = Law(Fraction(0), Fraction(3, 20))
SMALL = [
    (Law(Fraction(1, 8), Fraction(0)), 1, 9),
    (Law(Fraction(0), Fraction(2, 5)), 1, 20),
    (GAUSSIAN, 1, 40),
    (GAUSSIAN, 4, 10),
    (GAUSSIAN, 16, 3),
    (LAPLACE, 8, 9),
    (Law(Fraction(1, 300), Fraction(1, 11)), 4, 8),
]


def exponential(exponent: Fraction) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)


def cell_of(ready: Envelope, k: int) -> int:
    """Index of the block, or tail, that k is drawn from."""
    return min(max(k // ready.width, -ready.blocks - 1), ready.blocks) + ready.blocks + 1


def choosing(ready: Envelope, uniform: int) -> bytes:
    """The bytes that make the first 64 bits of the block's uniform: two, and eight more where the lookup asks."""
    prefix, rest = uniform >> 48, uniform & (1 << 48) - 1
    more = (rest << 16).to_bytes(8, "little") if ready.lookup[prefix] == UNSETTLED else b""
    return prefix.to_bytes(2, "little") + more


def inside(ready: Envelope, k: int) -> int:
    """A uniform surely within the share of k's block."""
    cell = cell_of(ready, k)
    return int(ready.thresholds[cell - 1]) + 2 if cell else 0


def accepting(ready: Envelope, k: int) -> bytes:
    """Offset and coin of k: the first 16 bits of the coin meet its probability, and all further bits are 0."""
    if ready.width == 1:
        return b""
    smallest = k - k % ready.width if k >= 0 else -(k - k % ready.width + ready.width - 1)
    exponent = ready.law.energy(k) - ready.law.energy(smallest)
    coin = min(65535, int(mpmath.floor(65536 * exponential(exponent))))
    return (k % ready.width).to_bytes(2, "little") + coin.to_bytes(2, "little") + bytes(8 * (exponent > 0))


def drawn_weight(monkeypatch: pytest.MonkeyPatch, script: Script, ready: Envelope, k: int) -> mpmath.mpf:
    """Weight with which one round yields k, from the sampler's own shares and the exponents of its own coins."""
    tail = not 0 < cell_of(ready, k) <= 2 * ready.blocks
    beyond = abs(k) - ready.blocks * ready.width - (k < 0)
    rates: list[Fraction] = []
    exponents = [Fraction(0)]

    def bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
        exponents.append(exponent)
        return exp_bounds(exponent, bits)

    def geometric(source: object, rate: Fraction) -> int:
        rates.append(rate)
        return beyond

    def bernoulli_exp(source: object, exponent: Fraction) -> bool:
        exponents.append(exponent)
        return True

    monkeypatch.setattr(envelope, "exp_bounds", bounds)
    monkeypatch.setattr(reference, "geometric", geometric)
    monkeypatch.setattr(reference, "bernoulli_exp", bernoulli_exp)
    coin = accepting(ready, 0) if tail else accepting(ready, k)
    source = script(choosing(ready, inside(ready, k)) + coin)

    assert envelope.draw(ready, source, 1).tolist() == [k]

    lows, _ = cumulative(ready.law, ready.width, ready.blocks, 256)
    cell = cell_of(ready, k)
    height = mpmath.ldexp(lows[cell] - (lows[cell - 1] if cell else 0), -256)
    if tail:
        height *= ready.width * (1 - exponential(rates[0])) * exponential(beyond * rates[0])
    return height * exponential(exponents[-1])


def furthest_from_law(monkeypatch: pytest.MonkeyPatch, script: Script, ready: Envelope) -> mpmath.mpf:
    """Largest relative difference between the weight drawn and exp(−energy), over the table and into the tails."""
    edge = ready.blocks * ready.width + 4
    with mpmath.workdps(60):
        return max(
            abs(drawn_weight(monkeypatch, script, ready, k) / exponential(ready.law.energy(k)) - 1)
            for k in range(-edge, edge + 1)
        )


@pytest.mark.parametrize(("law", "width", "blocks"), SMALL)
def test_every_integer_is_drawn_with_its_weight(
    monkeypatch: pytest.MonkeyPatch, script: Script, law: Law, width: int, blocks: int
) -> None:
    ready = tabulate(law, width, blocks)

    assert furthest_from_law(monkeypatch, script, ready) < 1e-18


@pytest.mark.parametrize(("law", "width", "blocks"), [SMALL[0], SMALL[3], SMALL[5]])
def test_a_wrong_tail_envelope_breaks_the_law(
    monkeypatch: pytest.MonkeyPatch, script: Script, law: Law, width: int, blocks: int
) -> None:
    """The twin: a tail that falls one part in a million too fast is seen."""
    ready = tabulate(law, width, blocks)
    monkeypatch.setattr(envelope, "step", lambda law, start: tables.step(law, start) * Fraction(1000001, 1000000))

    assert furthest_from_law(monkeypatch, script, ready) > 1e-9


def test_a_wrong_height_breaks_the_law(monkeypatch: pytest.MonkeyPatch, script: Script) -> None:
    """The twin: heights bent by one part in a million are seen."""
    heights = tables._heights
    monkeypatch.setattr(
        tables,
        "_heights",
        lambda law, *rest: heights(Law(law.quadratic * Fraction(1000001, 1000000), law.linear), *rest),
    )
    ready = tabulate.__wrapped__(GAUSSIAN, 4, 10)

    assert furthest_from_law(monkeypatch, script, ready) > 1e-9


def test_sixteen_bits_settle_most_draws(script: Script) -> None:
    ready = tabulate(GAUSSIAN, 1, 40)
    prefixes = np.flatnonzero(ready.lookup != UNSETTLED)

    values = envelope.draw(ready, script(prefixes.astype("<u2").tobytes()), prefixes.size)

    assert prefixes.size > 65_000
    assert np.array_equal(values, ready.lookup[prefixes])


@pytest.mark.parametrize(("step", "above"), [(-1, 0), (2, 1)])
@pytest.mark.parametrize("j", [3, 40, 44, 77])
def test_a_further_48_bits_settle_the_rest(script: Script, j: int, step: int, above: int) -> None:
    ready = tabulate(GAUSSIAN, 1, 40)
    uniform = int(ready.thresholds[j]) + step

    value = envelope.draw(ready, script(choosing(ready, uniform)), 1)

    assert len(choosing(ready, uniform)) == 10
    assert value.tolist() == [j - 41 + above]


@pytest.mark.parametrize("j", [3, 40, 77])
@pytest.mark.parametrize("step", [0, 1])
def test_a_uniform_within_the_error_of_a_threshold_is_not_trusted(script: Script, j: int, step: int) -> None:
    """Both values of U that the certificate leaves open ask for further bits; the script must be used up."""
    ready = tabulate(GAUSSIAN, 1, 40)

    envelope.draw(ready, script(choosing(ready, int(ready.thresholds[j]) + step) + b"\x80" * 8), 1)


def following_bits(ready: Envelope, j: int, bits: int) -> int:
    """The first bits of the exact share at threshold j."""
    lows, highs = cumulative(ready.law, ready.width, ready.blocks, bits + 128)
    return (lows[j] << bits) // highs[-1]


@pytest.mark.parametrize("j", [3, 40, 44, 77])
@pytest.mark.parametrize(("step", "above"), [(-1, 0), (1, 1)])
@pytest.mark.parametrize("bits", [128, 192])
def test_a_uniform_that_meets_a_threshold_is_extended_until_it_differs(
    script: Script, j: int, step: int, above: int, bits: int
) -> None:
    """The uniform agrees with the share in all but the last of 128 or 192 bits; both outcomes are reached."""
    ready = tabulate(GAUSSIAN, 1, 40)
    uniform = following_bits(ready, j, bits) + step
    first, words = uniform >> (bits - 64), range(bits - 128, -1, -64)
    extension = b"".join((uniform >> shift & (1 << 64) - 1).to_bytes(8, "little") for shift in words)

    value = envelope.draw(ready, script(choosing(ready, first) + extension), 1)

    assert first - int(ready.thresholds[j]) in (0, 1)
    assert value.tolist() == [j - 41 + above]


@pytest.mark.parametrize("k", [1, 3, 9, -2, -15])
@pytest.mark.parametrize("accepted", [True, False])
def test_a_coin_too_close_for_floating_point_is_settled_exactly(script: Script, k: int, accepted: bool) -> None:
    """The coin agrees with its probability in all but the last of 80 bits; a rejected draw starts again."""
    ready = tabulate(GAUSSIAN, 4, 10)
    smallest = k - k % 4 if k >= 0 else k - k % 4 + 3
    lo, hi = exp_bounds(GAUSSIAN.energy(k) - GAUSSIAN.energy(smallest), 80)
    coin = lo - 1 if accepted else hi
    offset = (k % 4).to_bytes(2, "little")
    coin_bytes = (coin >> 64).to_bytes(2, "little") + (coin & (1 << 64) - 1).to_bytes(8, "little")
    again = b"" if accepted else choosing(ready, inside(ready, 20)) + bytes(4)

    value = envelope.draw(ready, script(choosing(ready, inside(ready, k)) + offset + coin_bytes + again), 1)

    assert value.tolist() == [k if accepted else 20]


def test_coins_far_from_their_probability_need_no_more_bytes(script: Script) -> None:
    """Of the 65536 coins of one value, all but the one that meets the probability are settled by 16 bits."""
    ready = tabulate(GAUSSIAN, 4, 10)
    meeting = int(65536 * np.exp(-(15**2 - 12**2) / 200))
    coins = np.array([coin for coin in range(65536) if coin != meeting], "<u2")
    third, fifth = (np.flatnonzero(ready.lookup == block)[0].astype("<u2").tobytes() for block in (3, 5))
    round_one = third * coins.size + b"\x03\x00" * coins.size + coins.tobytes()
    rejected = 65535 - meeting
    round_two = fifth * rejected + bytes(4 * rejected)

    values = envelope.draw(ready, script(round_one + round_two), coins.size)

    assert np.array_equal(values, np.where(coins < meeting, 15, 20))


@pytest.mark.parametrize("rejections", [1, 2, 3])
def test_a_rejected_tail_draw_starts_again(monkeypatch: pytest.MonkeyPatch, script: Script, rejections: int) -> None:
    ready = tabulate(GAUSSIAN, 4, 10)
    monkeypatch.setattr(reference, "geometric", lambda _, rate: 3)
    monkeypatch.setattr(reference, "bernoulli_exp", lambda _, exponent: False)
    tail, block = choosing(ready, 0), choosing(ready, inside(ready, 20))

    value = envelope.draw(ready, script((tail + bytes(4)) * rejections + block + bytes(4)), 1)

    assert value.tolist() == [20]


@pytest.mark.parametrize(("uniform", "sign"), [(0, -1), (2**64 - 1, 1)])
def test_the_tails_reach_beyond_the_table(script: Script, uniform: int, sign: int) -> None:
    """With real coins: u = 0 of the geometric is accepted, its units fail at once, the first value is certain."""
    ready = tabulate(Law(Fraction(1, 2), Fraction(0)), 1, 5)
    start = 5 + (sign < 0)
    geometric = b"\x00\x80" if tables.step(ready.law, start).denominator == 2 else b"\x80"

    value = envelope.draw(ready, script(choosing(ready, uniform) + geometric), 1)

    assert value.tolist() == [sign * start]


@pytest.mark.parametrize("count", [0, 1, envelope.SHORT - 1])
def test_short_vectors_are_drawn_by_the_reference(count: int) -> None:
    fast, slow = SeededNoise(3), SeededNoise(3)

    values = envelope.discrete_gaussians(fast, Fraction(7, 2), count)

    assert values.tolist() == [reference.discrete_gaussian(slow, Fraction(7, 2)) for _ in range(count)]


def test_short_laplace_vectors_are_drawn_by_the_reference() -> None:
    fast, slow = SeededNoise(3), SeededNoise(3)

    values = envelope.discrete_laplaces(fast, Fraction(7, 2), 5)

    assert values.tolist() == [reference.discrete_laplace(slow, Fraction(7, 2)) for _ in range(5)]


def test_draws_do_not_depend_on_what_was_drawn_before() -> None:
    """A cold and a warm table give the same values for the same bytes."""
    tabulate.cache_clear()
    cold = envelope.discrete_gaussians(SeededNoise(4), Fraction(10**8), 1000)

    warm = envelope.discrete_gaussians(SeededNoise(4), Fraction(10**8), 1000)

    assert np.array_equal(cold, warm)


@pytest.mark.parametrize("width", [1 << 16, 1 << 17, 1 << 32, 1 << 33, 1 << 46])
def test_offsets_fill_blocks_of_any_width(width: int) -> None:
    """Every bit of the offset is seen both set and unset among 500 draws: missed with chance below 1e-140."""
    law = Law(Fraction(1, 2 * (60 * width) ** 2), Fraction(0))

    values = envelope.draw(tabulate(law, width, 400), SeededNoise(8), 500)

    assert int(np.bitwise_or.reduce(values % width)) == width - 1
    assert int(np.bitwise_and.reduce(values % width)) == 0


def least_chances(ready: Envelope) -> dict[int, mpmath.mpf]:
    """The least chance with which a block accepts one of its values, times 65536."""
    found = {}
    for block in range(-ready.blocks, ready.blocks):
        first, last = sorted(abs(block * ready.width + place) for place in (0, ready.width - 1))
        found[block] = 65536 * exponential(ready.law.energy(last) - ready.law.energy(first))
    return found


def sure_of(ready: Envelope) -> list[tuple[int, int]]:
    """Block and sure beginnings of a coin, wherever 16 bits settle the block."""
    return [(int(block), int(sure)) for block, sure in zip(ready.lookup, ready.sure, strict=True) if block != UNSETTLED]


WIDE = [(law, width, blocks) for law, width, blocks in SMALL if width > 1]
WIDE += [(Law(Fraction(1, 2 * 10**10), Fraction(0)), 2048, 326), (Law(Fraction(0), Fraction(1, 10**5)), 4096, 542)]


@pytest.mark.parametrize(("law", "width", "blocks"), WIDE)
def test_a_coin_that_is_sure_lies_below_the_chance_of_every_value(law: Law, width: int, blocks: int) -> None:
    """The coin lies below (p + 1)/65536 for the last sure beginning p; one more would not do, but for rounding."""
    ready = tabulate(law, width, blocks)
    with mpmath.workdps(60):
        least = least_chances(ready)

    assert all(sure <= least[block] for block, sure in sure_of(ready))
    assert all(sure + 1 > least[block] for block, sure in sure_of(ready) if block < 0)
    assert not ready.sure[ready.lookup == UNSETTLED].any()


@pytest.mark.parametrize(("law", "width", "blocks"), WIDE)
def test_sure_coins_change_no_draw(law: Law, width: int, blocks: int) -> None:
    ready = tabulate(law, width, blocks)
    slow = replace(ready, sure=np.zeros_like(ready.sure))

    assert np.array_equal(envelope.draw(ready, SeededNoise(5), 10**5), envelope.draw(slow, SeededNoise(5), 10**5))


@pytest.mark.parametrize(("law", "width", "blocks"), WIDE)
def test_coins_taken_for_sure_too_soon_change_draws(law: Law, width: int, blocks: int) -> None:
    """The twin: a thousandth more of the coins."""
    ready = tabulate(law, width, blocks)
    rash = replace(ready, sure=np.minimum(ready.sure.astype(np.int64) + 66, 65535).astype(np.uint16))

    assert not np.array_equal(envelope.draw(ready, SeededNoise(5), 10**5), envelope.draw(rash, SeededNoise(5), 10**5))
