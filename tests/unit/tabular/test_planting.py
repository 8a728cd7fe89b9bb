"""Models grow where noise is small, by the pairs and triples that fit worst, and stay small enough to be fitted."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.mechanisms.brownian import Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import SeededNoise
from expost.private import Neighbours, Private
from expost.release import Past
from expost.tabular.candidates import candidates
from expost.tabular.growth import Block, Growing, Grown, Scored
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model import footprint
from expost.tabular.model.graphical import Measured
from expost.tabular.model.inference import Allowed
from expost.tabular.model.junction import Junction
from expost.tabular.persons import GRID, Grouped
from expost.tabular.planting import Planting
from expost.tabular.precisions import MOST_NOISE, settled
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD, OF_RECORDS, budget, rehearsal

NAMES = ("a", "b", "c", "d", "t")
DOMAIN = {"a": 4, "b": 4, "c": 3, "d": 3, "t": 2}
FIRST = (("a", "t"), ("b", "t"), ("c", "t"), ("d", "t"), ("a", "b"), ("b", "c"), ("c", "d"))
MISSED = ("a", "d")
"""The pair that belongs together and is not among the first."""


@cache
def records(count: int = 4000) -> Table:
    """Columns at random, but that the last is what the first is, as far as it goes."""
    noise = SeededNoise(7)
    codes = {name: (noise.uniform(count) * size).astype(np.uint64) for name, size in DOMAIN.items()}
    codes["d"] = np.minimum(codes["a"], 2)
    columns = tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in DOMAIN.items())
    return Table(Schema(columns, True, ADD), codes)


TOGETHER = ("b", "c", "t")
"""Columns that belong together, though each pair of them does not, in the records with a triple."""


@cache
def twisted(count: int = 4000) -> Table:
    """The same, but that the last column is 1 with the others of its triple so that no pair tells."""
    codes = {name: records(count).codes(name).copy() for name in DOMAIN}
    codes["t"] = ((codes["b"] % 2 + (codes["c"] == 0) + (SeededNoise(5).uniform(count) < 0.1)) % 2).astype(np.uint8)
    return Table(records(count).schema, codes)


def planting(table: Table | None = None, allowed: Sequence[Allowed] = (), room: float = math.inf) -> Planting:
    """A gardener that has seen the columns alone."""
    data = records() if table is None else table
    alone = [Marginals(DOMAIN, ((name,),), ADD).statistic.evaluate(data) for name in NAMES]
    ones = [Measured((place,), each.astype(float), 4.0) for place, each in enumerate(alone)]
    return Planting(DOMAIN, FIRST, ADD, ones, allowed=allowed, room=room)


def climbed(gardener: Planting, *budgets: Budget, seed: int = 1, table: Table | None = None) -> Grown:
    """What a run measured by its last step."""
    data = Private(records() if table is None else table, ADD)
    growing = Growing(DOMAIN, FIRST, gardener.candidates, ADD, gardener)
    past, odometer, noise = Past[Grown](), rehearsal(), SeededNoise(seed)
    for each in budgets:
        past = past.then(odometer.spend(growing, data, each, past, noise))
    return past.steps[-1].value


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_counts_have_settled_once_noise_makes_little_of_them(neighbours: Neighbours) -> None:
    """Worked out from the noise that a step asks for: 65 cells of seven pairs, and half of the mean absolute noise."""
    first, budgets = Marginals(DOMAIN, FIRST, neighbours), [budget(Fraction(1, 100))] * 12
    variance = float(Gaussian(first.statistic).sample(records(), budgets[0], Past(), SeededNoise(1)).variance)
    made = [math.sqrt(2 / math.pi * variance / taken) / 2 * 65 / 7 / 4000 for taken in range(1, 13)]

    found = settled(first, budgets, 4000)

    assert first.cells == 65
    assert found == tuple(noise <= MOST_NOISE for noise in made)
    assert {*found} == {False, True}


def test_with_much_noise_the_first_pairs_are_all() -> None:
    assert climbed(planting(), budget(0.001), budget(0.001)).cliques == FIRST


@pytest.mark.parametrize("budgets", [[budget(20)], [budget(0.001), budget(20)]])
def test_with_little_noise_the_pair_that_fits_worst_is_added(budgets: list[Budget]) -> None:
    assert climbed(planting(), *budgets).blocks[1].cliques[0] == MISSED


def test_a_pair_that_the_model_explains_is_not_added() -> None:
    added = climbed(planting(), budget(0.15)).cliques[len(FIRST) :]

    assert MISSED in added
    assert ("b", "d") not in added


def triples(grown: Grown) -> list[Clique]:
    """Those that were added, as they were."""
    return [clique for clique in grown.cliques if len(clique) == 3]


@pytest.mark.parametrize("budgets", [[budget(40)], [budget(20), budget(20)]])
def test_with_hardly_any_noise_the_triple_that_fits_worst_is_added(budgets: list[Budget]) -> None:
    added = triples(climbed(planting(twisted()), *budgets, table=twisted()))

    assert added[0] == TOGETHER
    assert len({*added}) == len(added)


def test_triples_wait_until_noise_in_all_pairs_is_small() -> None:
    """The same pairs, and a noise in them that is small for pairs."""
    gardener = planting(twisted())
    grown = climbed(gardener, budget(1), table=twisted())

    assert MISSED in grown.cliques
    assert not triples(grown)
    assert gardener.triples(grown, (), budget(1)) == ()
    assert TOGETHER in gardener.triples(grown, (), budget(40))


def test_only_triples_all_whose_pairs_are_measured_are_scored() -> None:
    gardener = planting()
    grown = climbed(gardener, budget(0.001))

    assert sorted(gardener.triples(grown, (), budget(100))) == [("a", "b", "t"), ("b", "c", "t"), ("c", "d", "t")]
    assert ("a", "d", "t") in gardener.triples(grown, (MISSED,), budget(100))


def test_a_triple_that_noise_would_drown_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = planting()
    grown = climbed(gardener, budget(0.001))
    variance = 1 / float(2 * budget(100).rho / 8)  # a triple beside seven pairs gets an eighth
    least = math.sqrt(2 / math.pi * variance) / 2 * 18 / gardener.records
    monkeypatch.setattr("expost.tabular.planting.MOST_NOISE", 1.01 * least)
    assert gardener.triples(grown, (), budget(100)) == (("c", "d", "t"),)
    monkeypatch.setattr("expost.tabular.planting.MOST_NOISE", 0.99 * least)

    assert gardener.triples(grown, (), budget(100)) == ()


def test_a_triple_that_takes_too_long_a_walk_is_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = planting()
    grown = climbed(gardener, budget(0.001))
    monkeypatch.setattr("expost.tabular.planting.LARGEST_WALK", 1)

    assert gardener.triples(grown, (), budget(100)) == ()


def test_what_a_step_adds_has_its_own_noise_and_takes_from_the_precision_of_all_others() -> None:
    gardener, grown = planting(), Grown((Block(FIRST, Estimate(np.zeros(1), Fraction(1))),))

    (before,) = gardener._stds(grown, 1, 0, budget(1))
    after, *fresh = gardener._stds(grown, 1, 2, budget(1))

    assert len(fresh) == 1
    assert before < after < fresh[0]


def test_a_pair_whose_records_stand_in_a_few_cells_is_worth_measuring_where_a_full_one_is_not() -> None:
    """Noise in cells that are about empty does little harm: of this misfit it takes less than all."""
    gardener, misfit = planting(), 80.0
    grown = climbed(gardener, budget(0.02))
    scored = Scored(gardener.candidates, np.array([misfit * (each == MISSED) for each in gardener.candidates]), 0.0)

    chosen = []
    for filled in (12, 2):
        counts = np.where(np.arange(12) < filled, 4000 / filled, 0.0)
        gardener._counted = grown, dict.fromkeys(gardener.candidates, counts)
        chosen.append(gardener.chosen(grown, scored, budget(0.0005)))

    assert chosen == [(), (MISSED,)]


def test_a_triple_is_chosen_where_it_ends_more_than_its_noise_brings() -> None:
    gardener = planting()
    grown, left = climbed(gardener, budget(1)), budget(40)
    cliques = (("a", "b", "t"), TOGETHER)

    assert gardener.chosen(grown, Scored(cliques, np.array([5.0, 2000.0]), 4.0), left) == (TOGETHER,)
    assert gardener.chosen(grown, Scored(cliques, np.array([1900.0, 2000.0]), 4.0), left) == cliques[::-1]
    assert gardener.chosen(grown, Scored(cliques, np.array([1900.0, 2000.0]), 2000.0), left) == ()


def test_what_is_expected_of_a_triple_adds_up_to_the_records() -> None:
    gardener = planting()
    grown = climbed(gardener, budget(0.001))
    named = gardener.triples(grown, (), budget(100))

    expected = gardener.expected(grown, named)

    assert {*expected} == {*named}
    for clique, counts in expected.items():
        assert counts.shape == (math.prod(DOMAIN[name] for name in clique),)
        assert counts.sum() == pytest.approx(gardener.model(grown).total, abs=len(counts))


def test_triples_are_kept_out_of_the_tree_and_tell_of_their_pairs() -> None:
    gardener = planting(twisted())
    grown = climbed(gardener, budget(40), table=twisted())

    fitted = {len(clique) for clique, _ in gardener.model(grown).potentials}
    pairs = zip(gardener.measured(grown), gardener.informed(grown), strict=True)

    assert fitted == {1, 2}
    assert any(after.variance < before.variance for before, after in pairs)


def test_a_pair_is_added_once() -> None:
    grown = climbed(planting(), budget(5), budget(5), budget(20))

    assert len({*grown.cliques}) == len(grown.cliques)
    assert grown.cliques.count(MISSED) == 1


def test_the_model_of_what_was_added_fits_it() -> None:
    gardener = planting()
    grown = climbed(gardener, budget(20))

    counts = gardener.model(grown).marginal((0, 3))

    truth = Marginals(DOMAIN, (MISSED,), ADD).statistic.evaluate(records())
    assert np.abs(counts.ravel() - truth).sum() / len(records()) < 0.02


def test_a_model_is_fitted_once() -> None:
    gardener = planting()
    grown = climbed(gardener, budget(20))

    assert gardener.model(grown) is gardener.model(grown)


def test_a_pair_that_would_make_the_model_too_large_is_kept_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "GROWN_CELLS", 1)
    gardener = planting()
    grown = climbed(gardener, budget(20))

    fitted = {clique for clique, _ in gardener.model(grown).potentials}

    assert MISSED in grown.cliques
    assert (0, 3) not in fitted
    assert (0, 3) in {each.clique for each in gardener.measured(grown)}


def test_what_is_expected_of_a_candidate_adds_up_to_the_records() -> None:
    gardener = planting()
    grown = climbed(gardener, budget(0.001))

    expected = gardener.expected(grown, gardener.candidates)

    assert sorted(expected) == sorted(candidates(DOMAIN, FIRST))
    total = gardener.model(grown).total
    for clique, counts in expected.items():
        assert counts.shape == (DOMAIN[clique[0]] * DOMAIN[clique[1]],)
        assert counts.sum() == pytest.approx(total, abs=len(counts))


NEVER = Allowed((0, 3), np.arange(4)[:, None] % 3 != np.arange(3))
"""A rule about two columns that no first pair holds together, and that a quarter of the records break."""


def test_a_rule_holds_in_the_model_and_in_what_it_expects_of_candidates() -> None:
    gardener = planting(allowed=[NEVER])
    grown = climbed(gardener, budget(0.15))

    model, expected = gardener.model(grown), gardener.expected(grown, gardener.candidates)

    assert (model.marginal((0, 3))[~NEVER.table] == 0).all()
    assert (expected[MISSED].reshape(4, 3)[~NEVER.table] == 0).all()
    assert expected[MISSED].sum() == pytest.approx(model.total, abs=12)


def test_rules_change_nothing_of_what_a_step_promises_or_may_add() -> None:
    with_rule, without = planting(allowed=[NEVER]), planting()

    assert with_rule.candidates == without.candidates
    steps = [Growing(DOMAIN, FIRST, each.candidates, ADD, each) for each in (with_rule, without)]
    assert steps[0].promise(budget(1)) == steps[1].promise(budget(1))
    assert steps[0].facts(budget(1)) == steps[1].facts(budget(1))


@pytest.mark.parametrize("grown_cells", [1, 10**6])
def test_where_a_rule_leaves_no_room_the_pairs_of_the_hub_stay(
    monkeypatch: pytest.MonkeyPatch, grown_cells: int
) -> None:
    monkeypatch.setattr(footprint, "GROWN_CELLS", grown_cells)
    target = [clique for clique in FIRST if "t" in clique]
    domain, ones = tuple(DOMAIN.values()), [(place,) for place in range(5)]
    bare = Junction.of(domain, [(0, 3), *((place, 4) for place in range(4))])
    room = footprint.fit_bytes(bare, [*ones, *((place, 4) for place in range(4))])

    gardener = planting(allowed=[NEVER], room=room)
    grown = climbed(gardener, budget(0.001))

    fitted = {clique for clique, _ in gardener.model(grown).potentials}
    assert {gardener.places(clique) for clique in target} <= fitted
    assert (gardener.places(("c", "d")) in fitted) is (grown_cells > 1)
    assert {each.clique for each in gardener.measured(grown)} == {gardener.places(clique) for clique in FIRST}


def test_a_model_too_wide_to_be_compared_with_all_pairs_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("expost.tabular.planting.LARGEST_WALK", 1)

    assert climbed(planting(), budget(20)).cliques == FIRST


def test_noise_alone_rarely_makes_a_pair_worth_measuring() -> None:
    """Independent columns: of all runs and all pairs few are chosen."""
    noise = SeededNoise(3)
    codes = {name: (noise.uniform(4000) * size).astype(np.uint64) for name, size in DOMAIN.items()}
    data = Table(records().schema, codes)
    gardener = planting(data)
    growing = Growing(DOMAIN, FIRST, gardener.candidates, ADD, gardener)

    added: list[Clique] = []
    for seed in range(10):
        release = rehearsal().spend(growing, Private(data, ADD), budget(0.15), Past(), SeededNoise(seed))
        added += release.value.cliques[len(FIRST) :]

    assert len(added) <= 3


def test_measuring_is_the_mechanism_of_the_counts() -> None:
    assert Growing(DOMAIN, FIRST, (), ADD).promise(budget(1)) == Gaussian(
        Marginals(DOMAIN, FIRST, ADD).statistic
    ).promise(budget(1))


PERSON = ADD.of_persons


def of_persons(weight: float, precision: Fraction = Fraction(4)) -> tuple[Planting, Grown]:
    """A gardener of 1000 persons, and first pairs in which all rows of each weigh this much."""
    ones = [Measured((place,), np.full(size, 1000 / size), 1.0) for place, size in enumerate(DOMAIN.values())]
    values = [np.full(DOMAIN[a] * DOMAIN[b], 1000 * weight / (DOMAIN[a] * DOMAIN[b])) for a, b in FIRST]
    grown = Grown((Block(FIRST, Estimate(np.concatenate(values), precision)),))
    return Planting(DOMAIN, FIRST, PERSON, ones), grown


@pytest.mark.parametrize("weight", [0.5, 1.25, 3.0])
def test_counts_of_rows_that_weigh_more_are_scaled_to_persons_and_their_noise_with_them(weight: float) -> None:
    gardener, grown = of_persons(weight)

    assert gardener.scale(grown) == pytest.approx(1 / weight)
    for each in gardener.measured(grown):
        assert each.values.sum() == pytest.approx(1000)
        assert each.variance == pytest.approx(0.25 / weight**2)
    same, of_one = of_persons(1.0)
    assert gardener._stds(grown, 1, 2, budget(1)) == pytest.approx(
        [each / weight for each in same._stds(of_one, 1, 2, budget(1))]
    )


@pytest.mark.parametrize(("weight", "precision"), [(1.0, 4), (1.001, 4), (1.25, Fraction(1, 10**5)), (-1.0, 4)])
def test_what_noise_may_have_made_is_not_scaled(weight: float, precision: int | Fraction) -> None:
    gardener, grown = of_persons(weight, Fraction(precision))

    assert gardener.scale(grown) == 1.0


@pytest.mark.parametrize(("weight", "share"), [(1.0, 1.0), (1.5, 1.5), (3.0, 2.0), (0.9, 1.0)])
def test_counts_of_an_added_pair_in_which_rows_weigh_less_are_scaled_by_what_they_weigh_there(
    weight: float, share: float
) -> None:
    """All rows of a person weigh 2 in the first pairs, and in none more than that or less than 1."""
    gardener, first = of_persons(2.0)
    added = Block((MISSED,), Estimate(np.full(12, 1000 * weight / 12), Fraction(1)))

    *others, told = gardener.measured(Grown((*first.blocks, added)))

    assert told.values.sum() == pytest.approx(1000 * weight / share)
    assert told.variance == pytest.approx(1 / share**2)
    assert all(each.values.sum() == pytest.approx(1000) for each in others)


@pytest.mark.parametrize("allowance", [1, 4])
def test_whatever_is_measured_of_persons_is_of_as_many_of_them(allowance: int) -> None:
    """Also the pair that belongs together, which is the same in all rows of a person, and weighs one there."""
    rows, owners = records(), np.repeat(np.arange(500), 8)
    fixed = {name: codes[owners * 8] if name in MISSED else codes for name, codes in rows.columns.items()}
    grouped = Grouped.of(Table(replace(rows.schema, unit="p", neighbours=PERSON), fixed), owners)
    alone = Marginals(DOMAIN, tuple((name,) for name in NAMES), PERSON)
    counts = alone.apart(alone.statistic.evaluate(grouped) / GRID)
    ones = [Measured((place,), each, 0.01) for place, each in enumerate(counts.values())]
    gardener = Planting(DOMAIN, FIRST, PERSON, ones, allowance=allowance)
    growing = Growing(DOMAIN, FIRST, gardener.candidates, PERSON, gardener, allowance)

    release = rehearsal().spend(growing, Private(grouped, PERSON), budget(20 * allowance**2), Past(), SeededNoise(1))

    assert MISSED in release.value.cliques
    assert gardener.scale(release.value) < 0.8
    for each in gardener.measured(release.value):
        assert each.values.sum() == pytest.approx(500, rel=0.02)


def test_noise_grows_with_the_allowance_in_all_that_is_decided_beforehand() -> None:
    """Four times the noise of one, and so sixteen times the price of as little."""
    first = Marginals(DOMAIN, FIRST, PERSON)

    for level in range(1, 30):
        assert settled(first, [budget(16 * level)], 900, 4) == settled(first, [budget(level)], 900, 1)
    usual, larger = (Planting(DOMAIN, FIRST, PERSON, of_persons(1.0)[0]._ones, allowance=each) for each in (1, 4))
    _, grown = of_persons(1.0, Fraction(1, 10**6))
    for price in (0.01, 0.1, 1, 10):
        assert larger.grows(None, budget(16 * price)) is usual.grows(None, budget(price))
        noise = larger._stds(grown, 1, 2, budget(price)), usual._stds(grown, 1, 2, budget(price))
        assert all(more > less for more, less in zip(*noise, strict=True))


def test_counts_of_records_are_never_scaled() -> None:
    _, grown = of_persons(3.0)

    assert planting().scale(grown) == 1.0
