"""The profile: the δ of every ε that the whole procedure keeps to, however far a run climbs; drawn and in words."""

import math
from functools import reduce

from expost.accounting.claim import Promise
from expost.accounting.gaussian import gaussian_mu
from expost.report import digits
from expost.report.charts import nice, svg_figure, svg_line, svg_text
from expost.report.facts import Facts
from expost.report.words import last_allowed

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 400, 260, 46, 16, 14, 214
POINTS = 40
BELOW = 4
"""Decades that are drawn below the stated δ."""
LEAST = -300
"""The last decade that floats hold."""


def most_spent(facts: Facts) -> Promise | None:
    """What a run spends at most that ends at one of the planned stops within the cap; None where no claim follows."""
    within = [stop.promise for stop in facts.stops if facts.allowed(stop.epsilon)]
    if not within or not math.isfinite(facts.epsilon):
        return None
    most = reduce(Promise.beside, within)
    return most if math.isfinite(most.approx(facts.delta)) else None


def profile_chart(promise: Promise, delta: float) -> str:
    """The curve on a logarithmic scale of δ, with the ε at the stated δ."""
    lowest = max(math.floor(math.log10(delta)) - BELOW, LEAST)
    decades = 2 * math.ceil(-lowest / 12)
    deltas = [10 ** (lowest * place / POINTS) for place in range(POINTS, 0, -1)]
    curve = [(promise.approx(each), each) for each in deltas]
    visible = [(epsilon, each) for epsilon, each in curve if 0 < epsilon < math.inf]
    farthest = 1.04 * max((epsilon for epsilon, _ in visible), default=1.0)

    def x(epsilon: float) -> float:
        return LEFT + epsilon / farthest * (WIDTH - LEFT - RIGHT)

    def y(chance: float) -> float:
        return TOP + math.log10(chance) / lowest * (FLOOR - TOP)

    stated = promise.approx(delta)
    path = " ".join(f"{x(epsilon):.1f},{y(each):.1f}" for epsilon, each in visible)
    label = f"ε {digits.price(stated)} at δ = {digits.small(delta)}"
    told = [f"ε {digits.price(promise.approx(10.0**power))} at δ = 1e{power}" for power in range(lowest, 0, decades)]
    return svg_figure(
        (WIDTH, HEIGHT),
        "The δ of every ε, if all is spent that may be",
        f"{label}. {'. '.join(told)}.",
        [
            *(_level(power, y(10.0**power)) for power in range(0, lowest - 1, -decades)),
            *(_mark(epsilon, x(epsilon)) for epsilon in nice(0, farthest)),
            svg_text(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6), "ε", "middle"),
            f'<polyline class="curve" points="{path}"/>',
            svg_line("target", (LEFT, y(delta)), (x(stated), y(delta))),
            svg_line("target", (x(stated), y(delta)), (x(stated), FLOOR)),
            f'<circle class="passed" cx="{x(stated):.1f}" cy="{y(delta):.1f}" r="4.5"/>',
            svg_text((x(stated) - 10, y(delta) + 19), label, "end", "strong"),
        ],
    )


def profile_reading(facts: Facts, promise: Promise) -> tuple[str, ...]:
    """Whose curve it is, how it is known, and why the rungs have other prices."""
    rung, mu = facts.job.rung, gaussian_mu(promise.curve)
    known = (
        "It is read off the Rényi bound of that spend, at the best order for each δ."
        if mu is None
        else f"It is the curve of Gaussian noise with μ = {digits.price(mu)}."
    )
    told = (
        f"A run that ends at {last_allowed(facts)} or before, as this one did, spends no more than this: for every ε "
        f"on the axis, the δ on the curve. {known} Each point is a statement of its own."
    )
    if len(facts.stops) == 1:
        return (told,)
    dearest = max(stop.epsilon for stop in facts.stops if facts.allowed(stop.epsilon))
    beside = "are a little higher" if dearest >= promise.approx(facts.delta) else "follow from more than that bound"
    return told, (
        f"The prices of the {rung}s {beside}. Their rule lets a run state the price of the {rung} where it ended, and "
        "not that of the last."
    )


def _level(power: int, y: float) -> str:
    """A power of ten of δ."""
    label = "δ = 1" if power == 0 else f"1e{power}"
    return svg_line("grid", (LEFT, y), (WIDTH - RIGHT, y)) + svg_text((LEFT - 7, y + 4), label, "end")


def _mark(epsilon: float, x: float) -> str:
    """A round ε on the axis."""
    return svg_line("grid", (x, FLOOR), (x, FLOOR + 5)) + svg_text((x, FLOOR + 19), f"{epsilon:g}", "middle")
