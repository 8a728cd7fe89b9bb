"""Gaussian releases one after the other: claims whose worst case is exactly δ, and a run written out as a table."""

import math
from collections.abc import Sequence
from itertools import pairwise

from scipy.special import ndtr

from expost import FiniteMechanism, worst_case_delta
from expost.accounting.gaussian import gaussian_epsilon
from expost.verify import Outcome, compose

HALVINGS = 40


def exact_claims(rhos: Sequence[float], delta: float) -> list[float]:
    """The exact Gaussian ε of each rung, all at one smaller δ', the largest for which no stopping rule exceeds δ.

    δ' lies between δ/K, where a union over the K rungs is enough, and δ.
    """
    low, high = math.log(delta / len(rhos)), math.log(delta)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if worst_case_delta(rhos, _claims(rhos, middle)) <= delta:
            low = middle
        else:
            high = middle
    return _claims(rhos, low)


def _claims(rhos: Sequence[float], log_share: float) -> list[float]:
    return [gaussian_epsilon(rho, math.exp(log_share)) for rho in rhos]


def two_steps(rhos: tuple[float, float], cells: int, reach: float, price: float) -> FiniteMechanism[str, int]:
    """A Brownian run that takes its second step only if the first came out low, each step claiming price·ρ.

    Outputs are rounded to cells up to so many deviations on either side; what lies beyond falls into the outermost.
    """
    nothing: FiniteMechanism[str, int] = FiniteMechanism({x: {(0, 0.0): 1.0} for x in ("X", "X'")})
    first, more = (_release(rho, cells, reach, price) for rho in (rhos[0], rhos[1] - rhos[0]))
    both = compose(first, lambda y, _: more if y < cells // 2 else nothing)
    numbers = {outcome: (place, outcome[1]) for place, outcome in enumerate(both.outcomes)}
    return FiniteMechanism({x: {numbers[outcome]: p for outcome, p in row.items()} for x, row in both.table.items()})


def _release(rho: float, cells: int, reach: float, price: float) -> FiniteMechanism[str, int]:
    def law(mean: float) -> dict[Outcome[int], float]:
        edges = [-math.inf, *(reach * (2 * cell / cells - 1) - mean for cell in range(1, cells)), math.inf]
        # Upper tails are differences of lower tails, so that their ratios keep all digits.
        sides = [(a, b) if a < 0 else (-b, -a) for a, b in pairwise(edges)]
        return {(cell, price * rho): float(ndtr(b) - ndtr(a)) for cell, (a, b) in enumerate(sides)}

    return FiniteMechanism({"X": law(math.sqrt(2 * rho)), "X'": law(0.0)})
