"""Booked: where a run stands on a lasting ledger, in sentences, whose totals are stated once and never added up."""

import math

from expost.recorded import Allowance, Booking
from expost.report.digits import price_within

PARTS = 1000
"""Parts of a cap that shares are told in, so that what was captured and what was returned add up to what was held."""


def standing(booking: Booking) -> str:
    """What its data set has spent and, with this run and all else that is held, may come to; for before the run."""
    own = "" if booking.allowance is None else f" {_of_allowance(booking, booking.allowance)}"
    if not booking.spent:
        return f"{booking.dataset}: nothing is spent yet; with this run at most {_of_cap(booking, booking.most)}.{own}"
    most = f"{booking.notation[0]} = {price_within(booking.cap, booking.most)} of {booking.cap:g}"
    return f"{booking.dataset}: {_number(booking, booking.spent)} is spent; with this run at most {most}.{own}"


def fitting(booking: Booking, rung: str) -> str | None:
    """That the ledger has no room for the whole plan, if it has not."""
    if booking.fitting == booking.planned:
        return None
    allowance = booking.allowance
    limit = f"allowance of {allowance.whose}" if allowance is not None and allowance.binds else "ledger"
    return (
        f"The {limit} has room for {booking.fitting} of the {booking.planned} planned {rung}s; the run ends with that "
        f"{rung} at the latest."
    )


def held_and_returned(booking: Booking) -> str:
    """What was held, captured and returned, and what the data set has spent since; for after the run."""
    if not booking.held:
        return f"{booking.dataset}: nothing was held; {_of_cap(booking, booking.spent)} is spent."
    held, captured = (math.ceil(share * PARTS) for share in (booking.held, booking.captured))
    shares = [f"{100 * each / PARTS:.1f} %" for each in (held, captured, held - captured)]
    return (
        f"{booking.dataset}: {shares[0]} of the cap was held, {shares[1]} captured and {shares[2]} returned; "
        f"{_of_cap(booking, booking.spent)} is spent."
    )


def for_auditors(booking: Booking) -> str:
    """By what the run is known on its ledger, and what all runs together are stated as."""
    return (
        f"The run is on the ledger of the data set {booking.dataset}, as {booking.run}; its latest entry is number "
        f"{booking.entry:,}. All runs on that data set up to this one are stated together as "
        f"{_number(booking, booking.spent)}, where the cap is {booking.cap:g}. The ledger states that total once, in "
        "its own terms; it is not the sum of what the runs are stated as."
    )


def _of_allowance(booking: Booking, allowance: Allowance) -> str:
    """What an analyst has spent of the allowance and, with this run and all else that is held, may come to."""
    symbol, whose = booking.notation[0], f"{allowance.whose[:1].upper()}{allowance.whose[1:]}"
    spent, most = (price_within(allowance.cap, each) for each in (allowance.spent, allowance.most))
    paid = f"{symbol} = {spent}" if allowance.spent else "nothing"
    return f"{whose} has spent {paid} of an allowance of {allowance.cap:g}; with this run at most {symbol} = {most}."


def _number(booking: Booking, value: float) -> str:
    """A total with what it is: ε = 0.84 at δ = 1e-6."""
    symbol, _, at = booking.notation.partition(" ")
    return f"{symbol} = {price_within(booking.cap, value)} {at}"


def _of_cap(booking: Booking, value: float) -> str:
    """The same beside the cap: ε = 0.84 of 3 at δ = 1e-6."""
    symbol, _, at = booking.notation.partition(" ")
    return f"{symbol} = {price_within(booking.cap, value)} of {booking.cap:g} {at}"
