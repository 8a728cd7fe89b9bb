"""What peers are told of the privacy: the ρ that is stated as ε, and a share for OpenDP's MST that it can work with."""

from fractions import Fraction
from math import inf, nextafter

from expost.accounting.convert import best_linear_order

DELTA = 1e-5
MEASURED = 0.9
"""MST's default share for measuring pairs, of what single columns leave; choosing the pairs gets the rest."""


def rho_of(epsilon: float) -> float:
    """The largest ρ that is stated as ε at δ, by the conversion that ours is stated by."""
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if best_linear_order(0, middle, DELTA)[0] <= epsilon else (low, middle)
    return low


def measured_share(rho: float, draws: int) -> float:
    """The share nearest to the default with which MST of OpenDP 0.16 does not end in an error.

    It splits the budget of choosing evenly over its draws and adds them up again, rounding upwards. Most such sums come
    out above what was split, by the last digit, and OpenDP refuses its own plan. The shares tried are 0.0001 apart.
    """
    shares = (MEASURED + sign * step / 10_000 for step in range(500) for sign in (1, -1))
    return next(share for share in shares if admitted(rho, draws, share))


def admitted(rho: float, draws: int, share: float) -> bool:
    """Whether the draws together come out at no more than was split."""
    pairs = _below(rho - rho * 0.5)
    chosen = _below(pairs - pairs * share)
    each, total = nextafter(chosen / draws, -inf), 0.0
    for _ in range(draws):
        exact, total = Fraction(total) + Fraction(each), total + each
        total = total if total >= exact else nextafter(total, inf)
    return total <= chosen


def _below(value: float) -> float:
    """Two floats down, as OpenDP rounds what is left."""
    return nextafter(nextafter(value, -inf), -inf)
