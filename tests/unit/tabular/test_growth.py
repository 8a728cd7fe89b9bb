"""Steps that refine and add marginals: what they measure, what they keep, and which pairs may be added."""

from dataclasses import dataclass, replace
from math import comb, prod
from typing import Any

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.errors import ExpostError, InvalidValue
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SeededNoise
from expost.private import Neighbours, Private
from expost.release import Past
from expost.tabular import growth
from expost.tabular.candidates import candidates
from expost.tabular.growth import SCORED, Growing, Grown, Scored
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.persons import Grouped
from expost.tabular.table import Table
from tests.unit.examples import ADD, budget, one_sentence, rehearsal
from tests.unit.report.examples import customers, schema

FORM = schema()
DOMAIN = FORM.domain
FIRST = (("region", "renewed"), ("age", "renewed"), ("plan", "renewed"), ("region", "age"))
OTHERS = candidates(DOMAIN, FIRST)
DATA = Private(customers(FORM), ADD)
PERSON = Neighbours.ADD_REMOVE_PERSON


@dataclass
class Adding:
    """Adds one marginal a step, the first that is left, from the step on that it is told."""

    start: int = 0

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return (0 if grown is None else len(grown.blocks)) >= self.start

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return ()

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
        return {each: np.zeros(prod(DOMAIN[name] for name in each), np.int64) for each in reversed(cliques)}

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return tuple(each for each in OTHERS if each not in grown.cliques)[:1]


def climbed(growing: Growing, *budgets: Budget, seed: int = 1, data: Private[Any] = DATA) -> list[Grown]:
    """What the steps of a run released."""
    past, odometer, noise = Past[Grown](), rehearsal(), SeededNoise(seed)
    for each in budgets:
        past = past.then(odometer.spend(growing, data, each, past, noise))
    return [release.value for release in past.steps]


@pytest.mark.parametrize("allowance", [1, 2, 16])
def test_what_is_measured_of_persons_is_of_weights_up_to_one_and_its_noise_as_much_larger(allowance: int) -> None:
    """Each of 300 persons has three rows that are alike."""
    owners = np.repeat(np.arange(300), 3)
    rows = customers(FORM, 300)
    persons = Grouped.of(Table(FORM, {name: codes[owners] for name, codes in rows.columns.items()}), owners)
    growing = Growing(DOMAIN, FIRST, OTHERS, PERSON, Adding(), allowance)

    (found,) = climbed(growing, budget(10**6), data=Private(persons, PERSON))
    (usual,) = climbed(replace(growing, allowance=1), budget(10**6), data=Private(persons, PERSON))

    assert found.cliques == usual.cliques
    for block, each in zip(found.blocks, usual.blocks, strict=True):
        counts = Marginals(DOMAIN, block.cliques, PERSON).counts(persons.table)
        assert block.estimate.precision * allowance**2 == each.estimate.precision
        assert np.allclose(block.estimate.values, counts * min(1, allowance / 3), atol=0.5)


def test_without_a_gardener_the_estimates_are_those_of_the_brownian_mechanism() -> None:
    budgets = [budget(1), budget(2), budget(5)]
    brownian = Brownian(Gaussian(Marginals(DOMAIN, FIRST, ADD).statistic))
    past, odometer, noise = Past[Estimate](), rehearsal(), SeededNoise(1)
    for each in budgets:
        past = past.then(odometer.spend(brownian, DATA, each, past, noise))

    steps = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD), *budgets)

    for step, release in zip(steps, past.steps, strict=True):
        (block,) = step.blocks
        assert block.cliques == FIRST
        assert block.estimate.precision == release.value.precision
        np.testing.assert_array_equal(block.estimate.values, release.value.values)


def test_every_step_measures_all_that_was_added_before() -> None:
    first, second, third = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Adding(1)), budget(1), budget(2), budget(4))

    assert [block.cliques for block in first.blocks] == [FIRST]
    assert [block.cliques for block in second.blocks] == [FIRST, OTHERS[:1]]
    assert [block.cliques for block in third.blocks] == [FIRST, OTHERS[:1], OTHERS[1:2]]
    precisions = [block.estimate.precision for block in third.blocks]
    assert precisions[0] > precisions[1] > precisions[2]
    assert second.blocks[1].estimate.precision < precisions[1]


def test_a_first_step_may_grow_and_then_measures_its_first_marginals_twice() -> None:
    (grown,) = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Adding()), budget(1))

    assert [block.cliques for block in grown.blocks] == [FIRST, OTHERS[:1]]
    assert grown.blocks[0].estimate.precision > grown.blocks[1].estimate.precision


def test_nothing_left_to_add_leaves_a_step_without_a_new_block() -> None:
    steps = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Adding(1)), *[budget(1)] * 5)

    assert [len(step.blocks) for step in steps] == [1, 2, 3, 3, 3]


def test_the_estimates_lie_near_the_counts() -> None:
    grown = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Adding()), budget(1), budget(2), budget(4))[-1]

    for block in grown.blocks:
        truth = Marginals(DOMAIN, block.cliques, ADD).statistic.evaluate(customers(FORM))
        assert np.abs(block.estimate.values - truth).max() < 5 * block.estimate.std


THREE = (("region", "age", "renewed"), ("age", "plan", "renewed"))


@dataclass
class Deepening(Adding):
    """Names two triples in every step and adds the first that is left."""

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return THREE

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return tuple(each for each in scored.cliques if each not in grown.cliques)[:1]


def test_a_step_may_add_pairs_and_then_triples() -> None:
    first, second, third = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Deepening()), budget(1), budget(2), budget(4))

    blocks = [FIRST, OTHERS[:1], THREE[:1], OTHERS[1:], THREE[1:]]
    assert [block.cliques for block in first.blocks] == blocks[:3]
    assert [block.cliques for block in second.blocks] == [block.cliques for block in third.blocks] == blocks
    assert first.scored is not None
    assert first.scored.cliques == OTHERS


def test_triples_are_estimates_of_the_counts_too() -> None:
    grown = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Deepening()), budget(1), budget(2), budget(4))[-1]

    for block in grown.blocks:
        truth = Marginals(DOMAIN, block.cliques, ADD).statistic.evaluate(customers(FORM))
        assert np.abs(block.estimate.values - truth).max() < 5 * block.estimate.std


def test_more_triples_than_a_step_says_on_record_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "most_triples", lambda columns: 1)

    (grown,) = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Deepening()), budget(1))

    assert [block.cliques for block in grown.blocks] == [FIRST, OTHERS[:1]]


def test_triples_that_were_added_before_count_among_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "most_triples", lambda columns: 2)

    grown = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Deepening()), budget(1), budget(2))[-1]

    assert [block.cliques for block in grown.blocks] == [FIRST, OTHERS[:1], THREE[:1], OTHERS[1:]]


def test_a_triple_that_was_not_scored_is_never_measured() -> None:
    class Careless(Deepening):
        def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
            return () if scored.cliques == OTHERS else (("region", "plan", "renewed"),)

    with pytest.raises(ExpostError):
        climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Careless()), budget(1))


def test_a_marginal_that_is_not_a_candidate_is_never_measured() -> None:
    class Careless(Adding):
        def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
            return (("plan", "age"),)

    with pytest.raises(ExpostError):
        climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Careless()), budget(1))


def test_a_candidate_that_is_measured_anyway_is_refused() -> None:
    with pytest.raises(InvalidValue, match="measured from the first step") as refused:
        Growing(DOMAIN, FIRST, (("renewed", "plan"),), ADD)

    assert one_sentence(refused.value)


def test_more_candidates_than_a_profile_can_cover_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "MOST_CHANGES", 400)
    many = tuple((f"x{place}", "y") for place in range(100))

    with pytest.raises(InvalidValue, match="candidates") as refused:
        Growing(DOMAIN, FIRST, many, ADD)

    assert one_sentence(refused.value)


def test_a_step_whose_scores_would_have_less_noise_than_the_whole_is_not_divided() -> None:
    """A sixteenth of the budget is much for the score of one pair beside more than sixteen."""
    names = [f"c{place}" for place in range(18)]
    domain = dict.fromkeys([*names, "y"], 2)
    first, other = tuple((name, "y") for name in names), (("c0", "c1"),)

    assert not Growing(domain, first, other, ADD).divisible(other, SCORED)
    assert not Growing(domain, first, (), ADD).divisible((), SCORED)
    assert Growing(domain, first[:16], other, ADD).divisible(other, SCORED)


def test_a_gardener_is_not_asked_where_a_step_cannot_be_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Growing, "divisible", lambda growing, scored, share: False)

    steps = climbed(Growing(DOMAIN, FIRST, OTHERS, ADD, Adding()), budget(1), budget(2))

    assert [len(step.blocks) for step in steps] == [1, 1]


def test_a_growing_step_says_on_record_what_the_undivided_one_does_and_its_candidates() -> None:
    growing, whole = Growing(DOMAIN, FIRST, OTHERS, ADD), Gaussian(Marginals(DOMAIN, FIRST, ADD).statistic)

    assert growing.facts(budget(1)) == {**whole.facts(budget(1)), "candidates": len(OTHERS) + comb(len(DOMAIN), 3)}
    assert not growing.floating
