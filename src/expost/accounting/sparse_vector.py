"""The sparse vector technique with Gaussian threshold and Laplace query noise: its curve and calibration."""

import math
from dataclasses import dataclass
from typing import final

from expost.accounting.convert import ROUNDING
from expost.numerics import Real, order, positive, up


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """Noise for queries of sensitivity 1: threshold std σ₁, query std σ₂ = √2·b, and their curve ξ + ρα."""

    sigma_1: float
    sigma_2: float
    b: float
    xi: float
    rho: float
    share: float
    """σ₁²/(σ₁²+σ₂²), the threshold's share of the variance."""


def sparse_vector_cost(sigma_1: Real, b: Real, l1: Real, monotone: bool) -> tuple[float, float]:
    """(ξ, ρ) = (2Δ/b, Δ²/(2σ₁²)) of one ⊤ after any number of ⊥; ξ is Δ/b when the queries are monotone.

    Add the threshold noise z to the output and compare z with z−Δ: the ⊥'s only get likelier, the ⊤ sees its
    Laplace noise shifted by at most 2Δ (Δ if all queries move the same way), and z costs its Gaussian
    divergence (Zhu and Wang 2020). If no ⊤ came only ρ is spent.

    Implements: sparse vector cost.
    """
    reach, shifts = positive(l1, "l1"), 1 if monotone else 2
    xi = shifts * reach / positive(b, "b")
    return up(xi), up(reach**2 / (2 * positive(sigma_1, "sigma_1") ** 2))


def calibrate_sparse_vector(alpha: Real, epsilon: Real, monotone: bool) -> Calibration:
    """The noise with the smallest σ₁²+σ₂² whose cost ξ + αρ is at most ε, for queries of sensitivity 1.

    With r = σ₂/σ₁ and c = 2√2 (√2 if monotone) the budget reads εσ₁² − (c/r)σ₁ − α/2 = 0, and the variance is
    least where r²√(c²+2αεr²) = c(1+r²); the left side divided by 1+r² rises, so the root is unique.

    Implements: sparse vector calibration.
    """
    level, budget = float(order(alpha)), float(positive(epsilon, "epsilon"))
    constant = math.sqrt(2) if monotone else 2 * math.sqrt(2)
    low, high = -300.0, 300.0  # ln r
    while low < (middle := (low + high) / 2) < high:
        ratio = math.exp(middle)
        steep = math.hypot(constant, math.sqrt(2 * level * budget) * ratio)
        if ratio / (ratio + 1 / ratio) * steep < constant:
            low = middle
        else:
            high = middle
    ratio = math.exp(high)
    pull = constant / ratio
    # Noise rounds up, so that the rounded-up cost still fits the budget.
    margin = 1 + 8 * ROUNDING
    sigma_1 = margin * (pull + math.sqrt(pull**2 + 2 * level * budget)) / (2 * budget)
    b = ratio * sigma_1 / math.sqrt(2)
    xi, rho = sparse_vector_cost(sigma_1, b, 1, monotone)
    return Calibration(sigma_1, ratio * sigma_1, b, xi, rho, share=1 / (1 + ratio**2))
