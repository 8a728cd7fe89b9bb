"""Terms: what a data set's spending is measured in, what it is capped at, and how a total is stated.

They are fixed when the data set is put on the ledger, before the first release, and never changed.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import final

from expost.accounting import convert, gaussian
from expost.accounting.claim import Spent
from expost.accounting.curve import Tabulated
from expost.accounting.pledge import Mixture
from expost.accounting.statement import stated
from expost.errors import InvalidValue, Unreadable
from expost.ledgers.amounts import Amount, as_float, whole_units
from expost.ledgers.lines import Whole, whole_line
from expost.ledgers.measures import Measure, Order, Profile, Slope, at_orders, largest
from expost.numerics import Real, down, exact, order, positive, probability, up
from expost.receipts.notation import fraction, items, number, record, text
from expost.report.digits import small
from expost.text import Json

ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
"""The orders at which a cap on ε may be kept: the best of them is."""
MIXED = ORDERS[::2] + ORDERS[-1:]
"""Those that are mixed to state a total on the way to a cap: the powers of two. Spending is measured at these, and at
the order of the cap."""
GAUSSIAN_SHARE, ORDER_SHARE, MIXTURE_SHARE = 0.5, 0.25, 0.25
"""Of δ: what a cap in the Gaussian profile, a cap at one order, and the statement on the way to them may take."""
ROUNDED_BITS = 40
SMALLEST_CAP, LARGEST_CAP = Fraction(1, 10**12), 10**6
LOWEST_ORDER, HIGHEST_ORDER = Fraction(1_000_001, 10**6), 10**6


@final
@dataclass(frozen=True, slots=True)
class Terms:
    """What the spending of a data set is measured in, and the caps: it stays within one of them, whatever is asked.

    ``limits`` has a number of units for each measure that is capped, and None for those that only state. Each cap is a
    filter in its own measure for its own share of δ; a run that ends within one of them is an event of that filter, so
    that all that is ever released is (ε, δ)-DP with the sum of the shares. ``orders``, over ``below``, are those of the
    measures that are bounds at an order, which come first; ``capped`` are the places of those that have a limit, with
    what shares of it are taken of.

    Implements: filter over several measures.
    Uses: filter; planned stops; mixture over orders.
    """

    kind: str
    cap: Fraction
    measures: tuple[Measure, ...]
    limits: tuple[int | None, ...]
    delta: float | None = None
    orders: tuple[int, ...] = field(init=False, repr=False, compare=False)
    below: int = field(init=False, repr=False, compare=False)
    capped: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        orders = [measure.alpha for measure in self.measures if isinstance(measure, Order)]
        below = math.lcm(*(alpha.denominator for alpha in orders))
        capped = [(place, max(limit, 1)) for place, limit in enumerate(self.limits) if limit is not None]
        object.__setattr__(self, "orders", tuple(int(alpha * below) for alpha in orders))
        object.__setattr__(self, "below", below)
        object.__setattr__(self, "capped", tuple(capped))

    @property
    def width(self) -> int:
        """How many measures there are."""
        return len(self.measures)

    @property
    def nothing(self) -> Amount:
        """What nothing costs."""
        return (0,) * self.width

    def amount(self, spent: Spent) -> Amount:
        """What was spent in each measure, rounded up once."""
        curve = spent.curve
        if isinstance(curve, Tabulated):
            return tuple(measure.of_table(curve) for measure in self.measures)
        return self.amount_of_lines([whole_line(line) for line in curve.lines])

    def amount_of_lines(self, lines: Sequence[Whole]) -> Amount:
        """What the highest of some lines is in each measure, rounded up once."""
        known = at_orders(lines, self.orders, self.below)
        return (*known, *[measure.of_lines(lines) for measure in self.measures[len(known) :]])

    def kept_by(self, amount: Amount) -> int:
        """The number of the measure whose cap leaves most, relative to it."""
        (best, least), *others = self.capped
        for place, limit in others:
            if amount[place] * least < amount[best] * limit:
                best, least = place, limit
        return best

    def room(self, amount: Amount) -> int:
        """How many units are left below the cap that leaves most, relative to it; negative if all caps are passed."""
        return (self.limits[number := self.kept_by(amount)] or 0) - amount[number]

    def share(self, amount: Amount, measure: int | None = None) -> float:
        """Which share of the cap is used, in the measure that leaves most or in the one of this number."""
        number = self.kept_by(amount) if measure is None else measure
        return up(Fraction(amount[number], max(self.limits[number] or 0, 1)))

    def stated(self, amount: Amount) -> float:
        """What a total is stated as: the ε at δ, the bound at the order, or ρ; infinite where nothing is claimed."""
        if amount == self.nothing:
            return 0.0
        if self.kind != EPSILON:
            return as_float(amount[0])
        assert self.delta is not None  # of this kind
        orders = [float(each.alpha) for each in self.measures if isinstance(each, Order)]
        values = [as_float(each) for each in amount[: len(orders)]]
        mixture = Mixture.even([float(alpha) for alpha in MIXED], self.delta * MIXTURE_SHARE)
        reached = stated(Spent(Tabulated.of(orders, values)), mixture)
        return min(reached, up(self.cap)) if self.room(amount) >= 0 else reached

    @property
    def notation(self) -> str:
        """What the number is, for a sentence that shows one."""
        match self.kind:
            case "epsilon":
                return f"ε at δ = {small(self.delta or 0.0)}"
            case "order":
                measure = self.measures[0]
                assert isinstance(measure, Order)
                return f"ε at the Rényi order {up(measure.alpha):g}"
        return "ρ of zCDP"

    def out(self) -> dict[str, Json]:
        """The terms as the ledger keeps them."""
        alphas = [str(each.alpha) for each in self.measures if isinstance(each, Order)]
        limits = [None if limit is None else str(limit) for limit in self.limits]
        return {"kind": self.kind, "cap": str(self.cap), "delta": self.delta, "orders": alphas, "limits": limits}


EPSILON, ORDER, ZCDP = "epsilon", "order", "zcdp"


def epsilon_terms(epsilon: Real, delta: float, *, orders: Sequence[int] | None = None) -> Terms:
    """A cap on ε at δ, for steps of any kind; those of Gaussian noise alone are capped by their exact profile.

    The ``orders`` are those of another cap on the same spending, of which this one is then at the best.
    """
    cap, share = _cap(epsilon, "epsilon"), probability(delta, "delta")
    best, bound = _best_order(cap, share * ORDER_SHARE, ORDERS if orders is None else orders)
    known = sorted({*MIXED, best}) if orders is None else orders
    profile = largest(lambda rho: gaussian.gaussian_epsilon(rho, share * GAUSSIAN_SHARE) <= cap)
    measures: list[Measure] = [*(Order(Fraction(alpha)) for alpha in known), Profile()]
    at_orders = (whole_units(bound) if alpha == best else None for alpha in known)
    return Terms(EPSILON, cap, tuple(measures), (*at_orders, whole_units(profile)), share)


def order_terms(epsilon: Real, *, alpha: Real) -> Terms:
    """A cap on the bound at one Rényi order."""
    cap, at = _cap(epsilon, "epsilon"), order(alpha)
    if not LOWEST_ORDER <= at <= HIGHEST_ORDER:
        raise InvalidValue(
            f"a cap is kept at an order from {up(LOWEST_ORDER):.7g} to {HIGHEST_ORDER:,}; give one of these."
        )
    return Terms(ORDER, cap, (Order(at),), (whole_units(cap),))


def zcdp_terms(rho: Real) -> Terms:
    """A cap on the ρ of zCDP; steps that are bounded at some orders only are refused."""
    cap = _cap(rho, "rho")
    return Terms(ZCDP, cap, (Slope(),), (whole_units(cap),))


def allowance(terms: Terms, cap: Real) -> Terms:
    """A smaller cap in the same measures: what one analyst may spend of a data set."""
    if exact(cap, "cap") > terms.cap:
        raise InvalidValue(f"an allowance of {float(cap):g} is above the cap of the data set; give at most that.")
    match terms.measures:
        case (Order(alpha),):
            return order_terms(cap, alpha=alpha)
        case (Slope(),):
            return zcdp_terms(cap)
    assert terms.delta is not None  # of all others
    return epsilon_terms(cap, terms.delta, orders=_whole_orders(terms))


def terms_text(terms: Terms) -> str:
    """The terms as text."""
    return json.dumps(terms.out(), separators=(",", ":"))


@lru_cache(maxsize=64)
def terms_in(found: str) -> Terms:
    """The terms that ``terms_text`` wrote, refused unless they are what expost makes of their caps."""
    fields = record(json.loads(found), ("kind", "cap", "delta", "orders", "limits"))
    kind, cap = text(fields["kind"]), fraction(fields["cap"])
    match kind:
        case "epsilon":
            orders = [fraction(each) for each in items(fields["orders"])]
            if not {*MIXED} <= {*orders} <= {*ORDERS} or orders != sorted({*orders}):
                raise Unreadable("the ledger measures at orders that expost does not measure at; the file was changed.")
            terms = epsilon_terms(cap, number(fields["delta"]), orders=[int(each) for each in orders])
        case "order":
            (alpha,) = items(fields["orders"])
            terms = order_terms(cap, alpha=fraction(alpha))
        case "zcdp":
            terms = zcdp_terms(cap)
        case _:
            raise Unreadable("the ledger has terms of a kind that this expost does not know; update expost.")
    limits = tuple(None if limit is None else int(fraction(limit)) for limit in items(fields["limits"]))
    if not _agree(limits, terms.limits) or replace(terms, limits=limits).out() != fields:
        raise Unreadable("the caps of the ledger are not what expost makes of its terms; the file was changed.")
    return replace(terms, limits=limits)


def _whole_orders(terms: Terms) -> list[int]:
    return [int(each.alpha) for each in terms.measures if isinstance(each, Order)]


def _cap(value: Real, name: str) -> Fraction:
    """A cap that is far below what stands for a step without a bound, which every cap must refuse."""
    cap = positive(value, name)
    if cap > LARGEST_CAP:
        raise InvalidValue(f"a cap above {name} = {LARGEST_CAP:,} protects nobody; give a smaller one.")
    if cap < SMALLEST_CAP:
        raise InvalidValue(f"a cap below {name} = {up(SMALLEST_CAP):g} has no room for a step; give a larger one.")
    return cap


def _agree(kept: tuple[int | None, ...], made: tuple[int | None, ...]) -> bool:
    """Whether caps are the same, but for the last bits of logarithms that another machine rounds in another way."""
    if [each is None for each in kept] != [each is None for each in made]:
        return False
    pairs = [(one, other) for one, other in zip(kept, made, strict=True) if one is not None and other is not None]
    return all(abs(one - other) <= other >> ROUNDED_BITS for one, other in pairs)


def _best_order(cap: Fraction, delta: float, orders: Sequence[int]) -> tuple[int, Fraction]:
    """The order at which a Gaussian may be largest below a cap on ε, and the cap there."""
    bounds = {alpha: Fraction(down(cap - exact(convert.cks_offset(alpha, delta), "offset"))) for alpha in orders}
    best = max(orders, key=lambda alpha: bounds[alpha] / alpha)
    if bounds[best] <= 0:
        raise InvalidValue(f"a cap of ε = {up(cap):g} is too small to be kept at this δ; give a larger ε or δ.")
    return best, bounds[best]
