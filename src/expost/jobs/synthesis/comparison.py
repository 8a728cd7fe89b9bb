"""Released marginals beside those of the synthetic table: both public, and their noise told apart from the rest."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from expost.noise import Floats
from expost.report.charts import safe, svg_figure, svg_line, svg_text
from expost.report.page import note, section
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.table import Table

COMPARED = (
    "The records themselves are not shown, nor was anything computed from them for this page: both sides were "
    "released. The count of a column adds up the released pairs that contain it. The distance is the total variation "
    "between the two sides; a distance no larger than noise alone would cause is as good as can be known. Noise can "
    "make a count negative."
)
NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations."""

MOST_CELLS = 12
"""Cells of a marginal that are shown one by one; the others are added up."""

BAR_WIDTH, BAR_LEFT, BAR_RIGHT, BAR_ROW = 320, 132, 50, 19
LONGEST_LABEL = 18


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


def alone(measured: Mapping[Clique, Floats], std: float, table: Table, name: str) -> Comparison:
    """One column, from every released marginal that holds it, each weighted by its precision."""
    size = table.domain[name]
    weighted, weight = np.zeros(size, dtype=np.float64), 0.0
    for clique, values in measured.items():
        if name in clique:
            added_up = values.sum(axis=tuple(axis for axis, each in enumerate(clique) if each != name))
            weighted += added_up * size / values.size
            weight += size / values.size
    left = std / math.sqrt(weight)
    released: Floats = weighted / weight
    return _compared((name,), released, left, table, rank=np.add)


def joint(measured: Mapping[Clique, Floats], std: float, table: Table, clique: Clique) -> Comparison:
    """Several columns together, as released; the cells that differ most are shown."""
    return _compared(clique, measured[clique].ravel(), std, table, rank=lambda one, other: np.abs(one - other))


def comparison_section(columns: Sequence[Comparison], worst: Comparison | None) -> str:
    """Every column as a chart, and the pair that differs most."""
    marks = '<i></i>synthetic table, to scale <i class="dot"></i> released count with 95 % interval'
    told = [
        note(COMPARED),
        f'<p class="key note">{marks}</p>',
        f'<div class="charts">{"".join(map(_chart, columns))}</div>',
    ]
    if worst is not None:
        told.append(f'<h3>The pair farthest beyond its noise</h3><div class="charts one">{_chart(worst)}</div>')
    return section("Released counts beside the synthetic table", *told)


def _chart(comparison: Comparison) -> str:
    told = f"distance {100 * comparison.distance:.2g} %, by noise alone {100 * comparison.noise:.2g} %"
    return f"<div><h3>{safe(' × '.join(comparison.columns))}</h3>{bars(comparison)}{note(told)}</div>"


def _compared(
    clique: Clique, released: Floats, std: float, table: Table, *, rank: Callable[[Floats, Floats], Floats]
) -> Comparison:
    """The released counts beside those of the synthetic table, scaled to the same total."""
    marginals = Marginals(table.domain, (clique,), table.schema.neighbours)
    records = max(1.0, float(released.sum()))
    synthetic: Floats = marginals.statistic.evaluate(table).astype(np.float64) * (records / max(1, len(table)))
    shown = np.sort(np.argsort(-rank(released, synthetic), kind="stable")[:MOST_CELLS])
    labels = [table.schema[name].labels for name in clique]
    places = zip(*np.unravel_index(shown, marginals.shapes[0]), strict=True)
    names = [" · ".join(label[place] for label, place in zip(labels, each, strict=True)) for each in places]
    values = zip(names, released[shown].tolist(), synthetic[shown].tolist(), strict=True)
    cells = [Cell(name, noisy, NORMAL_95 * std, drawn) for name, noisy, drawn in values]
    if rest := len(released) - len(shown):
        noisy, drawn = (float(np.delete(counts, shown).sum()) for counts in (released, synthetic))
        cells.append(Cell(f"the {rest} others", noisy, NORMAL_95 * std * math.sqrt(rest), drawn))
    distance = float(np.abs(released - synthetic).sum()) / (2 * records)
    noise = len(released) * std / math.sqrt(2 * math.pi) / records
    return Comparison(clique, tuple(cells), min(1.0, distance), min(1.0, noise))


def bars(comparison: Comparison) -> str:
    """A marginal: bars for the synthetic table, dots with 95 % intervals for what was released."""
    reach = max((max(cell.synthetic, cell.released + cell.half) for cell in comparison.cells), default=1.0) or 1.0
    height = BAR_ROW * len(comparison.cells) + 4
    name = " by ".join(comparison.columns)
    spoken = "; ".join(_counts(cell) for cell in comparison.cells)
    rows = [_bar(cell, 2 + BAR_ROW * place, reach) for place, cell in enumerate(comparison.cells)]
    return svg_figure((BAR_WIDTH, height), f"{name}: released and synthetic counts", spoken, rows)


def _bar(cell: Cell, top: float, reach: float) -> str:
    room, middle = BAR_WIDTH - BAR_LEFT - BAR_RIGHT, top + BAR_ROW / 2

    def x(count: float) -> float:
        return BAR_LEFT + min(max(count, 0.0), reach) / reach * room

    short = cell.label if len(cell.label) <= LONGEST_LABEL else f"{cell.label[: LONGEST_LABEL - 1]}…"
    width = x(cell.synthetic) - BAR_LEFT
    return (
        f"<g><title>{safe(_counts(cell))}</title>{svg_text((BAR_LEFT - 8, middle + 4), short, 'end')}"
        f'<rect class="bar" x="{BAR_LEFT}" y="{top + 3:.1f}" width="{width:.1f}" height="{BAR_ROW - 6}"/>'
        f"{svg_line('interval', (x(cell.released - cell.half), middle), (x(cell.released + cell.half), middle))}"
        f'<circle class="dot" cx="{x(cell.released):.1f}" cy="{middle:.1f}" r="3.5"/>'
        f"{svg_text((BAR_WIDTH, middle + 4), f'{round(cell.released):,}', 'end')}</g>"
    )


def _counts(cell: Cell) -> str:
    released, half, synthetic = map(round, (cell.released, cell.half, cell.synthetic))
    return f"{cell.label}: released {released:,} ± {half:,}, synthetic {synthetic:,}"
