"""Costs as a receipt has them: curves, budgets, pledges and lines of a bill."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.accounting.gaussian import gaussian_mu
from expost.accounting.jumps import PlannedJumps
from expost.accounting.kinds import Kinds, Known, Sides, sides
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.bill import Item
from expost.errors import InvalidValue, Unreadable
from expost.ledger import Entry
from expost.receipts.notation import (
    facts_in,
    finite,
    fraction,
    items,
    number,
    record,
    table,
    tables,
    text,
    truth,
    whole,
)
from expost.text import Json

MOST_ORDERS = 1000
"""Orders of one table; ours have fewer than two hundred."""
MOST_MIXED = 32
"""Orders of a mixture; ours has eight, and solving for ε takes longer with each."""
MOST_PLANNED = 200
"""Planned stops of a pledge: stating each takes milliseconds, and a run has as many as it has releases."""
MU = "gaussian mu"
MOST_KINDS = 4
"""Kinds of gradient steps in one curve; a run of ours has one."""
MOST_STATED = 200
"""Kinds of gradient steps in all stops of a pledge together: stating one may take half a second."""
MOST_LINES = 8
"""Lines that a curve is the maximum of; the sum of two such curves has the product of their lines."""


BUDGET, TABLE, LINE = ("epsilon", "alpha"), ("orders", "values"), ("xi", "rho", "gaussian")
ITEM = ("what", "part", "neighbours", "seeded", "floating", "facts", "curve", "count", "finished")
PLEDGES = {
    "fixed order": ("alpha",),
    "mixture of orders": ("orders", "weights"),
    "half-normal mixture": ("v",),
    "planned stops": ("stops",),
    "planned jumps": ("stops", "lead"),
}
"""The fields of tables as they are written; of a pledge those besides its kind and its δ."""


def curve_out(curve: Curve) -> dict[str, Json]:
    """A curve: its lines, or its table and the kinds of steps that it is made of, where they are known."""
    if isinstance(curve, Tabulated):
        values: dict[str, Json] = {"orders": list(curve.orders), "values": list(map(finite, curve.values.tolist()))}
        return values if curve.kinds is None else {**values, "kinds": _known_out(curve.kinds)}
    return {"lines": [_line_out(line) for line in curve.lines]}


def curve_in(found: Json) -> Curve:
    """The curve that ``curve_out`` wrote."""
    if "orders" in table(found):
        fields = record(found, (*TABLE, *(["kinds"] if "kinds" in table(found) else [])))
        kinds = _known_in(fields["kinds"]) if "kinds" in fields else None
        return _table_in(items(fields["orders"]), items(fields["values"]), kinds)
    lines = items(record(found, ("lines",))["lines"])
    if not 1 <= len(lines) <= MOST_LINES:
        raise Unreadable(f"a curve of the receipt does not have between 1 and {MOST_LINES} lines; it was changed.")
    found_lines = tuple(map(_line_in, tables(lines)))
    return found_lines[0] if len(found_lines) == 1 else Highest(found_lines)


def gaussian_out(curve: Curve) -> dict[str, Json]:
    """The μ of μ-Gaussian differential privacy, where the whole curve has a Gaussian profile; nothing otherwise."""
    mu = gaussian_mu(curve)
    return {} if mu is None else {MU: mu}


def _table_in(orders: Sequence[Json], values: Sequence[Json], kinds: Known | None) -> Tabulated:
    """As ``Tabulated.of`` would have it, without the exact fractions that make thousands of orders slow."""
    if not len(orders) == len(values) <= MOST_ORDERS:
        raise Unreadable(
            f"a table of the receipt has more than {MOST_ORDERS} orders, or does not have one value for each."
        )
    alphas, bounds = tuple(map(number, orders)), np.array(list(map(number, values)), dtype=np.float64)
    if not alphas or not alphas[0] > 1 or not math.isfinite(alphas[-1]) or not np.all(bounds >= 0):
        raise Unreadable("a table of the receipt has an order of at most 1 or a negative value; it was changed.")
    if not all(low < high for low, high in pairwise(alphas)):
        raise Unreadable("the orders of a table of the receipt do not increase; it was changed.")
    return Tabulated(alphas, bounds, kinds)


def budget_out(budget: Budget) -> dict[str, Json]:
    """A budget: ε at its order."""
    return {"epsilon": str(budget.epsilon), "alpha": str(budget.alpha)}


def budget_in(found: Json) -> Budget:
    """The budget that ``budget_out`` wrote."""
    fields = table(found)
    return Budget(fraction(fields["epsilon"]), fraction(fields["alpha"]))


def pledge_out(pledge: Pledge) -> dict[str, Json]:
    """A pledge and all that it was made of."""
    match pledge:
        case FixedOrder():
            return {"kind": "fixed order", "alpha": str(pledge.alpha), "delta": pledge.delta}
        case Mixture():
            orders, weights = list(pledge.orders), list(pledge.weights)
            return {"kind": "mixture of orders", "orders": orders, "weights": weights, "delta": pledge.delta}
        case HalfNormal():
            return {"kind": "half-normal mixture", "v": pledge.v, "delta": pledge.delta}
        case PlannedStops():
            return {"kind": "planned stops", "stops": _stops_out(pledge.promises), "delta": pledge.delta}
        case PlannedJumps():
            stops, lead = _stops_out(pledge.promises), str(pledge.lead)
            return {"kind": "planned jumps", "stops": stops, "lead": lead, "delta": pledge.delta}
    raise InvalidValue(f"a receipt cannot hold a pledge of kind {type(pledge).__name__}; use one of expost's.")


def pledge_in(found: Json) -> Pledge:
    """The pledge that ``pledge_out`` wrote."""
    fields = table(found)
    kind, delta = text(fields["kind"]), number(fields["delta"])
    record(found, ("kind", *PLEDGES.get(kind, ()), "delta"))
    match kind:
        case "fixed order":
            return FixedOrder(fraction(fields["alpha"]), delta)
        case "mixture of orders":
            orders, weights = (tuple(map(number, items(fields[name]))) for name in ("orders", "weights"))
            if len(orders) > MOST_MIXED:
                raise Unreadable(f"the receipt mixes more than {MOST_MIXED} orders; it was changed.")
            return Mixture(orders, weights, delta)
        case "half-normal mixture":
            return HalfNormal(number(fields["v"]), delta)
        case "planned stops":
            return PlannedStops(_stops_in(fields["stops"]), delta)
        case "planned jumps":
            return PlannedJumps(_stops_in(fields["stops"]), delta, fraction(fields["lead"]))
    raise Unreadable("the receipt names a pledge that expost does not know; read it with the version it names.")


def _stops_out(promises: Sequence[Promise]) -> list[Json]:
    return [curve_out(promise.curve) for promise in promises]


def _stops_in(found: Json) -> tuple[Promise, ...]:
    """The promises of planned stops, refused if they, or the kinds of their steps, would take long to state."""
    stops = items(found)
    if len(stops) > MOST_PLANNED:
        raise Unreadable(f"the pledge has more than {MOST_PLANNED} planned stops; it was changed.")
    promises = tuple(Promise(curve_in(each)) for each in stops)
    known = [sides(kinds) for each in promises if (kinds := each.curve.kinds) is not None]
    if sum(len(side.sampled) for each in known for side in {each.train, each.held}) > MOST_STATED:
        raise Unreadable(f"the stops of the pledge have more than {MOST_STATED} kinds of steps; it was changed.")
    return promises


def item_out(item: Item) -> dict[str, Json]:
    """One line of the bill."""
    entry = item.entry
    return {
        "what": entry.what,
        "part": entry.part,
        "neighbours": entry.neighbours,
        "seeded": entry.seeded,
        "floating": entry.floating,
        "facts": dict(entry.facts),
        "curve": curve_out(item.spent.curve),
        "count": item.count,
        "finished": item.finished,
    }


def item_in(found: Json) -> Item:
    """The line that ``item_out`` wrote."""
    fields = record(found, ITEM)
    what, part, neighbours = (text(fields[name]) for name in ("what", "part", "neighbours"))
    seeded, floating, finished = (truth(fields[name]) for name in ("seeded", "floating", "finished"))
    entry = Entry(what, part, neighbours, seeded, floating, facts_in(fields["facts"]))
    return Item(entry, Spent(curve_in(fields["curve"])), whole(fields["count"]), finished)


def _line_out(line: Linear) -> dict[str, Json]:
    profile = None if line.gaussian is None else str(line.gaussian)
    return {"xi": str(line.xi), "rho": str(line.rho), "gaussian": profile}


def _line_in(found: Mapping[str, Json]) -> Linear:
    fields = record(found, LINE)
    profile = None if fields["gaussian"] is None else fraction(fields["gaussian"])
    return Linear(fraction(fields["xi"]), fraction(fields["rho"]), profile)


def _known_out(known: Known) -> Json:
    if isinstance(known, Sides):
        return {"train": _known_out(known.train), "held": _known_out(known.held)}
    sampled: list[Json] = [
        {"rate": str(rate), "noise multiplier": str(noise), "steps": steps} for (rate, noise), steps in known.sampled
    ]
    return {"sampled": sampled, "rho": str(known.rho)}


def _known_in(found: Json) -> Known:
    if "train" in table(found):
        fields = record(found, ("train", "held"))
        return Sides(_kinds_in(fields["train"]), _kinds_in(fields["held"]))
    return _kinds_in(found)


def _kinds_in(found: Json) -> Kinds:
    """Kinds of steps, refused unless they are few, each is there once, and none has a number below 0."""
    fields = record(found, ("sampled", "rho"))
    each_kind = [record(each, ("rate", "noise multiplier", "steps")) for each in items(fields["sampled"])]
    sampled = [
        ((fraction(each["rate"]), fraction(each["noise multiplier"])), whole(each["steps"])) for each in each_kind
    ]
    rho = fraction(fields["rho"])
    proper = all(0 < rate <= 1 and noise > 0 for (rate, noise), _ in sampled) and rho >= 0
    if not proper or not len(sampled) == len({kind for kind, _ in sampled}) <= MOST_KINDS:
        raise Unreadable(f"a curve of the receipt has more than {MOST_KINDS} kinds of steps, or one that is none.")
    return Kinds(tuple(sorted(sampled)), rho)
