"""What came out of repeated searches by one check: stops, accuracies and bills."""

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np

from paper.candidates import Making
from paper.climb import Climb
from paper.search import Search
from paper.stops import Run, bills
from paper.summary import Mean, Share, mean, ratio, share


class Ends(TypedDict):
    """Where some repeats ended: how many truly reach the threshold, their ε and their accuracies."""

    above: Share
    level: Mean
    validation: Mean
    test: Mean


class Outcome(TypedDict):
    """One check over all repeats: those it accepted, and apart from them those that came to the last rung, unchecked.

    ``stops`` and what follows from them take the first draw of the check's noise in every repeat, as the paper does;
    names with ``drawn`` take all draws.
    """

    check: str
    split: str
    validation: list[list[float]]
    test: list[list[float]]
    stops: list[int]
    accepted: Ends
    unchecked: Ends
    together: Ends
    above_drawn: Mean
    unchecked_drawn: Mean
    overfit_drawn: Mean
    rung_drawn: list[Mean]
    level_quartiles: list[float]
    lemma_7: list[float]
    planned: list[float]
    billed_lemma_7: Mean
    billed_planned: Mean


def outcome(search: Search, check: str, split: str, runs: Sequence[Run]) -> Outcome:
    """The summary of one check."""
    climbs, drawn = [run["climb"] for run in runs], [run["stops"][check] for run in runs]
    stops, last, rungs = [each[0] for each in drawn], search.rungs - 1, range(search.rungs)
    where = list(zip(climbs, stops, strict=True))
    lemma_7, planned = bills(search, Making(), search.checks(climbs[0]["held"])[check])
    levels = [float(search.ladder.levels[rung]) for rung in stops if rung < last]
    return Outcome(
        check=check,
        split=split,
        validation=[[validation(climb, rung) for rung in rungs] for climb in climbs],
        test=[[test(climb, rung) for rung in rungs] for climb in climbs],
        stops=stops,
        accepted=_ends(search, [each for each in where if each[1] < last]),
        unchecked=_ends(search, [each for each in where if each[1] == last]),
        together=_ends(search, where),
        above_drawn=ratio(*accepted_sums(runs, check, last, truly_above(search))),
        unchecked_drawn=mean([each.count(last) / len(each) for each in drawn]),
        overfit_drawn=_overfit(climbs, drawn, last),
        rung_drawn=[ratio(*rung_sums(runs, check, rung)) for rung in range(last)],
        level_quartiles=_quartiles(levels),
        lemma_7=lemma_7,
        planned=planned,
        billed_lemma_7=mean([lemma_7[rung] for rung in stops]),
        billed_planned=mean([planned[rung] for rung in stops]),
    )


def accepted_sums(
    runs: Sequence[Run], check: str, last: int, value: Callable[[Climb, int], float]
) -> tuple[list[float], list[float]]:
    """For each repeat the sum of the value over draws that stop before the last rung, and how many those are."""
    kept = [(run["climb"], [rung for rung in run["stops"][check] if rung < last]) for run in runs]
    sums = [sum(value(climb, rung) for rung in rungs) for climb, rungs in kept]
    return sums, [float(len(rungs)) for _, rungs in kept]


def rung_sums(runs: Sequence[Run], check: str, rung: int) -> tuple[list[float], list[float]]:
    """For each repeat the validation accuracies of draws that stop at this rung, added up, and how many those are."""
    counts = [float(run["stops"][check].count(rung)) for run in runs]
    return [count * validation(run["climb"], rung) for run, count in zip(runs, counts, strict=True)], counts


def truly_above(search: Search) -> Callable[[Climb, int], float]:
    """1 where the candidate of a rung reaches the threshold on the held-out records, else 0."""
    return lambda climb, rung: float(search.above(climb)[rung])


def validation(climb: Climb, rung: int) -> float:
    """The accuracy on held-out records, without the check's noise."""
    return climb["right"][rung] / climb["held"]


def test(climb: Climb, rung: int) -> float:
    """The accuracy on test records."""
    return climb["right_test"][rung] / climb["test"]


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


def _overfit(climbs: Sequence[Climb], drawn: Sequence[Sequence[int]], last: int) -> Mean:
    """The mean gain of what was accepted."""
    kept = [[rung for rung in rungs if rung < last] for rungs in drawn]
    sums = [sum(row[rung] for rung in rungs) for row, rungs in zip(_gains(climbs), kept, strict=True)]
    return ratio(sums, [float(len(rungs)) for rungs in kept])


def _gains(climbs: Sequence[Climb]) -> list[list[float]]:
    """Validation minus test accuracy by climb and rung, beyond its mean over the climb and over the rung.

    The first is what this split happens to favour, the second what every climb has there; what is left is luck, and
    what a check adds by picking it.
    """
    gaps = np.array(
        [[validation(each, rung) - test(each, rung) for rung in range(len(each["right"]))] for each in climbs]
    )
    left: list[list[float]] = (gaps - gaps.mean(axis=1, keepdims=True) - gaps.mean(axis=0) + gaps.mean()).tolist()
    return left
