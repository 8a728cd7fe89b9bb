"""Meaning: what an (ε, δ) bound means for a person, in odds."""

import math
import textwrap
from dataclasses import dataclass
from typing import final

from expost.accounting.odds import gaussian_power, loss_bound, posterior, true_positive_rate
from expost.numerics import non_negative, probability
from expost.private import Neighbours
from expost.report.digits import least, most, one_in, plain, price, small

PRIORS = (0.01, 0.1, 0.5)
ALARMS = (0.001, 0.01, 0.05)
TIMES = 10
"""The multiple of δ with which a guess may move farther than shown where only (ε, δ) is known; it adds 0.106 to ε."""

LOSS = (
    "This larger ε bounds the privacy loss itself, which the stated one does not; the rules for both were fixed before "
    "any data was touched. What an attack finds is bounded by the stated ε and δ."
)
ONE_RECORD = "It covers one record: a person with several is protected less"
ONE_PERSON = (
    "It covers one person with all their rows, however many: a household, or a person under two identifiers, is "
    "protected less"
)


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """What a bound is about under one neighbour relation: what changes, and what is guessed, told apart and covered."""

    change: str
    guessed: str
    told_apart: str
    covers: str
    aside: str


SUBJECTS = {
    Neighbours.ADD_REMOVE.value: Subject(
        change="Whether one record is in the data or not",
        guessed="whether one record is in the data",
        told_apart="whether a record was used",
        covers=ONE_RECORD,
        aside=" If a record is known to be in the data, what it says can be guessed as if ε were twice as large.",
    ),
    Neighbours.REPLACE_ONE.value: Subject(
        change="What one record says",
        guessed="what one record says",
        told_apart="which of two things a record says",
        covers=ONE_RECORD,
        aside=" How many records there are is taken to be public.",
    ),
    Neighbours.ADD_REMOVE_PERSON.value: Subject(
        change="Whether one person, with all their rows, is in the data or not",
        guessed="whether one person is in the data",
        told_apart="whether a person's rows were used",
        covers=ONE_PERSON,
        aside=" If a person is known to be in the data, what their rows say can be guessed as if ε were twice as "
        "large.",
    ),
    Neighbours.REPLACE_PERSON.value: Subject(
        change="What the rows of one person say, and how many there are,",
        guessed="what the rows of one person say",
        told_apart="which of two things a person's rows say",
        covers=ONE_PERSON,
        aside=" How many persons there are is taken to be public.",
    ),
}


@final
@dataclass(frozen=True, slots=True)
class Guess:
    """How far a bounded loss can move somebody who held a guess with probability ``prior``."""

    prior: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Attack:
    """The most true alarms of a membership attack that raises false ones at the rate ``alarms``."""

    alarms: float
    found: float


def guesses(loss: float) -> tuple[Guess, ...]:
    """The usual guesses, moved as far as a privacy loss lets them: an ε in the probabilistic notion.

    Uses: Bayesian reading.
    """
    return tuple(Guess(prior, 1 - posterior(1 - prior, loss), posterior(prior, loss)) for prior in PRIORS)


def attacks(epsilon: float, delta: float) -> tuple[Attack, ...]:
    """The usual attacks, as strong as (ε, δ) lets them be.

    Only e^ε·FPR + δ is claimed. The other branch of the formula speaks of all runs in which no alarm is raised, and
    those that stopped elsewhere had another ε; it takes over where FPR·(1 + e^ε) > 1 − δ.
    """
    return tuple(
        Attack(alarms, true_positive_rate(alarms, epsilon, delta) if _low(alarms, epsilon, delta) else 1.0)
        for alarms in ALARMS
    )


def explain(
    epsilon: float, delta: float, neighbours: Neighbours = Neighbours.ADD_REMOVE, *, mu: float | None = None
) -> str:
    """What (ε, δ) means, in plain text, and the μ of a run that has one.

    >>> print(explain(0.39, 1e-5))  # doctest: +ELLIPSIS
    ε = 0.39 at δ = 1e-5
    <BLANKLINE>
    Take any conclusion that somebody draws from what was released and from the ε stated with it. Whether
    one record is in the data or not changes the chance that a run ends at this ε and leads to that
    conclusion by at most a factor of e^ε = 1.48, apart from a share δ = 1e-5 of probability (1 in 100,000)
    about which nothing is promised. ...
    """
    if delta:
        probability(delta, "delta")
    non_negative(epsilon, "epsilon")
    non_negative(0 if mu is None else mu, "mu")
    about = SUBJECTS[neighbours.value]
    alarms = [f"{plain(each.alarms):>16}      {most(each.found)}" for each in attacks(epsilon, delta)]
    return "\n".join(
        [
            f"ε = {epsilon:g} at δ = {small(delta)}",
            "",
            *textwrap.wrap(f"{meaning(epsilon, delta, about)} {scope(about)}", 104),
            "",
            *_guessing(epsilon, delta, about),
            "",
            f"Somebody tries to tell {about.told_apart}, from runs that end at this ε:",
            "    false alarms      finds at most",
            *alarms,
            *([] if mu is None else ["", *textwrap.wrap(trade_off(mu, about), 104)]),
        ]
    )


def _guessing(epsilon: float, delta: float, about: Subject) -> list[str]:
    """The table of guesses for what is known of a pair alone."""
    loss, chance = reach(epsilon, delta)
    if chance >= 1:
        return textwrap.wrap(f"At a δ of {delta:g} nothing is promised about guessing {about.guessed}.", 104)
    known = (
        f" That chance is {TIMES} δ, and the exponent is {price(loss - epsilon)} more than ε: (ε, δ) alone does not "
        "bound how far a guess moves at ε itself. The report and the receipt of a run state a bound that holds except "
        "with a chance of δ."
    )
    rows = [f"{plain(guess.prior):>16}      {span(guess)}" for guess in guesses(loss)]
    told = f"{guessing(loss, chance, about)}{known if delta else ''}"
    return [*textwrap.wrap(told, 104), " believed before      may believe after", *rows]


def reach(epsilon: float, delta: float, loss: float = math.inf) -> tuple[float, float]:
    """What the privacy loss is bounded by, and with which probability it is larger.

    That is the pledged ``loss`` and δ, where there is one, or else what follows from (ε, δ) alone.

    Uses: loss under an approximate claim.
    """
    if math.isfinite(loss):
        return loss, delta
    return (loss_bound(epsilon, TIMES), min(1.0, TIMES * delta)) if delta else (epsilon, 0.0)


def meaning(epsilon: float, delta: float, about: Subject) -> str:
    """The bound in two sentences."""
    slack = ""
    if delta:
        share = f"a share δ = {small(delta)} of probability ({one_in(delta)})"
        slack = f", apart from {share} about which nothing is promised"
    return (
        "Take any conclusion that somebody draws from what was released and from the ε stated with it. "
        f"{about.change} changes the chance that a run ends at this ε and leads to that conclusion by at most a factor "
        f"of e^ε = {price(_factor(epsilon))}{slack}."
    )


def guessing(loss: float, chance: float, about: Subject) -> str:
    """How far the odds of a guess move, and with which probability farther."""
    but = f", except with a chance of {small(chance)} ({one_in(chance)}) in either direction" if chance else ""
    return (
        f"Somebody guesses {about.guessed}, then sees what was released. The odds of the guess are multiplied or "
        f"divided by at most e^{price(loss)} = {price(_factor(loss))}{but}."
    )


def trade_off(mu: float, about: Subject) -> str:
    """The bound in the terms of the field, where all noise was Gaussian."""
    alarms = ALARMS[1]
    return (
        f"In the field's terms, what was released satisfies μ-Gaussian differential privacy with μ = {price(mu)}, ex "
        f"post. Somebody who tries to tell {about.told_apart}, from runs that end at this μ or a smaller one, does no "
        f"better than with one draw that is either N(μ, 1) or N(0, 1): with {plain(alarms)} false alarms, they "
        f"find at most {most(gaussian_power(alarms, mu))}."
    )


def scope(about: Subject) -> str:
    """What the bound holds against, and what it is silent about."""
    return (
        f"This holds whatever else they know and however long they compute. {about.covers}, and what is true of people "
        f"at large can be learnt with or without any one of them.{about.aside}"
    )


def span(guess: Guess) -> str:
    """Both ends of a guess, rounded outwards."""
    return f"{least(guess.low)} to {most(guess.high)}"


def _low(alarms: float, epsilon: float, delta: float) -> bool:
    return alarms * (1 + _factor(epsilon)) <= 1 - delta


def _factor(epsilon: float) -> float:
    return math.exp(min(epsilon, 700.0))
