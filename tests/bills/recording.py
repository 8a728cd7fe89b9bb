"""Noise that writes down what is asked of it, and the costs that follow from what was asked by the theorems alone."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias, final

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from expost.accounting.claim import Spent
from expost.accounting.curve import Linear, Tabulated
from expost.mechanisms.laplace_path import Kernel, Values
from expost.noise import Floats, Integers, Noise, Shape
from expost.sampling.bounds import Bounds

Kind: TypeAlias = Literal[
    "discrete_gaussian", "discrete_laplace", "bernoulli_exp", "bernoulli_real", "below", "coins", "gaussian", "laplace",
    "uniform",
]  # fmt: skip

BITS = 80
"""To how many bits a probability is asked for that is given as a function."""
REACH = 400
"""How far out a law on the integers is summed: beyond, it is below 1e−30 at the rates used here."""
ROUNDING = 1e-9
"""How far a bill in floating point may lie above the true cost; half the noise doubles it at least."""


class Draw(NamedTuple):
    """One request: what kind of noise, with which parameter, and how much of it."""

    kind: Kind
    parameter: Fraction | float | int
    shape: Shape


@final
@dataclass
class RecordingNoise:
    """Hands out the draws of another noise, and keeps every request in ``asked``."""

    source: Noise
    asked: list[Draw] = field(default_factory=list)

    @property
    def seeded(self) -> bool:
        return self.source.seeded

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        self.asked.append(Draw("discrete_gaussian", variance, shape))
        return self.source.discrete_gaussian(variance, shape)

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        self.asked.append(Draw("discrete_laplace", scale, shape))
        return self.source.discrete_laplace(scale, shape)

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        self.asked.append(Draw("bernoulli_exp", exponent, ()))
        return self.source.bernoulli_exp(exponent)

    def bernoulli_real(self, bounds: Bounds) -> bool:
        self.asked.append(Draw("bernoulli_real", Fraction(sum(bounds(BITS)), 2 << BITS), ()))
        return self.source.bernoulli_real(bounds)

    def below(self, bound: int) -> int:
        self.asked.append(Draw("below", bound, ()))
        return self.source.below(bound)

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        self.asked.append(Draw("coins", probability, count))
        return self.source.coins(probability, count)

    def key(self) -> bytes:
        return self.source.key()

    def gaussian(self, std: float, shape: Shape) -> Floats:
        self.asked.append(Draw("gaussian", std, shape))
        return self.source.gaussian(std, shape)

    def laplace(self, scale: float, shape: Shape) -> Floats:
        self.asked.append(Draw("laplace", scale, shape))
        return self.source.laplace(scale, shape)

    def uniform(self, shape: Shape) -> Floats:
        self.asked.append(Draw("uniform", 1, shape))
        return self.source.uniform(shape)

    def parameters(self, kind: Kind) -> list[Fraction]:
        """The parameters of all requests of one kind, in order; a float means the binary fraction it stores."""
        return [Fraction(draw.parameter) for draw in self.asked if draw.kind == kind]


@final
@dataclass
class RecordingKernel:
    """Follows the path of another kernel, and keeps which way it was sent and between which rates."""

    kernel: Kernel
    ways: list[str] = field(default_factory=list)
    rates: list[Fraction] = field(default_factory=list)

    @property
    def floating(self) -> bool:
        return self.kernel.floating

    def start(self, rate: Fraction, shape: tuple[int, ...], noise: Noise) -> Values:
        self._keep("start", rate)
        return self.kernel.start(rate, shape, noise)

    def rise(self, fine: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        self._keep("rise", low, high)
        return self.kernel.rise(fine, low, high, noise)

    def descend(self, coarse: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        self._keep("descend", low, high)
        return self.kernel.descend(coarse, low, high, noise)

    def _keep(self, way: str, *rates: Fraction) -> None:
        self.ways.append(way)
        self.rates += rates


def integer_gaussian_cost(variance: Fraction, l2_squared: Fraction | int) -> Linear:
    """Integer noise N_Z(0, σ²): the curve αΔ²/(2σ²), and the Gaussian profile at Δ²/(2(σ² − 3)) where σ² > 4."""
    reach = Fraction(l2_squared)
    return Linear(Fraction(0), reach / (2 * variance), reach / (2 * (variance - 3)) if variance > 4 else None)


def pure_cost(epsilon: Fraction, alpha: float) -> float:
    """The largest divergence of order α that two ε-indistinguishable laws can have, in high precision."""
    with mp.workdps(40):
        e, a = mp.mpf(epsilon.numerator) / epsilon.denominator, mp.mpf(alpha)
        return float(mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1))


def sampled_cost(rate: Fraction, multiplier: mp.mpf, alpha: int) -> float:
    """One step of the Poisson-sampled Gaussian at a whole order: the binomial sum in high precision."""
    with mp.workdps(40):
        q = mp.mpf(rate.numerator) / rate.denominator
        terms = (
            mp.binomial(alpha, k) * (1 - q) ** (alpha - k) * q**k * mp.exp((k * k - k) / (2 * multiplier**2))
            for k in range(alpha + 1)
        )
        return float(mp.log(mp.fsum(terms)) / (alpha - 1))


def two_sided(rate: mp.mpf, k: int) -> mp.mpf:
    """P(k) of integer Laplace noise: ∝ exp(−rate·|k|)."""
    return mp.tanh(rate / 2) * mp.exp(-rate * abs(k))


def rise_chance(low: Fraction, high: Fraction) -> float:
    """The chance π that noise of the high rate, made into noise of the low one, stays: P_low(0) = π·P_high(0) + …

    With probability 1 − π fresh noise of the low rate is added, so the generating functions give π at any point; here
    at −1, where the sum over (−1)^k P(k) is tanh(rate/2)².
    """
    with mp.workdps(40):
        a, b = (mp.tanh(mp.mpf(rate.numerator) / rate.denominator / 2) ** 2 for rate in (low, high))
        return float((a / b - a) / (1 - a))


def descent_chances(value: int, low: Fraction, high: Fraction) -> list[float]:
    """The chances to stay, to cross zero and to fall to [0, value], each given that it is none before.

    From the joint law alone: noise k of the high rate, then value given k, over the law of value at the low rate.
    """
    with mp.workdps(40):
        a, b = (mp.mpf(rate.numerator) / rate.denominator for rate in (low, high))
        pi, size = mp.mpf(rise_chance(low, high)), abs(value)

        def fine(k: int) -> mp.mpf:
            return two_sided(b, k) * (1 - pi) * two_sided(a, size - k) / two_sided(a, size)

        stay = pi * two_sided(b, size) / two_sided(a, size)
        cross, fall = (mp.fsum(map(fine, places)) for places in (range(-REACH, 0), range(size + 1)))
        return [float(stay), float(cross / (1 - stay)), float(fall / (1 - stay - cross))]


def is_pure(spent: Spent, epsilon: Fraction) -> bool:
    """Whether the bill is the curve of an ε-DP step: never below it, and above it by no more than rounding."""
    curve = spent.curve
    assert isinstance(curve, Tabulated)
    costs = {alpha: pure_cost(epsilon, alpha) for alpha in (1.5, 2.0, 20.0, 1024.0)}
    return all(cost <= curve.at(alpha) <= cost * (1 + ROUNDING) for alpha, cost in costs.items())
