"""The table that converts the ladder's Rényi ε to (ε, δ), with tighter conversions beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost import FixedOrder, HalfNormal, Ladder, Mixture, PlannedStops, Promise, worst_case_delta
from expost.accounting.convert import union_over_orders
from expost.accounting.curve import Linear
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.textbook import zcdp_epsilon
from expost.accounting.worst_case import worst_case_tail
from paper.engine.job import Job
from paper.exact.ladders import exact_claims
from paper.show.conversions import FIGURES, TITLE, Column, Decade, Result, draw, text
from paper.summaries.compare import compare

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
PRINTED = ("0.615943", "0.627488", "0.652359", "0.705943", "0.821387", "1.070102", "1.605943")
"""The paper's column, for the rungs of the full settings."""


@final
@dataclass(frozen=True)
class Settings:
    """The paper's ladder and δ; the orders of our mixture; the decades on which the minimum over orders is tried."""

    alpha: int = 20
    low: float = 0.01
    high: float = 1.0
    rungs: int = 7
    delta: float = 1e-5
    orders: tuple[float, ...] = tuple(2.0**power for power in range(1, 9))
    decades: tuple[int, ...] = (1, 2, 4, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20)
    decades_delta: float = 0.05


FULL, QUICK = Settings(), Settings(decades=(1, 9))


def run(job: Job[Settings]) -> Result:
    """Every conversion on the ladder, and its worst case."""
    chosen = job.settings
    levels = Ladder.geometric(chosen.low, chosen.high, chosen.rungs, alpha=chosen.alpha).levels
    rhos = [float(level / chosen.alpha) for level in levels]
    columns = [
        Column(
            name=name,
            notion=notion,
            epsilons=list(epsilons),
            tail=worst_case_tail(rhos, epsilons),
            delta=worst_case_delta(rhos, epsilons),
        )
        for name, notion, epsilons in _columns([level / chosen.alpha for level in levels], chosen)
    ]
    return Result(
        alpha=chosen.alpha,
        delta=chosen.delta,
        levels=[float(level) for level in levels],
        compared=[compare(*pair) for pair in zip(PRINTED, columns[0]["epsilons"], strict=True)],
        columns=columns,
        decades_delta=chosen.decades_delta,
        decades=[_decade(count, chosen.decades_delta) for count in chosen.decades],
    )


def _columns(rhos: Sequence[Fraction], chosen: Settings) -> list[tuple[str, str, Sequence[float]]]:
    """(name, notion, ε on each rung) of every conversion, the paper's first."""
    delta = chosen.delta
    promises = [Promise(Linear(Fraction(0), rho, rho)) for rho in rhos]
    fixed, mixture = FixedOrder.at(chosen.alpha, delta), Mixture.even(chosen.orders, delta)
    half_normal = HalfNormal.tuned(rhos[0], delta)
    stops = PlannedStops(tuple(promises), delta)

    def union(each: Promise) -> float:
        return union_over_orders(mixture.orders, [each.at(a) for a in mixture.orders], mixture.weights, delta)

    rules: list[tuple[str, str, Callable[[Promise], float]]] = [
        ("fixed order, Lemma 7", "both", fixed.probabilistic),
        ("fixed order, CKS", "approximate", fixed.epsilon),
        ("union over orders", "both", union),
        ("mixture, probabilistic", "both", mixture.probabilistic),
        ("mixture", "approximate", mixture.epsilon),
        ("half-normal, probabilistic", "both", half_normal.probabilistic),
        ("half-normal", "approximate", half_normal.epsilon),
        ("planned stops", "approximate", stops.epsilon),
    ]
    found: list[tuple[str, str, Sequence[float]]] = [
        (name, notion, [rule(each) for each in promises]) for name, notion, rule in rules
    ]
    plain = [float(rho) for rho in rhos]
    return [
        *found,
        ("exact worst case", "approximate", exact_claims(plain, delta)),
        ("minimum over orders", "none", [zcdp_epsilon(rho, delta) for rho in rhos]),
        ("exact Gaussian, δ not split", "none", [gaussian_epsilon(rho, delta) for rho in rhos]),
    ]


def _decade(rungs: int, delta: float) -> Decade:
    rhos = [10.0**power for power in range(rungs)]
    claims = [zcdp_epsilon(rho, delta) for rho in rhos]
    return Decade(rungs=rungs, tail=worst_case_tail(rhos, claims), delta=worst_case_delta(rhos, claims))
