"""Theorem (draws without replacement). An urn draws each candidate with probability ∝ exp(rate·score) among those
that are open: it is proposed with a chance ∝ 2^−level and accepted with 2^level·exp(−rate·what it falls short by).

The law is not restated: every number that the urn can draw is given to it, and each is weighed by the chance to be
accepted, to 80 bits.
"""

import copy
from fractions import Fraction

import mpmath as mp
import pytest

from expost.mechanisms import urn as urns
from expost.mechanisms.urn import Urn
from expost.noise import SeededNoise
from expost.sampling.bounds import Bounds
from tests.theorems.enumeration import CoinPath

BITS = 80
Law = dict[int, mp.mpf]


class OneNumber(CoinPath):
    """Noise that has one whole number to give, and notes the chance of the coin after it, which comes out true."""

    def __init__(self, number: int) -> None:
        super().__init__(())
        self.number, self.bound, self.chance = number, 0, mp.mpf(-1)

    def below(self, bound: int) -> int:
        if self.bound:
            raise LookupError("the candidate was not open")
        self.bound = bound
        return self.number

    def bernoulli_real(self, bounds: Bounds) -> bool:
        low, high = bounds(BITS)
        self.chance = min(mp.mpf(1), mp.mpf(low + high) / 2 ** (BITS + 1))  # as a coin takes what is more
        return True


def law(urn: Urn, open_ones: set[int]) -> Law:
    """The chance of each candidate to be drawn next."""
    found: Law = {}
    first = OneNumber(0)
    attempt(copy.deepcopy(urn), open_ones, first)
    for number in range(first.bound):
        noise, tried = OneNumber(number), copy.deepcopy(urn)
        drawn = attempt(tried, open_ones, noise)
        if drawn is None:  # it is out now, and the draw goes on without it
            for candidate, chance in law(tried, open_ones).items():
                found[candidate] = found.get(candidate, mp.mpf(0)) + chance
        else:
            found[drawn] = found.get(drawn, mp.mpf(0)) + noise.chance
    total = sum(found.values())
    return {candidate: chance / total for candidate, chance in found.items()}


def attempt(urn: Urn, open_ones: set[int], noise: OneNumber) -> int | None:
    try:
        return urn.draw(lambda candidate: candidate in open_ones, noise)
    except LookupError:
        return None


def expected(scores: list[int], rate: Fraction, open_ones: set[int]) -> Law:
    weights = {place: mp.exp(mp.mpf(rate.numerator) / rate.denominator * scores[place]) for place in open_ones}
    return {place: weight / sum(weights.values()) for place, weight in weights.items()}


def apart(one: Law, other: Law) -> float:
    """The largest difference of two laws, which must be of the same candidates."""
    assert one.keys() == other.keys()
    return float(max(abs(one[place] - other[place]) for place in one))


CASES = {
    "even": ([3, 3, 3], Fraction(1, 2)),
    "near": ([3, 0, 5, 4, 4], Fraction(1, 3)),
    "far": ([0, 9, 4, 4, 1], Fraction(3, 4)),
    "very far": ([0, 40, 39], Fraction(1, 8)),
    "fine": ([1000, 999, 900, 100], Fraction(1, 500)),
    "negative": ([-7, -3, -4], Fraction(1, 2)),
}


@pytest.mark.parametrize(("scores", "rate"), CASES.values(), ids=CASES)
def test_a_candidate_is_drawn_by_its_score(scores: list[int], rate: Fraction) -> None:
    everybody = {*range(len(scores))}

    assert apart(law(Urn(scores, rate), everybody), expected(scores, rate, everybody)) < 1e-14


@pytest.mark.parametrize("deepest", [0, 1, 2])
@pytest.mark.parametrize(("scores", "rate"), CASES.values(), ids=CASES)
def test_where_levels_end_changes_no_chance(
    scores: list[int], rate: Fraction, deepest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(urns, "DEEPEST", deepest)
    everybody = {*range(len(scores))}

    assert apart(law(Urn(scores, rate), everybody), expected(scores, rate, everybody)) < 1e-14


@pytest.mark.parametrize("closed", [{2}, {0, 2}, {1, 3, 4}, {3}])
def test_what_is_not_open_changes_no_other_chance(closed: set[int]) -> None:
    scores, rate = [3, 0, 5, 4, 4], Fraction(1, 3)
    open_ones = {*range(5)} - closed

    assert apart(law(Urn(scores, rate), open_ones), expected(scores, rate, open_ones)) < 1e-14


@pytest.mark.parametrize("taken", [[2], [2, 4], [1, 0], [3, 4, 2]])
def test_what_was_drawn_changes_no_other_chance(taken: list[int]) -> None:
    """Also where the best were drawn, and the levels of the others are counted from another one."""
    scores, rate = [3, 0, 9, 8, 4], Fraction(1, 2)
    urn = Urn(scores, rate)
    for candidate in taken:
        urn = drawn_first(urn, candidate)
    left = {*range(5)} - {*taken}

    assert apart(law(urn, left), expected(scores, rate, left)) < 1e-14


def drawn_first(urn: Urn, wanted: int) -> Urn:
    """The urn after this candidate was drawn from it, by the first number that leads to it."""
    number, drawn = -1, None
    while drawn != wanted:
        number, tried = number + 1, copy.deepcopy(urn)
        drawn = tried.draw(lambda candidate: True, OneNumber(number))
    return tried


def test_levels_that_halve_too_early_would_change_the_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    """With less than ln 2 for a level, a candidate could never make up for having been proposed too rarely."""
    scores, rate = CASES["far"]
    everybody = {*range(len(scores))}
    monkeypatch.setattr(urns, "HALVING", Fraction(1, 2))

    assert apart(law(Urn(scores, rate), everybody), expected(scores, rate, everybody)) > 1e-3


def test_a_wrong_rate_would_be_noticed() -> None:
    scores, rate = CASES["near"]
    everybody = {*range(len(scores))}

    assert apart(law(Urn(scores, rate), everybody), expected(scores, rate * 21 / 20, everybody)) > 1e-3


@pytest.mark.parametrize(("scores", "rate"), CASES.values(), ids=CASES)
def test_a_proposal_is_accepted_with_a_chance_of_two_fifths_at_least(scores: list[int], rate: Fraction) -> None:
    """So a draw takes a few tries, however many candidates there are and however far apart they lie."""
    first, chances = OneNumber(0), list[mp.mpf]()
    Urn(scores, rate).draw(lambda candidate: True, first)

    for number in range(first.bound):
        noise = OneNumber(number)
        Urn(scores, rate).draw(lambda candidate: True, noise)
        chances.append(noise.chance)

    assert 0.4 < min(chances) <= max(chances) <= 1


def test_closed_candidates_are_proposed_once_at_most() -> None:
    """All but the last two of a thousand are closed: those that are met before one of these go for good."""
    urn, asked = Urn([0] * 1000, Fraction(1)), list[int]()

    def is_open(candidate: int) -> bool:
        asked.append(candidate)
        return candidate >= 998

    drawn = {urn.draw(is_open, SeededNoise(3)) for _ in range(2)}

    assert drawn == {998, 999}
    assert len(asked) == len({*asked})
