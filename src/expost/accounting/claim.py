"""Claims: what a step promises before data is touched, what a run reports after, and the budget asked of a step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, final

from expost.accounting import convert, gaussian
from expost.accounting.curve import ZERO, AdpEpsilon, Curve, Linear, RdpEpsilon, highest, opposite, repeat, total
from expost.numerics import Real, order, positive, probability, up

ByLine: TypeAlias = Callable[[Real, Real, float], tuple[float, float]]
"""(ε, α) at the best order for a line ξ + ρα at δ."""


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """What a step may spend: ε at one Rényi order, as exact fractions.

    The order is part of the number, so ε at α is never taken for the ε of (ε, δ) or for ε at another order.
    """

    epsilon: Fraction
    alpha: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "alpha", order(self.alpha))

    @classmethod
    def of(cls, epsilon: Real, *, alpha: Real) -> "Budget":
        """A budget from ordinary numbers; a float means the binary fraction it stores."""
        return cls(positive(epsilon, "epsilon"), order(alpha))

    @property
    def rho(self) -> Fraction:
        """The same budget in zCDP: the Gaussian curve ρ·α that meets ε at this order."""
        return self.epsilon / self.alpha


@final
@dataclass(frozen=True, slots=True)
class Promise:
    """An ex-ante bound (Definition 2.2): fixed before data is touched, so its order may be chosen freely."""

    curve: Curve

    def at(self, alpha: Real) -> RdpEpsilon:
        """The promised bound at one order."""
        return self.curve.at(alpha)

    def __add__(self, other: "Promise") -> "Promise":
        """Both steps on the same data."""
        if not isinstance(other, Promise):
            return NotImplemented
        return Promise(total(self.curve, other.curve))

    def beside(self, other: "Promise") -> "Promise":
        """Both steps on disjoint parts of the data."""
        return Promise(highest(self.curve, other.curve))

    def with_held(self, held: "Promise") -> "Promise":
        """Steps on the training side of a division, and those on the side held out."""
        return Promise(opposite(self.curve, held.curve))

    def times(self, steps: int) -> "Promise":
        """So many equal steps on the same data."""
        return Promise(repeat(self.curve, steps))

    def approx(self, delta: float) -> AdpEpsilon:
        """The least ε of (ε, δ) that one order, or the exact Gaussian profile, gives."""
        return best_statement(self, delta)[0]

    def as_spent(self) -> "Spent":
        """Ex ante is the special case of ex post in which the report never varies."""
        return Spent(self.curve)


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """An ex-post bound (Definition 4.1): what this run reports, itself an output.

    It does not convert to (ε, δ) by itself, because an order chosen after the output proves nothing: a release and an
    odometer state it under the pledge that came first.
    """

    curve: Curve

    def at(self, alpha: Real) -> RdpEpsilon:
        """The reported bound at one order."""
        return self.curve.at(alpha)

    def __add__(self, other: "Spent") -> "Spent":
        """Both steps on the same data."""
        if not isinstance(other, Spent):
            return NotImplemented
        return Spent(total(self.curve, other.curve))

    def beside(self, other: "Spent") -> "Spent":
        """Both steps on disjoint parts of the data."""
        return Spent(highest(self.curve, other.curve))

    def with_held(self, held: "Spent") -> "Spent":
        """Steps on the training side of a division, and those on the side held out."""
        return Spent(opposite(self.curve, held.curve))

    def times(self, steps: int) -> "Spent":
        """So many equal steps on the same data."""
        return Spent(repeat(self.curve, steps))


SIDES = ("train", "held")
"""The names of the two sides of a division."""
NOTHING = Promise(ZERO)
"""The promise of a step that touches no data."""


def dearest(sides: Mapping[str, Spent]) -> Spent:
    """What the sides of one division cost together, by their names; all that is known by another name is beside."""
    train, held = (sides.get(name, NOTHING.as_spent()) for name in SIDES)
    if sides.keys() <= {*SIDES}:
        return train.with_held(held)
    return reduce(Spent.beside, sides.values())


def best_statement(promise: Promise, delta: float) -> tuple[AdpEpsilon, float | None]:
    """The least ε at δ for an ex-ante promise, and the order that gives it (None: the exact Gaussian profile)."""
    return _best(promise, delta, convert.best_linear_order, convert.cks_offset, gaussian.gaussian_epsilon)


def best_tail(promise: Promise, delta: float) -> tuple[AdpEpsilon, float | None]:
    """The least ε that the loss under an ex-ante promise exceeds with probability δ at most, and its order likewise."""
    return _best(promise, delta, convert.best_linear_tail, convert.lemma_7_offset, gaussian.gaussian_tail)


def order_statement(promise: Promise, delta: float) -> tuple[AdpEpsilon, float]:
    """The least ε at δ that one order gives, and that order, whatever else is known of the promise."""
    return _at_an_order(promise.curve, delta, convert.best_linear_order, convert.cks_offset)


def _best(
    promise: Promise, delta: float, by_line: ByLine, offset: convert.Offset, by_profile: Callable[[Real, float], float]
) -> tuple[AdpEpsilon, float | None]:
    """The least ε that one order or the Gaussian profile gives."""
    probability(delta, "delta")
    curve = promise.curve
    if curve == ZERO:
        return AdpEpsilon(0.0), None
    epsilon, alpha = _at_an_order(curve, delta, by_line, offset)
    if curve.gaussian is not None:
        exact = by_profile(up(curve.gaussian), delta)
        if exact <= epsilon:
            return AdpEpsilon(exact), None
    return epsilon, alpha


def _at_an_order(curve: Curve, delta: float, by_line: ByLine, offset: convert.Offset) -> tuple[AdpEpsilon, float]:
    """The least ε over all orders for a line, over those of a table, or over the usual ones."""
    if isinstance(curve, Linear):
        epsilon, alpha = by_line(up(curve.xi), up(curve.rho), delta)
    else:
        epsilon, alpha = convert.best_order(curve.at, delta, curve.orders, offset)
    return AdpEpsilon(epsilon), alpha
