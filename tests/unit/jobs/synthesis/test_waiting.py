"""A synthesis whose answers no longer rise ends there, says so, and its receipt shows that it had to."""

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from expost.jobs import audit as check
from expost.jobs.job import Result
from expost.jobs.synthesis.counted import Counted, Released
from expost.jobs.synthesis.recipe import TableRecipe
from expost.jobs.synthesis.waiting import counted_alone, deciding_words
from expost.judge import Balanced, Budgeted, Judge, OnPublic, SparseVector
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.patience import SURE, Patience
from expost.receipts.receipt import digest, receipt
from expost.report.digits import price
from expost.report.flat import TOO_FEW, patience_words
from expost.report.page import render
from expost.report.words import conclusion, headline
from expost.search import Ended
from expost.tabular.aims import Aim
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.jobs.synthesis.recipes import RECIPE
from tests.unit.report.examples import customers

Receipt = dict[str, Any]
LADDER = Ladder.geometric(0.02, 2, 7, alpha=20)
MANY = customers(SCHEMA, 40_000)
"""Records of whom nine in ten are predicted by the first rung, and no more by the last."""
SEEDS = range(6)


@cache
def finished(seed: int = 1, accuracy: float = 0.97, **changes: Any) -> Result[Any]:
    """A rehearsal on many records."""
    return made(MANY, accuracy=accuracy, ladder=LADDER, noise=SeededNoise(seed), **changes)


def written(**changes: Any) -> Receipt:
    """Its receipt as read back from its file."""
    found: Receipt = json.loads(json.dumps(receipt(finished(**changes).facts)))
    return found


def sealed(found: Receipt) -> Receipt:
    """The receipt with the digest of its own settings."""
    found["pledged"] = digest(found)
    return found


def test_a_flat_ladder_ends_as_soon_as_it_can_be_told() -> None:
    """That it does in nine of ten runs is shown in test_patience; here is the whole job."""
    ended = [(done.ended, len(done.history)) for done in map(finished, SEEDS)]

    assert {why for why, _ in ended} == {Ended.FLAT}
    assert sum(taken == 3 for _, taken in ended) >= len(SEEDS) - 1


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_handed_over_is_no_worse_than_the_last_rung_by_more_than_noise(seed: int) -> None:
    early, late = finished(seed).facts, finished(seed, patience=0).facts
    (mine, half), (theirs, other) = (told.answer(told.rungs[-1]) or (0.0, 0.0) for told in (early, late))

    assert late.ended is Ended.EXHAUSTED
    assert early.epsilon < 0.25 * late.epsilon
    assert theirs - mine <= half + other


def test_a_ladder_that_hovers_above_its_target_is_climbed_until_it_passes() -> None:
    """The noisy answers of this run are as flat, but a finer look passes what they say."""
    patient, stubborn = finished(4, 0.9), finished(4, 0.9, patience=0)

    assert (patient.ended, len(patient.history)) == (stubborn.ended, len(stubborn.history)) == (Ended.HALTED, 5)


def test_on_few_records_a_run_ends_before_noise_is_small_only_where_the_target_is_out_of_reach() -> None:
    """In rungs, on average: of seven, and noise is small on the sixth."""
    few = customers(SCHEMA, 5000)

    far, near = (
        np.mean([len(made(few, accuracy=asked, ladder=LADDER, noise=SeededNoise(seed)).history) for seed in SEEDS])
        for asked in (0.97, 0.905)
    )

    assert far < 4.5
    assert near > 5.5


def test_the_plan_names_the_first_rung_on_which_patience_can_decide() -> None:
    """By the standard errors of its looks, as shares of a fifth of the records."""
    recipe = TableRecipe(schema=SCHEMA, aims=(Aim.accuracy("renewed", 0.97),), ladder=LADDER)

    told = {count: deciding_words(replace(recipe, records=count)) for count in (2000, 10_000, 20_000, 40_000)}

    assert not told[2000]  # three rungs are asked about, the last of them included
    assert "may hide a gain of 0.4 points a look on every rung:" in deciding_words(
        replace(recipe, records=2000, patience=Patience(looks=1))
    )
    for count, rung in ((10_000, 6), (20_000, 5), (40_000, 3)):
        assert (
            f"With about {count:,} records noise may hide a gain of 0.4 points a look before rung {rung}" in told[count]
        )
        looks = replace(recipe, records=count).looks()
        noise = [look.std for look in (looks[rung - 3], looks[rung - 1]) if look is not None]
        assert SURE * math.hypot(*noise) <= 0.008 * count / 5


@pytest.mark.parametrize(
    "changes",
    [
        {"records": None},
        {"records": 40_000, "patience": None},
        {"records": 40_000, "aims": (Aim.auc("renewed", 0.8),)},
    ],
    ids=["an unknown number", "no patience", "rare records"],
)
def test_where_that_cannot_be_known_the_plan_names_no_rung(changes: dict[str, Any]) -> None:
    recipe = TableRecipe(schema=SCHEMA, aims=(Aim.accuracy("renewed", 0.97),), ladder=LADDER)

    assert deciding_words(replace(recipe, **changes)) == ""


def test_a_run_that_ends_early_is_stated_at_the_stop_planned_there() -> None:
    done = finished()

    assert done.epsilon == done.facts.stops[len(done.history) - 1].epsilon


def test_the_words_name_the_answers_the_distance_and_what_climbing_on_would_cost() -> None:
    facts = finished(1, 0.905).facts
    told, before = conclusion(facts), facts.stops[-1].epsilon - facts.epsilon

    assert facts.ended is Ended.FLAT
    assert "was NOT confirmed: the noisy answers no longer rose. Climbing further would have cost up to" in told
    assert "The noisy accuracy was 90.0 % ± 0.6 on rung 1 and" in told
    assert "on rung 3, which is handed over and is within 0.6 points of the target." in told
    assert f"Climbing further would have cost up to ε = {price(before)} more." in told
    assert "was not confirmed" in headline(facts)
    assert "The noisy answers no longer rose." in render(facts)


def test_an_answer_far_from_the_target_is_not_said_to_be_near() -> None:
    assert "points of the target" not in conclusion(finished().facts)


def test_report_and_settings_name_the_patience() -> None:
    page = render(finished().facts)

    assert "2 looks together gain less than" in page
    assert ("patience", "2 looks, least gain 0.5 %") in finished().facts.options
    long = Patience(1, Patience().min_gain * 2)
    assert "one look gains less than 1.0 points" in patience_words(long, [0] * 3)


def test_with_too_few_looks_to_end_early_neither_plan_nor_report_says_that_a_run_may() -> None:
    """Nothing is left to be saved after the last rung, and two looks are compared with one before them."""
    short, long = (
        TableRecipe(schema=SCHEMA, aims=(Aim.accuracy("renewed", 0.97),), records=40_000, ladder=ladder)
        for ladder in (Ladder.geometric(0.02, 2, 3, alpha=20), Ladder.geometric(0.02, 2, 4, alpha=20))
    )

    assert patience_words(Patience(), short.looks()) == TOO_FEW
    assert patience_words(Patience(), [None, 1, 1, 1]) == TOO_FEW
    assert patience_words(Patience(), long.looks()).startswith("A run also ends early if")
    assert not deciding_words(short)
    assert deciding_words(long)
    assert "too few looks are planned" in render(replace(finished().facts, looks=short.looks()))


CHECKS: dict[str, tuple[Judge, bool]] = {
    "balanced": (Balanced(), True),
    "gaussian": (Budgeted(), True),
    "sparse vector": (SparseVector(), False),
    "public": (OnPublic(customers(SCHEMA, 90)), False),
}


@pytest.mark.parametrize("name", CHECKS)
def test_only_a_check_that_releases_answers_is_waited_for(name: str) -> None:
    judge, waits = CHECKS[name]
    recipe = TableRecipe(schema=SCHEMA, aims=(Aim.accuracy("renewed", 0.5),), check=judge)

    assert (recipe.waits is not None) is waits


def test_the_receipt_of_a_run_that_ended_early_leads_to_its_own_statement() -> None:
    found = written()

    audit = check(found)

    assert (found["ended"]["how"], found["asked"]["patience"]) == ("flat", {"looks": 2, "min gain": "1/200"})
    assert audit.matches, str(audit)


def impatient(found: Receipt) -> None:
    """No patience among the settings."""
    found["asked"]["patience"] = None


FORGED: dict[str, Callable[[Receipt], object]] = {
    "no patience": impatient,
    "a longer patience": lambda found: found["asked"]["patience"].update(looks=3),
    "a patience of no look": lambda found: found["asked"]["patience"].update(looks=0),
    "a least gain of all records": lambda found: found["asked"]["patience"].update({"min gain": "1"}),
    "a patience with more to it": lambda found: found["asked"]["patience"].update(most=1),
    "few records, in whom no count has settled": lambda found: found["counted"].update(records=100.0),
    "records that nobody counted": lambda found: found["counted"].pop("held"),
    "no records": lambda found: found.pop("counted"),
    "an answer without noise": lambda found: found["history"][0].update(std=0.0),
    "an answer with endless noise": lambda found: found["history"][0].update(std=None),
    "an answer with hardly any noise, and one with much": lambda found: (
        found["history"][0].update(std=1e-300),
        found["history"][2].update(std=1e300),
    ),
    "answers beyond all records": lambda found: (
        found["history"][0].update(margin=-1e308),
        found["history"][2].update(margin=1e308),
    ),
    "an answer that rose": lambda found: found["history"][-1].update(margin=found["history"][0]["margin"] + 100),
    "every rung taken": lambda found: found["ended"].update(how="exhausted", because="rung 3 was the last"),
    "a cap": lambda found: found["ended"].update(how="capped"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_receipt_that_is_said_to_have_ended_flat_and_was_not_is_refused(how: str) -> None:
    found = written()
    FORGED[how](found)

    assert check(sealed(found)).differences


def test_few_records_in_whom_noise_hides_a_rise_that_would_pass_are_refused() -> None:
    found = copy.deepcopy(written(accuracy=0.905))
    assert check(found).matches

    found["counted"].update(held=800.0)

    assert check(sealed(found)).differences


def test_a_receipt_that_climbs_on_although_its_answers_were_flat_is_refused() -> None:
    honest = written(patience=0)
    forged = copy.deepcopy(honest)
    forged["asked"]["patience"] = {"looks": 2, "min gain": "1/200"}

    assert check(honest).matches
    assert "did not end where its answers no longer rose" in str(check(sealed(forged)))


def test_a_receipt_that_climbed_to_the_top_did_not_end_flat() -> None:
    forged = written(patience=0)
    forged["ended"].update(how="flat", because=Ended.FLAT.value)

    assert check(forged).differences
    forged["asked"]["patience"] = {"looks": 6, "min gain": "1/200"}
    assert check(sealed(forged)).differences


def test_of_several_aims_the_one_about_the_fewest_records_says_how_many_were_held_out() -> None:
    """An AUC is about the rarer value of its target, of which there are fewer than records."""
    both = (Aim.accuracy("renewed", 0.9), Aim.auc("renewed", 0.9))
    counts = Released(("renewed",), np.array([700.0, 100.0]), 1.0)
    alone = Counted(800.0, 1.0, Fraction(1, 5), {"renewed": counts})

    known = [counted_alone(replace(RECIPE, aims=aims), alone) for aims in (both, both[:1], both[1:])]

    assert known[0] == known[2]
    assert known[0]["held"] < known[1]["held"] == 200
    assert known[0]["records"] == 800
