"""Charts as SVG, and how they are read: no script, no fonts to fetch, colours that the style sheet may turn dark."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.checks.confidence import Confidence
from expost.report import digits
from expost.report.facts import Facts, Reading
from expost.report.words import VERDICTS, asked_for, noisy_number, sure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 760, 300, 62, 24, 18, 254
MARKS = {True: "passed", False: "failed", None: "unchecked"}


def safe(text: str) -> str:
    """The text for a page: markup is quoted, and what cannot be seen is shown as such."""
    return html.escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


@final
@dataclass(frozen=True, slots=True)
class Plane:
    """Where prices and answers lie on the chart; what is outside is drawn at the rim."""

    dearest: float
    low: float
    high: float
    goal: float

    @classmethod
    def of(cls, facts: Facts) -> "Plane":
        """Room for every price, the target, and the noise around every answer."""
        prices = [rung.epsilon for rung in facts.rungs] + [stop.epsilon for stop in facts.stops]
        bottom, top, least = (0.0, 1.0, 0.01) if facts.shares else (-math.inf, math.inf, 1.0)
        goal = float(facts.asked or 0) if facts.shares else 0.0
        answers = [found for rung in facts.rungs if (found := facts.answer(rung)) is not None]
        ends = [goal, *(end for answer in answers for end in _range(answer))]
        room = max(least, 0.08 * (max(ends) - min(ends)))
        dearest = max((each for each in prices if 0 < each < math.inf), default=1.0)
        return cls(1.04 * dearest, max(bottom, min(ends) - room), min(top, max(ends) + room), goal)

    def x(self, epsilon: float) -> float:
        """From the left, in pixels."""
        return LEFT + min(1.0, epsilon / self.dearest) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float | None) -> float:
        """From the top, in pixels; what was not measured lies on the floor."""
        height = 0.0 if value is None else (value - self.low) / (self.high - self.low)
        return FLOOR - min(max(height, 0.0), 1.0) * (FLOOR - TOP)


def drawn(facts: Facts) -> bool:
    """Whether there is something to draw: answers, and prices to draw them at."""
    return facts.measured and math.isfinite(facts.epsilon)


def ladder(facts: Facts) -> str:
    """Answers against price: the rungs reached with the noise of the check, the target, and the prices ahead."""
    plane, name, taken = Plane.of(facts), facts.job.rung.capitalize(), len(facts.rungs)
    answers = [(rung, facts.answer(rung)) for rung in facts.rungs]
    seen = [(rung.epsilon, found[0]) for rung, found in answers if found is not None]
    path = " ".join(f"{plane.x(epsilon):.1f},{plane.y(value):.1f}" for epsilon, value in seen)
    marks = [(f"{name} {place}: {said(facts, rung)}", rung, found) for place, (rung, found) in enumerate(answers, 1)]
    return svg_figure(
        (WIDTH, HEIGHT),
        f"The {facts.job.rung}s: {facts.scale} against price",
        f"{_goal(facts)}. {' '.join(f'{told}.' for told, _, _ in marks)}",
        [
            *_axes(plane, facts),
            *(_ahead(plane, place, facts) for place in range(taken, taken + len(facts.ahead))),
            f'<polyline class="path" points="{path}"/>',
            *(_rung(plane, told, rung, found) for told, rung, found in marks),
            svg_text((WIDTH - RIGHT, plane.y(plane.goal) - 6), _goal(facts), "end", "strong"),
        ],
    )


def said(facts: Facts, rung: Reading) -> str:
    """A rung in words."""
    found = facts.answer(rung)
    answer = "" if found is None else f", {noisy_number(facts, found)}{'' if facts.shares else ' records'}"
    return f"ε {digits.price(rung.epsilon)}{answer}, {VERDICTS[rung.passed]}"


def reading(facts: Facts) -> str:
    """How to read the rungs: what an answer is, what passes, what ± means, which prices were known."""
    told, held = [], facts.held
    if facts.unchecked:
        told.append("Nothing was checked.")
    elif not facts.measured:
        told.append(
            f"The check says only whether a candidate passes; it does not reveal how high the {facts.measure} is."
        )
        if (error := noise_of_an_answer(facts)) is not None:
            told.append(f"The standard error of its answer is {digits.points(error)}.")
    elif not facts.shares:
        told.append(_margin(facts))
    if facts.confidence is not None:
        told.append(_passing(facts, facts.confidence))
    if facts.measured:
        range_of = "one standard error" if facts.confidence is None else f"the range, with {sure(facts)} for all looks,"
        told.append(f"± is {range_of} of the noise that the check adds for privacy.")
        count = "" if held is None else f", nor that from how many (about {round(held, -1):,.0f})"
        told.append(f"It does not include the error from which records were held out{count}.")
    if drawn(facts):
        told.append("A filled mark passed; an empty one did not.")
        told += [f"Marks on the axis are the prices of {facts.job.rung}s not reached."] if facts.ahead else []
    if facts.stops:
        told.append("All prices were known beforehand.")
    return " ".join(told)


def _margin(facts: Facts) -> str:
    """What the margin counts."""
    if facts.asked is None:
        return "The margin is how far the candidate lies above or below what the check asks for, in records."
    asked = asked_for(facts)
    if facts.measure == "accuracy":
        return (
            f"The margin is how many more, or fewer, held-out records the candidate gets right than {asked} of them; "
            "their number stays private."
        )
    return (
        f"The margin is by how much the scores of the held-out records add up to more, or less, than {asked} of the "
        "most they could; the number of records stays private."
    )


def _passing(facts: Facts, confidence: Confidence) -> str:
    """What it takes to pass."""
    where = "at the one look" if confidence.looks == 1 else f"at any of the {confidence.looks} looks"
    return (
        "A candidate passes when its noisy margin over the target is at least the guard. The guard was fixed "
        f"beforehand: with {sure(facts)} no candidate below the target passes {where} planned."
    )


def noise_of_an_answer(facts: Facts) -> float | None:
    """The standard error of a noisy yes or no, as a share of the held-out records; None for other checks."""
    for known in (item.entry.facts for item in facts.bill if item.entry.what == "sparse vector check"):
        if facts.held is None:
            return None
        spread = math.sqrt(Fraction(known["variance"]) + 2 * Fraction(known["scale"]) ** 2)
        return spread * float(Fraction(known["sensitivity"]) / Fraction(known["unit"])) / max(1.0, facts.held)
    return None


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
    end, asked = WIDTH - RIGHT, plane.y(plane.goal)
    mark = digits.plain if facts.shares else digits.signed
    across = [(plane.y(value), mark(value)) for value in nice(plane.low, plane.high)]
    along = [(plane.x(epsilon), f"{epsilon:g}") for epsilon in nice(0, plane.dearest)]
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
    return "the target" if facts.asked is None else f"asked for: {digits.plain(float(facts.asked))}"


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
    if found is None:
        mark += svg_text((x - 10, y - 4), VERDICTS[rung.passed], "end")
    return f"<g><title>{safe(told)}</title>{whisker}{mark}</g>"


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
