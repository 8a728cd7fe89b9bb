"""How the paper's two checks compare on the same candidates, and on candidates that are made in other ways."""

from collections.abc import Sequence
from statistics import fmean, median_low
from typing import TypedDict

from paper.summaries.summary import Mean, difference, mean, ratio
from paper.tables.draws import accepted_sums, rung_sums, truly_above, validation
from paper.tables.search import GAUSSIAN, SPARSE, Search
from paper.tables.stops import Run


class Claims(TypedDict):
    """The paper's orderings, over all draws: how many rungs earlier, and how much less accurate, sparse vector is."""

    rungs_earlier: Mean
    higher_by_rung: list[Mean]
    higher: Mean


class Judged(TypedDict):
    """One check over all draws: accepted ones truly above the threshold, those unchecked, and the median level."""

    above: Mean
    unchecked: Mean
    median_level: float


class Variant(TypedDict):
    """One way to make candidates: accuracy on the last rung, and what the paper's two checks make of the climbs."""

    name: str
    repeats: int
    last_validation: Mean
    judged: dict[str, Judged]


def claims(search: Search, runs: Sequence[Run]) -> Claims:
    """Sparse vector beside plain Gaussian."""
    last = search.rungs - 1
    gaussian, sparse = ([fmean(run["stops"][check]) for run in runs] for check in (GAUSSIAN, SPARSE))
    by_rung = ([rung_sums(runs, check, rung) for check in (GAUSSIAN, SPARSE)] for rung in range(last))
    accepted = [accepted_sums(runs, check, last, validation) for check in (GAUSSIAN, SPARSE)]
    return Claims(
        rungs_earlier=mean([one - other for one, other in zip(gaussian, sparse, strict=True)]),
        higher_by_rung=[difference(one, other) for one, other in by_rung],
        higher=difference(*accepted),
    )


def variant(search: Search, name: str, runs: Sequence[Run]) -> Variant:
    """What this way of making candidates comes to."""
    last = search.rungs - 1
    return Variant(
        name=name,
        repeats=len(runs),
        last_validation=mean([validation(run["climb"], last) for run in runs]),
        judged={check: _judged(search, check, runs) for check in (GAUSSIAN, SPARSE)},
    )


def _judged(search: Search, check: str, runs: Sequence[Run]) -> Judged:
    last, stops = search.rungs - 1, [run["stops"][check] for run in runs]
    return Judged(
        above=ratio(*accepted_sums(runs, check, last, truly_above(search))),
        unchecked=mean([each.count(last) / len(each) for each in stops]),
        median_level=float(search.ladder.levels[median_low([rung for each in stops for rung in each])]),
    )
