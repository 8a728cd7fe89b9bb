"""Curves, pledges and lines of a bill as JSON and back: fractions as texts, infinity as null, nothing rounded."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, Union

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import Curve, Highest, Linear, Table
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, PlannedStops, Pledge
from expost.errors import SchemaMismatch
from expost.record import Entry
from expost.report.facts import Item

Json: TypeAlias = Union[str, int, float, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  recursive


def finite(value: float) -> float | None:
    """A number for JSON, which knows no infinity."""
    return value if math.isfinite(value) else None


def curve_out(curve: Curve) -> dict[str, Json]:
    """A curve: its lines, or its table."""
    if isinstance(curve, Table):
        return {"orders": list(curve.orders), "values": [finite(value) for value in curve.values.tolist()]}
    return {"lines": [_line_out(line) for line in curve.lines]}


def curve_in(found: Json) -> Curve:
    """The curve of such a text."""
    fields = table(found)
    if "orders" in fields:
        return Table.of(
            [number(each) for each in items(fields["orders"])], [number(x) for x in items(fields["values"])]
        )
    lines = tuple(map(_line_in, tables(fields["lines"])))
    if not lines:
        raise SchemaMismatch("a curve of the receipt has no line; it was cut short.")
    return lines[0] if len(lines) == 1 else Highest(lines)


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
            stops = [curve_out(promise.curve) for promise in pledge.promises]
            return {"kind": "planned stops", "stops": stops, "delta": pledge.delta}
    raise SchemaMismatch(f"a receipt cannot hold a pledge of kind {type(pledge).__name__}; use one of expost's.")


def pledge_in(found: Json) -> Pledge:
    """The pledge of such a text."""
    fields = table(found)
    delta = number(fields["delta"])
    match fields["kind"]:
        case "fixed order":
            return FixedOrder(fraction(fields["alpha"]), delta)
        case "mixture of orders":
            orders, weights = (tuple(map(number, items(fields[name]))) for name in ("orders", "weights"))
            return Mixture(orders, weights, delta)
        case "half-normal mixture":
            return HalfNormal(number(fields["v"]), delta)
        case "planned stops":
            return PlannedStops(tuple(Promise(curve_in(each)) for each in items(fields["stops"])), delta)
    raise SchemaMismatch("the receipt names a pledge that expost does not know; read it with the version it names.")


def item_out(item: Item) -> dict[str, Json]:
    """One line of the bill."""
    entry = item.entry
    return {
        "what": entry.what,
        "part": entry.part,
        "neighbours": entry.relation,
        "seeded": entry.seeded,
        "floating": entry.floating,
        "facts": dict(entry.facts),
        "curve": curve_out(item.spent.curve),
        "count": item.count,
        "finished": item.finished,
    }


def item_in(found: Json) -> Item:
    """The line of such a text."""
    fields = table(found)
    facts = {name: value for name, value in table(fields["facts"]).items() if isinstance(value, str | int)}
    what, part, relation = (text(fields[name]) for name in ("what", "part", "neighbours"))
    seeded, floating, finished = (fields[name] is not False for name in ("seeded", "floating", "finished"))
    entry = Entry(what, part, relation, seeded, floating, facts)
    return Item(entry, Spent(curve_in(fields["curve"])), whole(fields["count"]), finished)


def table(found: Json) -> Mapping[str, Json]:
    """The value, refused unless it is a table."""
    if not isinstance(found, Mapping):
        raise SchemaMismatch("the receipt has something else where a table belongs; it was changed or cut short.")
    return found


def items(found: Json) -> Sequence[Json]:
    """The value, refused unless it is a list."""
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise SchemaMismatch("the receipt has something else where a list belongs; it was changed or cut short.")
    return found


def tables(found: Json) -> list[Mapping[str, Json]]:
    """The value, refused unless it is a list of tables."""
    return [table(each) for each in items(found)]


def text(found: Json) -> str:
    """The value, refused unless it is a text."""
    if not isinstance(found, str):
        raise SchemaMismatch("the receipt has something else where a text belongs; it was changed or cut short.")
    return found


def number(found: Json) -> float:
    """The value as a float, null as infinity; refused if it is anything else."""
    if found is None:
        return math.inf
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise SchemaMismatch("the receipt has something else where a number belongs; it was changed or cut short.")
    return float(found)


def whole(found: Json) -> int:
    """The value, refused unless it counts something."""
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise SchemaMismatch("the receipt has something else where a count belongs; it was changed or cut short.")
    return found


def fraction(found: Json) -> Fraction:
    """The exact number that a text spells."""
    try:
        return Fraction(text(found))
    except (ValueError, ZeroDivisionError):
        raise SchemaMismatch("the receipt has something else where a fraction belongs; it was changed.") from None


def _line_out(line: Linear) -> dict[str, Json]:
    profile = None if line.gaussian is None else str(line.gaussian)
    return {"xi": str(line.xi), "rho": str(line.rho), "gaussian": profile}


def _line_in(fields: Mapping[str, Json]) -> Linear:
    profile = None if fields["gaussian"] is None else fraction(fields["gaussian"])
    return Linear(fraction(fields["xi"]), fraction(fields["rho"]), profile)
