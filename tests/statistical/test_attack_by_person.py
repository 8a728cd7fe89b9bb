"""The best attack on a person with fifty rows: no stronger than the bill of training by person, and as strong as it.

The likelihood-ratio test between a release with the person and one without is along what the person adds. For Gaussian
noise that costs ρ its power at a false alarm rate of a is Φ(Φ⁻¹(a) + μ) at most, μ = √(2ρ). Each test rejects a correct
release with probability 1e-6 (Hoeffding); seeds are fixed. Without the clip of a person the same attack never fails.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from expost.accounting.claim import Budget
from expost.accounting.descent import Descent
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Noise, SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.training.head.centre import RADIUS, Centre
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head
from expost.training.head.moments import Moments, SecondMoments
from expost.training.head.optimizer import Momentum
from tests.ahead import NoiseAhead

RUNS, ROWS, WIDTH, CLASSES = 2000, 50, 2, 2
SLACK = math.sqrt(math.log(2e6) / (2 * RUNS))
MU = 1.0
PERSON = Neighbours.ADD_REMOVE_PERSON
CENTRE = Centre(np.zeros(WIDTH), 10.0)
OTHERS = np.array([[0.1, 0.2], [-0.3, 0.1], [0.2, -0.2]], np.float32)
WAYS = ["class sums", "second moments", "a gradient step"]
pytestmark = pytest.mark.statistical


def records(*, attacked: bool, clipped: bool = True) -> Labelled:
    """Three persons with a row each, and perhaps one with fifty, all of them as far out as they may be."""
    rows = ROWS if attacked else 0
    features = np.concatenate([OTHERS, np.tile(np.array([RADIUS, 0.0], np.float32), (rows, 1))])
    owners = [0, 1, 2, *([3] * rows if clipped else range(3, 3 + rows))]
    return Labelled(features, np.array([0, 1, 0, *[1] * rows])).of_persons(owners, SeededNoise(1))


def release(way: str, data: Labelled, noise: Noise) -> Floats:
    """One release that costs μ²/2."""
    if way == "a gradient step":
        step = Descent(Fraction(1), 1 / Fraction(MU))
        head = Head(
            width=WIDTH, classes=CLASSES, descent=step, clip=0.5, optimizer=Momentum(1.0, 0.0), neighbours=PERSON
        )
        return head.train(data, 1, None, noise).weights.ravel()
    moments = Moments(WIDTH, CLASSES) if way == "class sums" else SecondMoments(Moments(WIDTH, CLASSES))
    mechanism = Gaussian(moments.statistic(CENTRE, PERSON))
    return mechanism.sample(data, Budget(Fraction(MU) ** 2, Fraction(2)), Past(), noise).values.ravel()


@cache
def releases(way: str, *, attacked: bool, clipped: bool = True) -> Floats:
    """As many as there are runs."""
    data, noise = records(attacked=attacked, clipped=clipped), NoiseAhead(2 * attacked + clipped)
    return np.stack([release(way, data, noise) for _ in range(RUNS)])


def rates(way: str, *, clipped: bool) -> tuple[float, float]:
    """How often the attack is right about a person who is there, and wrong about one who is not."""
    without, with_it = releases(way, attacked=False), releases(way, attacked=True, clipped=clipped)
    towards = np.mean(with_it, axis=0) - np.mean(without, axis=0)
    middle = (np.mean(with_it, axis=0) + np.mean(without, axis=0)) @ towards / 2
    return float(np.mean(with_it @ towards > middle)), float(np.mean(without @ towards > middle))


@pytest.mark.parametrize("way", WAYS)
def test_the_best_attack_on_fifty_rows_is_as_strong_as_the_bill_says_and_no_stronger(way: str) -> None:
    found, alarms = rates(way, clipped=True)

    assert found <= stats.norm.cdf(stats.norm.ppf(alarms + SLACK) + MU) + SLACK
    assert found >= stats.norm.cdf(stats.norm.ppf(alarms) + MU) - 3 * SLACK


@pytest.mark.parametrize("way", WAYS)
def test_without_the_clip_of_a_person_the_attack_exceeds_the_bill(way: str) -> None:
    """The negative twin."""
    found, alarms = rates(way, clipped=False)

    assert found > stats.norm.cdf(stats.norm.ppf(min(1.0, alarms + SLACK)) + MU) + SLACK
