"""Prices: the noise of a check is known beforehand, and is the noise that the run then reports."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from expost.accounting.claim import Budget
from expost.accounting.curve import largest_rho
from expost.checks.question import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import InvalidValue
from expost.jobs.synthesis.prices import StatedLadder, table_recipe, usual_share
from expost.jobs.synthesis.recipe import QUERY, TableRecipe, plan_synthesis
from expost.judge import Balanced, Budgeted, Judge
from expost.ladder import Ladder
from expost.tabular.aims import Aim
from tests.unit.examples import Made, one_sentence
from tests.unit.jobs.synthesis.recipes import LADDER, done, hard
from tests.unit.report.examples import schema

HARD = hard()
BUDGET = Budget.of(Fraction(1, 20), alpha=LADDER.alpha)
REVEALING: dict[str, Judge] = {"balanced": Balanced(), "gaussian": Budgeted(BUDGET.epsilon)}


@pytest.mark.parametrize("maker", REVEALING.values(), ids=REVEALING)
def test_the_noise_of_each_answer_is_known_beforehand(maker: Judge) -> None:
    recipe = replace(HARD, check=maker)

    known = recipe.looks()

    verdicts = [line.verdict for line in done(recipe).outcome.history]
    pairs = list(zip(known, verdicts, strict=True))
    assert all((look is None) == (verdict is None) for look, verdict in pairs)
    for look, verdict in pairs:
        if look is not None and verdict is not None:
            assert verdict.std == pytest.approx(look.std, rel=1e-9)
            assert verdict.guard == look.guard
    assert None not in known


@pytest.mark.parametrize(
    "aim", [Aim.accuracy("renewed", 0.8254), Aim.above_guessing("renewed", 0.0301), Aim.accuracy("renewed", 0.123456)]
)
@pytest.mark.parametrize("check", [Balanced(), Budgeted()], ids=["balanced", "budgeted"])
def test_more_digits_in_what_is_asked_for_cost_nothing(aim: Aim, check: Judge) -> None:
    """A record moves a margin by more units then, and the noise of the check is of as many more."""
    few = Aim.accuracy("renewed", 0.825)
    usual, fine = (TableRecipe(schema=schema(), aims=(each,), check=check) for each in (few, aim))

    stated = [[plan.pledge.epsilon(stop) for stop in plan.stops] for plan in map(plan_synthesis, (usual, fine))]

    assert stated[0] == pytest.approx(stated[1], rel=1e-3)


def test_the_check_of_the_paper_is_not_asked_about_the_last_rung_and_has_no_guard() -> None:
    recipe = replace(HARD, confidence=None)

    first, second, last = recipe.looks()

    assert last is None
    assert done(recipe).outcome.history[-1].verdict is None
    assert first is not None and second is not None
    assert first.guard == second.guard == 0


def test_a_check_that_says_yes_or_no_has_the_noise_of_its_threshold_and_of_its_question() -> None:
    question = HARD.question()
    check = SparseVectorCheck(question, Fraction(9), Fraction(2), None)

    first, second, last = replace(HARD, check=Made(lambda asked, confidence: check)).looks()

    assert first is not None
    assert first == second == last
    assert first.std == pytest.approx(math.sqrt(9 + 2 * 4) * question.sensitivity / question.unit)


def test_a_public_check_adds_no_noise() -> None:
    public = replace(HARD, check=Made(lambda question, confidence: PublicCheck(lambda candidate: True), public=True))

    assert public.looks() == (None, None, None)


@pytest.mark.parametrize("low", [0.01, 0.05, 0.1, 0.2])
def test_a_ladder_that_starts_low_leaves_less_to_the_selection(low: float) -> None:
    recipe = table_recipe(schema=schema(), target="renewed", accuracy=0.8, ladder=StatedLadder(low, 1, 5))

    plan = plan_synthesis(recipe)
    assert 0.97 * low < plan.pledge.epsilon(plan.stops[0]) <= low
    share = largest_rho(recipe.selection.cost.curve) / largest_rho(plan.stops[0].curve)
    assert recipe.query == QUERY if low == 0.2 else recipe.query.epsilon < QUERY.epsilon
    assert 0.2 < share < 0.6


def test_a_ladder_of_renyi_levels_leaves_the_selection_as_it_is() -> None:
    ladder = Ladder.of([Fraction(1, 10**4)], alpha=20)

    assert table_recipe(schema=schema(), target="renewed", accuracy=0.8, ladder=ladder).query == QUERY


def test_an_epsilon_that_no_noise_can_have_is_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidValue) as refused:
        table_recipe(schema=schema(), target="renewed", accuracy=0.8, ladder=StatedLadder(1e-300, 1, 5))

    assert one_sentence(refused.value)


@pytest.mark.parametrize(
    ("records", "share"),
    [(None, "1/5"), (0, "1/5"), (40_000, "1/5"), (40_001, "8000/40001"), (10**6, "1/20"), (10**7, "1/200")],
)
def test_no_more_records_are_held_out_than_a_check_needs_where_their_number_is_public(
    records: int | None, share: str
) -> None:
    assert usual_share(records) == Fraction(share)


def test_a_share_that_is_named_is_held_out_however_many_records_there_are() -> None:
    named = table_recipe(schema=HARD.schema, target="renewed", accuracy=0.8, records=10**6, validation=0.3)
    usual = table_recipe(schema=HARD.schema, target="renewed", accuracy=0.8, records=10**6)

    assert (named.held, usual.held) == (Fraction(3, 10), Fraction(1, 20))
