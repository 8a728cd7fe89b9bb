"""The only home of randomness: exact integer noise from a cryptographic generator, and its stand-ins for tests.

The time a draw takes depends on the value drawn (a timing side channel): do not let others time single draws.
"""

import ssl
from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.numerics import Real, non_negative, positive
from expost.sampling import Bytes, envelope, inversion, limits, reference
from expost.sampling.bounds import Bounds, bernoulli_real

Shape: TypeAlias = int | tuple[int, ...]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


AT_ONCE = 2**30
"""Bytes asked of OpenSSL in one call, which counts them in 32 bits."""


class Noise(Protocol):
    """A source of draws, given explicitly wherever a draw happens.

    ``seeded`` is true when somebody could know the draws, so that nothing made with them is private.
    Implemented by SystemNoise, SeededNoise and ScriptedNoise.
    """

    @property
    def seeded(self) -> bool:
        """True when the draws can be repeated by whoever knows the seed."""

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        """Independent integers with P(k) ∝ exp(−k²/(2·variance)), exactly."""

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        """Independent integers with P(k) ∝ exp(−|k|/scale), exactly."""

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        """True with probability exp(−exponent), exactly; exponent ≥ 0."""

    def bernoulli_real(self, bounds: Bounds) -> bool:
        """True with probability p, exactly, where bounds(bits) is (lo, hi) with lo ≤ 2**bits · p ≤ hi."""

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound), exactly."""

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        """Independent coins, each true with the given probability."""

    def key(self) -> bytes:
        """32 secret bytes, for draws that must come out alike whenever they are made again."""

    def gaussian(self, std: float, shape: Shape) -> Floats:
        """Floating-point normal draws: only for callers that accept floating point, and say so."""

    def laplace(self, scale: float, shape: Shape) -> Floats:
        """Floating-point Laplace draws: only for callers that accept floating point, and say so."""

    def uniform(self, shape: Shape) -> Floats:
        """Uniform floats in (0, 1): only for callers that accept floating point."""


def _discrete_gaussian(self: Bytes, variance: Fraction, shape: Shape) -> Integers:
    """Independent integers with P(k) ∝ exp(−k²/(2·variance)), exactly."""
    variance, size = limits.variance(variance), limits.size(shape)
    return envelope.discrete_gaussians(self, variance, size).reshape(shape)


def _discrete_laplace(self: Bytes, scale: Fraction, shape: Shape) -> Integers:
    """Independent integers with P(k) ∝ exp(−|k|/scale), exactly."""
    scale, size = limits.scale(scale), limits.size(shape)
    return envelope.discrete_laplaces(self, scale, size).reshape(shape)


def _bernoulli_exp(self: Bytes, exponent: Fraction) -> bool:
    """True with probability exp(−exponent), exactly; exponent ≥ 0."""
    return reference.bernoulli_exp(self, non_negative(exponent, "exponent"))


def _bernoulli_real(self: Bytes, bounds: Bounds) -> bool:
    """True with probability p, exactly, where bounds(bits) is (lo, hi) with lo ≤ 2**bits · p ≤ hi."""
    return bernoulli_real(self, bounds)


def _below(self: Bytes, bound: int) -> int:
    """A uniform integer in [0, bound), exactly."""
    return reference.below(self, limits.bound(bound))


def _coins(self: Bytes, probability: Fraction, count: int) -> NDArray[np.bool_]:
    """Independent coins, each true with the given probability, exactly: 16 bits settle nearly all of them."""
    probability, count = limits.coin_probability(probability), limits.size(count)
    whole, rest = divmod(probability * 65536, 1)
    prefixes = np.frombuffer(self.bytes(2 * count), "<u2")
    coins = prefixes < whole
    for place in np.flatnonzero(prefixes == whole):
        coins[place] = reference.bernoulli(self, rest)
    return coins


def _key(self: Bytes) -> bytes:
    """32 secret bytes, for draws that must come out alike whenever they are made again."""
    return self.bytes(32)


def _gaussian(self: Bytes, std: float, shape: Shape) -> Floats:
    """Floating-point normal draws: only for callers that accept floating point, and say so."""
    std, size = float(positive(std, "std")), limits.size(shape)
    return (std * inversion.gaussian(self, size)).reshape(shape)


def _laplace(self: Bytes, scale: float, shape: Shape) -> Floats:
    """Floating-point Laplace draws: only for callers that accept floating point, and say so."""
    scale, size = float(positive(scale, "scale")), limits.size(shape)
    return (scale * inversion.laplace(self, size)).reshape(shape)


def _uniform(self: Bytes, shape: Shape) -> Floats:
    """Uniform floats in (0, 1): only for callers that accept floating point."""
    return inversion.uniform(self, limits.size(shape)).reshape(shape)


@final
class SystemNoise:
    """Draws seeded by the operating system's entropy: the only noise that makes a release private.

    The bytes are those of OpenSSL's generator (AES-256 in counter mode, NIST SP 800-90A), which the operating system
    seeds, afresh in a forked process too. Asking the operating system for every byte takes eighteen times as long.
    """

    __slots__ = ()

    seeded: ClassVar[bool] = False
    """Nobody can repeat the draws."""

    def bytes(self, count: int, /) -> bytes:
        """The next ``count`` bytes."""
        return b"".join(ssl.RAND_bytes(min(AT_ONCE, count - start)) for start in range(0, count, AT_ONCE))

    discrete_gaussian, discrete_laplace = _discrete_gaussian, _discrete_laplace
    bernoulli_exp, bernoulli_real, below, coins = _bernoulli_exp, _bernoulli_real, _below, _coins
    key, gaussian, laplace, uniform = _key, _gaussian, _laplace, _uniform


@final
class SeededNoise:
    """The same draws every time, by the same exact samplers: for tests and demonstrations, never private."""

    __slots__ = ("_words",)

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise InvalidValue(f"seed is {seed}; it must be at least 0.")
        self._words = np.random.PCG64(seed)

    seeded: ClassVar[bool] = True
    """Whoever knows the seed knows the draws."""

    def bytes(self, count: int, /) -> bytes:
        """The next ``count`` bytes."""
        return self._words.random_raw(-(-count // 8)).astype("<u8", copy=False).tobytes()[:count]

    discrete_gaussian, discrete_laplace = _discrete_gaussian, _discrete_laplace
    bernoulli_exp, bernoulli_real, below, coins = _bernoulli_exp, _bernoulli_real, _below, _coins
    key, gaussian, laplace, uniform = _key, _gaussian, _laplace, _uniform


@final
class ScriptedNoise:
    """Hands out the given numbers in order, whatever is drawn: for tests that must know every draw."""

    __slots__ = ("_script",)

    def __init__(self, values: Iterable[Real]) -> None:
        self._script = list(values)

    @property
    def seeded(self) -> bool:
        """True: whoever knows the script knows the draws."""
        return True

    def _next(self, shape: Shape) -> list[Real]:
        size, left = limits.size(shape), len(self._script)
        if size > left:
            raise ValueError(f"{size} draws were asked for and the script has {left} left; give it more values.")
        taken, self._script = self._script[:size], self._script[size:]
        return taken

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        """The next values of the script, as integers."""
        limits.variance(variance)
        return np.array(self._next(shape), np.int64).reshape(shape)

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        """The next values of the script, as integers."""
        limits.scale(scale)
        return np.array(self._next(shape), np.int64).reshape(shape)

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        """The next value of the script, as a truth value."""
        non_negative(exponent, "exponent")
        return bool(self._next(1)[0])

    def bernoulli_real(self, bounds: Bounds) -> bool:
        """The next value of the script, as a truth value; ``bounds`` is not asked."""
        return bool(self._next(1)[0])

    def below(self, bound: int) -> int:
        """The next value of the script, as an integer."""
        limits.bound(bound)
        return int(self._next(1)[0])

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        """The next values of the script, as truth values."""
        limits.coin_probability(probability)
        return np.array(self._next(count), np.bool_)

    def key(self) -> bytes:
        """The next value of the script, as bytes."""
        return int(self._next(1)[0]).to_bytes(32)

    def gaussian(self, std: float, shape: Shape) -> Floats:
        """The next values of the script; ``std`` does not scale them."""
        positive(std, "std")
        return np.array(self._next(shape), np.float64).reshape(shape)

    def laplace(self, scale: float, shape: Shape) -> Floats:
        """The next values of the script; ``scale`` does not scale them."""
        positive(scale, "scale")
        return np.array(self._next(shape), np.float64).reshape(shape)

    def uniform(self, shape: Shape) -> Floats:
        """The next values of the script."""
        return np.array(self._next(shape), np.float64).reshape(shape)


def refuse_random_state(given: object) -> None:
    """Refuse what other libraries call a random state: noise that can be repeated can be subtracted."""
    if given is not None:
        raise InvalidValue(
            "random_state would let anybody repeat the noise and subtract it; leave it out, or give "
            "noise=SeededNoise(...) for a rehearsal, which is NOT PRIVATE."
        )
