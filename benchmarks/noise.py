"""Exact discrete Gaussian noise beside OpenDP's exact sampler and numpy's floating-point normal.

Ours draws from the operating system's entropy. OpenDP is timed on fewer values, because its time per value does
not depend on how many there are. Ratios compare a million values: OpenDP's time over ours, ours over numpy's.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from benchmarks.harness import Progress, seconds
from expost.noise import SystemNoise
from expost.sampling.table import Law, extent, tabulate

MILLION = 10**6
OPENDP_VALUES = 10**5
SIGMAS = {"sigma10": 10, "sigma1000": 1000, "sigma1e5": 10**5, "sigma1e7": 10**7}
SHORTER = {"n1e3": 10**3, "n1e5": 10**5}


def run(progress: Progress) -> dict[str, float]:
    """Values a second, set-up times, and the two ratios of each scale."""
    figures: dict[str, float] = {}
    for name, sigma in SIGMAS.items():
        progress(f"short vectors, {name}")
        for length, count in SHORTER.items():
            figures[f"noise.rate.{name}.{length}"] = count / seconds(_ours(sigma, count), repeats=15)[0]
        progress(f"a million values beside numpy's float normal, {name}")
        ours, floating = seconds(_ours(sigma, MILLION), _numpy(sigma), repeats=15)
        progress(f"OpenDP's exact discrete Gaussian, {name}")
        opendp = seconds(_opendp(sigma), repeats=3)[0] * (MILLION / OPENDP_VALUES)
        figures[f"noise.rate.{name}.n1e6"] = MILLION / ours
        figures[f"noise.opendp_rate.{name}"] = MILLION / opendp
        figures[f"noise.float_rate.{name}"] = MILLION / floating
        figures[f"noise.opendp_ratio.{name}"] = opendp / ours
        figures[f"noise.float_ratio.{name}"] = ours / floating
        figures[f"noise.setup_ms.{name}"] = 1000 * seconds(_setup(sigma), repeats=7)[0]
    return figures


def _ours(sigma: int, count: int) -> Callable[[], object]:
    noise, variance = SystemNoise(), Fraction(sigma**2)
    return lambda: noise.discrete_gaussian(variance, count)


def _numpy(sigma: int) -> Callable[[], object]:
    generator = np.random.default_rng()
    return lambda: generator.normal(0.0, sigma, MILLION)


def _opendp(sigma: int) -> Callable[[], object]:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    measurement, zeros = dp.m.make_gaussian(*space, scale=float(sigma)), [0] * OPENDP_VALUES
    return lambda: measurement(zeros)


def _setup(sigma: int) -> Callable[[], object]:
    """Building the table that the first million values of a scale need; later ones find it in the cache."""
    law = Law(Fraction(1, 2 * sigma**2), Fraction(0))

    def build() -> object:
        tabulate.cache_clear()
        return tabulate(law, *extent(law, MILLION))

    return build
