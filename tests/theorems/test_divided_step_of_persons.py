"""The divided Gaussian step where records are persons: it costs what it promises, and no part has less noise.

The step is run on tables of a few persons with one to four rows. What each part computed is overheard, beside the noise
that it asked for, both in steps.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

from expost.accounting.curve import Linear
from expost.private import Neighbours
from expost.release import Past
from expost.tabular.growth import Growing, Grown
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.persons import GRID, Grouped
from tests.theorems.test_divided_gaussian_step import (
    BUDGET,
    CASES,
    DOMAIN,
    FIRST,
    OTHERS,
    Record,
    Stubborn,
    cost,
    parts,
    table,
)
from tests.unit.examples import ADD, OF_RECORDS

Person = tuple[Record, ...]
PERSONS: list[Person] = [
    ((0, 0, 0, 1),),
    ((1, 1, 0, 0),),
    ((0, 0, 0, 1),) * 4,
    ((1, 1, 0, 0), (1, 1, 1, 0)),
    ((0, 0, 1, 1), (0, 1, 0, 0), (1, 0, 0, 0), (1, 1, 1, 1)),
]


def of(persons: Sequence[Person]) -> Grouped:
    """Rows by person."""
    owners = np.repeat(np.arange(len(persons)), [len(rows) for rows in persons])
    return Grouped.of(table([row for rows in persons for row in rows]), owners.astype(np.int64))


def neighbours_of(relation: Neighbours) -> Iterator[tuple[Grouped, Grouped]]:
    for base in ([], PERSONS[1:2], PERSONS[3:]):
        if relation.replaces:
            yield from ((of([*base, one]), of([*base, other])) for one in PERSONS for other in PERSONS)
        else:
            yield from ((of(base), of([*base, one])) for one in PERSONS)


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
        (parts(growing, one, past), parts(growing, other, past)) for one, other in neighbours_of(growing.neighbours)
    ]

    dearest = max(cost(mine, theirs) for mine, theirs in found)
    assert dearest <= promised.rho == BUDGET.rho
    assert dearest > promised.rho * Fraction(9, 10)
    least = growing._whole.variance(BUDGET)
    assert all(noise >= least for mine, _ in found for _, noise in mine)


def test_a_step_for_one_person_more_would_break_its_promise_if_one_were_replaced() -> None:
    """The twin."""
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD.of_persons, Stubborn(OTHERS))
    pairs = neighbours_of(Neighbours.REPLACE_PERSON)
    costs = [cost(parts(growing, one, Past()), parts(growing, other, Past())) for one, other in pairs]

    assert max(costs) > BUDGET.rho


def test_what_is_measured_is_weighed_and_on_record_as_such() -> None:
    growing = Growing(DOMAIN, FIRST, OTHERS, ADD.of_persons)
    data = of(PERSONS)

    ((measured, _),) = parts(growing, data, Past())

    first = Marginals(DOMAIN, FIRST, ADD.of_persons)
    assert measured.tolist() == first.weighed(FIRST).evaluate(data).tolist()
    assert measured.sum() > first.statistic.evaluate(data).sum() == GRID * len(FIRST) * len(PERSONS)
    assert growing.facts(BUDGET)["statistic"] == "weighed marginals of persons"
