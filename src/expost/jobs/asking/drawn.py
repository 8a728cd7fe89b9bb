"""Answers as a chart: a line for each group, its estimate and the error bar that privacy makes it have."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from expost.jobs.asking.figures import figure, half_figure, scale_of
from expost.jobs.asking.query import Count, Persons, Share, Sum
from expost.jobs.asking.targets import Above
from expost.jobs.asking.told import GroupLine, QuestionTold
from expost.jobs.asking.worded import group_name
from expost.report.charts import NARROW, WIDE, nice, safe, short_labels, svg_figure, svg_line, svg_text

ROW, FOOT, TOP = 24, 26, 6
LABELS = {WIDE: 210, NARROW: 116}
NUMBERS = {WIDE: 150, NARROW: 96}
"""The room for the names of groups and for their numbers, in pixels, by the width of the chart."""
LETTER = 6.4
"""The width of a letter, in pixels."""
SHORTEST = 4
"""Letters that are left of a label beside others."""


def answer_charts(told: QuestionTold, lines: Sequence[GroupLine]) -> str:
    """The chart below in two widths, of which a screen shows one."""
    broad, slim = (answer_chart(told, lines, width) for width in (WIDE, NARROW))
    return f'<div class="broad">{broad}</div><div class="slim">{slim}</div>'


def answer_chart(told: QuestionTold, lines: Sequence[GroupLine], width: int = WIDE) -> str:
    """These groups of a question, each with its error bar; numbers that begin at 0 have a bar from there."""
    times, sign = scale_of(told.question.query.measure)
    low, high = _ends(told, lines)
    left, right = float(LABELS[width]), float(width - NUMBERS[width])
    floor = TOP + ROW * len(lines)

    def x(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (right - left)

    ticks = nice(times * low, times * high)
    shown = ticks[:: 1 + len(ticks) // (8 if width == WIDE else 4)]
    axis = [
        svg_line("grid", (x(each / times), TOP), (x(each / times), floor + 4))
        + svg_text((x(each / times), floor + 19), f"{each:,g}{sign}", "middle")
        for each in shown
    ]
    labels = _labels(lines, int((LABELS[width] - 12) / LETTER))
    named = enumerate(zip(lines, labels, strict=True))
    drawn = [_group(told, line, TOP + ROW * place, x, name=label, width=width) for place, (line, label) in named]
    target = told.question.target
    goal = [_threshold(x(float(target.threshold)), floor)] if isinstance(target, Above) else []
    description = "; ".join(spoken(told, line) for line in lines)
    title = f"{told.question.query}: estimates with the error bars of privacy noise"
    return svg_figure((width, floor + FOOT), title, description, [*axis, *goal, *drawn])


def _labels(lines: Sequence[GroupLine], most: int) -> list[str]:
    """The names of groups in at most as many letters: of several labels the longest are cut first."""
    named = []
    for line in lines:
        parts = [*line.group]
        while parts[1:] and len(" × ".join(parts)) > most and len(longest := max(parts, key=len)) > SHORTEST:
            parts[parts.index(longest)] = f"{longest.removesuffix('…')[:-1]}…"
        named.append(group_name(replace(line, group=tuple(parts))))
    return short_labels(named, most)


def spoken(told: QuestionTold, line: GroupLine) -> str:
    """A group in words."""
    return f"{group_name(line)}: {_number(told, line)}"


def _ends(told: QuestionTold, lines: Sequence[GroupLine]) -> tuple[float, float]:
    """The ends of the axis: room for every error bar that has ends, and for 0 where bars begin there."""
    ends = [end for line in lines for end in (line.low, line.high, line.estimate) if math.isfinite(end)]
    target = told.question.target
    if isinstance(target, Above):
        ends.append(float(target.threshold))
    if _from_0(told):
        ends.append(0.0)
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.04 * (high - low) or 1.0
    return (low if low == 0 and _from_0(told) else low - room), high + room


def _from_0(told: QuestionTold) -> bool:
    return isinstance(told.question.query.measure, Count | Persons | Sum | Share)


def _group(
    told: QuestionTold, line: GroupLine, top: float, x: Callable[[float], float], *, name: str, width: int
) -> str:
    middle, zero = top + ROW / 2, x(0.0)
    label = svg_text((LABELS[width] - 10, middle + 4), name, "end")
    number = svg_text((width, middle + 4), _number(told, line), "end", "strong" if not line.few else "plain")
    start, stop = sorted((zero, x(line.estimate)))
    bar = (
        f'<rect class="bar" x="{start:.1f}" y="{top + 6:.1f}" width="{stop - start:.1f}" height="{ROW - 12}"/>'
        if _from_0(told)
        else ""
    )
    low, high = x(line.low), x(line.high)
    ends = "".join(svg_line("interval", (end, middle - 4), (end, middle + 4)) for end in (low, high))
    dot = f'<circle class="dot" cx="{x(line.estimate):.1f}" cy="{middle:.1f}" r="3.5"/>'
    drawn = f"{bar}{svg_line('interval', (low, middle), (high, middle))}{ends}{dot}"
    return f"<g><title>{safe(spoken(told, line))}</title>{label}{drawn}{number}</g>"


def _number(told: QuestionTold, line: GroupLine) -> str:
    times, sign = scale_of(told.question.query.measure)
    if line.few:
        return line.settled
    half = times * line.half
    return f"{figure(times * line.estimate, half)}{sign} ± {half_figure(half)}"


def _threshold(x: float, floor: float) -> str:
    return svg_line("target", (x, TOP - 4), (x, floor))
