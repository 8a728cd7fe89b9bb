"""Round edges for numbers: even steps, or a 1-2-5 or similar scale where they are skewed."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from expost.tabular.drafts.seen import MANY, Spread
from expost.tabular.schema.inside import Inside, Shape

BINS = 10
MOST_STEPS = 10
"""Steps of a scale; few bins make good tables."""

SCALES = tuple(
    tuple(map(Fraction, steps.split())) for steps in ("1 1.2 1.5 2 2.5 3 4 5 6 8", "1 1.5 2 3 5 7", "1 2 5", "1 3", "1")
)
"""Round numbers from 1 to 10, the finest scale first."""
ONE_TWO_FIVE = SCALES[2]

SKEWED = 0.4
"""Numbers are skewed if one of ten even bins has more than this share of them."""

WIDE = 4
"""And if the largest of them, tails apart, are at least this many times the smallest."""

TAIL = 0.02
"""The share of numbers beyond either end of a scale."""


def bins_for(spread: Spread) -> tuple[tuple[float, ...], Shape]:
    """Edges, closed on the left, and how values lie between them: a bin of its own for each heavy value."""
    skewed = is_skewed(spread)
    base = scaled(spread) if skewed else even(spread)
    own = {_decimal(value): _next(value, spread.above.get(value)) for value in sorted(spread.heavy)}
    kept = [edge for place, edge in enumerate(base) if not _crowded(base, place, own)]
    edges = sorted({*map(float, kept), *map(float, own), *(float(end) for end in own.values() if end is not None)})
    if skewed and spread.low < 0:
        edges = [-math.inf, *edges]
    if None in own.values() or (skewed and spread.high > 0):
        edges.append(math.inf)
    return tuple(edges), _shape(edges, set(map(float, own)), skewed=skewed, whole=spread.whole)


def is_skewed(spread: Spread) -> bool:
    """Whether numbers of very different sizes, heavy ones apart, would mostly be in one of ten even bins."""
    sizes = Counter[float]()
    for value, times in spread.others.items():
        sizes[abs(value)] += times * (value != 0)
    if sizes.total() < MANY or len(spread.others) <= BINS:
        return False
    if _quantile(sizes, 1 - TAIL) < WIDE * _quantile(sizes, TAIL):
        return False
    edges = list(map(float, even(spread)))
    counts = Counter[int]()
    for value, times in spread.others.items():
        counts[bisect_right(edges, value)] += times
    return max(counts.values()) > SKEWED * spread.others.total()


def even(spread: Spread) -> list[Fraction]:
    """About ten bins of a round width that hold all numbers but the heavy ones."""
    low, high = _decimal(spread.low), _decimal(spread.high)
    finest = max(abs(low), abs(high)) / 10**12
    if spread.whole or low == high:  # a lone value must not be pinned down
        finest = max(finest, Fraction(1))
    return nice_edges(low, high, finest)


def nice_edges(low: Fraction, high: Fraction, finest: Fraction) -> list[Fraction]:
    """About ten bins of a round width, from at or below ``low`` to above ``high``; no width under ``finest``."""
    width = max((high - low) / BINS, finest)
    power = Fraction(10) ** math.floor(math.log10(width))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= width)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [step * place for place in range(first, last + 1)]


def scaled(spread: Spread) -> list[Fraction]:
    """Edges that grow with their distance from 0; those of positive numbers begin at 0, or near the least of them."""
    below = {-value: times for value, times in spread.others.items() if value < 0}
    above = {value: times for value, times in spread.others.items() if value > 0}
    mirrored = [-edge for edge in reversed(_ladder(below, whole=spread.whole))] if below else []
    if not above:
        return [*mirrored, Fraction(0)]
    steps, least = _ladder(above, whole=spread.whole), _decimal(max(spread.low, 0))
    if least * BINS <= steps[0]:
        return [*mirrored, Fraction(0), *steps]
    return steps if least >= steps[0] else [_round_down(least), *steps]


def _ladder(sizes: Mapping[float, int], *, whole: bool) -> list[Fraction]:
    """Round numbers between which all but the tails of these positive ones lie, on the finest scale with few steps."""
    low, high = _quantile(sizes, TAIL), _quantile(sizes, 1 - TAIL)
    for scale in SCALES:
        powers = range(math.floor(math.log10(low)) - 1, math.floor(math.log10(high)) + 2)
        steps = [step * Fraction(10) ** power for power in powers for step in scale]
        steps = [step for step in steps if step.denominator == 1] if whole else steps
        first = max((step for step in steps if step <= low), default=steps[0])
        last = min(step for step in steps if step >= high)
        found = [step for step in steps if first <= step <= last]
        if len(found) <= MOST_STEPS + 1:
            return found
    return found[:: -math.ceil(len(found) / MOST_STEPS)][::-1]


def _quantile(sizes: Mapping[float, int], share: float) -> float:
    """The least of these numbers that at least this share of them does not exceed."""
    reached, wanted = 0, share * sum(sizes.values())
    for size in sorted(filter(None, sizes)):
        reached += sizes[size]
        if reached >= wanted:
            return size
    return max(sizes)


def _shape(edges: Sequence[float], heavy: set[float], *, skewed: bool, whole: bool) -> Shape:
    """The edge for a heavy value, unless its bin holds nothing else, and log-even bins on a scale, but not at 0."""
    words: list[Inside] = []
    for low, high in pairwise(edges):
        beside = low in heavy and not (whole and high == low + 1)
        words.append(Inside.EDGE if beside else Inside.LOG if skewed and (low > 0 or high < 0) else Inside.EVEN)
    if Inside.EDGE in words:
        return tuple(words)
    return Inside.LOG if Inside.LOG in words else Inside.EVEN


def _crowded(base: Sequence[Fraction], place: int, own: Mapping[Fraction, Fraction | None]) -> bool:
    """Whether an edge lies inside the bin of a heavy value, or within a quarter of its own bin beside one.

    The first and the last stay unless a heavy value lies beyond them, because something has to hold the others.
    """
    edge = base[place]
    if place == 0 and not any(value < edge for value in own):
        return False
    if place == len(base) - 1 and not any(end is None or end > edge for end in own.values()):
        return False
    near = min(abs(base[other] - edge) for other in (place - 1, place + 1) if 0 <= other < len(base)) / 4
    ends = [*own, *(end for end in own.values() if end is not None)]
    return edge not in ends and (
        any(low < edge and (end is None or edge < end) for low, end in own.items())
        or any(abs(edge - end) < near for end in ends)
    )


def _next(value: float, above: float | None) -> Fraction | None:
    """Where the bin of a heavy value ends: the roundest number up to the next one that was seen; None without one."""
    if above is None:
        return None
    low, high = _decimal(value), _decimal(above)
    power = Fraction(10) ** math.ceil(math.log10(max(abs(low), abs(high))))
    while math.floor(high / power) * power <= low:
        power /= 10
    return (math.floor(low / power) + 1) * power


def _round_down(value: Fraction) -> Fraction:
    """The largest of 1, 2 and 5 and their tenfolds up to a positive number."""
    power = Fraction(10) ** math.floor(math.log10(value))
    return max((power * step for step in ONE_TWO_FIVE if power * step <= value), default=power / 2)


def _decimal(value: float) -> Fraction:
    """The decimal number that a finite number is written as."""
    return Fraction(repr(value))
