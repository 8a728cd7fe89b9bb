"""The allowance of persons: how many rows of one count in full if they are alike, chosen from released counts alone."""

import math
from collections.abc import Sequence
from itertools import pairwise

from expost.accounting.claim import Budget
from expost.errors import InvalidValue
from expost.private import Neighbours
from expost.tabular.marginals import Marginals
from expost.tabular.persons import NUMBERS
from expost.tabular.precisions import undivided

ALLOWANCES = tuple(1 << power for power in range(8))
"""Those that a run chooses from: each divides the steps of a weight."""
MIDDLES = (*((least + after - 1) / 2 for least, after in pairwise(NUMBERS)), 2.0 * NUMBERS[-1])
"""About how many rows the persons have who are counted together by ``NUMBERS``."""
CLEAR = 4.0
"""Standard deviations that a noisy number of persons must be above 0 to be of anybody."""
LIKENESS = 0.1
"""The share of pairs of a person's rows that are taken to be in one cell."""
SLACK = 1.1
"""What the worst factor may be above the least before a larger allowance is worth it."""


def allowance_of(persons: Sequence[float], std: float, first: Marginals, budgets: Sequence[Budget]) -> int:
    """The least allowance with which no step is much farther from its own best one than with any other.

    The error of a count is estimated for each step, with the noise that there is by then: from how many persons have
    how many rows, as far as that stands out from noise, and as if it said nothing of what is in these rows. A run may
    end at any step, so the factor over the best allowance of a step is what counts, by the step where it is worst.

    Implements: allowance of persons.
    """
    crowd = _clear(persons, std)
    if all(rows == 1 for _, rows in crowd):
        return 1
    cells = first.cells / len(first.cliques)
    errors = [
        [_error(crowd, allowance, cells, precision) for allowance in ALLOWANCES]
        for precision in undivided(first, budgets)
    ]
    worst = [max(each[place] / min(each) for each in errors) for place in range(len(ALLOWANCES))]
    return next(each for each, factor in zip(ALLOWANCES, worst, strict=True) if factor <= SLACK * min(worst))


def require_allowed(declared: int | None, neighbours: Neighbours) -> None:
    """Refuse an allowance that the steps of a weight cannot be divided by, or where rows are of nobody."""
    if declared is not None and neighbours.unit == "record":
        raise InvalidValue("rows per person are given, and the schema names no unit; name one, or leave them out.")
    if declared is not None and declared not in ALLOWANCES:
        raise InvalidValue(f"rows per person is {declared}; give {', '.join(map(str, ALLOWANCES[:-1]))} or 128.")


def mean_rows(persons: Sequence[float], std: float) -> float:
    """About how many rows a person has, by the counts that stand out from noise; 1 where none does."""
    crowd = _clear(persons, std)
    number = math.fsum(each for each, _ in crowd)
    return math.fsum(each * rows for each, rows in crowd) / number if crowd else 1.0


def _clear(persons: Sequence[float], std: float) -> list[tuple[float, float]]:
    """Numbers of persons that stand out from noise, with about how many rows these have."""
    pairs = zip(persons, MIDDLES, strict=True)
    return [(number, rows) for number, rows in pairs if number > CLEAR * std]


def _error(crowd: Sequence[tuple[float, float]], allowance: int, cells: float, precision: float) -> float:
    """About the error of a count among this number of cells, scaled to all rows: what weights lose, and noise.

    Were rows in their cells by chance, a weight that is off by a share r would add r² times the square of the person's
    length, over the number of cells, to the variance of a count.
    """
    lengths = [math.sqrt(rows + LIKENESS * (rows * rows - rows)) for _, rows in crowd]
    weights = [min(1.0, allowance / length) for length in lengths]
    kept = math.fsum(number * rows * weight for (number, rows), weight in zip(crowd, weights, strict=True))
    scale = math.fsum(number * rows for number, rows in crowd) / kept
    parts = zip(crowd, lengths, weights, strict=True)
    lost = math.fsum(number * (length * (weight * scale - 1)) ** 2 for (number, _), length, weight in parts)
    return math.sqrt(lost * (1 - 1 / cells) / cells + (allowance * scale) ** 2 / precision)
