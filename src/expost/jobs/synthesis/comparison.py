"""Released marginals beside those of the synthetic table: both public, and their noise told apart from the rest."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from expost.noise import Floats
from expost.report.charts import Cell, Comparison
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.table import Table

NORMAL_95 = 1.959963984540054
"""Half the width of a 95 % interval, in standard deviations."""

MOST_CELLS = 12
"""Cells of a marginal that are shown one by one; the others are added up."""


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
