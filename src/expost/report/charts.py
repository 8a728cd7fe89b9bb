"""Charts as SVG, written on the server: no script, no fonts to fetch, colours that the style sheet may turn dark."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from expost.report import digits
from expost.report.facts import Facts, Reading
from expost.report.scale import Answer, Scale

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FLOOR = 760, 300, 62, 24, 18, 254
BAR_WIDTH, BAR_LEFT, BAR_RIGHT, BAR_ROW = 320, 132, 50, 19
LONGEST_LABEL = 18

VERDICTS = {True: "passed", False: "not yet", None: "not asked"}
MARKS = {True: "passed", False: "failed", None: "unchecked"}


def safe(text: str) -> str:
    """The text for a page: markup is quoted, and what cannot be seen is shown as such."""
    return html.escape("".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text))


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a marginal: the released count with half its 95 % interval, and the synthetic count to scale."""

    label: str
    released: float
    half: float
    synthetic: float


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """A marginal as it was released, beside that of the synthetic table.

    ``distance`` is the total variation between the two; ``noise`` is about what the noise in the released counts
    would make it if the synthetic table were exactly right.
    """

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    distance: float
    noise: float


@final
@dataclass(frozen=True, slots=True)
class Plane:
    """Where prices and answers lie on the chart; what is outside is drawn at the rim."""

    dearest: float
    low: float
    high: float
    scale: Scale

    @classmethod
    def of(cls, facts: Facts) -> "Plane":
        """Room for every price, the target, and the noise around every answer."""
        prices = [rung.epsilon for rung in facts.rungs] + [stop.epsilon for stop in facts.stops]
        scale, (bottom, top) = facts.scale, facts.scale.limits
        answers = [found for rung in facts.rungs if (found := facts.answer(rung)) is not None]
        ends = [scale.goal, *(end for answer in answers for end in _range(answer))]
        room = max(scale.room, 0.08 * (max(ends) - min(ends)))
        dearest = max((each for each in prices if 0 < each < math.inf), default=1.0)
        return cls(1.04 * dearest, max(bottom, min(ends) - room), min(top, max(ends) + room), scale)

    def x(self, epsilon: float) -> float:
        """From the left, in pixels."""
        return LEFT + min(1.0, epsilon / self.dearest) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float | None) -> float:
        """From the top, in pixels; what was not measured lies on the floor."""
        height = 0.0 if value is None else (value - self.low) / (self.high - self.low)
        return FLOOR - min(max(height, 0.0), 1.0) * (FLOOR - TOP)


def ladder(facts: Facts) -> str:
    """Answers against price: the rungs climbed with the noise of the check, the target, and the prices ahead."""
    plane, terms, taken = Plane.of(facts), facts.job.terms, len(facts.rungs)
    answers = [(rung, facts.answer(rung)) for rung in facts.rungs]
    seen = [(rung.epsilon, found[0]) for rung, found in answers if found is not None]
    path = " ".join(f"{plane.x(epsilon):.1f},{plane.y(value):.1f}" for epsilon, value in seen)
    name = terms.rung.capitalize()
    marks = [(f"{name} {place}: {said(facts, rung)}", rung, found) for place, (rung, found) in enumerate(answers, 1)]
    return _figure(
        (WIDTH, HEIGHT),
        f"{terms.title}: {facts.scale.name(facts.measure)} against price",
        f"{_goal(facts)}. {' '.join(f'{told}.' for told, _, _ in marks)}",
        [
            *_axes(plane, facts),
            *(_ahead(plane, place, facts) for place in range(taken, taken + len(facts.ahead))),
            f'<polyline class="path" points="{path}"/>',
            *(_rung(plane, told, rung, found) for told, rung, found in marks),
        ],
    )


def bars(comparison: Comparison) -> str:
    """A marginal: bars for the synthetic table, dots with 95 % intervals for what was released."""
    reach = max((max(cell.synthetic, cell.released + cell.half) for cell in comparison.cells), default=1.0) or 1.0
    height = BAR_ROW * len(comparison.cells) + 4
    name = " by ".join(comparison.columns)
    spoken = "; ".join(_counts(cell) for cell in comparison.cells)
    rows = [_bar(cell, 2 + BAR_ROW * place, reach) for place, cell in enumerate(comparison.cells)]
    return _figure((BAR_WIDTH, height), f"{name}: released and synthetic counts", spoken, rows)


def said(facts: Facts, rung: Reading) -> str:
    """A rung in words."""
    found = facts.answer(rung)
    answer = "" if found is None else f", {facts.scale.told(found)}{facts.scale.unit}"
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


def _figure(size: tuple[int, int], title: str, description: str, parts: Sequence[str]) -> str:
    head = f"<title>{safe(title)}</title><desc>{safe(description)}</desc>"
    return f'<svg viewBox="0 0 {size[0]} {size[1]}" role="img">{head}{"".join(parts)}</svg>'


def _axes(plane: Plane, facts: Facts) -> list[str]:
    end, asked = WIDTH - RIGHT, plane.y(plane.scale.goal)
    across = [(plane.y(value), plane.scale.mark(value)) for value in nice(plane.low, plane.high)]
    along = [(plane.x(epsilon), f"{epsilon:g}") for epsilon in nice(0, plane.dearest)]
    return [
        *(_line("grid", (LEFT, y), (end, y)) + _text((LEFT - 8, y + 4), label, "end") for y, label in across),
        *(_line("grid", (x, FLOOR), (x, FLOOR + 5)) + _text((x, FLOOR + 19), label, "middle") for x, label in along),
        _text(((LEFT + end) / 2, HEIGHT - 4), f"price so far: ε at δ = {digits.small(facts.delta)}", "middle"),
        _line("target", (LEFT, asked), (end, asked)),
        _text((end, asked - 6), _goal(facts), "end", "strong"),
    ]


def _goal(facts: Facts) -> str:
    """What was asked for."""
    return "the target" if facts.asked is None else f"asked: {digits.plain(float(facts.asked))}"


def _ahead(plane: Plane, place: int, facts: Facts) -> str:
    """A mark on the price axis for a rung that was not climbed."""
    epsilon = facts.stops[place].epsilon
    if not math.isfinite(epsilon):
        return ""
    x = plane.x(epsilon)
    terms = facts.job.terms
    told = f"{terms.rung.capitalize()} {place + 1}, not {terms.taken}: ε {digits.price(epsilon)}"
    return f"<g><title>{safe(told)}</title>{_line('ahead', (x, FLOOR - 12), (x, FLOOR))}</g>"


def _rung(plane: Plane, told: str, rung: Reading, found: Answer | None) -> str:
    x, y = plane.x(rung.epsilon), plane.y(None if found is None else found[0])
    whisker = ""
    if found is not None:
        low, high = (plane.y(end) for end in _range(found))
        ends = "".join(_line("whisker", (x - 4, end), (x + 4, end)) for end in (low, high))
        whisker = _line("whisker", (x, low), (x, high)) + ends
    mark = f'<circle class="{MARKS[rung.passed]}" cx="{x:.1f}" cy="{y:.1f}" r="{9 if rung.passed else 5.5}"/>'
    if rung.passed:
        mark += f'<path class="tick" d="M{x - 4:.1f} {y + 0.5:.1f}l3 3l5.5 -6"/>'
    if found is None:
        mark += _text((x - 10, y - 4), VERDICTS[rung.passed], "end")
    return f"<g><title>{safe(told)}</title>{whisker}{mark}</g>"


def _range(answer: Answer) -> tuple[float, float]:
    """The range of the noise."""
    value, half = answer
    return value - half, value + half


def _bar(cell: Cell, top: float, reach: float) -> str:
    room, middle = BAR_WIDTH - BAR_LEFT - BAR_RIGHT, top + BAR_ROW / 2

    def x(count: float) -> float:
        return BAR_LEFT + min(max(count, 0.0), reach) / reach * room

    short = cell.label if len(cell.label) <= LONGEST_LABEL else f"{cell.label[: LONGEST_LABEL - 1]}…"
    width = x(cell.synthetic) - BAR_LEFT
    return (
        f"<g><title>{safe(_counts(cell))}</title>{_text((BAR_LEFT - 8, middle + 4), short, 'end')}"
        f'<rect class="bar" x="{BAR_LEFT}" y="{top + 3:.1f}" width="{width:.1f}" height="{BAR_ROW - 6}"/>'
        f"{_line('interval', (x(cell.released - cell.half), middle), (x(cell.released + cell.half), middle))}"
        f'<circle class="dot" cx="{x(cell.released):.1f}" cy="{middle:.1f}" r="3.5"/>'
        f"{_text((BAR_WIDTH, middle + 4), f'{round(cell.released):,}', 'end')}</g>"
    )


def _counts(cell: Cell) -> str:
    released, half, synthetic = map(round, (cell.released, cell.half, cell.synthetic))
    return f"{cell.label}: released {released:,} ± {half:,}, synthetic {synthetic:,}"


def _line(name: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(place: tuple[float, float], text: str, anchor: str, name: str = "plain") -> str:
    x, y = place
    return f'<text class="{name}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(text)}</text>'
