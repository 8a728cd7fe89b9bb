"""Offers: what to ask for where a ledger has no room for what was asked."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from expost.accounting.claim import Promise, Spent, best_statement
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.accounting.pledge import Pledge
from expost.ledgers.amounts import Amount, is_finite, plus
from expost.ledgers.posting import LIMITS, Account, no_bound
from expost.recorded import Asking
from expost.report.digits import at_most, most, small


def that_or_less(most: float, stops: int) -> str:
    """What to ask for where nobody knows what the run is."""
    return "ask for that or less"


def offer(accounts: Mapping[str, Account], stops: Sequence[Promise], pledge: Pledge | None, ask: Asking) -> str:
    """Why a run whose first stop does not fit is refused, and the most that does: a run of the same shape."""
    terms, shape = next(iter(accounts.values())).terms, _shape(stops[0].curve)
    asked = terms.amount(Spent(shape))
    whose = tightest(accounts, asked)
    account = accounts[whose]
    if (unbounded := no_bound(terms, plus(account.committed, asked), whose, "run")) is not None:
        return unbounded
    factor, limit = room_for(account, asked), next(told for kind, told in LIMITS.items() if f"the {kind} " in whose)
    taken = f"{whose} has {most(account.terms.share(account.committed))} of {limit} spent or held"
    if factor <= 0 or pledge is None:
        left = "nothing" if factor <= 0 else "no room"
        return (
            f"{taken}, which leaves {left} for this run; ask for less, or wait until others that hold some have ended."
        )
    largest = best_statement(Promise(shrunk(shape, factor)), pledge.delta / len(stops))[0]
    fits = f"the most that fits is a run stated as ε = {at_most(largest)} at δ = {small(pledge.delta)}"
    return f"{taken}, and {fits}; {ask(largest, len(stops))}."


def tightest(accounts: Mapping[str, Account], asked: Amount) -> str:
    """Which of the accounts that a run is charged to has the least room for what is asked."""
    return min(accounts, key=lambda whose: room_for(accounts[whose], asked))


def room_for(account: Account, asked: Amount) -> Fraction:
    """How many times what is asked there is room for, by the cap that leaves most of it."""
    rows = zip(account.terms.limits, account.committed, asked, strict=True)
    return max(
        (Fraction(limit - held, cost) for limit, held, cost in rows if limit is not None and cost and is_finite(cost)),
        default=Fraction(0),
    )


def _shape(curve: Curve) -> Curve:
    """The curve that is offered less of: where a Gaussian profile states it, the Gaussian itself.

    A run that is stated as that Gaussian costs no more at any order. How much less it costs differs from stop to stop.
    """
    return curve if curve.gaussian is None else Linear(Fraction(0), curve.gaussian, curve.gaussian)


def shrunk(curve: Curve, factor: Fraction) -> Curve:
    """A curve of the same shape."""
    if isinstance(curve, Tabulated):
        return Tabulated(curve.orders, curve.values * float(factor))
    lines = tuple(
        Linear(line.xi * factor, line.rho * factor, None if line.gaussian is None else line.gaussian * factor)
        for line in curve.lines
    )
    return lines[0] if len(lines) == 1 else Highest(lines)
