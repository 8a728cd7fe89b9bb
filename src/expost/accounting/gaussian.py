"""The exact (ε, δ) profile of Gaussian noise, and the same profile for exact integer noise."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtri

from expost.accounting.curve import Curve, Linear
from expost.numerics import Real, non_negative, positive, probability, up

DELTA_SLACK = 1e-12
"""Relative slack on δ: covers the float error of the profile and the factor of the integer-noise theorem."""

EPSILON_SLACK = 1e-12
"""Absolute slack on ε: covers the shift of the integer-noise theorem over half a million composed releases."""

SMOOTHING_VARIANCE = 3
LEAST_VARIANCE = 4
MOST_CHANGES = 10**7
"""Coordinates of a release that one record may change, for the profile of integer noise to be claimed."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)


def gaussian_delta(epsilon: Real, rho: Real) -> float:
    """Φ(μ/2−ε/μ) − e^ε Φ(−μ/2−ε/μ) with μ = √(2ρ): the smallest δ of Gaussian noise at ε. EX ANTE ONLY.

    ρ = Δ²/(2σ²); composed Gaussian releases add their ρ.

    Implements: exact Gaussian profile.
    """
    loss, cost = float(non_negative(epsilon, "epsilon")), up(non_negative(rho, "rho"))
    if cost == 0:
        return 0.0
    shift = math.sqrt(2 * cost)
    # For a large ρ the argument of Φ is a difference of large numbers; its rounding weighs |x| times as much.
    rounding = 2.0**-51 * (1 + abs(loss / shift - shift / 2)) * (loss / shift + shift)
    # The true value is positive even where the floats end.
    return min(1.0, max(_profile(loss, cost) * (1 + DELTA_SLACK + rounding), math.ulp(0.0)))


def gaussian_epsilon(rho: Real, delta: float) -> float:
    """The ε of Gaussian noise at δ, on the safe side: the profile there is at most δ. EX ANTE ONLY.

    Solved at δ(1−1e−12) and returned as ε(1+1e−12)+1e−12: more than the float error, and more than the slack
    of `lattice_rho`, so the value also holds for integer noise with the ρ that function returns.

    Uses: exact Gaussian profile.
    """
    cost = up(non_negative(rho, "rho"))
    target = probability(delta, "delta") * (1 - DELTA_SLACK)
    if cost == 0:
        return 0.0
    # Lemma 7 at its best order is an upper end; the profile is decreasing in ε.
    low, high = 0.0, cost + 2 * math.sqrt(-cost * math.log(target))
    if _profile(low, cost) <= target:
        high = low
    while high - low > DELTA_SLACK / 4 * high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if _profile(middle, cost) <= target else (middle, high)
    return high * (1 + DELTA_SLACK) + EPSILON_SLACK


def gaussian_tail(rho: Real, delta: float) -> float:
    """What the privacy loss exceeds with probability δ at most: ln δ − ln Φ(Φ⁻¹(δ) − μ), μ = √(2ρ). EX ANTE ONLY.

    Holds for the Gaussian release and for whatever is made of it, integer noise with the ρ of `lattice_rho` included.
    The plain tail P(L > ε) = Φ(μ/2 − ε/μ) does not: merging outputs of high and low loss raises it.

    Proof. Let P(S) > e^ε P'(S) for an event S of what was made, {L > ε} being one. By Neyman and Pearson
    P'(S) ≥ h(P(S)) with h(p) = Φ(Φ⁻¹(p) − μ), which is convex with h(0) = 0, so that h(p)/p never falls. P(S) > δ
    would give P'(S)/P(S) ≥ h(δ)/δ = e^{−ε}. ∎ Merging the outputs above the point where P(S) = δ attains it.

    Implements: Gaussian tail after post-processing.
    """
    cost = up(non_negative(rho, "rho"))
    if cost == 0:
        return 0.0
    point = float(ndtri(probability(delta, "delta") * (1 - DELTA_SLACK)))
    loss = float(log_ndtr(point) - log_ndtr(point - math.sqrt(2 * cost)))
    return loss * (1 + DELTA_SLACK) + EPSILON_SLACK


def gaussian_mu(curve: Curve) -> float | None:
    """μ = √(2ρ), rounded up, where all steps on a bill have a Gaussian profile; None means no claim.

    Their ρ was known before they drew, so that μ is an ex-post bound: it needs no pledge, no order and no δ.

    An attack that accuses only on outputs of at most this μ does no better than one that tells N(μ, 1) from N(0, 1).
    The ρ of steps on one part add, so their μ compose by the root of the sum of their squares.

    Implements: Gaussian odometer.
    """
    if not curve.gaussian:
        return None if curve.gaussian is None else 0.0
    return math.nextafter(math.sqrt(up(2 * curve.gaussian)), math.inf)


def lattice_rho(variance: Fraction, l2_squared: Fraction, cells: int | None = None) -> Fraction | None:
    """ρ' = Δ²/(2(σ²−3)): integer f plus N_Z(0, σ²) has the Gaussian profile at ρ'; None means no claim.

    Proof. Let s² = 3, z = f + N(0, σ²−s²), and round z to k with probability exp(−(k−z)²/(2s²))/Θ(z). Poisson
    summation gives Θ(z) = √(2π)s·(1 + 2 Σ_{n≥1} e^{−2π²s²n²} cos 2πnz), so Θ is constant up to 1±η with
    η = 2 Σ_{n≥1} e^{−2π²s²n²} < 4e−26. Two Gaussians convolve, so the rounded law P at k is the N(0, σ²)
    density at k−f over 1±η; so is the law Q of f + N_Z(0, σ²), whose normaliser does not depend on the integer
    f. So Q/P lies within e^{±τ}, τ = ln((1+η)/(1−η)), per coordinate. Coordinates with f(X) = f(X') have one
    law under both and cancel; at most m = min(Δ², cells) integer coordinates change. Hence for every event S
    Q(S) − e^ε Q'(S) ≤ e^{mτ}(P(S) − e^{ε−2mτ} P'(S)) ≤ e^{mτ} δ_Gauss(ε−2mτ; ρ'), as P post-processes Gaussian
    noise of variance σ²−3. For m ≤ 1e7 the shift 2mτ is below 2e−18, so half a million adaptively composed
    releases, whose ρ' and shifts add, stay within the slack of `gaussian_epsilon`. ∎

    Implements: integer noise under the Gaussian profile.
    """
    noise, reach = positive(variance, "variance"), non_negative(l2_squared, "l2_squared")
    changed = reach if cells is None else min(reach, Fraction(cells))
    if noise <= LEAST_VARIANCE or changed > MOST_CHANGES:
        return None
    return reach / (2 * (noise - SMOOTHING_VARIANCE))


def lattice_line(variance: Fraction, l2_squared: Fraction, cells: int | None = None) -> Linear:
    """The curve ρ·α, ρ = Δ²/(2σ²), of integer f plus N_Z(0, σ²), with the profile of `lattice_rho`."""
    return Linear(Fraction(0), l2_squared / (2 * variance), lattice_rho(variance, l2_squared, cells))


def _profile(epsilon: float, rho: float) -> float:
    """The profile to about 1e−13 relative, also where its two terms nearly cancel.

    e^ε φ(μ+x) = φ(x) for x = ε/μ−μ/2, so δ = φ(x)(m(x) − m(x+μ)) with the Mills ratio m; for small μ the
    difference is the integral of −m'(t) = 1 − t·m(t).
    """
    shift = math.sqrt(2 * rho)
    x = epsilon / shift - shift / 2
    if shift >= 1 and x < 0:
        return math.exp(log_ndtr(-x)) - math.exp(epsilon + log_ndtr(-x - shift))
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    if shift >= 1:
        return density * (_mills(x) - _mills(x + shift))
    points = x + shift * (_NODES + 1) / 2
    slopes = 1 - points * math.sqrt(math.pi / 2) * erfcx(points / math.sqrt(2))
    return density * shift / 2 * math.fsum(_WEIGHTS * slopes)


def _mills(x: float) -> float:
    """(1−Φ(x))/φ(x)."""
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))
