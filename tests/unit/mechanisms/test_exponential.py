"""The exponential mechanism: an exact choice, its parameter rounded down, its bill that of a bounded range."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from expost.errors import InvalidValue, MechanismFailed
from expost.mechanisms.exponential import Exponential
from expost.noise import Integers, ScriptedNoise, SeededNoise
from expost.release import Past
from tests.unit.examples import ADD, as_is, budget, line, people, rehearsal


def choice(*scores: int, sensitivity: int = 1, dtype: type[np.integer] = np.int64) -> Exponential[Integers]:
    """A choice among candidates with these scores, whatever the data."""
    return Exponential(lambda data: np.array(scores, dtype=dtype), len(scores), Fraction(sensitivity), ADD)


def test_the_first_accepted_candidate_is_chosen() -> None:
    noise = ScriptedNoise([2, 0, 1, 1])

    release = rehearsal().spend(choice(5, 1, 3), people(0), budget(1), Past(), noise)

    assert release.value == 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 7), 1, 3, Fraction(1, 10**9)])
def test_the_parameter_is_the_root_of_the_budget_rounded_down(epsilon: Fraction) -> None:
    parameter = choice(1, 2).epsilon(budget(epsilon))

    assert parameter**2 <= 8 * budget(epsilon).rho < (parameter + Fraction(1, 2**64)) ** 2


def test_the_bill_is_an_eighth_of_the_squared_parameter_and_the_profile_half_of_pi_times_it() -> None:
    mechanism = choice(1, 2)
    rho = mechanism.epsilon(budget(1)) ** 2 / 8

    assert mechanism.promise(budget(1)).curve == line(0, rho, Fraction(355, 226) * rho)


def test_the_bill_stays_within_the_budget() -> None:
    assert choice(1, 2).promise(budget(1)).at(20) <= 1


def test_one_candidate_is_chosen_whatever_it_scores() -> None:
    assert rehearsal().spend(choice(-7), people(0), budget(1), Past(), SeededNoise(1)).value == 0


@pytest.mark.statistical
def test_the_odds_are_the_exponential_of_half_the_scaled_gap() -> None:
    """1e5 draws within five standard deviations: false alarm below 1e-6; odds 5 % off are eight away."""
    mechanism, cost, noise, draws = choice(0, 2, sensitivity=2), budget(20), SeededNoise(5), 100_000

    chosen = Counter(mechanism.sample(np.zeros(1, dtype=np.int64), cost, Past(), noise) for _ in range(draws))

    chance = 1 / (1 + math.exp(float(mechanism.epsilon(cost)) * 2 / (2 * 2)))
    assert abs(chosen[0] - draws * chance) < 5 * math.sqrt(draws * chance * (1 - chance))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8])
def test_scores_far_apart_in_a_small_type_do_not_wrap(dtype: type[np.integer]) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    release = rehearsal().spend(choice(high, low, dtype=dtype), people(0), budget(1), Past(), ScriptedNoise([1, 1]))

    assert release.value == 1


@pytest.mark.parametrize("scores", [np.zeros(2), np.zeros(3, dtype=np.int64), np.zeros((2, 1), dtype=np.int64)])
def test_scores_of_another_shape_or_type_fail_the_step(scores: Integers) -> None:
    """With noise that lets a choice end, so that nothing but the refusal can fail it."""
    broken: Exponential[Integers] = Exponential(lambda data: scores, 2, Fraction(1), ADD)

    with pytest.raises(MechanismFailed):
        rehearsal().spend(broken, people(0), budget(1), Past(), SeededNoise(1))


def test_there_must_be_something_to_choose() -> None:
    with pytest.raises(InvalidValue, match="candidates is 0"):
        choice()


def test_a_choice_needs_a_sensitivity() -> None:
    with pytest.raises(InvalidValue, match="sensitivity is 0"):
        choice(1, 2, sensitivity=0)


def test_the_record_holds_what_it_takes_to_recompute_the_cost() -> None:
    facts = choice(1, 2).facts(budget(1))

    assert (facts["candidates"], facts["sensitivity"]) == (2, "1")
    assert facts["epsilon"] == str(choice(1, 2).epsilon(budget(1)))


@pytest.mark.parametrize("sensitivity", [2, 0.1, np.int8(100), np.float64(0.1)])
def test_a_plain_sensitivity_is_read_exactly(sensitivity: float) -> None:
    """A float would make the odds inexact, and the record would show another number than was used."""
    plain: Exponential[Integers] = Exponential(as_is, 3, sensitivity, ADD)  # type: ignore[arg-type] # a caller without a type checker

    assert plain.facts(budget(1))["sensitivity"] == str(Fraction(float(sensitivity)))


def test_a_choice_is_drawn_exactly() -> None:
    assert not choice(1, 2).floating
