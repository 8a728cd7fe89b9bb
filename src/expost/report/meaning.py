"""Meaning: what an (ε, δ) bound means for a person, in odds."""

import math
import textwrap
from dataclasses import dataclass
from typing import final

from expost.accounting.odds import posterior, true_positive_rate
from expost.numerics import probability
from expost.report.digits import least, most, one_in, plain, price, small

PRIORS = (0.01, 0.1, 0.5)
ALARMS = (0.001, 0.01, 0.05)


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


def span(guess: Guess) -> str:
    """Both ends of a guess, rounded outwards."""
    return f"{least(guess.low)} to {most(guess.high)}"


def _low(alarms: float, epsilon: float, delta: float) -> bool:
    return alarms * (1 + _factor(epsilon)) <= 1 - delta


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))
