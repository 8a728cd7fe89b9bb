"""What came out of repeated searches by one check: stops, accuracies and bills."""

from collections.abc import Sequence
from statistics import fmean
from typing import TypedDict

import numpy as np

from paper.summaries.summary import Mean, Share, mean, ratio, share
from paper.tables.candidates import Making
from paper.tables.climb import Climb
from paper.tables.draws import accepted_sums, luck, test, truly_above, validation
from paper.tables.search import PLAIN, Search
from paper.tables.stops import Run, bills


class Ends(TypedDict):
    """Where some repeats ended: how many truly reach the threshold, their ε and their accuracies."""

    above: Share
    level: Mean
    validation: Mean
    test: Mean


class Outcome(TypedDict):
    """One check over all repeats: those it accepted, and apart from them those that ended on the last rung without.

    ``stops`` and what follows from them take the first draw of the check's noise in every repeat, as the paper does;
    names with ``drawn`` take all draws. ``below_drawn`` is the share of all searches that accepted a candidate below
    the threshold; ``price_drawn`` the ε over that of the same check without a confidence, where it has one.
    """

    check: str
    split: str
    validation: list[list[float]]
    test: list[list[float]]
    stops: list[int]
    passed: list[bool]
    accepted: Ends
    never: Ends
    together: Ends
    above_drawn: Mean
    below_drawn: Mean
    never_drawn: Mean
    overfit_drawn: Mean
    level_quartiles: list[float]
    lemma_7: list[float]
    planned: list[float]
    billed_lemma_7: Mean
    billed_planned: Mean
    billed_drawn: Mean
    price_drawn: Mean | None


def outcome(search: Search, check: str, split: str, runs: Sequence[Run]) -> Outcome:
    """The summary of one check."""
    climbs, drawn = [run["climb"] for run in runs], [run["stops"][check] for run in runs]
    asked, rungs = search.checks(climbs[0]["held"])[check], range(search.rungs)
    lemma_7, planned = bills(search, Making(), asked)
    stops, passed = [min(each[0], rungs[-1]) for each in drawn], [each[0] < asked.looks for each in drawn]
    where = list(zip(climbs, stops, strict=True))
    accepted = [each for each, found in zip(where, passed, strict=True) if found]
    never = [each for each, found in zip(where, passed, strict=True) if not found]
    billed = _billed(search, check, runs)
    above, kept = accepted_sums(runs, check, asked.looks, truly_above(search))
    return Outcome(
        check=check,
        split=split,
        validation=[[validation(climb, rung) for rung in rungs] for climb in climbs],
        test=[[test(climb, rung) for rung in rungs] for climb in climbs],
        stops=stops,
        passed=passed,
        accepted=_ends(search, accepted),
        never=_ends(search, never),
        together=_ends(search, where),
        above_drawn=ratio(above, kept),
        below_drawn=mean([(of - true) / len(each) for true, of, each in zip(above, kept, drawn, strict=True)]),
        never_drawn=mean([each.count(asked.looks) / len(each) for each in drawn]),
        overfit_drawn=luck(runs, check, asked.looks),
        level_quartiles=_quartiles([float(search.ladder.levels[rung]) for _, rung in accepted]),
        lemma_7=lemma_7,
        planned=planned,
        billed_lemma_7=mean([lemma_7[rung] for rung in stops]),
        billed_planned=mean([planned[rung] for rung in stops]),
        billed_drawn=mean(billed),
        price_drawn=ratio(billed, _billed(search, PLAIN[check], runs)) if check in PLAIN else None,
    )


def _billed(search: Search, check: str, runs: Sequence[Run]) -> list[float]:
    """The mean ε of each repeat's draws by planned stops."""
    _, planned = bills(search, Making(), search.checks(runs[0]["climb"]["held"])[check])
    return [fmean(planned[min(stop, search.rungs - 1)] for stop in run["stops"][check]) for run in runs]


def _ends(search: Search, where: Sequence[tuple[Climb, int]]) -> Ends:
    return Ends(
        above=share([search.above(climb)[rung] for climb, rung in where]),
        level=mean([float(search.ladder.levels[rung]) for _, rung in where]),
        validation=mean([validation(*each) for each in where]),
        test=mean([test(*each) for each in where]),
    )


def _quartiles(levels: Sequence[float]) -> list[float]:
    """Levels of the ladder, none between them."""
    found: list[float] = np.quantile(levels, (0.25, 0.5, 0.75), method="inverted_cdf").tolist() if levels else []
    return found
