"""The three sources of draws: shapes, types, refusals before a draw, and scripts that end."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from expost.datasets.adult import adult_schema
from expost.errors import InvalidValue
from expost.jobs import finetune, synthesize
from expost.noise import AT_ONCE, Noise, ScriptedNoise, SeededNoise, Shape, SystemNoise
from expost.sampling import Bytes, inversion
from expost.sampling.inversion import uniform
from tests.unit.examples import one_sentence

SOURCES: list[Callable[[], Noise]] = [SystemNoise, lambda: SeededNoise(1), lambda: ScriptedNoise([0] * 12)]
BYTE_SOURCES: list[Callable[[], Noise]] = SOURCES[:2]
SHAPES: list[tuple[Shape, tuple[int, ...]]] = [
    ((), ()),
    (0, (0,)),
    (5, (5,)),
    ((3, 4), (3, 4)),
    ((2, 0), (2, 0)),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("shape", "expected"), SHAPES)
def test_integer_draws_are_int64_arrays_of_the_shape(
    source: Callable[[], Noise], shape: Shape, expected: tuple[int, ...]
) -> None:
    for values in (
        source().discrete_gaussian(Fraction(9), shape),
        source().discrete_laplace(Fraction(9), shape),
    ):
        assert isinstance(values, np.ndarray)
        assert (values.shape, values.dtype) == (expected, np.dtype(np.int64))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("shape", "expected"), SHAPES)
def test_floating_draws_are_float64_arrays_of_the_shape(
    source: Callable[[], Noise], shape: Shape, expected: tuple[int, ...]
) -> None:
    for values in (source().gaussian(2.0, shape), source().laplace(2.0, shape), source().uniform(shape)):
        assert isinstance(values, np.ndarray)
        assert (values.shape, values.dtype) == (expected, np.dtype(np.float64))


@pytest.mark.parametrize("source", BYTE_SOURCES)
def test_long_vectors_fill_their_shape(source: Callable[[], Noise]) -> None:
    assert source().discrete_gaussian(Fraction(9), (100, 7)).shape == (100, 7)


@pytest.mark.parametrize("source", SOURCES)
def test_coins_are_booleans(source: Callable[[], Noise]) -> None:
    coins = source().coins(Fraction(1, 3), 7)

    assert (coins.shape, coins.dtype) == ((7,), np.dtype(np.bool_))


def test_only_system_noise_is_unseeded() -> None:
    assert [source().seeded for source in SOURCES] == [False, True, True]


def test_a_seed_repeats_its_draws() -> None:
    first, second = SeededNoise(7), SeededNoise(7)

    for variance in (Fraction(9), Fraction(10**12)):
        assert np.array_equal(first.discrete_gaussian(variance, 50), second.discrete_gaussian(variance, 50))


def test_another_seed_gives_other_draws() -> None:
    first, second = (SeededNoise(seed).discrete_gaussian(Fraction(10**12), 50) for seed in (7, 8))

    assert not np.array_equal(first, second)


def test_system_noise_does_not_repeat_itself() -> None:
    """Fifty draws of standard deviation 1e6 coincide with chance below 1e-300."""
    first, second = (SystemNoise().discrete_gaussian(Fraction(10**12), 50) for _ in range(2))

    assert not np.array_equal(first, second)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda noise: noise.discrete_gaussian(Fraction(0), 3), "variance is 0; it must be above 0"),
        (lambda noise: noise.discrete_gaussian(Fraction(-1), 0), "variance is -1; it must be above 0"),
        (lambda noise: noise.discrete_gaussian(Fraction(2**105), 3), "variance is about 2**105;"),
        (lambda noise: noise.discrete_gaussian(Fraction(10**400), 3), "at most 2**104"),
        (lambda noise: noise.discrete_laplace(Fraction(0), 3), "scale is 0; it must be above 0"),
        (lambda noise: noise.discrete_laplace(Fraction(2**52), 3), "scale is about 2**52;"),
        (lambda noise: noise.discrete_gaussian(Fraction(1), -1), "shape is -1; no side may be below 0"),
        (lambda noise: noise.discrete_gaussian(Fraction(1), (2, -1)), "shape is (2, -1);"),
        (lambda noise: noise.bernoulli_exp(Fraction(-1, 2)), "exponent is -0.5; it must be at least 0"),
        (lambda noise: noise.below(0), "bound is 0; it must be at least 1"),
        (lambda noise: noise.coins(Fraction(3, 2), 4), "probability is 3/2; it must lie in [0, 1]"),
        (lambda noise: noise.coins(Fraction(-1, 2), 4), "probability is -1/2; it must lie in [0, 1]"),
        (lambda noise: noise.coins(Fraction(1, 2), -4), "shape is -4;"),
        (lambda noise: noise.gaussian(0.0, 3), "std is 0; it must be above 0"),
        (lambda noise: noise.gaussian(float("nan"), 3), "std is nan; give a finite number"),
        (lambda noise: noise.laplace(float("inf"), 3), "scale is inf; give a finite number"),
        (lambda noise: noise.uniform(-2), "shape is -2;"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(
    source: Callable[[], Noise], draw: Callable[[Noise], object], message: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        draw(source())

    assert message in str(refused.value)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="seed is -1; it must be at least 0"):
        SeededNoise(-1)


@pytest.mark.parametrize("variance", [Fraction(2**104), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**400)])
@pytest.mark.parametrize("count", [5, 1000])
def test_the_smallest_and_the_largest_variances_are_drawn(variance: Fraction, count: int) -> None:
    values = SeededNoise(2).discrete_gaussian(variance, count)

    assert (np.abs(values).max() > 2**51) == (variance > 1)


@pytest.mark.parametrize("scale", [Fraction(2**51), Fraction(1, 1000), Fraction(1, 10**400)])
@pytest.mark.parametrize("count", [5, 1000])
def test_the_smallest_and_the_largest_scales_are_drawn(scale: Fraction, count: int) -> None:
    values = SeededNoise(2).discrete_laplace(scale, count)

    assert (np.abs(values).max() > 2**50) == (scale > 1)


@pytest.mark.parametrize("certain", [0, 1])
def test_certain_coins_fall_one_way(certain: int) -> None:
    assert set(SeededNoise(1).coins(Fraction(certain), 200_000).tolist()) == {bool(certain)}


def test_coins_that_sixteen_bits_leave_open_are_settled_by_the_rest() -> None:
    """With probability 2**-17 only the first 16 bits 0 leave a coin open, and half of those are true."""
    coins = SeededNoise(1).coins(Fraction(1, 2**17), 3_000_000)

    assert 5 <= coins.sum() <= 50


class Constant:
    """A source of one byte, for ever."""

    def __init__(self, byte: bytes) -> None:
        self.byte = byte

    def bytes(self, count: int, /) -> bytes:
        return self.byte * count


@pytest.mark.parametrize(("byte", "end"), [(b"\x00", 2.0**-53), (b"\xff", 1 - 2.0**-53)])
def test_uniform_floats_never_reach_their_ends(byte: bytes, end: float) -> None:
    assert uniform(Constant(byte), 1).tolist() == [end]


def test_a_script_is_handed_out_in_order() -> None:
    noise = ScriptedNoise([3, -2, Fraction(1, 2), 0.25, 1, 0, 4, 1, 0])

    assert noise.discrete_gaussian(Fraction(1), ()).tolist() == 3
    assert noise.discrete_laplace(Fraction(1), 1).tolist() == [-2]
    assert noise.gaussian(1.0, 1).tolist() == [0.5]
    assert noise.uniform(1).tolist() == [0.25]
    assert noise.bernoulli_exp(Fraction(1)) is True
    assert noise.bernoulli_real(lambda bits: (0, 1 << bits)) is False
    assert noise.below(9) == 4
    assert noise.coins(Fraction(1, 2), 2).tolist() == [True, False]


def test_a_script_that_ran_out_says_so() -> None:
    noise = ScriptedNoise([1, 2, 3])
    noise.discrete_gaussian(Fraction(1), 2)

    with pytest.raises(ValueError, match="2 draws were asked for and the script has 1 left"):
        noise.discrete_laplace(Fraction(1), 2)


def test_a_refused_draw_leaves_the_script_as_it_was() -> None:
    noise = ScriptedNoise([5])
    with pytest.raises(InvalidValue):
        noise.below(0)

    assert noise.below(9) == 5


@pytest.mark.parametrize("count", [0, 1, 6, 7, 100])
def test_bytes_asked_in_several_calls_are_as_many_as_in_one(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSSL counts them in 32 bits, and how many are asked for can hang on the data."""
    monkeypatch.setattr("expost.noise.AT_ONCE", 6)

    assert len(SystemNoise().bytes(count)) == count


def test_no_more_bytes_are_asked_at_once_than_openssl_can_count() -> None:
    assert AT_ONCE < 2**31


def test_a_seed_gives_one_stream_of_bytes_however_they_are_asked_for() -> None:
    noise = SeededNoise(1)

    assert noise.bytes(8) + noise.bytes(16) + noise.bytes(8) == SeededNoise(1).bytes(32)


@pytest.mark.parametrize("source", BYTE_SOURCES)
@pytest.mark.parametrize("certain", [0, 1])
def test_a_coin_of_certain_bounds_falls_one_way(source: Callable[[], Noise], certain: int) -> None:
    assert source().bernoulli_real(lambda bits: (certain << bits, certain << bits)) is bool(certain)


def test_floating_draws_are_scaled_by_what_was_asked() -> None:
    assert SeededNoise(1).gaussian(3.0, 9).tolist() == (3.0 * inversion.gaussian(SeededNoise(1), 9)).tolist()
    assert SeededNoise(1).laplace(3.0, 9).tolist() == (3.0 * inversion.laplace(SeededNoise(1), 9)).tolist()


def test_a_coin_that_sixteen_bits_settle_takes_no_more(script: Callable[[bytes], Bytes]) -> None:
    """At one half the first bit does, whatever the others are."""
    source = script(bytes.fromhex("ff7f 0080 0000 ffff"))

    assert SystemNoise.coins(source, Fraction(1, 2), 4).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    "start", [partial(synthesize, schema=adult_schema()), finetune], ids=["synthesize", "finetune"]
)
def test_a_random_state_is_refused_and_told_why(start: Callable[..., object]) -> None:
    with pytest.raises(InvalidValue, match="repeat the noise and subtract it") as refused:
        start(None, accuracy=0.5, random_state=1)

    assert one_sentence(refused.value)
