"""Words: the right numbers, rounded to the safe side, and nothing claimed that is not known."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.stats import binom, norm

from expost.accounting.curve import AdpEpsilon
from expost.accounting.odds import posterior, true_positive_rate
from expost.errors import InvalidValue
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.report.answers import as_share
from expost.report.charts import ladder
from expost.report.digits import least, measured, most, one_in, plain, points, price, small
from expost.report.facts import Facts
from expost.report.meaning import attacks, explain, guesses
from expost.report.reading import reading
from expost.report.words import conclusion, headline, last_checked
from expost.search import Ended
from tests.unit.report.examples import facts, silent


def test_the_number_is_explained_in_odds() -> None:
    told = explain(0.39, 1e-5)

    assert "ε = 0.39 at δ = 1e-5" in told
    assert "at most a factor of e^ε = 1.48" in " ".join(told.split())
    assert "1 in 100,000" in told
    for prior in (0.01, 0.1, 0.5):
        assert most(posterior(prior, 0.39 + math.log(10 / 9))) in told
        assert most(posterior(prior, 0.39)) not in told.partition("false alarms")[0], "ε itself bounds no loss"
    for alarms in (0.001, 0.01, 0.05):
        assert most(true_positive_rate(alarms, 0.39, 1e-5)) in told


def test_delta_is_part_of_every_sentence_that_it_qualifies() -> None:
    told = " ".join(explain(0.39, 1e-5).split())

    assert "apart from a share δ = 1e-5 of probability (1 in 100,000) about which nothing is promised" in told
    assert "except with a chance of 0.0001 (1 in 10,000) in either direction. That chance is 10 δ" in told


def test_a_conclusion_is_one_drawn_at_this_epsilon() -> None:
    assert "the chance that a run ends at this ε and leads to that conclusion" in " ".join(explain(0.39, 1e-5).split())


def test_without_delta_there_is_no_exception() -> None:
    told = explain(1, 0)

    assert "nothing is promised" not in told
    assert "except with a chance" not in told
    assert most(posterior(0.5, 1)) in told


def test_a_delta_of_which_ten_times_is_all_promises_nothing_about_a_guess() -> None:
    told = explain(1, 0.1)

    assert "At a δ of 0.1 nothing is promised about guessing" in told
    assert "may believe after" not in told


@pytest.mark.parametrize("said", ["is in the data or not", "whether one record is in the data", "was used"])
def test_only_where_records_come_and_go_is_it_about_whether_one_is_there(said: str) -> None:
    assert said in " ".join(explain(0.39, 1e-5, Neighbours.ADD_REMOVE).split())
    assert said not in " ".join(explain(0.39, 1e-5, Neighbours.REPLACE_ONE).split())


def test_where_a_record_is_replaced_it_is_about_what_it_says() -> None:
    told = " ".join(explain(0.39, 1e-5, Neighbours.REPLACE_ONE).split())

    assert "What one record says changes the chance" in told
    assert "Somebody guesses what one record says" in told
    assert "which of two things a record says" in told


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 1e-5), (math.inf, 1e-5), (math.nan, 1e-5), (1, 1), (1, -1e-5)])
def test_what_is_no_bound_is_not_explained(epsilon: float, delta: float) -> None:
    with pytest.raises(InvalidValue):
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

    assert "synthetic rows to predict renewed passed the check at 80 % on held-out records" in told
    assert "With 95 % confidence, the accuracy on those records is at least 80 %" in told
    assert f"ε = {price(facts().epsilon)} at δ = 1e-5" in told
    assert "choosing what to measure" in told
    assert "the decision to stop" in told
    assert f"The last rung would have cost ε = {price(facts().stops[-1].epsilon)}." in told


def test_the_conclusion_of_a_seeded_run_says_not_private() -> None:
    assert "NOT PRIVATE" in conclusion(facts())
    assert "NOT PRIVATE" not in conclusion(replace(facts(), seeded=False))


def test_the_conclusion_of_a_run_that_did_not_reach_its_target_says_so() -> None:
    told = conclusion(facts(Fraction(999, 1000)))

    assert "NOT confirmed" in told
    assert "The last rung would" not in told


def test_a_ladder_that_ended_is_told_with_the_last_rung_that_was_checked() -> None:
    run = facts(Fraction(999, 1000), sure=False)

    told = conclusion(run)

    assert "NOT confirmed: rung 4 was the last." in told
    assert f"On rung 3, the last one checked, the noisy accuracy was {100 * (run.rungs[2].accuracy or 0):.1f} %" in told
    assert "What is handed over is rung 4, which was not checked." in told


def capped() -> Facts:
    """The same run, had a cap just below the price of the third rung ended it at the second."""
    whole = facts(Fraction(999, 1000))
    cap = AdpEpsilon(math.nextafter(whole.stops[2].epsilon, 0))
    rungs = whole.rungs[:2]
    return replace(whole, ended=Ended.CAPPED, cap=cap, rungs=rungs, epsilon=rungs[-1].epsilon)


def test_a_run_that_a_cap_ended_names_the_cap_and_what_it_left_no_room_for() -> None:
    told = conclusion(capped())

    assert f"the cap of ε = {capped().cap:g} left no room for rung 3" in told
    assert f"which would have cost ε = {price(capped().stops[2].epsilon)}. On rung 2," in told
    assert "was the last" not in told


def test_a_run_that_a_cap_ended_is_not_told_what_lay_beyond_the_cap() -> None:
    assert "The last rung" not in conclusion(capped())


def test_a_run_that_passed_below_a_cap_is_told_how_far_the_cap_let_it_go() -> None:
    whole = facts()
    run = replace(whole, cap=capped().cap, rungs=whole.rungs[:1])

    told = conclusion(run)

    assert f"The last rung within the cap of ε = {run.cap:g} would have cost ε = {price(run.stops[1].epsilon)}." in told
    assert "The last rung would" not in told


def test_a_cap_that_is_the_price_of_a_rung_is_told_as_that_price_and_not_as_less() -> None:
    """So it is where a ledger has no room for all rungs; 0.219273 beside a price of 0.220 would seem to be passed."""
    whole = facts()
    run = replace(whole, cap=whole.stops[1].epsilon, rungs=whole.rungs[:1])

    told = conclusion(run)

    shown = price(run.stops[1].epsilon)
    assert f"The last rung within the cap of ε = {shown} would have cost ε = {shown}." in told


def test_where_no_rung_was_checked_nothing_is_known() -> None:
    run = facts(Fraction(999, 1000), sure=False)

    assert "nothing is known" in last_checked(replace(run, rungs=run.rungs[-1:]))


def test_only_a_check_that_reveals_an_accuracy_is_given_a_range() -> None:
    assert "±" in reading(facts())
    assert "±" not in reading(silent(facts()))
    assert "does not reveal how high the accuracy is" in reading(silent(facts()))


def test_a_pass_of_the_check_of_the_paper_promises_nothing_about_the_true_accuracy() -> None:
    sure, unsure = conclusion(facts()), conclusion(facts(sure=False))

    assert "it does NOT promise that the true accuracy is 80 %" in unsure
    assert "confidence" not in unsure
    assert "NOT promise" not in sure
    assert "it is not known whether the true accuracy is" in headline(facts(sure=False))


def test_no_sentence_says_that_a_target_was_reached() -> None:
    for told in (facts(), facts(sure=False), facts(Fraction(999, 1000))):
        assert "was reached" not in headline(told) + conclusion(told) + reading(told)


def test_what_a_pass_says_of_new_people_is_lower_by_the_sampling_error_of_all_looks() -> None:
    """480 of 600 right by chance, in one of four looks, is rarer than 1.3 % below this accuracy."""
    told = facts()
    assert told.held is not None and told.elsewhere is not None and told.confidence is not None
    right = math.ceil(0.8 * math.floor(told.held))

    chance = binom.sf(right - 1, math.floor(told.held), told.elsewhere)

    assert chance == pytest.approx(told.confidence.share, rel=1e-6)
    assert f"at least {least(told.elsewhere)} (again with 95 % confidence)" in conclusion(told)


def test_the_range_of_an_answer_holds_for_all_looks_at_once() -> None:
    """Four looks at 95 % together are each at the fourth root of 95 %; one by itself would be 1.96."""
    assert facts().width == pytest.approx(norm.ppf((1 + 0.95**0.25) / 2))
    assert facts().width > 2.4
    assert "± is the range, with 95 % confidence for all looks, of the noise" in reading(facts())
    assert "± is one standard error" in reading(facts(sure=False))


def test_the_range_of_an_accuracy_holds_the_error_of_the_number_it_is_divided_by() -> None:
    told = facts()
    found, exact = told.answer(told.rungs[-1]), replace(told, held_std=0.0).answer(told.rungs[-1])
    assert found is not None and exact is not None

    assert found[1] > exact[1] > 0
    assert re.search(r"and of the number of held-out records \(about [\d,]+ ± \d+\)", reading(told))
    assert "is taken to be about" in reading(replace(told, held_std=0.0))


def test_the_sampling_error_is_told_apart_from_the_noise() -> None:
    told = facts()
    found = told.answer(told.rungs[-1])
    assert found is not None and told.held is not None and told.sampling is not None

    near = min(max(0.5, found[0] - found[1]), found[0] + found[1])
    assert told.sampling == pytest.approx(told.width * math.sqrt(near * (1 - near) / told.held))
    assert f"might be up to {points(told.sampling)} higher or lower" in reading(told)
    missed = facts(Fraction(999, 1000))
    assert missed.sampling is not None
    assert f"The sampling error comes on top: up to {points(missed.sampling)}." in conclusion(missed)


def test_an_accuracy_is_never_told_above_one() -> None:
    """A margin over too small an estimate of the records may come out at more than all of them."""
    told = replace(facts(), held=300.0)
    found = told.answer(told.rungs[-1])
    assert found is not None and as_share(told.rungs[-1].line.verdict, told.asked, told.held) is not None

    assert found[0] <= 1.0
    assert replace(told, asked=Fraction(99, 100)).answer(told.rungs[-1]) is not None


def test_an_accuracy_that_did_not_pass_is_not_shown_as_what_was_asked_for() -> None:
    assert measured(0.6296, 0.004, 0.63) == "62.96 % ± 0.4"
    assert measured(0.63004, 0.004, 0.63) == "63.004 % ± 0.4"
    assert measured(0.63, 0.004, 0.63) == "63.0 % ± 0.4"
    assert measured(0.6296, 0.004) == "63.0 % ± 0.4"


def test_a_range_is_never_shown_as_nothing() -> None:
    assert measured(0.625, 0.0000123) == "62.5 % ± 0.001"


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


def test_a_gain_over_guessing_is_told_in_points_and_may_be_a_loss() -> None:
    """A table that is worse than guessing was told of as just as good."""
    told = facts()
    held = told.held or 1.0
    lost = Verdict(False, margin=-0.0366 * held, std=0.002 * held)
    rung = replace(told.rungs[-1], line=replace(told.rungs[-1].line, verdict=lost))
    told = replace(
        told, measure="gain over guessing", asked=Fraction(3, 100), ended=Ended.EXHAUSTED, rungs=(rung,), held_std=0.0
    )

    assert told.answer(rung) == pytest.approx((-0.0066, told.width * 0.002))
    assert headline(told).startswith("The gain over guessing of 3 points that was asked for was not confirmed")
    assert last_checked(told).endswith(f"the noisy gain over guessing was −0.7 ± {told.width * 0.2:.1f} points.")
    assert "3 %" not in conclusion(told)
    assert ">asked for: 3 points<" in ladder(told)
    assert {">−1<", ">0<", ">+3<"} <= set(re.findall(r">[+−\d.]+<", ladder(told)))
