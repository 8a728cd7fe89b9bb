"""Theorem (divided Gaussian step). A step of Gaussian noise, replaced by several whose ρ add up to its own and none of
which has less noise, costs no more: neither its curve nor its Gaussian profile. Misfits, the l1 distances between the
counts of P marginals and integers that do not come from the records, move by P in squared distance, by 4P if a record
is replaced.

The step is run on all small tables. What each of its parts computed is overheard, beside the noise that it asked for.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.accounting.curve import Linear
from expost.accounting.gaussian import lattice_rho
from expost.mechanisms.gaussian import Measurement
from expost.noise import Integers
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import Statistic
from expost.tabular.growth import SCORED, Growing, Grown, misfits, shares
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.bills.recording import RecordingNoise
from tests.unit.examples import ADD, REPLACE, budget, distances, neighbouring, rehearsal, silence, small_data

Record = tuple[int, ...]
Part = tuple[Integers, Fraction]

NAMES = "abcd"
DOMAIN = dict.fromkeys(NAMES, 2)
SCHEMA = Schema(tuple(Integer(name, (0, 1), Missing.FALLBACK) for name in NAMES), True, ADD)
RECORDS: list[Record] = [record for record in product(range(2), repeat=4) if record[0] == record[1]][1:-2]
FIRST = (("a", "b"), ("a", "c"), ("a", "d"))
OTHERS = (("b", "c"), ("b", "d"), ("c", "d"))
CHOICES: list[tuple[Clique, ...]] = [(), OTHERS[1:2], OTHERS]
CASES = [*product([FIRST, FIRST[:1]], CHOICES)]
"""Also with more marginals added than there were at first."""
EXPECTED: dict[Clique, Integers] = {clique: np.array([1, 0, 2, 0]) for clique in OTHERS}
BUDGET = budget(1)
MOST = 2


def table(records: list[Record]) -> Table:
    """The records as a coded table."""
    rows = np.array(records, dtype=np.uint8).reshape(-1, 4)
    return Table(SCHEMA, dict(zip(NAMES, rows.T, strict=True)))


@dataclass
class Stubborn:
    """Grows by the same marginals whatever the scores are."""

    choice: tuple[Clique, ...]

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return True

    def expected(self, grown: Grown) -> dict[Clique, Integers]:
        return EXPECTED

    def chosen(self, grown: Grown, scores: Measurement, budget: Budget) -> tuple[Clique, ...]:
        return self.choice


def begun(first: tuple[Clique, ...], neighbours: Neighbours) -> Past[Grown]:
    """A run that has measured the first marginals, of nobody."""
    still = Growing(DOMAIN, first, OTHERS, neighbours)
    return Past(rehearsal().spend(still, Private(table([]), neighbours), BUDGET, Past(), silence()))


def parts(growing: Growing, data: Table, past: Past[Grown]) -> list[Part]:
    """What each part of a step computed last before it asked for noise, and the variance of that noise."""
    noise, heard = RecordingNoise(silence(1000)), dict[int, Integers]()
    evaluate = Statistic.evaluate

    def overheard(statistic: Statistic[Table], records: Table) -> Integers:
        heard[len(noise.asked)] = evaluate(statistic, records)
        return heard[len(noise.asked)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statistic, "evaluate", overheard)
        growing.sample(data, BUDGET, past, noise)
    return [(heard[place], Fraction(draw.parameter)) for place, draw in enumerate(noise.asked)]


def dearest(growing: Growing, past: Past[Grown]) -> Fraction:
    """The most that two neighbouring tables of few records cost each other, by what was computed and drawn."""
    costs = [Fraction(0)]
    for data in small_data(RECORDS, MOST):
        mine = parts(growing, table(data), past)
        for other in neighbouring(data, RECORDS, growing.neighbours):
            theirs = parts(growing, table(other), past)
            pairs = zip(mine, theirs, strict=True)
            costs.append(sum((int(((a - b) ** 2).sum()) / (2 * noise) for (a, noise), (b, _) in pairs), Fraction(0)))
    return max(costs)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("first", "choice"), CASES)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_divided_step_costs_what_it_promises_whatever_is_chosen(
    neighbours: Neighbours, first: tuple[Clique, ...], choice: tuple[Clique, ...], later: bool
) -> None:
    growing = Growing(DOMAIN, first, OTHERS, neighbours, Stubborn(choice))
    past = begun(first, neighbours) if later else Past[Grown]()

    cost = dearest(growing, past)

    promised = growing.promise(BUDGET).curve
    assert isinstance(promised, Linear)
    assert cost <= promised.rho == BUDGET.rho
    assert cost > promised.rho * Fraction(9, 10)  # a promise of nine tenths would be broken


def test_a_step_for_one_record_more_would_break_its_promise_if_one_were_replaced() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD, Stubborn(OTHERS))
    mine, theirs = (parts(growing, table([record]), Past()) for record in (RECORDS[0], RECORDS[-1]))

    pairs = zip(mine, theirs, strict=True)
    cost = sum((int(((a - b) ** 2).sum()) / (2 * noise) for (a, noise), (b, _) in pairs), Fraction(0))

    assert cost > growing.promise(BUDGET).curve.at(20) / 20


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("first", "choice"), CASES)
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_parts_add_up_to_the_curve_and_within_the_profile_of_the_whole(
    neighbours: Neighbours, first: tuple[Clique, ...], choice: tuple[Clique, ...], later: bool
) -> None:
    growing = Growing(DOMAIN, first, OTHERS, neighbours, Stubborn(choice))
    whole, moved = growing.promise(BUDGET).curve, 1 if neighbours is ADD else 2
    assert isinstance(whole, Linear)

    found = parts(growing, table(RECORDS), begun(first, neighbours) if later else Past())

    founded = [] if later else [len(first) * moved]
    reach = [*founded, 3 * moved**2, len(first) * moved, *([len(choice) * moved] if choice else [])]
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

    assert not Growing(many, first, lone, ADD, Stubborn(lone)).divisible
    assert Growing(many, first[: int(1 / SCORED)], lone, ADD, Stubborn(lone)).divisible
    assert not Growing(many, first, (), ADD, Stubborn(())).divisible


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


@pytest.mark.parametrize("neighbours", Neighbours)
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
    assert scores[0].tolist() == misfits(DOMAIN, EXPECTED, REPLACE).evaluate(data).tolist()
    assert added[0].tolist() == one.tolist()
    assert again[1] == added[1]  # as few are added, all have the same noise


@pytest.mark.parametrize(("others", "theirs"), [(0, 0), (1, Fraction(1, 4)), (3, Fraction(1, 2)), (99, Fraction(1, 2))])
def test_the_first_marginals_get_half_at_least(others: int, theirs: Fraction) -> None:
    assert shares(3, others) == (1 - theirs, theirs)
    assert shares(3, others)[1] <= Fraction(others, 3)  # so that the others have no less noise than the whole
