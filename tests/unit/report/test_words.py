"""Words: the right numbers, rounded to the safe side, and nothing claimed that is not known."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from expost.accounting.curve import AdpEpsilon
from expost.accounting.odds import posterior, true_positive_rate
from expost.errors import InvalidBound
from expost.report.digits import least, most, one_in, plain, price, small
from expost.report.words import attacks, conclusion, explain, guesses
from tests.unit.report.examples import facts


def test_the_number_is_explained_in_odds() -> None:
    told = explain(0.39, 1e-5)

    assert "ε = 0.39 at δ = 1e-5" in told
    assert "e^ε = 1.48 at most" in told
    assert "1 in 100,000" in told
    for prior in (0.01, 0.1, 0.5):
        assert most(posterior(prior, 0.39)) in told
    for alarms in (0.001, 0.01, 0.05):
        assert most(true_positive_rate(alarms, 0.39, 1e-5)) in told


def test_without_delta_there_is_no_exception() -> None:
    assert "nothing is promised" not in explain(1, 0)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 1e-5), (math.inf, 1e-5), (math.nan, 1e-5), (1, 1), (1, -1e-5)])
def test_what_is_no_bound_is_not_explained(epsilon: float, delta: float) -> None:
    with pytest.raises(InvalidBound):
        explain(epsilon, delta)


def test_a_guess_moves_as_far_down_as_up_in_odds() -> None:
    for guess in guesses(0.7):
        odds = [share / (1 - share) for share in (guess.low, guess.prior, guess.high)]

        assert odds[1] / odds[0] == pytest.approx(math.exp(0.7))
        assert odds[2] / odds[1] == pytest.approx(math.exp(0.7))


def test_at_epsilon_zero_nothing_moves() -> None:
    assert all(guess.low == pytest.approx(guess.prior) == pytest.approx(guess.high) for guess in guesses(0))


def test_where_only_the_runs_that_stopped_elsewhere_would_bound_an_attack_nothing_is_claimed() -> None:
    """Two stops, ε = 3 and 20: an attack with 5 % false alarms can find all but e^-20 of a percent."""
    assert true_positive_rate(0.05, 3, 1e-5) < 0.96
    assert attacks(3, 1e-5)[2].found == 1


def test_the_conclusion_says_what_was_reached_what_it_cost_and_what_that_covers() -> None:
    told = conclusion(facts())

    assert "accuracy of 80 % that was asked for" in told
    assert f"ε = {price(facts().epsilon)} at δ = 1e-5" in told
    assert "choosing what to measure" in told
    assert "the decision to stop" in told
    assert f"climbing to the top would have cost {price(facts().stops[-1].epsilon)}" in told.lower()


def test_the_conclusion_of_a_seeded_run_says_not_private() -> None:
    assert "NOT PRIVATE" in conclusion(facts())
    assert "NOT PRIVATE" not in conclusion(replace(facts(), seeded=False))


def test_the_conclusion_of_a_run_that_did_not_reach_its_target_says_so() -> None:
    told = conclusion(facts(Fraction(999, 1000)))

    assert "NOT confirmed" in told
    assert "climbing to the top" not in told.lower()


def test_a_run_without_a_claim_is_given_none() -> None:
    assert "No (ε, δ) statement" in conclusion(replace(facts(), epsilon=AdpEpsilon(math.inf)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.39, "0.390"), (0.3901, "0.391"), (0, "0"), (9.999, "10.00"), (123.4, "124"), (math.inf, "∞"), (2e9, "2.00e+9")],
)
def test_a_price_is_rounded_up(value: float, shown: str) -> None:
    assert price(value) == shown


def test_shares_are_rounded_to_the_safe_side() -> None:
    assert (most(0.12341), least(0.12349), most(1.0), most(0.99999)) == ("12.4 %", "12.3 %", "100 %", "100.0 %")


def test_what_was_typed_is_shown_as_typed() -> None:
    assert (plain(0.825), plain(0.001), small(1e-5), small(3e-12), one_in(3e-6)) == (
        "82.5 %",
        "0.1 %",
        "1e-5",
        "3e-12",
        "1 in 333,333",
    )
