"""Theorem (divided Gaussian step). A step of Gaussian noise, replaced by several whose ρ add up to its own and none of
which has less noise, costs no more: neither its curve nor its Gaussian profile. Misfits, the l1 distances between the
counts of P marginals and integers that do not come from the records, move by P in squared distance, by 4P if a record
is replaced. Which marginals they are of may depend on what was released before.

The step is run on all small tables. What each of its parts computed is overheard, beside the noise that it asked for.
Persons have one to four rows, and what is computed of them is in steps.
Where later parts depend on earlier releases, these are dictated: they are the same for both of two neighbours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.accounting.curve import Linear
from expost.accounting.gaussian import lattice_rho
from expost.noise import Integers
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.growth import SCORED, SCORED_TRIPLES, TRIPLED, Growing, Grown, Scored, shares
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.misfits import misfit_reach, misfits
from expost.tabular.persons import GRID, Grouped, Rows
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.bills.recording import RecordingNoise
from tests.unit.examples import (
    ADD,
    OF_RECORDS,
    REPLACE,
    budget,
    distances,
    neighbouring,
    rehearsal,
    silence,
    small_data,
)

Record = tuple[int, ...]
Part = tuple[Integers, Fraction]

NAMES = "abcd"
DOMAIN = dict.fromkeys(NAMES, 2)
SCHEMA = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in NAMES), True, ADD)
RECORDS: list[Record] = [record for record in product(range(2), repeat=4) if record[0] == record[1]][1:-2]
FIRST = (("a", "b"), ("a", "c"), ("a", "d"))
OTHERS = (("b", "c"), ("b", "d"), ("c", "d"))
TRIPLES: tuple[Clique, ...] = tuple(combinations(NAMES, 3))
CHOICES: list[tuple[Clique, ...]] = [(), OTHERS[1:2], OTHERS]
CASES: list[tuple[tuple[Clique, ...], tuple[Clique, ...], tuple[Clique, ...] | None]] = [
    *product([FIRST, FIRST[:1]], CHOICES, [None]),
    (FIRST, (), TRIPLES),
    (FIRST, OTHERS, ()),
    (FIRST, OTHERS[1:2], TRIPLES),
    (FIRST[:1], OTHERS, TRIPLES[1:2]),
]
"""Also with more marginals added than there were at first; without triples scored, and with none, one or all chosen."""
EXPECTED: dict[Clique, Integers] = {clique: np.array([1, 0, 2, 0]) for clique in OTHERS} | {
    clique: np.array([0, 1, 0, 0, 2, 0, 0, 0]) for clique in TRIPLES
}
BUDGET = budget(1)
MOST = 2


def table(records: list[Record]) -> Table:
    """The records as a coded table."""
    rows = np.array(records, dtype=np.uint8).reshape(-1, 4)
    return Table(SCHEMA, dict(zip(NAMES, rows.T, strict=True)))


@dataclass
class Stubborn:
    """Grows by the same marginals whatever the scores are, and scores triples unless there is None to choose."""

    choice: tuple[Clique, ...]
    larger: tuple[Clique, ...] | None = None

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return True

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return () if self.larger is None else TRIPLES

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
        return EXPECTED

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return self.choice if scored.cliques == OTHERS else self.larger or ()


class Fickle:
    """Scores other triples, expects other counts of them and chooses others, by what was released."""

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return True

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return TRIPLES[self.told(grown) % 3 :]

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
        return {each: np.full(2 ** len(each), self.told(grown)) for each in cliques}

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return scored.cliques[int(scored.distances.sum()) % 3 :]

    @staticmethod
    def told(grown: Grown) -> int:
        return int(sum(block.estimate.values.sum() for block in grown.blocks))


@dataclass
class Peeking:
    """Names the triples to score by what is in the records: some that the model is right about, or some others."""

    data: Table

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return True

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return TRIPLES[:2] if len(self.data) % 2 else TRIPLES[2:]

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
        return {each: np.full(2 ** len(each), 0 if "b" in each else 50) for each in cliques}

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return ()


def begun(first: tuple[Clique, ...], neighbours: Neighbours) -> Past[Grown]:
    """A run that has measured the first marginals, of nobody."""
    still = Growing(DOMAIN, first, OTHERS, neighbours)
    return Past(rehearsal().spend(still, Private(table([]), neighbours), BUDGET, Past(), silence()))


def parts(growing: Growing, data: Rows, past: Past[Grown], dictated: int | None = None) -> list[Part]:
    """What each part of a step computed, and the variance of the noise that it asked for.

    ``dictated`` is what it releases of every count and distance, whatever it computed; by default that, without noise.
    """
    noise, heard, within = RecordingNoise(silence(1000)), list[Integers](), list[None]()
    evaluate = Statistic.evaluate

    def overheard(statistic: Statistic[Rows], records: Rows) -> Integers:
        within.append(None)
        found = evaluate(statistic, records)
        within.pop()
        if within:
            return found
        heard.append(found)
        return found if dictated is None else np.full(found.shape, dictated)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statistic, "evaluate", overheard)
        growing.sample(data, BUDGET, past, noise)
    return [(found, Fraction(draw.parameter)) for found, draw in zip(heard, noise.asked, strict=True)]


def cost(mine: list[Part], theirs: list[Part]) -> Fraction:
    """What tells two tables apart in all parts together, as ρ."""
    pairs = zip(mine, theirs, strict=True)
    return sum((Fraction(int(((a - b) ** 2).sum())) / (2 * noise) for (a, noise), (b, _) in pairs), Fraction(0))


def dearest(growing: Growing, past: Past[Grown], dictated: int | None = None) -> Fraction:
    """The most that two neighbouring tables of few records cost each other, by what was computed and drawn."""
    costs = [Fraction(0)]
    for data in small_data(RECORDS, MOST):
        mine = parts(growing, table(data), past, dictated)
        others = map(table, neighbouring(data, RECORDS, growing.neighbours))
        costs += [cost(mine, parts(growing, other, past, dictated)) for other in others]
    return max(costs)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("first", "choice", "larger"), CASES)
@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_a_divided_step_costs_what_it_promises_whatever_is_chosen(
    neighbours: Neighbours,
    first: tuple[Clique, ...],
    choice: tuple[Clique, ...],
    larger: tuple[Clique, ...] | None,
    later: bool,
) -> None:
    growing = Growing(DOMAIN, first, OTHERS, neighbours, Stubborn(choice, larger))
    past = begun(first, neighbours) if later else Past[Grown]()

    found = dearest(growing, past)

    promised = growing.promise(BUDGET).curve
    assert isinstance(promised, Linear)
    assert found <= promised.rho == BUDGET.rho
    assert found > promised.rho * Fraction(9, 10)  # a promise of nine tenths would be broken


@pytest.mark.parametrize("dictated", range(3))
@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_it_costs_no_more_where_what_is_scored_depends_on_what_was_released(
    neighbours: Neighbours, dictated: int
) -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, neighbours, Fickle())

    found = dearest(growing, Past(), dictated)

    assert BUDGET.rho * Fraction(9, 10) < found <= BUDGET.rho


def test_what_the_fickle_one_scores_does_depend_on_it() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD, Fickle())

    steps = [[len(found) for found, _ in parts(growing, table([]), Past(), dictated)] for dictated in range(3)]

    assert len({*map(tuple, steps)}) > 1


def test_it_would_cost_more_if_what_is_scored_depended_on_the_records() -> None:
    mine, theirs = (
        parts(Growing(DOMAIN, FIRST, OTHERS, ADD, Peeking(data)), data, Past(), 1)
        for data in (table(RECORDS[:1]), table(RECORDS[:2]))
    )

    assert cost(mine, theirs) > BUDGET.rho


def test_a_step_for_one_record_more_would_break_its_promise_if_one_were_replaced() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD, Stubborn(OTHERS, TRIPLES))
    mine, theirs = (parts(growing, table([record]), Past()) for record in (RECORDS[0], RECORDS[-1]))

    assert cost(mine, theirs) > growing.promise(BUDGET).curve.at(20) / 20


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("first", "choice", "larger"), CASES)
@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_the_parts_add_up_to_the_curve_and_within_the_profile_of_the_whole(
    neighbours: Neighbours,
    first: tuple[Clique, ...],
    choice: tuple[Clique, ...],
    larger: tuple[Clique, ...] | None,
    later: bool,
) -> None:
    growing = Growing(DOMAIN, first, OTHERS, neighbours, Stubborn(choice, larger))
    whole, moved = growing.promise(BUDGET).curve, 1 if neighbours is ADD else 2
    assert isinstance(whole, Linear)

    found = parts(growing, table(RECORDS), begun(first, neighbours) if later else Past())

    pairs = [len(first) * moved, *([len(choice) * moved] if choice else [])]
    settled = [] if larger is None else [*(pairs if choice else []), len(TRIPLES) * moved**2]
    founded, added = [] if later else [len(first) * moved], [len(larger) * moved] if larger else []
    reach = [*founded, len(OTHERS) * moved**2, *settled, *pairs, *added]
    profiles = [lattice_rho(noise, Fraction(each)) for (_, noise), each in zip(found, reach, strict=True)]
    assert sum(each / (2 * noise) for (_, noise), each in zip(found, reach, strict=True)) == whole.rho
    assert whole.gaussian is not None
    assert sum(each for each in profiles if each is not None) <= whole.gaussian
    assert None not in profiles


def test_a_part_with_less_noise_than_the_whole_would_leave_its_profile() -> None:
    """Nine tenths of ρ on the whole statistic and a tenth on a part that one record moves a hundred times less."""
    rho, reach = Fraction(1, 10), Fraction(100)
    shares = [(rho * Fraction(9, 10), reach), (rho / 10, Fraction(1, 10))]

    whole = lattice_rho(reach / (2 * rho), reach)
    profiles = [lattice_rho(each / (2 * share), each) for share, each in shares]

    assert whole is not None
    assert sum(each for each in profiles if each is not None) > whole


def test_scores_are_left_out_where_they_would_have_less_noise_than_the_whole() -> None:
    many = {f"c{place}": 2 for place in range(40)}
    first = tuple(("c0", name) for name in many if name != "c0")
    lone = (("c1", "c2"),)

    assert not Growing(many, first, lone, ADD).divisible(lone, SCORED)
    assert not Growing(many, first, lone, ADD).divisible(lone * 3, SCORED)  # named three times, it is still one
    assert Growing(many, first[: int(1 / SCORED)], lone, ADD).divisible(lone, SCORED)
    assert Growing(many, first[: int(1 / SCORED_TRIPLES)], lone, ADD).divisible(lone, SCORED_TRIPLES)
    assert not Growing(many, first, lone, ADD).divisible(lone, SCORED_TRIPLES)
    assert not Growing(many, first, (), ADD).divisible((), SCORED)


@pytest.mark.parametrize("neighbours", [REPLACE, REPLACE.of_persons])
def test_where_one_is_replaced_scores_are_left_out_from_twice_as_many_marginals_on(neighbours: Neighbours) -> None:
    """The distance of a score moves by 4 and that of k marginals by 2k."""
    many = {f"c{place}": 2 for place in range(12)}
    lone, *pairs = combinations(many, 2)
    just = int(2 / SCORED)

    assert Growing(many, tuple(pairs[:just]), (lone,), neighbours).divisible((lone,), SCORED)
    assert not Growing(many, tuple(pairs[: just + 1]), (lone,), neighbours).divisible((lone,), SCORED)


def test_triples_are_left_out_where_their_scores_would_have_less_noise_than_the_whole() -> None:
    """A thirty-second of the budget is much for the score of one triple beside thirty-nine pairs."""
    many = {f"c{place}": 2 for place in range(40)}
    first, lone = tuple(("c0", name) for name in many if name != "c0"), (("c0", "c1", "c2"),)
    others = tuple(combinations([*many][1:5], 2))

    class Lonely(Stubborn):
        def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
            return lone

        def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> dict[Clique, Integers]:
            return {each: np.zeros(2 ** len(each), np.int64) for each in cliques}

    form = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in many), True, ADD)
    nobody, noise = Table(form, dict.fromkeys(many, np.zeros(0, np.uint8))), RecordingNoise(silence(10_000))

    Growing(many, first, others, ADD, Lonely((), ())).sample(nobody, BUDGET, Past(), noise)

    assert [draw.shape for draw in noise.asked] == [(4 * len(first),), (len(others),), (4 * len(first),)]


def test_where_scores_have_just_as_much_noise_as_the_whole_no_part_has_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """As few candidates as a divided step may have: a larger share for their scores would leave them too little."""
    many = {f"c{place}": 2 for place in range(1 + int(1 / SCORED))}
    first, lone = tuple(("c0", name) for name in many if name != "c0"), (("c1", "c2"),)
    monkeypatch.setitem(EXPECTED, lone[0], EXPECTED[OTHERS[0]])
    form = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in many), True, ADD)
    nobody, noise = Table(form, dict.fromkeys(many, np.zeros(0, np.uint8))), RecordingNoise(silence(1000))

    Growing(many, first, lone, ADD, Stubborn(lone)).sample(nobody, BUDGET, Past(), noise)

    whole = Fraction(len(first)) / (2 * BUDGET.rho)
    variances = [Fraction(draw.parameter) for draw in noise.asked]
    assert min(variances) == whole


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_misfits_move_as_far_as_they_declare_and_no_farther(neighbours: Neighbours) -> None:
    statistic = misfits(DOMAIN, EXPECTED, neighbours)

    moved = [*distances(lambda records: statistic.evaluate(table(records)), RECORDS, neighbours)]

    assert max(int((move**2).sum()) for move in moved) == statistic.l2_squared
    assert max(int(np.abs(move).sum()) for move in moved) == statistic.l1


def test_misfits_to_counts_that_come_from_the_records_would_move_farther() -> None:
    def own(records: list[Record]) -> Integers:
        doubled: dict[Clique, Integers] = {clique: np.full(4, 2 * len(records)) for clique in OTHERS}
        return misfits(DOMAIN, doubled, ADD).evaluate(table(records))

    declared = misfits(DOMAIN, EXPECTED, ADD).l2_squared

    assert max(int((move**2).sum()) for move in distances(own, RECORDS, ADD)) > declared


def test_the_counts_measured_are_those_of_the_marginals() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, REPLACE, Stubborn(OTHERS[1:2]))
    data = table(RECORDS)

    founded, scores, again, added = parts(growing, data, Past())

    first, one = (Marginals(DOMAIN, cliques, REPLACE).statistic.evaluate(data) for cliques in (FIRST, OTHERS[1:2]))
    assert founded[0].tolist() == again[0].tolist() == first.tolist()
    pairs: dict[Clique, Integers] = {clique: EXPECTED[clique] for clique in OTHERS}
    assert scores[0].tolist() == misfits(DOMAIN, pairs, REPLACE).evaluate(data).tolist()
    assert added[0].tolist() == one.tolist()
    assert again[1] == added[1]  # as few are added, all have the same noise


@pytest.mark.parametrize(("others", "theirs"), [(0, 0), (1, Fraction(1, 4)), (3, Fraction(1, 2)), (99, Fraction(1, 2))])
def test_the_first_marginals_get_half_at_least(others: int, theirs: Fraction) -> None:
    assert shares(3, others, 0) == (1 - theirs, theirs, Fraction(0))


@pytest.mark.parametrize("triples", [1, 4, 99])
@pytest.mark.parametrize("pairs", [0, 1, 3, 99])
def test_no_share_leaves_less_noise_than_the_whole_would_have(pairs: int, triples: int) -> None:
    first, others, larger = shares(3, pairs, triples)

    assert first + others + larger == 1
    assert others <= Fraction(pairs, 3)
    assert larger <= min(TRIPLED, Fraction(triples, 3))
    assert first >= (1 - larger) / 2


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_the_reach_of_misfits_is_what_they_declare(neighbours: Neighbours) -> None:
    assert misfits(DOMAIN, EXPECTED, neighbours).l2_squared == misfit_reach(len(EXPECTED), neighbours)


Person = tuple[Record, ...]
PERSONS: list[Person] = [
    ((0, 0, 0, 1),),
    ((1, 1, 0, 0),),
    ((0, 0, 0, 1),) * 4,
    ((1, 1, 0, 0), (1, 1, 1, 0)),
    ((0, 0, 1, 1), (0, 1, 0, 0), (1, 0, 0, 0), (1, 1, 1, 1)),
]


def by_person(persons: Sequence[Person]) -> Grouped:
    """Rows by person."""
    owners = np.repeat(np.arange(len(persons)), [len(rows) for rows in persons])
    return Grouped.of(table([row for rows in persons for row in rows]), owners.astype(np.int64))


def neighbouring_persons(relation: Neighbours) -> Iterator[tuple[Grouped, Grouped]]:
    for base in ([], PERSONS[1:2], PERSONS[3:]):
        if relation.replaces:
            yield from ((by_person([*base, one]), by_person([*base, other])) for one in PERSONS for other in PERSONS)
        else:
            yield from ((by_person(base), by_person([*base, one])) for one in PERSONS)


@pytest.mark.parametrize(("first", "choice", "larger"), CASES)
@pytest.mark.parametrize("relation", OF_RECORDS)
def test_a_divided_step_of_persons_costs_what_it_promises_and_no_part_has_less_noise(
    relation: Neighbours, first: tuple[Clique, ...], choice: tuple[Clique, ...], larger: tuple[Clique, ...] | None
) -> None:
    growing = Growing(DOMAIN, first, OTHERS, relation.of_persons, Stubborn(choice, larger))
    promised, past = growing.promise(BUDGET).curve, Past[Grown]()
    assert isinstance(promised, Linear)
    assert promised == Growing(DOMAIN, first, OTHERS, relation).promise(BUDGET).curve

    found = [
        (parts(growing, one, past), parts(growing, other, past))
        for one, other in neighbouring_persons(growing.neighbours)
    ]

    dearest = max(cost(mine, theirs) for mine, theirs in found)
    assert dearest <= promised.rho == BUDGET.rho
    assert dearest > promised.rho * Fraction(9, 10)
    least = growing._whole.variance(BUDGET)
    assert all(noise >= least for mine, _ in found for _, noise in mine)


def test_a_step_for_one_person_more_would_break_its_promise_if_one_were_replaced() -> None:
    """The twin."""
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD.of_persons, Stubborn(OTHERS))
    pairs = neighbouring_persons(Neighbours.REPLACE_PERSON)
    costs = [cost(parts(growing, one, Past()), parts(growing, other, Past())) for one, other in pairs]

    assert max(costs) > BUDGET.rho


def test_what_is_measured_is_weighed_and_on_record_as_such() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD.of_persons)
    data = by_person(PERSONS)

    ((measured, _),) = parts(growing, data, Past())

    first = Marginals(DOMAIN, FIRST, ADD.of_persons)
    assert measured.tolist() == first.weighed(FIRST).evaluate(data).tolist()
    assert measured.sum() > first.statistic.evaluate(data).sum() == GRID * len(FIRST) * len(PERSONS)
    assert growing.facts(BUDGET)["statistic"] == "weighed marginals of persons"
