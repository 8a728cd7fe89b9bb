"""Planning: the tightest valid pledge for a ladder, chosen before anything is released."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from expost.accounting.claim import Promise
from expost.accounting.curve import cover
from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops

TUNINGS = 8
"""How many of the stops a pledge is tuned to in turn: more gain nothing and take quadratic time."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The pledge chosen for the planned stops of a ladder, and why."""

    stops: tuple[Promise, ...]
    pledge: Pledge
    reason: str


def tightest_pledge(stops: Sequence[Promise], delta: float) -> Plan:
    """The pledge with the lowest geometric mean of ε over the planned stops.

    Every candidate is valid and the choice is a public computation, so it costs nothing as long as it is made
    before data is touched; the pledge is then binding.
    """
    averages: dict[str, tuple[float, Pledge]] = {}
    for name, pledge in _candidates(stops, delta):
        average = _geometric_mean([pledge.epsilon(stop) for stop in stops])
        if name not in averages or average < averages[name][0]:
            averages[name] = average, pledge
    (name, (average, pledge)), *others = sorted(averages.items(), key=lambda pair: pair[1][0])
    beaten = ", ".join(f"{other} {mean:.4g}" for other, (mean, _) in others)
    places = "1 stop" if len(stops) == 1 else f"{len(stops)} stops"
    return Plan(tuple(stops), pledge, f"{name}: ε averages {average:.4g} over {places} at δ = {delta:g} ({beaten})")


def stated_by(pledge: PlannedStops) -> str:
    """What the stops of a pledge are stated by, in words."""
    counts = Counter(stop.measure for stop in pledge.table)
    if len(counts) == 1:
        return f"stated by {pledge.table[0].measure}"
    return "stated by " + " and ".join(f"{measure} ({count} of them)" for measure, count in counts.items())


def _candidates(stops: Sequence[Promise], delta: float) -> Iterator[tuple[str, Pledge]]:
    """Each kind of pledge, tuned to a few of the stops where it can be."""
    yield "planned stops", PlannedStops(tuple(stops), delta)
    yield "mixture of orders", Mixture.even([2.0**power for power in range(1, 9)], delta)
    for stop in stops[:: max(1, len(stops) // TUNINGS)]:
        line = cover(stop.curve)
        yield "fixed order", FixedOrder.tuned(stop, delta)
        if line is not None and line.rho > 0:
            yield "half-normal mixture", HalfNormal.tuned(line.rho, delta)


def _geometric_mean(values: Sequence[float]) -> float:
    if 0 in values:  # a stop that costs nothing does not make up for one without a claim
        return max(values) if math.inf in values else 0.0
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))
