"""How the rungs are read: what an answer is, what passes, what ± holds, and what is apart from it."""

import math
from fractions import Fraction

from expost.checks.confidence import Confidence
from expost.report import digits
from expost.report.charts import drawn
from expost.report.facts import Facts
from expost.report.shares import asked_for
from expost.report.units import by_unit
from expost.report.words import sure


def reading(facts: Facts) -> str:
    """How to read the rungs: what an answer is, what passes, what ± means, which prices were known."""
    told = []
    if facts.unchecked:
        told.append("Nothing was checked.")
    elif not facts.measured:
        told.append(
            f"The check says only whether a candidate passes; it does not reveal how high the {facts.measure} is."
        )
        if (error := noise_of_an_answer(facts)) is not None:
            told.append(f"The standard error of its answer is {digits.points(error)}.")
    elif not facts.shares:
        told.append(by_unit(_margin(facts), facts.neighbours))
    if facts.confidence is not None:
        told.append(_passing(facts, facts.confidence))
    if facts.measured:
        range_of = "one standard error" if facts.confidence is None else f"the range, with {sure(facts)} for all looks,"
        told.append(f"± is {range_of} of the noise that the check adds for privacy{_counted(facts)}.")
        if facts.sampling is not None:
            told.append(
                "The sampling error comes on top: among other people like those held out, the last answer might be "
                f"up to {digits.points(facts.sampling)} higher or lower."
            )
    if drawn(facts):
        told.append("A filled mark passed; an empty one did not.")
        told += [f"Marks on the axis are the prices of {facts.job.rung}s not reached."] if facts.ahead else []
    if facts.stops:
        told.append("All prices were known beforehand.")
    return " ".join(told)


def _counted(facts: Facts) -> str:
    """What of the number that a share is divided by is in its range."""
    if facts.held is None or not facts.shares:
        return ""
    about = f"about {round(facts.held, -1):,.0f}"
    if not facts.held_std:
        return f"; {by_unit('how many records were held out', facts.neighbours)} is taken to be {about}"
    held = by_unit("held-out records", facts.neighbours)
    return f", and of the number of {held} ({about} ± {facts.width * facts.held_std:,.0f})"


def _margin(facts: Facts) -> str:
    """What the margin counts."""
    if facts.asked is None:
        return "The margin is how far the candidate lies above or below what the check asks for, in records."
    if facts.several:
        return (
            "The margin, in records, is that of the aim farthest from being met or, if all are met, of the one met "
            "most narrowly. Which aim that is was not revealed."
        )
    asked = asked_for(facts)
    if facts.measure == "accuracy":
        return (
            f"The margin is the number of held-out records that the candidate gets right, less {asked} of all of "
            "them; their number stays private."
        )
    return (
        f"The margin is the sum of the scores of the held-out records, less {asked} of the most it could be; the "
        "number of records stays private."
    )


def _passing(facts: Facts, confidence: Confidence) -> str:
    """What it takes to pass."""
    where = "at the one look" if confidence.looks == 1 else f"at any of the {confidence.looks} looks"
    return (
        "A candidate passes when its noisy margin over the target is at least the guard. The guard was fixed "
        f"beforehand: with {sure(facts)} no candidate below the target passes {where} planned."
    )


def noise_of_an_answer(facts: Facts) -> float | None:
    """The standard error of a noisy yes or no, as a share of the held-out records; None for other checks."""
    for known in (item.entry.facts for item in facts.bill if item.entry.what == "sparse vector check"):
        if facts.held is None:
            return None
        spread = math.sqrt(Fraction(known["variance"]) + 2 * Fraction(known["scale"]) ** 2)
        return spread * float(Fraction(known["sensitivity"]) / Fraction(known["unit"])) / max(1.0, facts.held)
    return None
