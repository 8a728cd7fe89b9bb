"""What is known of a question before any data is read: what bins cannot tell, and what a person adds at most."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.jobs.asking.contribution import cuts_in
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import plan_answer
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.run import ask, one_target, questions_of
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import precision_typed
from expost.mechanisms.gaussian import Measurement
from expost.noise import SeededNoise
from expost.tabular.schema.schema import Schema

COLUMNS = """
[[column]]
name = "ward"
kind = "categorical"
values = ["a", "b"]
missing = true
[[column]]
name = "age"
kind = "integer"
edges = [0, 18, 65, 100]
closed = "left"
missing = true
[[column]]
name = "days"
kind = "integer"
values = [1, 2, 3]
missing = false
"""
RECORDS = Schema.load(f'reviewed = true\nneighbours = "add-remove"\n{COLUMNS}')
NO_TARGET = dict.fromkeys(("within", "top", "above", "compare"))
PERSONS = Schema.load(f'reviewed = true\nneighbours = "add-remove"\nunit = "who"\n{COLUMNS}')


def recipe(schema: Schema, question: str, within: str) -> AskRecipe:
    questions = tuple(Targeted(query, precision_typed(within)) for query in queries_in(question, unit=schema.unit))
    return AskRecipe(
        schema=schema,
        questions=questions,
        confidence=Fraction(19, 20),
        together=False,
        delta=1e-5,
        max_epsilon=1.0,
    )


def test_a_median_finer_than_every_bin_is_refused_before_anything_is_paid() -> None:
    """The narrowest bin has the ages 0 to 17."""
    with pytest.raises(InvalidValue, match="bins of age are 17 wide or more"):
        recipe(RECORDS, "median age", "8")

    assert recipe(RECORDS, "median age", "9").questions


def test_all_persons_have_a_price_that_no_data_decides() -> None:
    """Each of them is counted once, so that nothing of them can be cut."""
    assert recipe(PERSONS, "persons", "100").priced
    assert plan_answer(recipe(PERSONS, "persons", "100")).epsilons[0] == pytest.approx(
        plan_answer(recipe(RECORDS, "count", "100")).epsilons[0], rel=1e-3
    )


def test_persons_by_group_may_be_in_several() -> None:
    """How many groups a person is in has to be found first."""
    assert not recipe(PERSONS, "persons by ward", "100").priced


def test_noise_alone_makes_no_person_of_many_rows() -> None:
    """A cell counts where it is four standard deviations above 0, which one of 33,000 is by chance."""
    tally, noise = Tally.of(queries_in("count by ward")[0]), SeededNoise(5)

    found = [
        cuts_in((tally,), Measurement(noise.gaussian(40.0, 11) + np.eye(1, 11)[0] * 4000, Fraction(1600)))
        for _ in range(300)
    ]

    assert sum(each[tally].most > 1 for each in found) <= 4  # 0.1 on average, and more than 4 once in ten million times


@pytest.mark.parametrize(
    "asked",
    [
        {"above": math.inf},
        {"above": math.nan},
        {"above": 10**400},
        {"within": "1e999"},
        {"within": "1e-320%"},
        {"within": "1e-999%"},
        {"within": "1e-999"},
        {"within": 1e-5},
        {"top": 1.5},
        {"top": True},
        {"within": "5%", "fewer_than": math.nan},
        {"within": "5%", "fewer_than": 10**13},
        {"within": "5%", "fewer_than": np.int64(7)},
        {"within": "5%", "rows_per_person": 2.5},
    ],
)
def test_a_number_that_no_answer_can_have_is_refused_before_the_table_is_looked_for(asked: dict[str, Any]) -> None:
    """A half of a group, or a size that is not a number, would decide nothing and cost as much."""
    with pytest.raises(InvalidValue):
        ask("gone.csv", "count by ward", schema=PERSONS, **asked)


@pytest.mark.parametrize("within", ["1e-12", "1e-320", "1e-999"])
@pytest.mark.parametrize("question", ["share of days = 1 by ward", "median days by ward", "mean days by ward"])
def test_a_distance_that_no_noise_is_fine_enough_for_is_refused_before_the_table_is_looked_for(
    question: str, within: str
) -> None:
    """It failed once the rows of persons were counted, and paid for."""
    with pytest.raises(InvalidValue, match="finer than"):
        ask("gone.csv", question, schema=RECORDS, within=within)


@pytest.mark.parametrize("within", ["0.000001%", "0.00001 %"])
def test_a_share_that_is_merely_small_is_planned(within: str) -> None:
    assert plan_answer(recipe(RECORDS, "count by ward", within)).epsilons[-1] <= 1.0


@pytest.mark.parametrize("asked", [{"above": 1e90}, {"within": 1e90}], ids=str)
def test_a_number_that_is_merely_large_is_planned(asked: dict[str, Any]) -> None:
    wanted = AskRecipe(
        schema=RECORDS, questions=questions_of(("count by ward",), one_target(**(NO_TARGET | asked)), schema=RECORDS),
        confidence=Fraction(19, 20), together=False, delta=1e-5, max_epsilon=1.0,
    )  # fmt: skip

    assert plan_answer(wanted).epsilons[0] < 0.05
