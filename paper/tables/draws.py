"""Over the draws of a check's noise: what was accepted, added up for each repeat, and how lucky it was."""

from collections.abc import Callable, Sequence

import numpy as np

from paper.summaries.summary import Mean, ratio
from paper.tables.climb import Climb
from paper.tables.search import Search
from paper.tables.stops import Run


def accepted_sums(
    runs: Sequence[Run], check: str, looks: int, value: Callable[[Climb, int], float]
) -> tuple[list[float], list[float]]:
    """For each repeat the sum of the value over draws in which one of so many looks passes, and how many those are."""
    kept = [(run["climb"], [rung for rung in run["stops"][check] if rung < looks]) for run in runs]
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


def luck(runs: Sequence[Run], check: str, looks: int) -> Mean:
    """How much more accurate what was accepted is on held-out than on test records, beyond what is usual."""
    gains = _gains([run["climb"] for run in runs])
    kept = [[rung for rung in run["stops"][check] if rung < looks] for run in runs]
    sums = [sum(row[rung] for rung in rungs) for row, rungs in zip(gains, kept, strict=True)]
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
