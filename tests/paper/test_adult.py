"""The Adult search of the paper, in miniature: splits, checks on recorded counts, bills and what is said of them."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from paper.engine.job import Job
from paper.items import adult
from paper.items.adult import IN_PAPER, VARIANTS, Settings, as_in_paper, by_coins
from paper.show.spread import in_percent, of, plus_minus, verdict
from paper.summaries.confidence import confident
from paper.summaries.summary import Mean, difference, mean, ratio, share
from paper.tables.candidates import TARGET, Alone, Making, Parts, by_coin, by_index, joined, records, select
from paper.tables.claims import claims
from paper.tables.climb import Climb, measured_together
from paper.tables.outcomes import outcome
from paper.tables.search import BALANCED, GAUSSIAN, PLAIN, SEARCH, SPARSE, Search
from paper.tables.stops import Costs, Run, bills, checked, stop

from expost import SeededNoise
from expost.datasets.adult import adult_schema
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.noise import ScriptedNoise
from expost.tabular.aims import Aim
from expost.tabular.score import Sklearn
from expost.tabular.table import Table

TINY = Settings(
    search=Search(rungs=3, threshold="0.77"),
    records=2500,
    repeats=2,
    draws=5,
    exact_repeats=1,
    variants=("single columns not used",),
    variant_repeats=1,
)
HELD = 1000


def recorded(*right: int) -> Climb:
    """A climb of which only the counts are known, with a test part as good as the held-out one."""
    return Climb(held=HELD, right=list(right), test=HELD, right_test=list(right))


def paper_parts() -> Parts:
    return by_index(records(None), Fraction(2, 5), Fraction(1, 5), SeededNoise(0))


def same(left: Table, right: Table) -> bool:
    return len(left) == len(right) and all((left.codes(n) == right.codes(n)).all() for n in left.schema.names)


def test_the_parts_have_the_sizes_of_the_paper_and_hold_every_record_once() -> None:
    parts = paper_parts()

    together = joined(Parts(joined(parts), parts.test, parts.test))
    assert (len(parts.train), len(parts.held), len(parts.test)) == (18089, 18089, 9044)
    for name in together.schema.names:
        assert (np.bincount(together.codes(name)) == np.bincount(records(None).codes(name))).all()


def test_held_out_and_test_part_are_alike_in_every_class() -> None:
    parts = paper_parts()

    held, test = (np.bincount(part.codes(TARGET)) for part in (parts.held, parts.test))

    assert np.abs(held - (held + test) * 18089 / 27133).max() <= 1


def test_a_record_more_changes_one_part_of_a_coin_split_but_may_change_both_of_a_split_by_place() -> None:
    table = records(2500)
    pair, seeds = (table, table[np.arange(len(table)) < len(table) - 1]), range(8)

    coins = [[by_coin(each, Fraction(1, 2), table, SeededNoise(seed)) for each in pair] for seed in seeds]
    places = [[by_index(each, Fraction(2, 5), Fraction(1, 5), SeededNoise(seed)) for each in pair] for seed in seeds]

    assert all(same(one.train, two.train) != same(one.held, two.held) for one, two in coins)
    assert any(not same(one.train, two.train) and not same(one.held, two.held) for one, two in places)


def test_the_checks_have_the_noise_of_the_paper() -> None:
    checks, trained = SEARCH.checks(18089), Costs.of(SEARCH, Making()).trained(SEARCH.ladder)
    nothing = Costs.of(SEARCH, Making()).prior.times(0).as_spent()

    gaussian = checks[GAUSSIAN].check
    verdict = gaussian.begin().answer(
        0, gaussian.price(0, trained[0], nothing), range(18089), 15000, ScriptedNoise([0])
    )
    facts = checks[SPARSE].check.facts()

    assert verdict.std == pytest.approx(math.sqrt(6000))
    assert math.sqrt(Fraction(str(facts["variance"]))) == pytest.approx(118.8370063)
    assert math.sqrt(2) * float(Fraction(str(facts["scale"]))) == pytest.approx(304.3971758)


@pytest.mark.parametrize("name", [GAUSSIAN, SPARSE, BALANCED])
def test_without_noise_every_check_stops_at_the_first_candidate_above(name: str) -> None:
    trained = Costs.of(SEARCH, Making()).trained(SEARCH.ladder)
    climb = recorded(800, 824, 825, 820, 830, 840, 850)

    found = stop(SEARCH.checks(HELD)[name], climb, trained, ScriptedNoise([0] * 20))

    assert found == 2


@pytest.mark.parametrize(("name", "draws"), [(GAUSSIAN, 6), (SPARSE, 7), (BALANCED, 6)])
def test_the_last_rung_is_reached_without_a_question(name: str, draws: int) -> None:
    trained = Costs.of(SEARCH, Making()).trained(SEARCH.ladder)
    climb, noise = recorded(*[800] * 6, 900), ScriptedNoise([0] * draws + [1])

    found = stop(SEARCH.checks(HELD)[name], climb, trained, noise)

    assert found == 6
    assert noise.below(2) == 1


@pytest.mark.parametrize("name", PLAIN)
def test_a_confident_check_is_asked_about_the_last_rung_and_may_fail_it_too(name: str) -> None:
    trained, asked, many = Costs.of(SEARCH, Making()).trained(SEARCH.ladder), SEARCH.checks(10 * HELD)[name], 10 * HELD
    climbs = [Climb(held=many, right=[8250] * 6 + [right], test=1, right_test=[1] * 7) for right in (many, 8250)]

    found = [stop(asked, climb, trained, ScriptedNoise([0] * 8)) for climb in climbs]

    assert found == [6, 7]
    assert asked.looks == 7


@pytest.mark.parametrize(("name", "plain"), PLAIN.items())
def test_a_candidate_just_below_passes_by_noise_unless_the_check_is_confident(name: str, plain: str) -> None:
    """300 draws; more than 37 passes of a check that may err in one of 20 have a chance below 1e-6."""
    climb, trained = recorded(*[824] * 7), Costs.of(SEARCH, Making()).trained(SEARCH.ladder)
    checks, noise = SEARCH.checks(HELD), SeededNoise(3)

    passes = {
        each: sum(stop(checks[each], climb, trained, noise) < checks[each].looks for _ in range(300))
        for each in (name, plain)
    }

    assert passes[name] <= 37
    assert passes[plain] > 200


def test_what_the_paper_s_checks_say_does_not_depend_on_those_with_a_confidence() -> None:
    climb, names = recorded(800, 810, 820, 825, 830, 840, 850), (GAUSSIAN, SPARSE, BALANCED)

    alone, beside = (
        checked(SEARCH, climb, Making(), SeededNoise(1), names=each, draws=5) for each in (names, IN_PAPER)
    )

    assert alone["stops"] == {name: beside["stops"][name] for name in names}


@pytest.mark.parametrize(("name", "plain"), PLAIN.items())
def test_a_confidence_changes_no_price(name: str, plain: str) -> None:
    sure, unsure = (chain(*bills(SEARCH, Making(), SEARCH.checks(18089)[each])) for each in (name, plain))

    assert list(sure) == pytest.approx(list(unsure), rel=1e-3)


@pytest.mark.parametrize("name", [GAUSSIAN, SPARSE, BALANCED])
def test_the_paper_bills_the_level_and_the_selection_whatever_the_check(name: str) -> None:
    lemma_7, ours_planned = bills(SEARCH, Making(), SEARCH.checks(18089)[name])

    offset = math.log(1e5) / 19
    assert lemma_7 == pytest.approx([float(level) + 0.01 + offset for level in SEARCH.ladder.levels], rel=1e-9)
    assert all(ours < theirs for ours, theirs in zip(ours_planned, lemma_7, strict=True))


def test_balanced_checks_are_billed_as_the_library_plans_a_synthesis() -> None:
    """To a third of a percent: the paper's tree may hold the target, so that fewer pairs and less noise are planned."""
    chosen = plan_synthesis(TableRecipe(schema=adult_schema(), aims=(Aim.accuracy(TARGET, Fraction(33, 40)),)))

    _, ours = bills(SEARCH, Making(), SEARCH.checks(18089)[BALANCED])

    theirs = [chosen.pledge.epsilon(each) for each in chosen.stops]
    assert all(known <= each < 1.003 * known for each, known in zip(ours, theirs, strict=True))


def test_a_dearer_check_is_billed() -> None:
    dear = replace(SEARCH, check="0.5")

    lemma_7, _ = bills(dear, Making(), dear.checks(18089)[SPARSE])

    assert lemma_7[0] > 0.3 + math.log(1e5) / 19


def test_accepted_repeats_and_those_without_a_pass_are_kept_apart() -> None:
    low, high = recorded(*[800] * 7), recorded(*[800] * 5, 830, 840)
    runs = [
        Run(climb=low, stops={GAUSSIAN: [0, 6]}),
        Run(climb=high, stops={GAUSSIAN: [5, 5]}),
        Run(climb=high, stops={GAUSSIAN: [6, 5]}),
    ]

    found = outcome(SEARCH, GAUSSIAN, "by hand", runs)

    assert (found["accepted"]["above"]["count"], found["accepted"]["above"]["of"]) == (1, 2)
    assert (found["never"]["above"]["count"], found["never"]["above"]["of"]) == (1, 1)
    assert found["passed"] == [True, True, False]
    assert found["accepted"]["validation"]["mean"] == pytest.approx(0.815)
    assert found["above_drawn"]["mean"] == pytest.approx(3 / 4)
    assert found["below_drawn"]["mean"] == pytest.approx(1 / 6)
    assert found["never_drawn"]["mean"] == pytest.approx(1 / 3)
    assert found["price_drawn"] is None
    assert found["billed_planned"]["mean"] == pytest.approx(np.mean([found["planned"][rung] for rung in (0, 5, 6)]))


def test_a_pass_on_the_last_rung_is_accepted_and_costs_what_it_took_beyond_the_check_without_a_confidence() -> None:
    name, high = confident(BALANCED), recorded(*[800] * 5, 830, 840)
    runs = [Run(climb=high, stops={BALANCED: [5, 4], name: [6, 5]}), Run(climb=high, stops={BALANCED: [5], name: [7]})]

    found, without = (outcome(SEARCH, each, "by hand", runs) for each in (name, BALANCED))

    assert (found["stops"], found["passed"]) == ([6, 6], [True, False])
    assert (found["accepted"]["above"]["count"], found["accepted"]["above"]["of"]) == (1, 1)
    assert found["above_drawn"]["mean"] == pytest.approx(1)
    assert (found["below_drawn"]["mean"], without["below_drawn"]["mean"]) == pytest.approx((0, 1 / 4))
    assert found["never_drawn"]["mean"] == pytest.approx(1 / 2)
    price, bill = found["price_drawn"], found["planned"]
    assert price is not None
    assert price["mean"] == pytest.approx(
        ((bill[6] + bill[5]) / 2 + bill[6]) / ((bill[5] + bill[4]) / 2 + bill[5]), rel=1e-4
    )


def test_overfitting_is_a_gain_beyond_the_climb_and_the_rung() -> None:
    lucky, usual = (
        Climb(held=HELD, right=right, test=HELD, right_test=[800] * 3) for right in ([800, 830, 800], [800] * 3)
    )
    search = replace(SEARCH, rungs=3)

    picked = [Run(climb=lucky, stops={GAUSSIAN: [1]}), Run(climb=usual, stops={GAUSSIAN: [2]})]
    everywhere = [Run(climb=lucky, stops={GAUSSIAN: [1]}), Run(climb=lucky, stops={GAUSSIAN: [1]})]

    assert outcome(search, GAUSSIAN, "", picked)["overfit_drawn"]["mean"] == pytest.approx(0.01)
    assert outcome(search, GAUSSIAN, "", everywhere)["overfit_drawn"]["mean"] == pytest.approx(0)


def test_the_claims_are_positive_where_sparse_vector_is_earlier_and_worse() -> None:
    climb, other = recorded(800, 810, 820, 830, 840, 850, 860), recorded(700, 710, 720, 730, 740, 750, 760)
    runs = [
        Run(climb=climb, stops={GAUSSIAN: [3, 3], SPARSE: [1, 3]}),
        Run(climb=other, stops={GAUSSIAN: [4, 6], SPARSE: [1, 3]}),
    ]

    found = claims(SEARCH, runs)

    assert found["rungs_earlier"]["mean"] == pytest.approx(2)
    assert found["higher"]["mean"] == pytest.approx((830 + 830 + 740 - 0) / 3000 - (810 + 830 + 710 + 730) / 4000)
    assert found["higher_by_rung"][3]["mean"] == pytest.approx(0.83 - (0.83 + 0.73) / 2)
    assert found["higher_by_rung"][0]["mean"] is None


def test_a_ratio_counts_repeats_not_draws() -> None:
    apart = ratio([100, 0], [100, 100])
    alike = ratio([50, 50], [100, 100])

    assert apart["mean"] == alike["mean"] == pytest.approx(0.5)
    assert alike["reach"] == pytest.approx(0)
    assert apart["reach"] is not None
    assert apart["reach"] > 1


def test_repeats_without_an_accepted_draw_are_not_counted() -> None:
    found = difference(([1.0, 0.0, 3.0], [2.0, 0.0, 4.0]), ([1.0, 1.0, 0.0], [1.0, 1.0, 0.0]))

    assert found["mean"] == pytest.approx(4 / 6 - 1)
    assert found["count"] == 2


def test_an_interval_covers_the_mean_of_normal_values_in_nineteen_of_twenty() -> None:
    """200 intervals of five values; fewer than 175 or more than 199 covering has a chance below 1e-4."""
    noise = SeededNoise(11)

    found = [mean(list(noise.gaussian(1.0, 5))) for _ in range(200)]

    covering = sum(abs(each["mean"] or 0) <= (each["reach"] or 0) for each in found)
    assert 175 <= covering <= 199


def test_what_cannot_be_computed_is_missing_and_said_so() -> None:
    for found in (mean([]), ratio([0.0], [0.0]), difference(([0.0], [0.0]), ([1.0], [1.0]))):
        assert found["mean"] is None
        assert plus_minus(found) == in_percent(found) == "none"
        assert verdict(found) == "cannot be told"
    assert of(share([])) == "none"


@pytest.mark.parametrize(
    ("value", "reach", "said"),
    [(0.2, 0.1, "holds"), (-0.2, 0.1, "does not hold"), (0.05, 0.1, "is not decided")],
)
def test_a_claim_is_judged_by_its_interval(value: float, reach: float, said: str) -> None:
    assert verdict(Mean(count=9, mean=value, std=0.1, reach=reach)) == said


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_changes_one_thing_and_can_be_learnt(name: str) -> None:
    making, usual = VARIANTS[name], Making()

    changed = [
        field
        for field in ("classifier", "first", "alone", "redrawn")
        if getattr(making, field) != getattr(usual, field)
    ]

    assert len(changed) == 1
    assert Sklearn(making.classifier).path == making.classifier


def test_single_columns_climb_with_the_pairs_only_when_measured_again() -> None:
    table = records(2500)
    selected = select(table, SEARCH.budget("0.01"), Making(), SeededNoise(1))

    counts = {each: len(measured_together(table.schema, selected, Making(alone=each)).cliques) for each in Alone}

    assert counts[Alone.KEPT] == counts[Alone.DROPPED] == len(selected.pairs)
    assert counts[Alone.AGAIN] == len(selected.pairs) + 13
    assert {(name, TARGET) for name in table.schema.names if name != TARGET} <= set(selected.pairs)


def test_repeats_of_the_paper_share_one_split_and_ours_do_not() -> None:
    paper = [as_in_paper(TINY, seed)["climb"] for seed in (1, 2)]
    ours = [by_coins(TINY, seed)["climb"] for seed in (1, 2, 1)]

    assert paper[0]["held"] == paper[1]["held"] == 1000
    assert paper[0]["right"] != paper[1]["right"]
    assert ours[0] == ours[2]
    assert ours[0]["held"] != ours[1]["held"]


def test_a_miniature_runs_and_shows_itself_from_json(tmp_path: Path) -> None:
    job = Job("adult", adult.VERSION, TINY, 1, tmp_path, 1)

    result = json.loads(json.dumps(adult.run(job), allow_nan=False))

    assert len(job.took) == 2 + 2 + 1 + 1
    assert set(adult.draw(result)) == set(adult.FIGURES)
    text = adult.text(result)
    assert "single columns not used" in text
    assert all(f"{epsilon:.4f}" in text for epsilon in result["outcomes"][0]["planned"])
