"""Charts as SVG, and how they are read: no script, no fonts to fetch, colours that the style sheet may turn dark."""

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from expost.report import digits
from expost.report.answers import Reading, lowest
from expost.report.facts import Facts
from expost.report.shares import asked_for, noisy_number, on_an_axis
from expost.report.units import by_unit
from expost.report.words import VERDICTS

HEIGHT, LEFT, RIGHT, TOP, FLOOR = 300, 62, 24, 18, 254
WIDE, NARROW = 760, 360
"""A chart for a page of full width, and one whose letters can be read on a phone."""
WORDS = 80
"""Room for what stands beside a mark that no answer belongs to."""
MARKS = {True: "passed", False: "failed", None: "unchecked"}


def safe(text: str) -> str:
    """The text for a page: markup is quoted, and what cannot be seen is shown as such."""
    return html.escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


@final
@dataclass(frozen=True, slots=True)
class Plane:
    """Where prices and answers lie on the chart; what is outside is drawn at the rim."""

    width: int
    dearest: float
    low: float
    high: float
    goal: float

    @classmethod
    def of(cls, facts: Facts, width: int = WIDE) -> "Plane":
        """Room for every price, the target, and the noise around every answer."""
        prices = [rung.epsilon for rung in facts.rungs] + [stop.epsilon for stop in facts.stops]
        bottom, top, least = (lowest(facts.measure), 1.0, 0.01) if facts.shares else (-math.inf, math.inf, 1.0)
        goal = float(facts.asked or 0) if facts.shares else 0.0
        answers = [found for rung in facts.rungs if (found := facts.answer(rung)) is not None]
        ends = [goal, *(end for answer in answers for end in _range(answer))]
        room = max(least, 0.08 * (max(ends) - min(ends)))
        dearest = max((each for each in prices if 0 < each < math.inf), default=1.0)
        return cls(width, 1.04 * dearest, max(bottom, min(ends) - room), min(top, max(ends) + room), goal)

    def x(self, epsilon: float) -> float:
        """From the left, in pixels."""
        return LEFT + min(1.0, epsilon / self.dearest) * (self.width - LEFT - RIGHT)

    def y(self, value: float | None) -> float:
        """From the top, in pixels; what was not measured lies on the floor."""
        height = 0.0 if value is None else (value - self.low) / (self.high - self.low)
        return FLOOR - min(max(height, 0.0), 1.0) * (FLOOR - TOP)


def drawn(facts: Facts) -> bool:
    """Whether there is something to draw: answers, and prices to draw them at."""
    return facts.measured and math.isfinite(facts.epsilon)


def ladders(facts: Facts) -> str:
    """The chart below in two widths, of which a screen shows one; empty where there is nothing to draw."""
    if not drawn(facts):
        return ""
    return f'<div class="broad">{ladder(facts)}</div><div class="slim">{ladder(facts, NARROW)}</div>'


def ladder(facts: Facts, width: int = WIDE) -> str:
    """Answers against price: the rungs reached with the noise of the check, the target, and the prices ahead."""
    plane, name, taken = Plane.of(facts, width), facts.job.rung.capitalize(), len(facts.rungs)
    answers = [(rung, facts.answer(rung)) for rung in facts.rungs]
    seen = [(rung.epsilon, found[0]) for rung, found in answers if found is not None]
    path = " ".join(f"{plane.x(epsilon):.1f},{plane.y(value):.1f}" for epsilon, value in seen)
    marks = [(f"{name} {place}: {said(facts, rung)}", rung, found) for place, (rung, found) in enumerate(answers, 1)]
    return svg_figure(
        (width, HEIGHT),
        f"The {facts.job.rung}s: {facts.scale} against price",
        f"{_goal(facts)}. {' '.join(f'{told}.' for told, _, _ in marks)}",
        [
            *_axes(plane, facts),
            *(_ahead(plane, place, facts) for place in range(taken, taken + len(facts.ahead))),
            f'<polyline class="path" points="{path}"/>',
            *(_rung(plane, told, rung, found) for told, rung, found in marks),
            *_unanswered(plane, [rung for rung, found in answers if found is None]),
            svg_text((width - RIGHT, plane.y(plane.goal) - 6), _goal(facts), "end", "strong"),
        ],
    )


def said(facts: Facts, rung: Reading) -> str:
    """A rung in words."""
    found = facts.answer(rung)
    unit = "" if facts.shares else by_unit(" records", facts.neighbours)
    answer = "" if found is None else f", {noisy_number(facts, found)}{unit}"
    return f"ε {digits.price(rung.epsilon)}{answer}, {VERDICTS[rung.passed]}"


def nice(low: float, high: float) -> list[float]:
    """Three to eight round numbers between two ends.

    >>> nice(0, 1.46)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4]
    """
    power = 10 ** math.floor(math.log10(high - low))
    step = next(part * power for part in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (part * power) <= 8)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def svg_figure(size: tuple[int, int], title: str, description: str, parts: Sequence[str]) -> str:
    """A drawing with a title and a description for those who do not see it."""
    head = f"<title>{safe(title)}</title><desc>{safe(description)}</desc>"
    return f'<svg viewBox="0 0 {size[0]} {size[1]}" role="img">{head}{"".join(parts)}</svg>'


def _axes(plane: Plane, facts: Facts) -> list[str]:
    end, asked = plane.width - RIGHT, plane.y(plane.goal)
    across = [(plane.y(value), on_an_axis(facts, value)) for value in nice(plane.low, plane.high)]
    ticks = nice(0, plane.dearest)
    shown = ticks if plane.width == WIDE else ticks[:: 1 + len(ticks) // 5]
    along = [(plane.x(epsilon), f"{epsilon:g}") for epsilon in shown]
    return [
        *(svg_line("grid", (LEFT, y), (end, y)) + svg_text((LEFT - 8, y + 4), label, "end") for y, label in across),
        *(
            svg_line("grid", (x, FLOOR), (x, FLOOR + 5)) + svg_text((x, FLOOR + 19), label, "middle")
            for x, label in along
        ),
        svg_text(((LEFT + end) / 2, HEIGHT - 4), f"price so far: ε at δ = {digits.small(facts.delta)}", "middle"),
        svg_line("target", (LEFT, asked), (end, asked)),
    ]


def _goal(facts: Facts) -> str:
    """What was asked for."""
    return "the target" if facts.asked is None or facts.several else f"asked for: {asked_for(facts)}"


def _ahead(plane: Plane, place: int, facts: Facts) -> str:
    """A mark on the price axis for a rung that was not reached."""
    epsilon = facts.stops[place].epsilon
    if not math.isfinite(epsilon):
        return ""
    x = plane.x(epsilon)
    told = f"{facts.job.rung.capitalize()} {place + 1}, not reached: ε {digits.price(epsilon)}"
    return f"<g><title>{safe(told)}</title>{svg_line('ahead', (x, FLOOR - 12), (x, FLOOR))}</g>"


def _rung(plane: Plane, told: str, rung: Reading, found: tuple[float, float] | None) -> str:
    x, y = plane.x(rung.epsilon), plane.y(None if found is None else found[0])
    whisker = ""
    if found is not None:
        low, high = (plane.y(end) for end in _range(found))
        ends = "".join(svg_line("whisker", (x - 4, end), (x + 4, end)) for end in (low, high))
        whisker = svg_line("whisker", (x, low), (x, high)) + ends
    mark = f'<circle class="{MARKS[rung.passed]}" cx="{x:.1f}" cy="{y:.1f}" r="{9 if rung.passed else 5.5}"/>'
    if rung.passed:
        mark += f'<path class="tick" d="M{x - 4:.1f} {y + 0.5:.1f}l3 3l5.5 -6"/>'
    return f"<g><title>{safe(told)}</title>{whisker}{mark}</g>"


def _unanswered(plane: Plane, rungs: Sequence[Reading]) -> Iterator[str]:
    """The verdicts of rungs without an answer, ahead of their marks or else behind; told once of marks side by side."""
    places = [(plane.x(rung.epsilon), VERDICTS[rung.passed]) for rung in rungs]
    while places:
        first, verdict = last, _ = places.pop(0)
        while places and places[0][0] - last < 2 * WORDS and places[0][1] == verdict:
            last, _ = places.pop(0)
        ahead = first - WORDS >= LEFT
        yield svg_text((first - 10 if ahead else last + 10, FLOOR - 4), verdict, "end" if ahead else "start")


def _range(answer: tuple[float, float]) -> tuple[float, float]:
    """The range of the noise."""
    value, half = answer
    return value - half, value + half


def svg_line(name: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    """A line of the style that has this name."""
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def svg_text(place: tuple[float, float], text: str, anchor: str, name: str = "plain") -> str:
    """A text that begins, ends or is centred at a place."""
    x, y = place
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(text)}</text>'


def short_labels(labels: Sequence[str], most: int) -> list[str]:
    """The labels in at most as many letters, the middle left out; those that would look alike are numbered."""
    half = (most - 1) // 2
    short = [each if len(each) <= most else f"{each[:half]}…{each[-half:]}" for each in labels]
    for place, each in enumerate(short):
        if each in short[:place]:
            number = f" ({place + 1})"
            short[place] = f"{each[: most - len(number)]}{number}"
    return short
