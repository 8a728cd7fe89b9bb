"""Which value of its bin a synthetic cell gets: one drawn by a declared shape, and always a value of that bin."""

import math
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from expost.errors import SchemaMismatch
from expost.noise import Floats, Integers, Noise
from expost.tabular.schema.bins import REAL_LIMIT, WHOLE_LIMIT, Closed, DateEdge, Edges, intervals
from expost.tabular.schema.column import Codes, Missing, value_codes


class Inside(Enum):
    """How values lie inside a bin."""

    EVEN = "even"
    LOG = "log"
    EDGE = "edge"


Shape: TypeAlias = Inside | tuple[Inside, ...]
"""One for all bins, or one for each. LOG for all leaves bins that hold 0, or begin or end there, even."""


def inside_settings(inside: Shape) -> dict[str, str | tuple[str, ...]]:
    """What a schema file says of it: nothing where all bins are even."""
    if inside is Inside.EVEN:
        return {}
    return {"inside": inside.value if isinstance(inside, Inside) else tuple(each.value for each in inside)}


def check_shapes(name: str, inside: Shape, shown: Sequence[DateEdge], ends: Edges, closed: Closed) -> None:
    """Refuse shapes that their bins cannot have; ``ends`` bound the values of ``shown`` bins."""
    bins = intervals(shown, closed, Missing.FALLBACK)
    if isinstance(inside, tuple) and len(inside) != len(bins):
        raise SchemaMismatch(f"inside of column {name} has {len(inside)} words for {len(bins)} bins; say one for each.")
    asked = [inside] * len(bins) if isinstance(inside, Inside) else inside
    for label, word, (low, high) in zip(bins, asked, pairwise(ends), strict=True):
        if word is Inside.EDGE and math.isinf(low if closed is Closed.LEFT else high):
            raise SchemaMismatch(f'bin {label} of column {name} has no closed edge; say "even" or "log" inside it.')
        if word is Inside.LOG and isinstance(inside, tuple) and not _one_sided(low, high):
            raise SchemaMismatch(
                f'bin {label} of column {name} holds 0 or ends there; say "even" or "edge" inside it, or part it.'
            )
    if inside is Inside.LOG and not any(_one_sided(low, high) for low, high in pairwise(ends)):
        raise SchemaMismatch(f'every bin of column {name} holds 0 or ends there; "log" has no meaning inside them.')


def real_draws(codes: Codes, edges: Edges, closed: Closed, inside: Shape, noise: Noise) -> Floats:
    """A real number from the bin of each code."""
    words = shapes(inside, edges)
    ends = finite_ends(edges, words, REAL_LIMIT)
    bins, share = value_codes(codes, len(edges) - 1), noise.uniform(len(codes))
    low, high = ends[bins], ends[bins + 1]
    drawn = np.where(_are(words, Inside.LOG)[bins], _log_even(low, high, share), low * (1 - share) + high * share)
    at_edge = _are(words, Inside.EDGE)[bins]
    if closed is Closed.LEFT:
        return np.clip(np.where(at_edge, low, drawn), low, np.nextafter(high, -np.inf))
    return np.clip(np.where(at_edge, high, drawn), np.nextafter(low, np.inf), high)


def whole_draws(codes: Codes, edges: Edges, closed: Closed, inside: Shape, noise: Noise) -> Integers:
    """A whole number from the bin of each code."""
    words = shapes(inside, whole_ends(edges, closed))
    ends = np.round(finite_ends(edges, words, WHOLE_LIMIT)).astype(np.int64)
    bins, share = value_codes(codes, len(edges) - 1), noise.uniform(len(codes))
    low, high = ends[bins], ends[bins + 1]
    first, last = low + (closed is Closed.RIGHT), high - (closed is Closed.LEFT)
    even = first + np.minimum(np.floor(share * (high - low)).astype(np.int64), last - first)
    # whole numbers m … M have the logarithms from that of m up to, and without, that of M + 1
    near, far = (pick(np.abs(first), np.abs(last)) for pick in (np.minimum, np.maximum))
    size = np.clip(np.floor(_log_even(near, far + 1, share)).astype(np.int64), near, far)
    by_log = np.where(first > 0, size, -size)
    at_edge = low if closed is Closed.LEFT else high
    asked = [_are(words, Inside.LOG)[bins], _are(words, Inside.EDGE)[bins]]
    drawn: Integers = np.select(asked, [by_log, at_edge], even)
    return drawn


def whole_ends(edges: Edges, closed: Closed) -> Edges:
    """Ends of the same side of 0 where all whole numbers of a bin are: those in (0, 5] begin with 1."""
    return tuple(edge + (0.5 if closed is Closed.RIGHT else -0.5) for edge in edges)


def shapes(inside: Shape, ends: Edges) -> tuple[Inside, ...]:
    """The shape of each bin."""
    if isinstance(inside, tuple):
        return inside
    even = Inside.EVEN if inside is Inside.LOG else inside
    return tuple(inside if _one_sided(low, high) else even for low, high in pairwise(ends))


def finite_ends(edges: Edges, words: Sequence[Inside], limit: float) -> Floats:
    """The edges, with finite ends to draw between: an open bin is as wide as its neighbour, or 1 without one.

    Where it is drawn from log-evenly, it is as wide as its neighbour on the scale of logarithms.
    """
    inner = [edge for edge in edges if math.isfinite(edge)]
    alone = max(1.0, 4 * math.ulp(inner[0]))
    first, last = (inner[1] - inner[0], inner[-1] - inner[-2]) if len(inner) > 1 else (alone, alone)
    below, above = inner[0] - first, inner[-1] + last
    if words[0] is Inside.LOG and len(inner) > 1:
        below = min(below, -_beyond(-inner[0], -inner[1], limit))
    if words[-1] is Inside.LOG and len(inner) > 1:
        above = max(above, _beyond(inner[-1], inner[-2], limit))
    openings = [below] if math.isinf(edges[0]) else [], [above] if math.isinf(edges[-1]) else []
    return np.array([*openings[0], *inner, *openings[1]], dtype=np.float64)


def _beyond(edge: float, before: float, limit: float) -> float:
    """Where the next edge would be if edges grew as they did last, and nothing beyond the limit."""
    return min(edge * (edge / before), limit) if before > 0 else edge


def _one_sided(low: float, high: float) -> bool:
    return low > 0 or high < 0


def _are(words: Sequence[Inside], word: Inside) -> NDArray[np.bool_]:
    return np.array([each is word for each in words])


def _log_even(low: Floats | Integers, high: Floats | Integers, share: Floats) -> Floats:
    """Between ends of the same sign, with even logarithms; anything between others."""
    same = np.sign(low) * np.sign(high) > 0
    start, end = (np.log(np.where(same, np.abs(each), 1.0)) for each in (low, high))
    drawn: Floats = np.sign(low) * np.exp(start * (1 - share) + end * share)
    return drawn
