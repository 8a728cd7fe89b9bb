"""A person with fifty rows is told apart, by all that is counted of a table, no better than is billed.

Somebody knows everybody else's rows and how the person's rows would be weighed, and sees the number of persons, every
column alone, noisy misfits, and pairs on two rungs. The best test accuses where the likelihood ratio is large. By the
bill's μ it finds at most Φ(Φ⁻¹(false alarms) + μ) of the persons. Each comparison goes wrong with probability 1e-6.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from expost.accounting.claim import NOTHING, Budget
from expost.accounting.gaussian import gaussian_mu
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats, Integers, SeededNoise
from expost.private import Neighbours
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.misfits import misfits
from expost.tabular.persons import GRID, Grouped, rows_per_person
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

pytestmark = pytest.mark.statistical

RUNS, FALSE_ALARM, ROWS = 20_000, 1e-6, 50
ALARMS = 0.05
PERSON = Neighbours.ADD_REMOVE_PERSON
DOMAIN = {"ward": 4, "days": 3, "late": 2}
SCHEMA = Schema(
    tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in DOMAIN.items()), True, PERSON, unit="id"
)
ALONE, PAIRS = (("ward",), ("days",), ("late",)), (("ward", "late"), ("days", "late"))
BUDGET = Budget.of(Fraction(1, 2), alpha=20)


def others() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Two hundred persons with one to four rows."""
    draws = np.random.default_rng(2)
    owners = np.repeat(np.arange(200), 1 + np.arange(200) % 4)
    return np.array([draws.integers(0, size, len(owners)) for size in DOMAIN.values()]), owners


def data(rows: np.ndarray[Any, Any] | None) -> Grouped:
    """The others, and maybe the person with these rows."""
    codes, owners = others()
    if rows is not None:
        codes, owners = np.hstack([codes, rows]), np.append(owners, np.full(rows.shape[1], 200))
    return Grouped.of(Table(SCHEMA, dict(zip(DOMAIN, codes.astype(np.uint8), strict=True))), owners)


ATTACKERS: dict[str, Callable[[], np.ndarray[Any, Any]]] = {
    "alike": lambda: np.repeat([[3], [2], [1]], ROWS, axis=1),
    "differing": lambda: np.array([np.arange(ROWS) % size for size in DOMAIN.values()]),
}


def steps(allowance: int) -> list[Statistic[Grouped]]:
    """All that is counted, one step after the other; what the misfits are from was released before."""
    expected: dict[Clique, Integers] = {clique: np.full(DOMAIN[clique[0]] * DOMAIN[clique[1]], 20) for clique in PAIRS}
    pairs = Marginals(DOMAIN, PAIRS, PERSON).weighed(PAIRS, allowance)
    return [
        rows_per_person(PERSON), Marginals(DOMAIN, ALONE, PERSON).statistic, misfits(DOMAIN, expected, PERSON),
        pairs, pairs, Marginals(DOMAIN, (("ward", "days"),), PERSON).weighed(PAIRS, allowance),
    ]  # fmt: skip


def found(attacker: str, allowance: int) -> tuple[int, float]:
    """How many of as many persons are found at the rate of false alarms, and the share that the bill allows."""
    without, within = data(None), data(ATTACKERS[attacker]())
    noise, ratios, bill = SeededNoise(7), np.zeros((2, RUNS)), NOTHING
    for statistic in steps(allowance):
        mechanism = Gaussian(statistic)
        bill = bill + mechanism.promise(BUDGET)
        line = _exact(statistic, within) - _exact(statistic, without)
        variance = float(mechanism.variance(BUDGET) * statistic.spacing**2)
        for side, each in enumerate((without, within)):
            moved = runs_of(statistic, each, noise) - _exact(statistic, without)
            ratios[side] += moved @ line / variance
    mu = gaussian_mu(bill.curve)
    assert mu is not None
    threshold = np.quantile(ratios[0], 1 - ALARMS)
    return int((ratios[1] > threshold).sum()), float(stats.norm.cdf(stats.norm.ppf(ALARMS) + mu))


def runs_of(statistic: Statistic[Grouped], data: Grouped, noise: SeededNoise) -> Floats:
    """As many releases as there are runs, one to a line."""
    cells = np.tile(statistic.evaluate(data), RUNS)
    known: Statistic[Grouped] = Statistic(
        lambda _: cells, cells.shape, statistic.l2_squared, statistic.l1, PERSON, statistic.name, statistic.spacing
    )
    return Gaussian(known).sample(data, BUDGET, Past(), noise).values.reshape(RUNS, -1)


def _exact(statistic: Statistic[Grouped], data: Grouped) -> Floats:
    return statistic.evaluate(data).astype(np.float64) * float(statistic.spacing)


@pytest.mark.parametrize("allowance", [1, 8])
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_a_person_with_fifty_rows_is_found_no_more_often_than_is_billed(attacker: str, allowance: int) -> None:
    count, share = found(attacker, allowance)

    # Alarms by a quantile of as many runs are themselves off by chance: both errors are within six standard errors.
    slack = 6 * (2 * 0.25 / RUNS) ** 0.5
    assert count / RUNS <= share + slack


@pytest.mark.parametrize("allowance", [1, 8])
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_without_the_weights_the_same_person_is_found_more_often(
    attacker: str, allowance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Grouped, "average_steps", lambda self: np.full(len(self.table), GRID))
    monkeypatch.setattr(Grouped, "norm_steps", lambda self, cliques, each=1: np.full(len(self), GRID))

    count, share = found(attacker, allowance)

    assert stats.binom.sf(count - 1, RUNS, share) < FALSE_ALARM
    assert count / RUNS > share + 0.1
