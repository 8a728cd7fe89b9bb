"""Words: what a bound means for a person, in odds, and what a run reached, in one paragraph."""

import math
import textwrap
from dataclasses import dataclass
from typing import final

from expost.accounting.odds import posterior, true_positive_rate
from expost.numerics import probability
from expost.report.digits import least, measured, most, one_in, plain, price, small
from expost.report.facts import Facts

PRIORS = (0.01, 0.1, 0.5)
ALARMS = (0.001, 0.01, 0.05)

COMPARED = (
    "The records themselves are not shown, nor is anything computed from them for this page: both sides were released. "
    "Counts of one column add up the released pairs that hold it. The distance is the total variation between the two "
    "sides; one no larger than noise alone would cause is as good as can be known."
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


@final
@dataclass(frozen=True, slots=True)
class Guess:
    """How far seeing the release can move somebody who held a guess with probability ``prior``."""

    prior: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Attack:
    """The most true alarms of a membership attack that raises false ones at the rate ``alarms``."""

    alarms: float
    found: float


def guesses(epsilon: float) -> tuple[Guess, ...]:
    """The usual guesses, moved as far as ε lets them."""
    return tuple(Guess(prior, 1 - posterior(1 - prior, epsilon), posterior(prior, epsilon)) for prior in PRIORS)


def attacks(epsilon: float, delta: float) -> tuple[Attack, ...]:
    """The usual attacks, as strong as (ε, δ) lets them be.

    Only e^ε·FPR + δ is claimed. The other branch of the formula speaks of all runs in which no alarm is raised, and
    those that stopped elsewhere had another ε; it takes over where FPR·(1 + e^ε) > 1 − δ.
    """
    return tuple(
        Attack(alarms, true_positive_rate(alarms, epsilon, delta) if _low(alarms, epsilon, delta) else 1.0)
        for alarms in ALARMS
    )


def explain(epsilon: float, delta: float) -> str:
    """What (ε, δ) means, in plain text.

    >>> print(explain(0.39, 1e-5))  # doctest: +ELLIPSIS
    ε = 0.39 at δ = 1e-5
    <BLANKLINE>
    Take any conclusion that somebody could draw from what was released. Whether one record is in the data
    or not changes the chance of that conclusion by a factor of e^ε = 1.48 at most, apart from a share δ of
    probability (1 in 100,000) about which nothing is promised. ...
    """
    if delta:
        probability(delta, "delta")
    rows = [f"{plain(guess.prior):>16}      {span(guess)}" for guess in guesses(epsilon)]
    alarms = [f"{plain(each.alarms):>16}      {most(each.found)}" for each in attacks(epsilon, delta)]
    return "\n".join(
        [
            f"ε = {epsilon:g} at δ = {small(delta)}",
            "",
            *textwrap.wrap(f"{meaning(epsilon, delta)} {scope()}", 104),
            "",
            "Somebody guesses something about one record, then sees what was released:",
            "   held it to be      can hold it to be",
            *rows,
            "",
            "Somebody tries to tell whether a record was used:",
            "    false alarms      finds at most",
            *alarms,
        ]
    )


def meaning(epsilon: float, delta: float) -> str:
    """The bound in one or two sentences."""
    slack = f", apart from a share δ of probability ({one_in(delta)}) about which nothing is promised" if delta else ""
    return (
        "Take any conclusion that somebody could draw from what was released. Whether one record is in the data or "
        f"not changes the chance of that conclusion by a factor of e^ε = {price(_factor(epsilon))} at most{slack}."
    )


def scope() -> str:
    """What the bound holds against, and what it is silent about."""
    return (
        "This holds whatever else they know and however long they compute. It is about one record: who has several "
        "is protected less, and what is true of people at large can be learnt with or without any one of them."
    )


def conclusion(facts: Facts) -> str:
    """The closing paragraph: what was reached, what it cost, what the cost covers, what else it might have cost."""
    parts = [reached(facts), cost(facts), covered(facts), elsewhere(facts)]
    if facts.floating:
        parts.append("Noise was drawn in floating point, whose rounding the bound does not cover.")
    if facts.seeded:
        parts.append("NOT PRIVATE: the noise was seeded, and whoever has the seed can subtract it.")
    return " ".join(part for part in parts if part)


def headline(facts: Facts) -> str:
    """The result in one sentence."""
    asked = f"{facts.measure} of {plain(float(facts.asked))}"
    if facts.reached:
        return f"The {asked} that was asked for was reached, for ε = {price(facts.epsilon)}."
    return f"The {asked} that was asked for was not confirmed; ε = {price(facts.epsilon)} was spent."


def reached(facts: Facts) -> str:
    """Whether the target was reached, and the noisy accuracy that says so."""
    asked, last = plain(float(facts.asked)), facts.rungs[-1]
    seen = "" if last.accuracy is None else f" (the noisy check says {measured(last.accuracy, last.error)})"
    if facts.reached:
        return (
            f"What was learnt from {facts.rows:,} synthetic rows predicts {facts.target} with the {facts.measure} of "
            f"{asked} that was asked for, on {judged_on(facts)}{seen}."
        )
    return (
        f"The {facts.measure} of {asked} that was asked for in predicting {facts.target} was NOT confirmed: "
        f"{facts.ended.value}{seen}."
    )


def judged_on(facts: Facts) -> str:
    """Whose records the check was about."""
    private = any(item.entry.part.endswith("/held") for item in facts.bill)
    return "held-out records that had no part in making them" if private else "the public records of the check"


def cost(facts: Facts) -> str:
    """The statement."""
    if not math.isfinite(facts.epsilon):
        return "No (ε, δ) statement covers this run: its pledge makes no claim for what was spent."
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}."


def covered(facts: Facts) -> str:
    """What the statement is about."""
    rungs = {1: "the one rung", 2: "both rungs"}.get(len(facts.rungs), f"all {len(facts.rungs)} rungs")
    return (
        f"The bound covers the whole procedure: choosing what to measure, {rungs}, every look at held-out records "
        "and the decision to stop where it did."
    )


def elsewhere(facts: Facts) -> str:
    """What the run would have cost, had it stopped one rung earlier or climbed to the top."""
    taken, stops = len(facts.rungs), facts.stops
    earlier = [f"stopping one rung earlier would have cost {price(stops[taken - 2].epsilon)}"] if taken > 1 else []
    top = [f"climbing to the top would have cost {price(stops[-1].epsilon)}"] if taken < len(stops) else []
    sentence = "; ".join(earlier + top)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def reading(facts: Facts) -> str:
    """How to read the ladder."""
    return (
        "± is the 95 % range of the noise that the check adds for privacy, not that of which records were held out "
        f"(about {round(facts.held, -1):,.0f}). A filled mark passed, an empty one did not; marks on the axis are the "
        "prices of rungs that were not climbed, which were known beforehand."
    )


def pledged(facts: Facts) -> str:
    """How the lines of the bill become one statement."""
    reason = facts.reason[:1].upper() + facts.reason[1:]
    return (
        "Each line is a Rényi bound ξ + ρα at every order α. What reads the same records adds up; of the two parts "
        f"of the split only the dearer counts, because no record is in both ({facts.because}). The rule that turns "
        f"the sum into ε was pledged before any data was touched. {reason}."
    )


def part(label: str) -> str:
    """The body of records that a label names."""
    sides = {"train": "the training part", "held": "the held-out part"}
    return sides.get(label.rpartition("/")[2], "all records")


def method(facts: Facts) -> tuple[str, ...]:
    """The procedure in plain words, step by step."""
    return (
        f"Neighbours: {RELATIONS.get(facts.relation, facts.relation)}.",
        f"The records were split into two parts, one to learn from and one to check on ({facts.because}).",
        "Each column was counted with noise, and pairs of columns that belong together were chosen at random, "
        "stronger pairs being likelier. Both are on the bill.",
        f"On each rung the pairs were counted again with fresh integer noise and averaged with the rungs before. A "
        f"model was fitted to the noisy counts, a table drawn from it, and {facts.target} learnt from that table.",
        "What was learnt was tried on the part held out. Only the noisy answer was seen, and the first rung that "
        "passed ended the climb.",
        "From the noisy counts on, nothing looked at the records again: the synthetic table may be published, "
        "copied and analysed without further cost.",
    )


def span(guess: Guess) -> str:
    """Both ends of a guess, rounded outwards."""
    return f"{least(guess.low)} to {most(guess.high)}"


def _low(alarms: float, epsilon: float, delta: float) -> bool:
    return alarms * (1 + _factor(epsilon)) <= 1 - delta


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))
