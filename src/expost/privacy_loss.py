"""The privacy loss of one pair of neighbours, jointly with what is claimed: the sums behind every definition."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

from expost.numerics import order

Floats: TypeAlias = NDArray[np.float64]

ROUNDING = 1e-12
"""Sums of a few thousand rounded products err by less; missing a bound by less is no evidence against it."""

GRID = 1000
"""Orders tried on a linear and again on a logarithmic scale, before the best of them is refined locally."""

PEAKS, FLAT = 8, 1e-13
"""How many peaks are refined where several may be as high; below the second number a peak is one of rounding."""


class Atom(NamedTuple):
    """One output (y, ε): its probability p under X, its loss L = ln p/p' against X', and the claimed ε."""

    probability: float
    loss: float
    epsilon: float


@final
@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """The law under X of the privacy loss against one neighbour X', jointly with the claimed ε.

    Outputs with ε = ∞ claim nothing: they have no atom, so the probabilities may sum to less than 1.
    """

    atoms: tuple[Atom, ...]

    def probabilistic_delta(self, *, tolerance: float = ROUNDING) -> float:
        """P_X(L > ε)."""
        return math.fsum(p for p, loss, epsilon in self.atoms if loss > epsilon + tolerance)

    def approximate_delta(self) -> float:
        """E_X[(1 − e^(ε−L))⁺], which is the largest P_X(S) − E_X'[e^ε 1_S] over all sets S."""
        return math.fsum(-p * math.expm1(epsilon - loss) for p, loss, epsilon in self.atoms if loss > epsilon)

    def moment(self, alpha: float) -> float:
        """E_X[e^((α−1)(L−ε))]; infinite if X' cannot give an output of X that claims something."""
        # Weighted by p' instead, the sum would skip outputs with p' = 0 < p and a false claim would pass.
        return _exp(self._log_moments(np.array([float(order(alpha))]), lambda epsilon: epsilon)[0])

    def zcdp_moment(self, xi: float) -> float:
        """The supremum over α > 1 of E_X[e^((α−1)(L−ξ−αρ))], where the claimed number is read as ρ."""
        above = [(loss - xi, rho) for _, loss, rho in self.atoms if loss > xi + ROUNDING]
        if any(excess == math.inf or rho == 0 for excess, rho in above):
            return math.inf
        near_one = math.fsum(atom.probability for atom in self.atoms)
        # From the largest (L−ξ)/ρ on no exponent is positive, so larger orders stay below the value near 1.
        top = max((excess / rho for excess, rho in above), default=1.0)
        if top <= 1 or top == math.inf:
            return near_one if top <= 1 else math.inf
        # Each output alone peaks halfway to its (L−ξ)/ρ; for small ρ the peak is narrower than any grid.
        peaks = [(1 + excess / rho) / 2 for excess, rho in above if excess > rho]
        grid = np.concatenate([np.linspace(0, 1, GRID), np.geomspace(1e-9, 1, GRID)])
        alphas = np.unique(np.concatenate([1 + (top - 1) * grid, peaks]))
        return max(near_one, _exp(_highest(lambda at: self._log_moments(at, lambda rho: xi + at * rho), alphas)))

    def mean_excess(self) -> float:
        """E_X[L − ε], the slope of the moment at α = 1; −∞ if an output claims nothing."""
        if math.fsum(atom.probability for atom in self.atoms) < 1 - ROUNDING:
            return -math.inf
        return sum(p * (loss - epsilon) for p, loss, epsilon in self.atoms)

    def gaussian_ratio(self) -> float:
        """The largest P_X(S)/Φ(Φ⁻¹(P_X'(S)) + m) over all m and all S ⊆ {μ ≤ m}, the claimed number being read as μ.

        Finitely many S suffice. Only a claimed m matters, the bound being larger for an m above it. The sets that are
        best for X at a given chance under X' take the outputs in the order of their losses, and between two of them
        the best chance lies on a chord, which stays below the concave bound if its ends do.
        """
        ranked = sorted(self.atoms, key=lambda atom: -atom.loss)
        return max((_ratio([each for each in ranked if each.epsilon <= m], m) for m in self._claims()), default=0.0)

    def padded_excess(self) -> float:
        """The largest E_X[δ_r(ε − L) 1{μ ≤ m}] − δ_m(ε) over all m and all real ε, with r = √(m² − μ²).

        A claimed m suffices: more padding than to the largest claim widens both sides alike. The ε are searched.
        """
        return max((self._padded(m) for m in self._claims()), default=0.0)

    def _claims(self) -> set[float]:
        return {atom.epsilon for atom in self.atoms}

    def _padded(self, m: float) -> float:
        within = np.reshape([each for each in self.atoms if each.epsilon <= m], (-1, 3)).astype(float)
        p, loss, mu = (column[:, None] for column in within.T)
        padding = np.sqrt(np.maximum(0.0, m * m - mu * mu))
        finite = loss[np.isfinite(loss)]
        reach = m * (m / 2 + 8) + float(np.abs(finite).max(initial=0.0))
        points = np.unique(np.concatenate([np.linspace(-reach, reach, GRID), finite]))

        def excess(at: Floats) -> Floats:
            padded: Floats = np.sum(p * _profile(at - loss, padding), axis=0)
            return padded - _profile(at, np.full(at.shape, m))

        return _highest(excess, points, PEAKS)

    def _log_moments(self, alphas: Floats, bill: Callable[[Floats], Floats]) -> Floats:
        """The logarithm of E_X[e^((α−1)(L−bill))] at each order."""
        p, loss, epsilon = (column[:, None] for column in np.reshape(self.atoms, (-1, 3)).astype(float).T)
        with np.errstate(over="ignore"):
            exponents = np.log(p) + (alphas - 1) * (loss - bill(epsilon))
        logs: Floats = np.logaddexp.reduce(exponents, axis=0)
        return logs


def _ratio(ranked: Sequence[Atom], m: float) -> float:
    """The largest P_X(S) against the Gaussian bound, over the sets of the highest losses."""
    p = np.array([atom.probability for atom in ranked])
    ours, theirs = np.cumsum(p), np.cumsum(p * np.exp([-atom.loss for atom in ranked]))
    bound = ndtr(ndtri(np.minimum(theirs, 1.0)) + m)
    return float(np.max(np.divide(ours, bound, out=np.full_like(ours, math.inf), where=bound > 0)))


def _profile(epsilon: Floats, mu: Floats) -> Floats:
    """δ_μ(ε) = Φ(μ/2−ε/μ) − e^ε Φ(−μ/2−ε/μ) at any real ε; (1−e^ε)⁺ where μ = 0."""
    plain: Floats = -np.expm1(np.minimum(epsilon, 0.0))
    width = np.where(mu > 0, mu, 1.0)
    with np.errstate(invalid="ignore"):
        wide = ndtr(width / 2 - epsilon / width) - np.exp(epsilon + log_ndtr(-width / 2 - epsilon / width))
    return np.where((mu > 0) & np.isfinite(epsilon), wide, plain)


def _exp(log: float) -> float:
    return math.exp(log) if log < 709 else math.inf


def _highest(curve: Callable[[Floats], Floats], points: Floats, peaks: int = 1) -> float:
    """The curve's maximum around the best of the points, or around the highest few of its local peaks."""
    values = curve(points)
    rim = np.concatenate([[-math.inf], values, [-math.inf]])
    local = np.flatnonzero((values >= rim[:-2]) & (values >= rim[2:]) & (np.abs(values) > FLAT))
    places = [int(np.argmax(values)), *local[np.argsort(-values[local])][: peaks - 1].tolist()]
    found = [float(values[places[0]])]
    for place in places:
        around = (float(points[max(place - 1, 0)]), float(points[min(place + 1, len(points) - 1)]))
        from scipy.optimize import minimize_scalar  # noqa: PLC0415  slow to load, and rarely needed

        best = minimize_scalar(lambda at: -float(curve(np.array([at]))[0]), bounds=around, method="bounded")
        found.append(-float(best.fun))
    return max(found)
