"""Words: what a run reached, what it cost and how it was made, in plain sentences."""

import math

from expost.report import unasked
from expost.report.digits import least, plain, price, small
from expost.report.facts import Facts
from expost.search import Ended

NOT_PRIVATE = "NOT PRIVATE: the noise was seeded, and whoever has the seed can subtract it."

LOOK = "a look at the held-out records"
LOOKS = dict.fromkeys(("balanced check", "Gaussian check", "sparse vector check"), LOOK)

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
    if facts.asked is None:
        return unasked.unasked_headline(facts)
    asked, spent = plain(float(facts.asked)), f"ε = {price(facts.epsilon)}"
    if not facts.reached:
        return f"The {facts.measure} of {asked} that was asked for was not confirmed; {spent} was spent."
    if not facts.divided:
        return f"The {facts.measure} is at least {asked} on the public records of the check, for {spent}."
    if facts.confidence is None:
        return f"The noisy {facts.measure} came to {asked} or more, for {spent}; whether the true one did is not known."
    return f"The {facts.measure} is at least {asked} on the held-out records, with {sure(facts)}, for {spent}."


def reached(facts: Facts) -> str:
    """What a pass says about the target, and the noisy answer that says so."""
    if facts.asked is None:
        return unasked.unasked_result(facts, ending(facts), last_checked(facts))
    asked, job = plain(float(facts.asked)), facts.job
    if not facts.reached:
        return (
            f"The {facts.measure} of {asked} that was asked for{predicting(facts)} was NOT confirmed: "
            f"{ending(facts)}. {last_checked(facts)}"
        )
    seen = f" ({facts.scale.lead} {answer(facts)})" if facts.measured else ""
    if facts.divided and facts.confidence is None:
        return (
            f"{job.product} passed the check: its noisy {facts.measure}{predicting(facts)} came to {asked} or "
            f"more on {judged_on(facts)}{seen}. This is the paper's check, which accepts whatever the noise lifts "
            f"above the target: it does NOT promise that the true {facts.measure} is {asked}."
        )
    certain = f", with {sure(facts)}" if facts.divided else ""
    return (
        f"{job.product} passed the check: its {facts.measure}{predicting(facts)} is at least {asked} on "
        f"{judged_on(facts)}{certain}{seen}. {beyond(facts)}"
    )


def predicting(facts: Facts) -> str:
    """What the candidate predicts, where the job says so."""
    return f" in predicting {facts.job.target}" if facts.job.target else ""


def sure(facts: Facts) -> str:
    """The confidence of a pass."""
    assert facts.confidence is not None  # asked for where there is one
    return f"{plain(float(facts.confidence.level))} confidence"


def beyond(facts: Facts) -> str:
    """What a pass says of people who are not in the data: a matter of sampling, not of privacy."""
    if facts.elsewhere is None or facts.held is None:
        return "For new people, which records happened to be used for the check adds an error of its own."
    return (
        f"For new people like them, sampling error lowers this to at least {least(facts.elsewhere)} (again with "
        f"{sure(facts)}), since about {round(facts.held, -1):,.0f} records were held out."
    )


def ending(facts: Facts) -> str:
    """Why the climb ended."""
    taken, ahead, terms = len(facts.rungs), facts.ahead, facts.job.terms
    if facts.ended is Ended.EXHAUSTED:
        return f"{terms.whole} ended with {terms.rung} {taken}"
    if facts.ended is Ended.CAPPED and facts.cap is not None and ahead:
        room = f"the cap of ε = {facts.cap:g} left no room for {terms.rung} {taken + 1}"
        return f"{room}, which would have cost ε = {price(ahead[0].epsilon)}"
    return str(facts.ended.value)


def last_checked(facts: Facts) -> str:
    """What is known of the candidate where nothing passed."""
    place, taken, terms = facts.judged, len(facts.rungs), facts.job.terms
    if place is None:
        return f"No answer about any {terms.rung} is known, so nothing is known of its {facts.measure}."
    said = f"{terms.rung.capitalize()} {place}, the last that was checked, did not pass."
    if facts.answer(facts.rungs[place - 1]) is not None:
        said = f"On {terms.rung} {place}, the last that was checked, the noisy {_measure(facts)} was {answer(facts)}."
    if place == taken:
        return said
    return f"{said} What is handed over is {terms.rung} {taken}, which is {terms.finer} but was not checked."


def answer(facts: Facts) -> str:
    """The last answer of the check with its unit."""
    return f"{bare(facts)}{facts.scale.unit if facts.measured else ''}"


def bare(facts: Facts) -> str:
    """The last answer of the check: a noisy value where it reveals one."""
    if facts.judged is None:
        return "not checked"
    last = facts.rungs[facts.judged - 1]
    found = facts.answer(last)
    if found is not None:
        return facts.scale.told(found)
    return "passed" if last.passed else "did not pass"


def judged_on(facts: Facts) -> str:
    """Whose records the check was about."""
    return facts.job.unseen if facts.divided else "the public records of the check"


def cost(facts: Facts) -> str:
    """The statement."""
    if facts.pledge is None and not math.isfinite(facts.epsilon):
        return "No (ε, δ) statement covers this run: no rule to state one by was pledged before it."
    if not math.isfinite(facts.epsilon):
        return "No (ε, δ) statement covers this run: its pledge makes no claim for what was spent."
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}, per record."


def covered(facts: Facts) -> str:
    """What the statement is about."""
    rung = facts.job.terms.rung
    rungs = {1: f"the one {rung}", 2: f"both {rung}s"}.get(len(facts.rungs), f"all {len(facts.rungs)} {rung}s")
    looks = ", every look at held-out records" if facts.divided else ""
    covers = f"The bound covers the whole procedure: {facts.job.first}, {rungs}{looks}"
    free = "" if not facts.on_public else " The check read public records only, which costs nothing."
    several = " It is about one record: a person who has several is protected less."
    return f"{covers} and the decision to stop where it did.{several}{free}"


def elsewhere(facts: Facts) -> str:
    """What the run would have cost, had it stopped one rung earlier or climbed as far as it might."""
    taken, stops, ahead, terms = len(facts.rungs), facts.stops, facts.ahead, facts.job.terms
    within = [stop for stop in ahead if facts.allowed(stop.epsilon)]
    limit = terms.top if len(within) == len(ahead) else f"as far as the cap of ε = {facts.cap:g} allows"
    earlier = []
    if 1 < taken == len(stops) - len(ahead):
        earlier = [f"stopping one {terms.rung} earlier would have cost {price(stops[taken - 2].epsilon)}"]
    top = [f"{terms.onward} {limit} would have cost {price(within[-1].epsilon)}"] if within else []
    sentence = "; ".join(earlier + top)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def pledged(facts: Facts) -> str:
    """How the lines of the bill become one statement."""
    reason = facts.reason[:1].upper() + facts.reason[1:]
    parts = f"; of the two parts of the split only the dearer counts, because no record is in both ({facts.because})"
    line = "Each line is a Rényi bound ξ + ρα at every order α"
    if facts.tabulated:
        line = f"Each line is a Rényi bound, shown at the order α = {float(facts.order):g}; the receipt has all orders"
    sums = f"{line}. What reads the same records adds up{parts if facts.divided else ''}."
    if facts.pledge is None:
        return f"{sums} No rule that turns the sum into ε was pledged, so that none is stated."
    return f"{sums} The rule that turns the sum into ε was pledged before any data was touched. {reason}."


def part(label: str) -> str:
    """The body of records that a label names."""
    sides = {"train": "the training part", "held": "the held-out part"}
    return sides.get(label.rpartition("/")[2], "all records")


def divided(facts: Facts) -> tuple[str, str]:
    """Who the bound compares, and how the records were divided."""
    neighbours = f"Neighbours: {RELATIONS.get(facts.neighbours, facts.neighbours)}."
    if facts.divided:
        return (
            neighbours,
            f"The records were split into two parts, one to learn from and one to check on ({facts.because}).",
        )
    why = ", because the check has records of its own" if facts.on_public else ""
    return neighbours, f"All records were there to learn from; none was held out{why}."


def tried(facts: Facts) -> str:
    """How candidates were judged."""
    rung = facts.job.terms.rung
    ended = f"the first {rung} that passed ended the run."
    if facts.divided:
        return f"What was learnt was tried on the part held out. Only the noisy answer was seen, and {ended}"
    return f"What was learnt was tried on records that anybody may see, and {ended}"


def _measure(facts: Facts) -> str:
    return facts.scale.name(facts.measure)
