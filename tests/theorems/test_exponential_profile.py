"""Theorem (exponential mechanism profile). An exponential mechanism of parameter ε is, for any two neighbours, a
post-processing of a Gaussian release of ρ = π/2 · ε²/8, so that it composes with Gaussian releases like one of them.

By its bounded range the loss lies between t − ε and t for some t, and what is easiest to tell apart are the two outputs
of the losses t and t − ε. All t are tried here; two candidates realise t = ε/2, and need all of π/2.
"""

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.gaussian import gaussian_mu
from expost.accounting.pure import HALF_PI, exponential_profile, exponential_rho
from expost.mechanisms.exponential import chosen
from expost.verify import FiniteMechanism

EPSILONS = (1e-6, 0.0135, 0.1, 1.0, 3.0, 10.0, 40.0)
Scores = tuple[int, ...]


def mu_of(rho: Fraction) -> float:
    return math.sqrt(2 * rho)


def extreme(epsilon: float, place: float) -> tuple[mp.mpf, mp.mpf]:
    """The errors of the best test between two laws on two outputs, of the losses t and t − ε, t = place · ε."""
    upper, lower = mp.mpf(epsilon) * place, mp.mpf(epsilon) * (1 - mp.mpf(place))
    return mp.expm1(lower) / mp.expm1(epsilon), mp.expm1(upper) / mp.expm1(epsilon)


def needed(epsilon: float, place: float) -> mp.mpf:
    """The least μ of a Gaussian that is as easy to tell apart: −Φ⁻¹(one error) − Φ⁻¹(the other)."""
    with mp.workdps(60):
        return -mp.fsum(mp.sqrt(2) * mp.erfinv(2 * error - 1) for error in extreme(epsilon, place))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("place", [1e-9, 0.01, 0.1, 0.3, 0.45, 0.499, 0.5, 0.501, 0.6, 0.8, 0.99])
def test_every_pair_of_bounded_range_is_harder_to_tell_apart(epsilon: float, place: float) -> None:
    assert 0 <= needed(epsilon, place) <= needed(epsilon, 0.5) <= mu_of(exponential_profile(epsilon))


def test_nothing_less_would_do_for_two_candidates_whose_scores_move_apart() -> None:
    """The claim is met to seven digits by a small ε: what is lost is that of the fraction for π/2, and rounding."""
    assert needed(1e-6, 0.5) > (1 - 1e-7) * mu_of(exponential_profile(1e-6))
    assert needed(0.0135, 0.5) > mu_of(Fraction(999, 1000) * exponential_profile(0.0135))


def test_the_fraction_for_half_of_pi_lies_just_above_it() -> None:
    with mp.workdps(30):
        assert 1 < mp.mpf(HALF_PI.numerator) / HALF_PI.denominator / (mp.pi / 2) < 1 + 1e-7


def law(scores: Scores, epsilon: float, bill: float) -> dict[tuple[int, float], float]:
    weights = [math.exp(epsilon * score / 2) for score in scores]
    return {(index, bill): weight / math.fsum(weights) for index, weight in enumerate(weights)}


def choice(before: Scores, after: Scores, epsilon: float, rho: Fraction) -> FiniteMechanism[str, int]:
    """The choice on two neighbours whose scores differ by 1 at most, billed with the μ of this ρ."""
    return FiniteMechanism({"X": law(before, epsilon, mu_of(rho)), "X'": law(after, epsilon, mu_of(rho))})


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 1)), min_size=2, max_size=6),
    st.floats(0.01, 6),
)
def test_a_choice_is_gaussian_private_with_its_profile(moves: list[tuple[int, int]], epsilon: float) -> None:
    before, after = tuple(score for score, _ in moves), tuple(score + move for score, move in moves)

    assert choice(before, after, epsilon, exponential_profile(epsilon)).is_gaussian()


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_a_choice_padded_with_gaussian_noise_keeps_the_profile(epsilon: float) -> None:
    """What composition needs: beside a Gaussian release the two are no easier to tell apart than their sum of ρ."""
    assert choice((1, 0), (0, 1), epsilon, exponential_profile(epsilon)).is_padded_gaussian()


@pytest.mark.parametrize("epsilon", [0.05, 0.5])
@pytest.mark.parametrize("share", [Fraction(19, 20), 1 / HALF_PI])
def test_with_less_than_the_profile_it_would_not_be(epsilon: float, share: Fraction) -> None:
    """The ρ of its own curve, ε²/8, is two thirds of the profile: it holds at every order and is no Gaussian's."""
    assert not choice((1, 0), (0, 1), epsilon, share * exponential_profile(epsilon)).is_gaussian()


def test_twice_the_range_breaks_it() -> None:
    """Scores that move by 2, drawn as if they moved by 1."""
    assert not choice((2, 0), (0, 2), 0.5, exponential_profile(0.5)).is_gaussian()
    assert choice((2, 0), (0, 2), 0.5, exponential_profile(1.0)).is_gaussian()


@pytest.mark.parametrize("draws", [1, 2, 11])
def test_draws_in_a_row_are_stated_by_their_sum(draws: int) -> None:
    """Scores that move apart at every draw: the number of draws that go one way decides, and is binomial."""
    epsilon = 0.5
    up = 1 / (1 + math.exp(-epsilon / 2))
    counts = range(draws + 1)
    p = [math.comb(draws, count) * up**count * (1 - up) ** (draws - count) for count in counts]
    q = p[::-1]
    curve = chosen(Fraction(epsilon), draws)
    mu = gaussian_mu(curve)
    assert mu is not None

    rows = {name: {(place, mu): each[place] for place in counts} for name, each in {"X": p, "X'": q}.items()}

    assert FiniteMechanism(rows).is_gaussian()
    assert curve.rho == draws * exponential_rho(epsilon)
    assert curve.gaussian == draws * exponential_profile(epsilon)
