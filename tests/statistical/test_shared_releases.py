"""What a coalition of analysts saw of a shared release has the law of one Brownian path, measured on the ledger.

The path gives the views f + B_T of variances T the covariances min(S, T): the coarser of two is the finer and noise
that tells nothing more. One release of many cells is as many draws. Every test rejects a correct release with
probability 1e-6 at most; the seed is fixed.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from typing import final

import numpy as np
import pytest

from expost.ledgers import SharedRelease, init_ledger, shared, zcdp_terms
from expost.ledgers.views import View
from expost.mechanisms.brownian import Estimate
from expost.noise import Floats, Integers, Noise, SeededNoise, Shape, SystemNoise
from expost.private import Neighbours
from expost.statistic import histogram

pytestmark = pytest.mark.statistical

CELLS = 100_000
LEVELS = [Fraction(1, n) for n in (32, 8, 128, 16, 64)]
"""As they are asked for: measured, refined, beyond the coarsest, and between two others twice."""
BOUND = 5.6
"""Standard errors: fifteen two-sided tests reject a correct release with probability 3.2e-7 in all."""
Way = Callable[[list[View], Fraction, Fraction, Noise], View]


@final
class Repeated:
    """The system's noise with bytes that are the same every time, so that the test is."""

    seeded = False

    def __init__(self, seed: int, *, scale: float = 1.0) -> None:
        self._words, self._scale = SeededNoise(seed), scale

    def __getattr__(self, name: str) -> object:
        return getattr(self._words, name)

    def gaussian(self, std: float, shape: Shape) -> Floats:
        """What views that are not measured are drawn with."""
        return self._words.gaussian(self._scale * std, shape)


def farthest(noise: Noise, path: Path) -> float:
    """How far the covariances of what five analysts saw are from those of the path, in standard errors."""
    data: Integers = np.arange(CELLS)
    cells = histogram(lambda codes: codes, CELLS, Neighbours.ADD_REMOVE, name="cells")
    with init_ledger(path / "ledger.db", "visits", zcdp_terms(1)) as book:
        release = SharedRelease(book, "visits", "by cell", cells, data)
        tokens = [book.add_analyst("visits", f"analyst {number}", 1) for number in range(len(LEVELS))]
        views = [release.at(level, noise=noise, token=token) for level, token in zip(LEVELS, tokens, strict=True)]
    variances = [float(1 / (2 * level)) for level in LEVELS]
    errors = [view.estimate.values - 1 for view in views]
    found = list[float]()
    for one, other in combinations_with_replacement(range(len(LEVELS)), 2):
        expected = min(variances[one], variances[other])
        spread = math.sqrt((variances[one] * variances[other] + expected**2) / CELLS)
        found.append(abs(float(np.mean(errors[one] * errors[other])) - expected) / spread)
    return max(found)


@contextmanager
def drawn(way: Way, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Views that are not measured are drawn in another way."""
    with monkeypatch.context() as changed:
        changed.setattr(shared, "along_path", way)
        yield


def apart(views: list[View], level: Fraction, l2_squared: Fraction, noise: Noise) -> View:
    """From the finest and fresh noise alone, so that each view has its law, and two of them tell more than one."""
    finest, variance = views[-1].estimate, l2_squared / (2 * level)
    std = float(variance - 1 / finest.precision) ** 0.5
    return View(level, Estimate(finest.values + noise.gaussian(std, finest.values.shape), 1 / variance))


def test_what_a_coalition_saw_has_the_joint_law_of_the_path(tmp_path: Path) -> None:
    assert farthest(Repeated(1), tmp_path) < BOUND  # type: ignore[arg-type]  # the rest of it is passed on


def test_views_that_are_drawn_apart_would_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin, by which a group that pools its views would learn more than its finest tells."""
    with drawn(apart, monkeypatch):
        assert farthest(Repeated(1), tmp_path) > 2 * BOUND  # type: ignore[arg-type]  # as above


def test_noise_of_a_scale_that_is_five_percent_wrong_would_be_found_out(tmp_path: Path) -> None:
    assert farthest(Repeated(1, scale=1.05), tmp_path) > BOUND  # type: ignore[arg-type]  # as above


def test_the_noise_of_the_test_is_that_of_the_system_but_for_its_bytes() -> None:
    assert {name for name in vars(SystemNoise) if not name.startswith("_")} <= {*dir(SeededNoise)}
