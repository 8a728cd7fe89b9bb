"""What came out of searches with one size of the held-out part, and how the sizes compare."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias, TypedDict

from paper.summaries.summary import Mean, Share, mean, share
from paper.tables.draws import test
from paper.tables.search import GAUSSIAN, Search
from paper.tables.stops import Run

SMALL = 0.05
"""The largest share of which the paper says that it makes searches go on longer."""

Value: TypeAlias = Callable[[Search, str, Run], float]


class Point(TypedDict):
    """One check at one size; ``accepted`` is of repeats, as in the paper, the rest over all draws of its noise."""

    accepted: Share
    accepted_drawn: Mean
    above_drawn: Mean
    never_above: int
    first_at_last: int
    below_drawn: Mean
    unchecked_drawn: Mean
    level_drawn: Mean
    test_drawn: Mean


class Claims(TypedDict):
    """The smallest size less the others: test accuracy, final ε (the small sizes), errors of the check."""

    test: Mean
    level: Mean
    below: Mean


def point(search: Search, check: str, runs: Sequence[Run]) -> Point:
    """One check at one size. A repeat without a release above the threshold has none that could be accepted."""
    last = search.rungs - 1
    firsts = [_first(search.above(each["climb"])) for each in runs]
    stops = [each["stops"][check] for each in runs]
    return Point(
        accepted=share([first == each[0] for first, each in zip(firsts, stops, strict=True)]),
        accepted_drawn=mean([_often(each, [first]) for first, each in zip(firsts, stops, strict=True)]),
        above_drawn=mean([_above(search, check, each) for each in runs]),
        never_above=sum(first is None for first in firsts),
        first_at_last=sum(first == last for first in firsts),
        unchecked_drawn=mean([_often(each, [last]) for each in stops]),
        below_drawn=mean([_below(search, check, each) for each in runs]),
        level_drawn=mean([_level(search, check, each) for each in runs]),
        test_drawn=mean([_test(search, check, each) for each in runs]),
    )


def size_claims(search: Search, found: Mapping[str, Sequence[Run]]) -> Claims:
    """The paper's, of plain Gaussian checks, as differences that would be above zero; paired by repeat."""
    sizes = sorted(found, key=float)
    small, large = [size for size in sizes if float(size) <= SMALL], [size for size in sizes if float(size) > SMALL]

    def gain(value: Value, some: Sequence[str], others: Sequence[str]) -> Mean:
        pair = (_averaged(search, value, [found[size] for size in group]) for group in (some, others))
        return mean([one - other for one, other in zip(*pair, strict=True)])

    return Claims(
        test=gain(_test, sizes[:1], sizes[-1:]),
        level=gain(_level, small, large),
        below=gain(_below, sizes[:1], sizes[1:]),
    )


def _averaged(search: Search, value: Value, sizes: Sequence[Sequence[Run]]) -> list[float]:
    """The value of plain Gaussian checks in each repeat, averaged over some sizes."""
    return [fmean(value(search, GAUSSIAN, run) for run in runs) for runs in zip(*sizes, strict=True)]


def _first(above: Sequence[bool]) -> int | None:
    return above.index(True) if any(above) else None


def _above(search: Search, check: str, found: Run) -> float:
    """How often the search ends with a release that is above the threshold, be it the first or not, checked or not."""
    return _often(found["stops"][check], [rung for rung, reached in enumerate(search.above(found["climb"])) if reached])


def _below(search: Search, check: str, found: Run) -> float:
    """How often a release before the last is accepted that is below the threshold: an error of the check."""
    above = search.above(found["climb"])[:-1]
    return _often(found["stops"][check], [rung for rung, reached in enumerate(above) if not reached])


def _level(search: Search, check: str, found: Run) -> float:
    """The mean final ε."""
    levels = search.ladder.levels
    return fmean(float(levels[rung]) for rung in found["stops"][check])


def _test(search: Search, check: str, found: Run) -> float:
    """The mean final test accuracy."""
    return fmean(test(found["climb"], rung) for rung in found["stops"][check])


def _often(stops: Sequence[int], rungs: Sequence[int | None]) -> float:
    """The share of draws that stop at one of these rungs."""
    return fmean(stop in rungs for stop in stops)
