"""Boundaries that Brownian noise crosses with probability at most δ, and the ε they allow at a stopping time.

Each boundary claims ε at the realised noise variance t, in the probabilistic notion, for every stopping rule.
Its parameters are fixed beforehand from an anticipated variance; picking them at the realised t is not valid.
"""

import math

from expost.accounting.convert import lambert_tuning, raised
from expost.numerics import Real, order, positive, probability, up


def linear_boundary(t: Real, a: Real, b: Real, l2: Real) -> float:
    """Δ²/(2t) + (Δ/t)(at + b): the claim with δ = e^{−2ab}.

    Brownian motion ever reaches at + b with probability e^{−2ab} (Whitehouse et al. 2022).

    Implements: linear boundary.
    """
    time, reach = positive(t, "t"), positive(l2, "l2")
    return up(reach**2 / (2 * time) + reach * positive(a, "a") + reach * positive(b, "b") / time)


def mixture_boundary(t: Real, r: Real, delta: float, l2: Real) -> float:
    """Δ²/(2t) + (Δ/t)√(2(t+r) ln(√((t+r)/r)/δ)).

    Ville's inequality for √(r/(t+r)) exp(W_t²/(2(t+r))), a normal mixture over slopes (Whitehouse et al.
    2022). Loosens slowly as the noise grows beyond the tuning point, fast as it shrinks.

    Implements: mixture boundary.
    """
    time, width, reach = float(positive(t, "t")), float(positive(r, "r")), float(positive(l2, "l2"))
    log_ratio = math.log1p(time / width) / 2 - math.log(probability(delta, "delta"))
    return raised(reach**2 / (2 * time) + reach / time * math.sqrt(2 * (time + width) * log_ratio))


def inverted_mixture_boundary(t: Real, r: Real, delta: float, l2: Real) -> float:
    """Δ²/(2t) + Δ√(2(1/t+1/r) ln(√(1+r/t)/δ)).

    The half-normal mixture over orders with v = r/Δ², at ρ = Δ²/(2t). Loosens slowly as the noise shrinks
    below the tuning point, which is the way an accuracy-first run travels.

    Implements: time-inverted mixture boundary.
    """
    time, width, reach = float(positive(t, "t")), float(positive(r, "r")), float(positive(l2, "l2"))
    log_ratio = math.log1p(width / time) / 2 - math.log(probability(delta, "delta"))
    return raised(reach**2 / (2 * time) + reach * math.sqrt(2 * (1 / time + 1 / width) * log_ratio))


def tune_linear(t0: Real, delta: float) -> tuple[float, float]:
    """(a, b) with 2ab = ln(1/δ) and the smallest linear boundary at t₀, whatever the sensitivity.

    Uses: linear boundary.
    """
    time, log_inverse = float(positive(t0, "t0")), -math.log(probability(delta, "delta"))
    return raised(math.sqrt(log_inverse / (2 * time))), raised(math.sqrt(time * log_inverse / 2))


def tune_mixture(t0: Real, delta: float) -> float:
    """The r with the smallest mixture boundary at t₀: t₀/(w−1), w = −W₋₁(−δ²/e).

    Uses: mixture boundary.
    """
    return float(positive(t0, "t0")) / (lambert_tuning(delta) - 1)


def tune_inverted_mixture(t0: Real, delta: float) -> float:
    """The r with the smallest time-inverted mixture boundary at t₀: t₀(w−1), w = −W₋₁(−δ²/e).

    Uses: time-inverted mixture boundary.
    """
    return float(positive(t0, "t0")) * (lambert_tuning(delta) - 1)


def linear_of_order(alpha: Real, delta: float, l2: Real) -> tuple[float, float]:
    """(a, b) of the linear boundary that equals RDP at order α plus the Lemma 7 offset, for every t.

    b = (α−1)Δ/2 and a = ln(1/δ)/((α−1)Δ) give Δ²/(2t) + aΔ + bΔ/t = αΔ²/(2t) + ln(1/δ)/(α−1).

    Implements: linear boundary equals Lemma 7.
    """
    gap, reach = order(alpha) - 1, positive(l2, "l2")
    return raised(-math.log(probability(delta, "delta")) / float(gap * reach)), raised(float(gap * reach / 2))


def order_of_linear(b: Real, l2: Real) -> float:
    """1 + 2b/Δ: the order whose Lemma 7 claim equals the linear boundary with this b.

    Uses: linear boundary equals Lemma 7.
    """
    return float(1 + 2 * positive(b, "b") / positive(l2, "l2"))
