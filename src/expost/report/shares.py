"""Shares: what was asked for, and noisy answers, in the unit of what is measured."""

from expost.report import digits
from expost.report.answers import GAIN
from expost.report.facts import Facts


def asked_for(facts: Facts) -> str:
    """The target."""
    assert facts.asked is not None  # told where there is one
    share = float(facts.asked)
    return digits.gain(share) if facts.measure == GAIN else digits.plain(share)


def noisy_number(facts: Facts, answer: tuple[float, float]) -> str:
    """A noisy value with half the range of its noise: a percentage, points, or a signed number of records."""
    if not facts.shares or facts.asked is None:
        return digits.margin(*answer)
    told = digits.gained if facts.measure == GAIN else digits.measured
    return told(*answer, float(facts.asked))


def on_an_axis(facts: Facts, value: float) -> str:
    """A value beside an axis; the unit of points stands beside what was asked for."""
    if not facts.shares:
        return digits.signed(value)
    return digits.signed(float(f"{100 * value:.6g}")) if facts.measure == GAIN else digits.plain(value)
