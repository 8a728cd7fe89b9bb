"""The readable truth: laws summed exactly over every path of coins, branches forced by scripted bytes."""

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import mpmath
import pytest

from expost.noise import SeededNoise
from expost.sampling import Bytes, reference

Script: TypeAlias = Callable[[bytes], Bytes]

NO_BYTES = SeededNoise(0)
"""A source for samplers whose coins are replaced."""


class Coins:
    """Stands in for exact coins: gives the scripted answers and multiplies up the probability of the path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: tuple[int, ...]) -> None:
        self.weight, self.answers = mpmath.mpf(1), iter(answers)
        monkeypatch.setattr(reference, "below", self.below)
        monkeypatch.setattr(reference, "bernoulli_exp", self.bernoulli_exp)
        monkeypatch.setattr(reference, "_bernoulli_exp_unit", self.bernoulli_exp)

    def below(self, source: object, bound: int) -> int:
        answer = next(self.answers)
        self.weight *= mpmath.mpf(answer < bound) / bound
        return answer

    def bernoulli_exp(self, source: object, exponent: Fraction) -> bool:
        answer, yes = next(self.answers), mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
        self.weight *= yes if answer else 1 - yes
        return bool(answer)


def one_round_of_laplace(monkeypatch: pytest.MonkeyPatch, scale: Fraction, *, units: int) -> dict[int, mpmath.mpf]:
    """Unnormalised law of one accepted round: u, its acceptance, v successes, one failure, the sign.

    More signs are tried than there are: a sampler that asks for two of them gives the rest no weight.
    """
    law: dict[int, mpmath.mpf] = Counter()
    for u, v, sign in itertools.product(range(scale.numerator), range(units), range(4)):
        coins = Coins(monkeypatch, (u, 1, *[1] * v, 0, sign))
        try:
            value = reference.discrete_laplace(NO_BYTES, scale)
        except StopIteration:
            continue
        law[value] += coins.weight
    return law


@pytest.mark.parametrize("bound", [2, 3, 5, 7, 200, 256])
def test_below_is_uniform_over_every_byte(script: Script, bound: int) -> None:
    seen: Counter[int] = Counter()
    for byte in range(256):
        with contextlib.suppress(EOFError):  # this byte is thrown away: a second one is asked
            seen[reference.below(script(bytes([byte])), bound)] += 1

    assert set(seen) == set(range(bound))
    assert len(set(seen.values())) == 1


def test_below_throws_away_what_is_too_large(script: Script) -> None:
    source = script(bytes([0b11100000, 0b10000000]))

    assert reference.below(source, 5) == 4


def test_below_one_draws_nothing(script: Script) -> None:
    assert reference.below(script(b""), 1) == 0


def test_below_reaches_beyond_a_machine_word(script: Script) -> None:
    source = script(b"\xff" * 25)

    assert reference.below(source, 1 << 200) == (1 << 200) - 1


@pytest.mark.parametrize(("byte", "expected"), [(0, True), (2 << 5, True), (3 << 5, False), (4 << 5, False)])
def test_a_rational_coin_counts_its_favourable_cases(script: Script, byte: int, expected: bool) -> None:
    assert reference.bernoulli(script(bytes([byte])), Fraction(3, 5)) is expected


@pytest.mark.parametrize("exponent", [Fraction(1, 7), Fraction(1, 2), Fraction(1)])
def test_the_paths_of_coins_that_say_yes_sum_to_the_exponential(
    monkeypatch: pytest.MonkeyPatch, exponent: Fraction
) -> None:
    yes = Fraction(0)
    for successes in range(30):
        chances: list[Fraction] = []

        def below(source: object, bound: int, last: int = successes, seen: list[Fraction] = chances) -> int:
            seen.append(exponent.numerator / Fraction(bound))
            return 0 if len(seen) <= last else exponent.numerator

        monkeypatch.setattr(reference, "below", below)
        if reference.bernoulli_exp(NO_BYTES, exponent):
            yes += math.prod(chances[:-1]) * (1 - chances[-1])

    assert abs(float(yes) - math.exp(-exponent)) < 1e-15


@pytest.mark.parametrize(("answers", "expected"), [(b"\x80", True), (b"\x00\x80", False), (b"\x00\x00\x40", True)])
def test_the_answer_is_the_parity_of_the_successes(script: Script, answers: bytes, expected: bool) -> None:
    """exponent 1/2: coins 1/2, 1/4, 1/6, each a yes when its byte's top bits are 0."""
    assert reference.bernoulli_exp(script(answers), Fraction(1, 2)) is expected


def test_a_large_exponent_stops_at_the_first_failing_unit(script: Script) -> None:
    """A unit is coins 1/1, 1/2, 1/3...; the byte 0x80 fails the second one."""
    assert not reference.bernoulli_exp(script(b"\x80"), Fraction(10**30))


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1), Fraction(6, 5), Fraction(2), Fraction(7, 2)])
def test_a_yes_takes_coins_whose_exponents_sum_to_the_whole(
    monkeypatch: pytest.MonkeyPatch, exponent: Fraction
) -> None:
    """The chance of a yes is the product of theirs, and each is a coin of an exponent within [0, 1]."""
    tossed: list[Fraction] = []

    def unit(source: object, part: Fraction) -> bool:
        tossed.append(part)
        assert len(tossed) <= exponent + 1
        return True

    monkeypatch.setattr(reference, "_bernoulli_exp_unit", unit)

    assert reference.bernoulli_exp(NO_BYTES, exponent)

    assert sum(tossed) == exponent
    assert all(0 <= part <= 1 for part in tossed)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(3), Fraction(5, 2), Fraction(2, 3), Fraction(1, 4)])
def test_laplace_paths_sum_to_the_law_for_any_rational_scale(monkeypatch: pytest.MonkeyPatch, scale: Fraction) -> None:
    law = one_round_of_laplace(monkeypatch, scale, units=30)

    for k in range(-6, 7):
        expected = mpmath.exp(-abs(k) / (mpmath.mpf(scale.numerator) / scale.denominator))
        assert abs(law[k] / law[0] - expected) < 1e-13


def test_laplace_paths_do_not_sum_to_a_law_of_another_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: a scale wrong by one part in a thousand is seen."""
    law = one_round_of_laplace(monkeypatch, Fraction(5, 2), units=30)

    assert abs(law[1] / law[0] - mpmath.exp(-1 / mpmath.mpf(2.5025))) > 1e-4


def test_zero_has_one_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negative zero is thrown away and the draw starts again."""
    Coins(monkeypatch, (0, 1, 0, 1, 2, 1, 0, 1))

    assert reference.discrete_laplace(NO_BYTES, Fraction(3)) == -2


@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(4), Fraction(81)])
def test_gaussian_proposal_times_acceptance_is_the_law(monkeypatch: pytest.MonkeyPatch, variance: Fraction) -> None:
    """exp(−|k|/t) times the acceptance of k, relative to k = 0, is exp(−k²/(2σ²))."""
    t = math.isqrt(math.floor(variance)) + 1
    weights = {}
    for k in range(-6, 7):
        monkeypatch.setattr(reference, "discrete_laplace", lambda source, scale, k=k: k)
        coins = Coins(monkeypatch, (1,))
        assert reference.discrete_gaussian(NO_BYTES, variance) == k
        weights[k] = coins.weight * mpmath.exp(-mpmath.mpf(abs(k)) / t)

    for k, weight in weights.items():
        expected = mpmath.exp(-mpmath.mpf(k * k * variance.denominator) / (2 * variance.numerator))
        assert abs(weight / weights[0] - expected) < 1e-14


def test_a_rejected_gaussian_proposal_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    proposals = iter([7, -2])
    monkeypatch.setattr(reference, "discrete_laplace", lambda source, scale: next(proposals))
    Coins(monkeypatch, (0, 1))

    assert reference.discrete_gaussian(NO_BYTES, Fraction(4)) == -2
