"""What a synthetic table keeps: all that was measured, graded, and drawn beside its counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import final

from expost.jobs.synthesis.comparison import COARSE, GOOD, Cell, Comparison, Grade, Unmeasured
from expost.report import digits
from expost.report.charts import safe, short_labels, svg_figure, svg_line, svg_text
from expost.report.markup import note, prose, section
from expost.report.units import RECORDS, by_row, by_unit

GRADED = (
    f"A measured column or pair is good if the synthetic table is within about {digits.plain(GOOD)} of the training "
    f"records, and coarse if it is within {digits.plain(COARSE)}. Otherwise it is lost in noise, or far off where "
    "noise is not the reason. The percentage is the share of rows that would have to change. It is estimated from the "
    "distance to the released counts plus their noise; cells that do not stand out from the noise count as entirely "
    "wrong where that gives the smaller number."
)
COMPARED = (
    "The records themselves are not shown, nor was anything computed from them for this page: both sides were "
    "released. The count of a column adds up everything released that contains it. A count that noise made negative is "
    "shown as 0; the file counts.csv has every count as it was released, with the standard deviation of its noise."
)
UNCHECKED = (
    "None of them was compared with the records, so how far off they are is not known. A rung compares them only "
    "where its noise is small enough to look for pairs worth adding, and no rung of this run had so little noise."
)
BAR_WIDTH, BAR_LEFT, BAR_ROW = 320, 132, 19
LETTER, DIGIT = 6.6, 7.4
"""The width of a letter in a label, and of a digit of a count, in pixels."""
MOST_CHECKED = 8
"""Pairs that were not measured and are named, the worst of them."""
SHORTEST = 0.0001
"""A distance below this share is not told from 0."""


@final
@dataclass(frozen=True, slots=True)
class KeptTable:
    """Every column, and all that was measured together, as released and as in the synthetic table.

    ``counted`` is about how many records the counts are of, ``records`` about how many there are. ``unmeasured`` are
    the other pairs, worst first, where noisy scores tell how far each was from the model.
    """

    columns: tuple[Comparison, ...]
    together: tuple[Comparison, ...]
    counted: float
    records: float
    unmeasured: tuple[Unmeasured, ...] = ()
    neighbours: str = RECORDS

    @property
    def pairs(self) -> tuple[Comparison, ...]:
        """What was measured of two columns together."""
        return tuple(each for each in self.together if len(each.columns) == 2)

    @property
    def triples(self) -> tuple[Comparison, ...]:
        """What was measured of three."""
        return tuple(each for each in self.together if len(each.columns) > 2)

    @property
    def others(self) -> int:
        """How many pairs of columns were not measured."""
        return comb(len(self.columns), 2) - len(self.pairs)

    @property
    def worst(self) -> Comparison | None:
        """The relation that is known least well."""
        return max(self.together, key=lambda each: each.error, default=None)


def kept_section(kept: KeptTable) -> str:
    """What was measured with its grade, what follows from it only, and every column as a chart."""
    marks = '<i></i>synthetic table, to scale <i class="dot"></i> released count with 95 % interval'
    told = [
        f"<p>{prose(measured_words(kept))}</p><p>{prose(by_row(GRADED, kept.neighbours))}</p>",
        *(_graded(kept.columns, "Columns"), _graded(kept.pairs, "Pairs"), _graded(kept.triples, "Triples")),
        *(
            [f"<h3>Pairs that were not measured</h3><p>{prose(checked_words(kept))}</p>"]
            if kept.others or kept.unmeasured
            else []
        ),
        "<h3>Each column, released and synthetic</h3>",
        note(f"{counted_words(kept)} {by_row(COMPARED, kept.neighbours)}"),
        f'<p class="key note">{marks}</p>',
        f'<div class="charts">{"".join(map(_chart, kept.columns))}</div>',
    ]
    if kept.worst is not None:
        kind = "pair" if len(kept.worst.columns) == 2 else "triple"
        told.append(
            f'<h3>The measured {kind} that is known least precisely</h3><div class="charts one">{_chart(kept.worst)}'
        )
        told.append("</div>")
    return section("What the table keeps", *told)


def measured_words(kept: KeptTable) -> str:
    """What was measured, and what was not."""
    columns, pairs, triples = len(kept.columns), len(kept.pairs), len(kept.triples)
    larger = "" if not triples else " and 1 triple" if triples == 1 else f" and {triples} triples"
    told = (
        f"Each of the {columns} columns was counted with noise, and so were {pairs} pairs{larger} of columns. The "
        "table is made from these counts alone, and keeps what they say. All other relations follow only from these:"
    )
    left = [(kept.others, "pair"), (comb(columns, 3) - triples if triples else 0, "triple")]
    others = [f"the other {f'{count} {word}s' if count > 1 else word}" for count, word in left if count]
    rest = f"{'four' if triples else 'three'} or more columns together"
    if others:
        rest = f"{', '.join(others)}, and {rest},"
    return f"{told} {rest} were not measured."


def checked_words(kept: KeptTable) -> str:
    """How far the pairs that were not measured were from the model, by the scores that are on the bill, if any are."""
    if not kept.unmeasured:
        return by_row(UNCHECKED, kept.neighbours)
    shown, (first, *_) = kept.unmeasured[:MOST_CHECKED], kept.unmeasured
    others = len(kept.unmeasured) - len(shown)
    listed = ", ".join(f"{' × '.join(each.columns)} ({short_share(each.distance)})" for each in shown)
    rest = "" if not others else " The other one was closer." if others == 1 else f" The other {others} were closer."
    return (
        f"The other pairs were compared with the {by_row('training records', kept.neighbours)} all the same, by noisy "
        f"scores that are on the bill (± {short_share(first.half)}), before the last pairs were added to the model. It "
        f"was farthest from the {by_row('records', kept.neighbours)} in {listed}.{rest} What was added then may have "
        "moved these."
    )


def counted_words(kept: KeptTable) -> str:
    """Which records the counts are of."""
    counted, records = (f"{round(each, -1):,.0f}" for each in (kept.counted, kept.records))
    if kept.counted == kept.records:
        return f"Counts are of {by_unit('all records', kept.neighbours)}, about {records}."
    of_all = f"about {counted} of about {records} {by_unit('records', kept.neighbours)}"
    return f"Counts are of the training part, {of_all}; the rest was held out."


def short_share(share: float) -> str:
    """An error or a distance with two significant digits, where it is not too small to matter."""
    return f"below {digits.plain(SHORTEST)}" if share < SHORTEST else f"{float(f'{100 * share:.2g}'):g} %"


def _graded(compared: Sequence[Comparison], what: str) -> str:
    """What has each grade, by name and error."""
    lines = []
    for grade in Grade:
        found = sorted((each for each in compared if each.grade is grade), key=lambda each: each.error)
        if found:
            names = ", ".join(f"{' × '.join(each.columns)} ({short_share(each.error)})" for each in found)
            lines.append(f'<li><b class="grade {grade.name.lower()}">{grade.value}</b>: {prose(names)}</li>')
    return f'<h3>{what}</h3><ul class="grades">{"".join(lines)}</ul>' if lines else ""


def _chart(comparison: Comparison) -> str:
    told = f"{comparison.grade.value}, within about {short_share(comparison.error)}"
    if comparison.distance > comparison.noise:
        away, by_noise = short_share(comparison.distance), short_share(comparison.noise)
        told += f"; {away} from the released counts, where noise alone would make {by_noise}"
    return f"<div><h3>{prose(' × '.join(comparison.columns))}</h3>{bars(comparison)}{note(told)}</div>"


def bars(comparison: Comparison) -> str:
    """A marginal: bars for the synthetic table, dots with 95 % intervals for what was released."""
    cells = comparison.cells
    reach = max((_end(cell) for cell in cells if not cell.rest), default=1.0) or 1.0
    above = any(len(cell.label) * LETTER > BAR_LEFT - 8 for cell in cells)
    left, row = (2.0, 2 * BAR_ROW) if above else (float(BAR_LEFT), BAR_ROW)
    room = BAR_WIDTH - left - 12 - DIGIT * max((len(_count(cell.released)) for cell in cells), default=1)
    labels = short_labels([cell.label for cell in cells], int(BAR_WIDTH / LETTER))
    drawn = []
    for place, (cell, label) in enumerate(zip(cells, labels, strict=True)):
        top = 2 + row * place
        spot, anchor = ((left, top + 14.0), "start") if above else ((left - 8, top + 13.5), "end")
        name = svg_text(spot, label, anchor)
        bar = _bar(cell, top + row - BAR_ROW, reach=reach, left=left, room=room)
        drawn.append(f"<g><title>{safe(_counts(cell))}</title>{name}{bar}</g>")
    title = f"{' by '.join(comparison.columns)}: released and synthetic counts"
    return svg_figure((BAR_WIDTH, row * len(cells) + 4), title, "; ".join(map(_counts, cells)), drawn)


def _end(cell: Cell) -> float:
    return max(cell.synthetic, cell.released + cell.half)


def _bar(cell: Cell, top: float, *, reach: float, left: float, room: float) -> str:
    """A cell; the sum of those not shown has no bar where that would be longer than all others."""
    middle = top + BAR_ROW / 2
    count = svg_text((BAR_WIDTH, middle + 4), _count(cell.released), "end")
    if _end(cell) > reach:
        return count

    def x(count: float) -> float:
        return left + min(max(count, 0.0), reach) / reach * room

    return (
        f'<rect class="bar" x="{left:.1f}" y="{top + 3:.1f}" width="{x(cell.synthetic) - left:.1f}" '
        f'height="{BAR_ROW - 6}"/>'
        f"{svg_line('interval', (x(cell.released - cell.half), middle), (x(cell.released + cell.half), middle))}"
        f'<circle class="dot" cx="{x(cell.released):.1f}" cy="{middle:.1f}" r="3.5"/>'
        f"{count}"
    )


def _count(released: float) -> str:
    """A number of records, which is never negative."""
    return f"{max(0, round(released)):,}"


def _counts(cell: Cell) -> str:
    return f"{cell.label}: released {_count(cell.released)} ± {round(cell.half):,}, synthetic {round(cell.synthetic):,}"
