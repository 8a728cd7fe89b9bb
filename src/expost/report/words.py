"""Words: what a run reached, what it cost and how it was made, in plain sentences."""

import math

from expost.report.digits import measured, plain, points, price, small
from expost.report.facts import Facts
from expost.search import Ended

NOT_PRIVATE = "NOT PRIVATE: the noise was seeded, and whoever has the seed can subtract it."

COMPARED = (
    "The records themselves are not shown, nor is anything computed from them for this page: both sides were released. "
    "Counts of one column add up the released pairs that hold it. The distance is the total variation between the two "
    "sides; one no larger than noise alone would cause is as good as can be known. Noise can make a count negative."
)

STEPS = {
    "Gaussian": "noisy counts of each column",
    "SpanningTree": "which pairs of columns to count",
    "Brownian": "noisy counts of the pairs, refined",
    "balanced check": "a look at the held-out records",
    "Gaussian check": "a look at the held-out records",
    "sparse vector check": "a look at the held-out records",
}

RELATIONS = {
    "add or remove one record": "the bound compares the data with the same data plus or minus any one record",
    "replace one record": "the bound compares the data with the same data in which any one record is another",
}


def conclusion(facts: Facts) -> str:
    """The closing paragraph: what was reached, what it cost, what the cost covers, what else it might have cost."""
    parts = [reached(facts), cost(facts), covered(facts), elsewhere(facts)]
    if facts.floating:
        parts.append("Noise was drawn in floating point, whose rounding the bound does not cover.")
    if facts.seeded:
        parts.append(NOT_PRIVATE)
    return " ".join(part for part in parts if part)


def headline(facts: Facts) -> str:
    """The result in one sentence."""
    asked = f"{facts.measure} of {plain(float(facts.asked))}"
    if facts.reached:
        return f"The {asked} that was asked for was reached, for ε = {price(facts.epsilon)}."
    return f"The {asked} that was asked for was not confirmed; ε = {price(facts.epsilon)} was spent."


def reached(facts: Facts) -> str:
    """Whether the target was reached, and the noisy accuracy that says so."""
    asked = plain(float(facts.asked))
    if facts.reached:
        seen = f" (the noisy check says {answer(facts)})" if facts.measured else ""
        if facts.blur is not None:
            seen = f" (the check says yes or no, with a noise of {points(facts.blur)})"
        return (
            f"What was learnt from {facts.rows:,} synthetic rows predicts {facts.target} with the {facts.measure} of "
            f"{asked} that was asked for, on {judged_on(facts)}{seen}."
        )
    return (
        f"The {facts.measure} of {asked} that was asked for in predicting {facts.target} was NOT confirmed: "
        f"{ending(facts)}. {last_checked(facts)}"
    )


def ending(facts: Facts) -> str:
    """Why the climb ended."""
    taken, stops = len(facts.rungs), facts.stops
    if facts.ended is Ended.EXHAUSTED:
        return f"the ladder ended with rung {taken}"
    if facts.ended is Ended.CAPPED and facts.cap is not None and taken < len(stops):
        room = f"the cap of ε = {facts.cap:g} left no room for rung {taken + 1}"
        return f"{room}, which would have cost ε = {price(stops[taken].epsilon)}"
    return str(facts.ended.value)


def last_checked(facts: Facts) -> str:
    """What is known of the accuracy where nothing passed."""
    place, taken = facts.judged, len(facts.rungs)
    if place is None:
        return "No rung was checked, so nothing is known of its accuracy."
    said = f"Rung {place}, the last that was checked, did not pass."
    if facts.rungs[place - 1].accuracy is not None:
        said = f"On rung {place}, the last that was checked, the noisy {facts.measure} was {answer(facts)}."
    return said if place == taken else f"{said} What is released is rung {taken}, which is finer but was not checked."


def answer(facts: Facts) -> str:
    """The last answer of the check: a noisy accuracy where it reveals one."""
    if facts.judged is None:
        return "not checked"
    last = facts.rungs[facts.judged - 1]
    if last.accuracy is not None:
        return measured(last.accuracy, last.error)
    return "passed" if last.passed else "did not pass"


def judged_on(facts: Facts) -> str:
    """Whose records the check was about."""
    return "held-out records that had no part in making them" if facts.divided else "the public records of the check"


def cost(facts: Facts) -> str:
    """The statement."""
    if not math.isfinite(facts.epsilon):
        return "No (ε, δ) statement covers this run: its pledge makes no claim for what was spent."
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}."


def covered(facts: Facts) -> str:
    """What the statement is about."""
    rungs = {1: "the one rung", 2: "both rungs"}.get(len(facts.rungs), f"all {len(facts.rungs)} rungs")
    looks = ", every look at held-out records" if facts.divided else ""
    covers = f"The bound covers the whole procedure: choosing what to measure, {rungs}{looks}"
    free = "" if facts.divided else " The check read public records only, which costs nothing."
    return f"{covers} and the decision to stop where it did.{free}"


def elsewhere(facts: Facts) -> str:
    """What the run would have cost, had it stopped one rung earlier or climbed as far as it might."""
    taken, stops = len(facts.rungs), facts.stops
    within = [stop for stop in stops if facts.allowed(stop.epsilon)]
    limit = "to the top" if len(within) == len(stops) else f"as far as the cap of ε = {facts.cap:g} allows"
    earlier = [f"stopping one rung earlier would have cost {price(stops[taken - 2].epsilon)}"] if taken > 1 else []
    top = [f"climbing {limit} would have cost {price(within[-1].epsilon)}"] if taken < len(within) else []
    sentence = "; ".join(earlier + top)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def reading(facts: Facts) -> str:
    """How to read the ladder."""
    if not facts.measured:
        noise = "" if facts.blur is None else f", with a noise of {points(facts.blur)} (95 %)"
        return (
            f"This check says whether the {facts.measure} was reached{noise}, and does not reveal how high it is. "
            "The prices of rungs that were not climbed were known beforehand."
        )
    return (
        "± is the 95 % range of the noise that the check adds for privacy, not that of which records were held out "
        f"(about {round(facts.held, -1):,.0f}). A filled mark passed, an empty one did not; marks on the axis are the "
        "prices of rungs that were not climbed, which were known beforehand."
    )


def pledged(facts: Facts) -> str:
    """How the lines of the bill become one statement."""
    reason = facts.reason[:1].upper() + facts.reason[1:]
    parts = f"; of the two parts of the split only the dearer counts, because no record is in both ({facts.because})"
    return (
        f"Each line is a Rényi bound ξ + ρα at every order α. What reads the same records adds up"
        f"{parts if facts.divided else ''}. The rule that turns the sum into ε was pledged before any data was "
        f"touched. {reason}."
    )


def part(label: str) -> str:
    """The body of records that a label names."""
    sides = {"train": "the training part", "held": "the held-out part"}
    return sides.get(label.rpartition("/")[2], "all records")


def method(facts: Facts) -> tuple[str, ...]:
    """The procedure in plain words, step by step."""
    divided = f"The records were split into two parts, one to learn from and one to check on ({facts.because})."
    tried = "What was learnt was tried on the part held out. Only the noisy answer was seen, and"
    if not facts.divided:
        divided = "All records were there to learn from; none was held out, because the check has records of its own."
        tried = "What was learnt was tried on records that anybody may see, and"
    return (
        f"Neighbours: {RELATIONS.get(facts.relation, facts.relation)}.",
        divided,
        "Each column was counted with noise, and pairs of columns that belong together were chosen at random, "
        "stronger pairs being likelier. Both are on the bill.",
        f"On each rung the pairs were counted again with fresh integer noise and averaged with the rungs before. A "
        f"model was fitted to the noisy counts, a table drawn from it, and {facts.target} learnt from that table.",
        f"{tried} the first rung that passed ended the climb.",
        "The synthetic table was drawn from noisy counts alone: it may be published, copied and analysed without "
        "further cost.",
    )
