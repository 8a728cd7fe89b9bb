"""Exact checks of the definitions on finite mechanisms: every output and every ordered pair of neighbours."""

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from itertools import permutations
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from expost.errors import InvalidValue
from expost.numerics import non_negative, order

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y", bound=Hashable)
Z = TypeVar("Z", bound=Hashable)
Floats: TypeAlias = NDArray[np.float64]
Outcome: TypeAlias = tuple[Y, float]

ROUNDING = 1e-12
"""Sums of a few thousand rounded products err by less; missing a bound by less is no evidence against it."""

GRID = 1000
"""Orders tried on a linear and again on a logarithmic scale, before the best of them is refined locally."""


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
        return max(near_one, _highest(lambda at: self._log_moments(at, lambda rho: xi + at * rho), alphas))

    def mean_excess(self) -> float:
        """E_X[L − ε], the slope of the moment at α = 1; −∞ if an output claims nothing."""
        if math.fsum(atom.probability for atom in self.atoms) < 1 - ROUNDING:
            return -math.inf
        return sum(p * (loss - epsilon) for p, loss, epsilon in self.atoms)

    def _log_moments(self, alphas: Floats, bill: Callable[[Floats], Floats]) -> Floats:
        """The logarithm of E_X[e^((α−1)(L−bill))] at each order."""
        p, loss, epsilon = (column[:, None] for column in np.reshape(self.atoms, (-1, 3)).astype(float).T)
        with np.errstate(over="ignore"):
            exponents = np.log(p) + (alphas - 1) * (loss - bill(epsilon))
        logs: Floats = np.logaddexp.reduce(exponents, axis=0)
        return logs


@final
@dataclass(frozen=True)
class FiniteMechanism(Generic[X, Y]):
    """A mechanism written out: for each dataset, the probability of each output (y, ε).

    ``neighbours`` names the pairs of neighbouring datasets, in either order; left out, every two datasets are
    neighbours. Each check below runs over both orders of every pair.

    >>> def report(truth, other):
    ...     return {(truth, math.log(3)): 0.75, (other, math.log(3)): 0.25}
    >>> response = FiniteMechanism({"ill": report("yes", "no"), "well": report("no", "yes")})
    >>> response.is_pure()
    True
    >>> compose(response, lambda y, epsilon: response, combine=max).is_pure()
    False
    """

    table: Mapping[X, Mapping[Outcome[Y], float]]
    neighbours: InitVar[Iterable[tuple[X, X]] | None] = None
    pairs: frozenset[tuple[X, X]] = field(init=False)

    def __post_init__(self, neighbours: Iterable[tuple[X, X]] | None) -> None:
        named = permutations(self.table, 2) if neighbours is None else neighbours
        pairs = frozenset(pair for a, b in named if a != b for pair in ((a, b), (b, a)))
        paired = {dataset for dataset, _ in pairs}
        if not pairs or paired != set(self.table):
            raise InvalidValue("a dataset has no row or no neighbour; give each dataset both.")
        for dataset, row in self.table.items():
            _check_law(row, f"the row of dataset {dataset!r}")
            for y, epsilon in row:
                if not epsilon >= 0:
                    raise InvalidValue(f"output {y!r} claims ε={epsilon}; ε must be at least 0, or infinite.")
        frozen = {dataset: MappingProxyType(dict(row)) for dataset, row in self.table.items()}
        object.__setattr__(self, "table", MappingProxyType(frozen))
        object.__setattr__(self, "pairs", pairs)

    @property
    def outcomes(self) -> tuple[Outcome[Y], ...]:
        """Every output (y, ε) of any dataset, once."""
        return tuple(dict.fromkeys(outcome for row in self.table.values() for outcome in row))

    def loss(self, x: X, neighbour: X) -> PrivacyLoss:
        """The law under ``x`` of the privacy loss against ``neighbour``."""
        other = self.table[neighbour]
        claims = ((p, other.get((y, e), 0.0), e) for (y, e), p in self.table[x].items() if p and e < math.inf)
        atoms = (Atom(p, math.log(p) - math.log(q) if q else math.inf, e) for p, q, e in claims)
        return PrivacyLoss(tuple(atoms))

    def losses(self) -> Iterator[PrivacyLoss]:
        """The privacy loss of every ordered pair of neighbours."""
        return (self.loss(x, neighbour) for x, neighbour in self.pairs)

    def is_pure(self, *, tolerance: float = ROUNDING) -> bool:
        """Whether P_X(L > ε) = 0 for all neighbours.

        Implements: Definition of pure ex-post privacy.
        """
        return self.probabilistic_delta(tolerance=tolerance) == 0

    def probabilistic_delta(self, *, tolerance: float = ROUNDING) -> float:
        """The smallest δ with P_X(L > ε) ≤ δ for all neighbours.

        Implements: Definition of probabilistic ex-post privacy.
        """
        return max(loss.probabilistic_delta(tolerance=tolerance) for loss in self.losses())

    def approximate_delta(self) -> float:
        """The smallest δ with P_X(S) ≤ E_X'[e^ε 1_S] + δ for all neighbours and all sets S with ε < ∞.

        Implements: Definition of approximate ex-post privacy.
        """
        return max(loss.approximate_delta() for loss in self.losses())

    def moment(self, alpha: float) -> float:
        """The largest E_X[e^((α−1)(L−ε))] over all neighbours."""
        return max(loss.moment(alpha) for loss in self.losses())

    def is_renyi(self, alpha: float, *, tolerance: float = ROUNDING) -> bool:
        """Whether E_X[e^((α−1)(L−ε))] ≤ 1 for all neighbours.

        Implements: Definition of ex-post Rényi differential privacy (Definition 4.1).
        """
        return self.moment(alpha) <= 1 + tolerance

    def zcdp_moment(self, xi: float) -> float:
        """The largest E_X[e^((α−1)(L−ξ−αρ))] over all α > 1 and all neighbours, where ε is read as ρ."""
        return max(loss.zcdp_moment(float(non_negative(xi, "xi"))) for loss in self.losses())

    def is_zcdp(self, xi: float, *, tolerance: float = ROUNDING) -> bool:
        """Whether E_X[e^((α−1)(L−ξ−αρ))] ≤ 1 for all α > 1 and all neighbours, where ε is read as ρ.

        Implements: Definition of ex-post zero-concentrated privacy.
        """
        # The slope at α = 1 settles what no grid can: an excess at orders below its first point.
        rising = any(loss.mean_excess() > xi + tolerance for loss in self.losses())
        return self.zcdp_moment(xi) <= 1 + tolerance and not rising

    def post_process(self, kernel: Callable[[Y, float], Mapping[Z, float]]) -> "FiniteMechanism[X, Z]":
        """The mechanism (f(y, ε), ε), where ``kernel`` gives the law of f(y, ε) and never sees the dataset.

        Implements: Definition of post-processing.
        """
        table: dict[X, dict[Outcome[Z], float]] = {x: {} for x in self.table}
        for y, epsilon in self.outcomes:
            law = kernel(y, epsilon)
            _check_law(law, f"the kernel at {(y, epsilon)!r}")
            for x, row in self.table.items():
                for z, q in law.items():
                    table[x][z, epsilon] = table[x].get((z, epsilon), 0.0) + row.get((y, epsilon), 0.0) * q
        return FiniteMechanism(table, self.pairs)

    def raised(self, claim: Callable[[Y, float], float]) -> "FiniteMechanism[X, Outcome[Y]]":
        """The mechanism ((y, ε), claim(y, ε)): a larger ε, with the old one still in view so that L stays."""
        claims = {outcome: claim(*outcome) for outcome in self.outcomes}
        if lowered := [outcome for outcome, new in claims.items() if not new >= outcome[1]]:
            raise InvalidValue(f"would lower the ε of {lowered[0]!r} to {claims[lowered[0]]}; only raise it.")
        table = {x: {(o, claims[o]): p for o, p in row.items()} for x, row in self.table.items()}
        return FiniteMechanism(table, self.pairs)


def compose(
    first: FiniteMechanism[X, Y],
    second_given: Callable[[Y, float], FiniteMechanism[X, Z]],
    *,
    combine: Callable[[float, float], float] = operator.add,
) -> FiniteMechanism[X, tuple[Outcome[Y], Outcome[Z]]]:
    """Both outputs in full, the second mechanism chosen from the first output; jointly they claim ε₁ + ε₂."""
    table: dict[X, dict[Outcome[tuple[Outcome[Y], Outcome[Z]]], float]] = {x: {} for x in first.table}
    for outcome in first.outcomes:
        second = second_given(*outcome)
        if second.pairs != first.pairs:
            raise InvalidValue(f"the mechanism after {outcome!r} has other neighbours; use the same pairs.")
        for x, row in first.table.items():
            for follow, q in second.table[x].items():
                table[x][(outcome, follow), combine(outcome[1], follow[1])] = row.get(outcome, 0.0) * q
    return FiniteMechanism(table, first.pairs)


def _check_law(law: Mapping[Z, float], name: str) -> None:
    """Refuse numbers that are not probabilities summing to 1."""
    if not all(p >= 0 for p in law.values()) or abs(math.fsum(law.values()) - 1) > ROUNDING:
        raise InvalidValue(f"{name} is not a law; its probabilities must be at least 0 and sum to 1.")


def _exp(log: float) -> float:
    return math.exp(log) if log < 709 else math.inf


def _highest(curve: Callable[[Floats], Floats], points: Floats) -> float:
    """The exponential of the curve's maximum around the best of the points."""
    values = curve(points)
    best = int(np.argmax(values))
    around = (float(points[max(best - 1, 0)]), float(points[min(best + 1, len(points) - 1)]))
    local = minimize_scalar(lambda at: -float(curve(np.array([at]))[0]), bounds=around, method="bounded")
    return _exp(max(float(values[best]), -float(local.fun)))
