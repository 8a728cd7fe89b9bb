"""The bounds of the Brownian mechanism: each at its best for one noise level, and tuned once for all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from expost import FixedOrder, HalfNormal, PlannedStops, Promise, worst_case_delta
from expost.accounting import boundaries as edge
from expost.accounting.convert import best_linear_order, lemma_7_offset
from expost.accounting.curve import Linear
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.textbook import zcdp_epsilon
from expost.accounting.worst_case import worst_case_tail
from paper.engine.job import Job
from paper.exact.ladders import exact_claims
from paper.show.brownian import FIGURES, TITLE, Panel, Result, Worst, draw, text

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
Bound = Callable[[float], float]


@final
@dataclass(frozen=True)
class Settings:
    """Sensitivity 1; noise levels of the tables and of the curves; the levels at which bounds are tuned once.

    The paper prints neither its δ nor its noise levels, so these are ours.
    """

    delta: float = 1e-5
    sigmas: tuple[float, ...] = (0.5, 1, 2, 5, 10, 20, 100)
    stops: tuple[float, ...] = (1, 2, 5, 10, 20)
    tuned: tuple[float, ...] = (1, 10)
    points: int = 61
    realised_delta: float = 0.1


FULL, QUICK = Settings(), Settings(points=7)


def run(job: Job[Settings]) -> Result:
    """Both panels, and what stopping rules make of each bound."""
    chosen = job.settings
    tuned = {sigma: _tuned(sigma, chosen.delta) for sigma in chosen.tuned}
    curve = [float(sigma) for sigma in np.geomspace(chosen.sigmas[0], chosen.sigmas[-1], chosen.points)]
    span = [float(sigma) for sigma in np.geomspace(chosen.stops[0], chosen.stops[-1], chosen.points)]
    planned = _planned(chosen.stops, chosen.delta)
    claimed = {**_panel(tuned[chosen.tuned[-1]], chosen.stops)["lines"], **planned["lines"]}
    return Result(
        delta=chosen.delta,
        optimised=_panel(_optimised(chosen.delta), chosen.sigmas),
        optimised_curve=_panel(_optimised(chosen.delta), curve),
        tuned_at=list(chosen.tuned),
        tuned=[_panel(bounds, chosen.stops) for bounds in tuned.values()],
        tuned_curve=_panel(tuned[chosen.tuned[-1]], span),
        planned=planned,
        orders=[edge.order_of_linear(edge.tune_linear(sigma**2, chosen.delta)[1], 1) for sigma in chosen.sigmas],
        worst=[_worst(name, chosen.stops, claims) for name, claims in claimed.items()],
        realised_delta=chosen.realised_delta,
        realised_tail=_realised(chosen.realised_delta),
    )


def _promise(sigma: float) -> Promise:
    """What Gaussian noise of this standard deviation costs."""
    rho = 1 / (2 * Fraction(sigma) ** 2)
    return Promise(Linear(Fraction(0), rho, rho))


def _rho(sigma: float) -> float:
    return float(1 / (2 * Fraction(sigma) ** 2))


def _optimised(delta: float) -> dict[str, Bound]:
    """Each bound with its parameters chosen for the very noise level: for comparison, valid only if that is fixed."""

    def renyi(sigma: float) -> float:
        order = edge.order_of_linear(edge.tune_linear(sigma**2, delta)[1], 1)
        return order * _rho(sigma) + lemma_7_offset(order, delta)

    return {
        "linear": lambda s: edge.linear_boundary(s**2, *edge.tune_linear(s**2, delta), 1),
        "RDP + Lemma 7": renyi,
        "mixture": lambda s: edge.mixture_boundary(s**2, edge.tune_mixture(s**2, delta), delta, 1),
        "half-normal": lambda s: HalfNormal.tuned(_rho(s), delta).epsilon(_promise(s)),
        "RDP + CKS": lambda s: best_linear_order(0, _rho(s), delta)[0],
        "one release, exact": lambda s: gaussian_epsilon(_rho(s), delta),
    }


def _tuned(sigma: float, delta: float) -> dict[str, Bound]:
    """Each bound with its parameters fixed for one noise level, for use at every other: valid for every stop."""
    slopes, mixing = edge.tune_linear(sigma**2, delta), edge.tune_mixture(sigma**2, delta)
    inverted = edge.tune_inverted_mixture(sigma**2, delta)
    order = edge.order_of_linear(slopes[1], 1)
    half_normal = HalfNormal.tuned(_rho(sigma), delta)
    fixed = FixedOrder.tuned(_promise(sigma), delta)
    return {
        "linear": lambda s: edge.linear_boundary(s**2, *slopes, 1),
        "RDP + Lemma 7": lambda s: order * _rho(s) + lemma_7_offset(order, delta),
        "mixture": lambda s: edge.mixture_boundary(s**2, mixing, delta, 1),
        "time-inverted mixture": lambda s: edge.inverted_mixture_boundary(s**2, inverted, delta, 1),
        "half-normal": lambda s: half_normal.epsilon(_promise(s)),
        "RDP + CKS": lambda s: fixed.epsilon(_promise(s)),
        "one release, exact": lambda s: gaussian_epsilon(_rho(s), delta),
    }


def _planned(sigmas: Sequence[float], delta: float) -> Panel:
    """What is known to be valid once the noise levels themselves are planned."""
    stops = PlannedStops(tuple(_promise(sigma) for sigma in sigmas), delta)
    exact = exact_claims([_rho(sigma) for sigma in reversed(sigmas)], delta)
    lines = {"planned stops": [float(stop.epsilon) for stop in stops.table], "exact worst case": exact[::-1]}
    return Panel(sigmas=list(sigmas), lines=lines)


def _panel(bounds: dict[str, Bound], sigmas: Sequence[float]) -> Panel:
    lines = {name: [float(bound(sigma)) for sigma in sigmas] for name, bound in bounds.items()}
    return Panel(sigmas=list(sigmas), lines=lines)


def _worst(name: str, sigmas: Sequence[float], claims: Sequence[float]) -> Worst:
    """The worst δ of both notions for a run from the most noise to the least."""
    ladder, stated = [_rho(sigma) for sigma in reversed(sigmas)], claims[::-1]
    return Worst(name=name, tail=worst_case_tail(ladder, stated), delta=worst_case_delta(ladder, stated))


def _realised(delta: float) -> float:
    """The worst case of the linear bound optimised at the realised noise, on rungs a factor √10 apart."""
    ladder = [10 ** (half / 2) for half in range(-8, 9)]
    return worst_case_tail(ladder, [zcdp_epsilon(rho, delta) for rho in ladder])
