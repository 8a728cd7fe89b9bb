"""Noise that coarsens measurements, so that all runs of an answer can be enumerated."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from expost.jobs.asking.tallies import PER_ROW
from expost.noise import Floats, Integers, Shape
from expost.sampling.bounds import Bounds
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from tests.unit.examples import ADD

RECORDS, DELTA = 10, 0.05
CUTS = np.array([-math.inf, -0.5, 0.6, math.inf])
TOLD = (-1.1, 0.05, 1.3)
"""Where the intervals end and what stands for each, in standard deviations about a public centre."""
SCHEMA = Schema((Integer("v", (0, 1), Missing.FALLBACK),), True, ADD)


@dataclass
class Coarsened:
    """Noise that takes a measurement of so many rows to what stands for its interval, along a path of intervals."""

    rows: int
    path: list[int]
    used: int = 0
    weight: float = 1.0
    variances: list[Fraction] = field(default_factory=list)

    @property
    def seeded(self) -> bool:
        return True

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        assert shape == (1,)
        if self.used == len(self.path):
            self.path.append(0)
        std, centre, true = math.sqrt(variance), RECORDS * PER_ROW, self.rows * PER_ROW
        chances = np.diff(ndtr(CUTS + (centre - true) / std))
        self.weight *= float(chances[self.path[self.used]])
        told = centre + round(TOLD[self.path[self.used]] * std)
        self.used += 1
        self.variances.append(variance)
        return np.array([told - true], dtype=np.int64)

    def discrete_laplace(self, scale: Fraction, shape: Shape) -> Integers:
        raise AssertionError("only Gaussian noise is enumerated")

    def bernoulli_exp(self, exponent: Fraction) -> bool:
        raise AssertionError("only Gaussian noise is enumerated")

    def bernoulli_real(self, bounds: Bounds) -> bool:
        raise AssertionError("only Gaussian noise is enumerated")

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        raise AssertionError("only Gaussian noise is enumerated")

    def below(self, bound: int) -> int:
        raise AssertionError("only Gaussian noise is enumerated")

    def key(self) -> bytes:
        raise AssertionError("only Gaussian noise is enumerated")

    def gaussian(self, std: float, shape: Shape) -> Floats:
        raise AssertionError("only Gaussian noise is enumerated")

    def laplace(self, scale: float, shape: Shape) -> Floats:
        raise AssertionError("only Gaussian noise is enumerated")

    def uniform(self, shape: Shape) -> Floats:
        raise AssertionError("only Gaussian noise is enumerated")
