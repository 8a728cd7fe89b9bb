"""Flat ladders: when a run ends because its answers no longer rise, and what is told of one that did."""

import math
from collections.abc import Sequence

from expost.patience import HIDDEN, Patience
from expost.report.digits import plain, points, price
from expost.report.facts import Facts

NEAR = 0.01
"""How far below the target an answer is still said to be near it."""
NOT_PATIENT = (
    "Every rung is climbed until one passes: patience is 0, or the check releases no number whose rise could be "
    "followed."
)


TOO_FEW = "Every rung is climbed until one passes: too few looks are planned to see that answers no longer rise."


def patience_words(patience: Patience, looks: Sequence[object]) -> str:
    """When a run ends early; ``looks`` are those that are planned, None for a rung that is not asked about."""
    if not patience.may_end([look is not None for look in looks]):
        return TOO_FEW
    together = "one look gains" if patience.looks == 1 else f"{patience.looks} looks together gain"
    return (
        f"A run also ends early if {together} less than {points(float(patience.min_gain))}, as far as the noise lets "
        "that be seen, and no later look would pass a candidate as good as these. Where the noise could hide a gain of "
        f"more than {points(HIDDEN)} per look, the run ends only if no later look would pass even a candidate that "
        "keeps rising as steeply as the answers allow."
    )


def patience_option(patience: Patience | None) -> str:
    """The same as it is typed."""
    if patience is None:
        return "none"
    looks = "1 look" if patience.looks == 1 else f"{patience.looks} looks"
    return f"{looks}, least gain {plain(float(patience.min_gain))}"


def compared_rungs(facts: Facts) -> tuple[int, int] | None:
    """The rungs, from 1, between which the answers no longer rose; None where that is not why the run ended."""
    verdicts = tuple(rung.line.verdict for rung in facts.rungs)
    found = None if facts.patience is None or not facts.flat else facts.patience.compared(verdicts)
    return None if found is None else (found[0] + 1, found[1] + 1)


def near(facts: Facts, place: int) -> str:
    """How near the target the answer of the rung with this number is, from 1, where it is near."""
    found = facts.answer(facts.rungs[place - 1])
    if found is None or facts.asked is None or not facts.shares or abs(found[0] - facts.asked) > NEAR:
        return ""
    if found[0] >= facts.asked:
        return " and is above the target, though not by enough to be sure"
    tenths = math.ceil(round(1000 * (float(facts.asked) - found[0]), 6))
    return f" and is within {tenths / 10:g} points of the target"


def further(facts: Facts) -> str:
    """What climbing on would have cost."""
    ahead = [stop.epsilon for stop in facts.ahead if facts.allowed(stop.epsilon)]
    return f"Climbing further would have cost up to ε = {price(ahead[-1] - facts.epsilon)} more. " if ahead else ""
