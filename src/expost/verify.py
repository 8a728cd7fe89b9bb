"""Exact checks of the definitions on finite mechanisms: every output and every ordered pair of neighbours."""

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from itertools import permutations
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar, final

from expost.errors import InvalidValue
from expost.numerics import non_negative
from expost.privacy_loss import ROUNDING, Atom, PrivacyLoss

X = TypeVar("X", bound=Hashable)
Y = TypeVar("Y", bound=Hashable)
Z = TypeVar("Z", bound=Hashable)
Outcome: TypeAlias = tuple[Y, float]


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

    def is_gaussian(self, *, tolerance: float = ROUNDING) -> bool:
        """Whether P_X(S) ≤ Φ(Φ⁻¹(P_X'(S)) + m) for all m, all S ⊆ {μ ≤ m} and all neighbours, where ε is read as μ.

        That is P_X(S) ≤ e^ε P_X'(S) + δ_m(ε) for every real ε, with the profile δ_m of Gaussian noise.

        Implements: Definition of ex-post Gaussian privacy.
        """
        return max(loss.gaussian_ratio() for loss in self.losses()) <= 1 + tolerance

    def is_padded_gaussian(self, *, tolerance: float = ROUNDING) -> bool:
        """Whether E_X[δ_r(ε − L) 1{μ ≤ m}] ≤ δ_m(ε) for all m, ε and neighbours, where r² = m² − μ² and ε is read as μ.

        The stronger notion that composes: it holds of the outputs padded with Gaussian noise of what μ leaves of m.

        Implements: Definition of padded ex-post Gaussian privacy.
        """
        return max(loss.padded_excess() for loss in self.losses()) <= tolerance

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
