"""With one row per person, answers and their bill are those about records, to the last bit."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from expost.jobs.asking.answer import Answer
from expost.jobs.asking.rows import PER_WEIGHT
from expost.jobs.asking.run import ask
from expost.noise import Integers, SeededNoise, Shape
from expost.private import Neighbours
from tests.unit.asking_examples import PAIRS
from tests.unit.jobs.synthesis.customers import SCHEMA, records

pl = import_module("polars")

ONE_EACH = pl.DataFrame(records(900) | {"who": [f"p{place}" for place in range(900)]})
QUESTIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "one release": (("count by region",), {"within": 40}),
    "shared": ((*PAIRS, "share of renewed by plan"), {"within": "25%"}),
    "a mean": (("mean age by plan", "sum of age"), {"within": "10%"}),
    "a quantile": (("median age",), {"within": 20}),
    "the top": (("count by region",), {"top": 1}),
    "a comparison": (("count by plan",), {"compare": ("basic", "full")}),
}


class Whole:
    """Gaussian noise that is repeated, in whole steps of records: of so many steps each."""

    def __init__(self, steps: int) -> None:
        self._steps, self._draws, self._noise = steps, np.random.default_rng(4), SeededNoise(4)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        std = math.sqrt(variance) / self._steps
        return np.rint(std * self._draws.standard_normal(shape)).astype(np.int64) * self._steps


def answered(kind: str, relation: Neighbours, *, unit: bool) -> Answer:
    questions, settings = QUESTIONS[kind]
    if not unit:
        schema = replace(SCHEMA, neighbours=relation)
        return ask(ONE_EACH, *questions, schema=schema, noise=Whole(1), **settings)
    schema = replace(SCHEMA, neighbours=relation.of_persons, unit="who")
    noise: Any = Whole(PER_WEIGHT)
    return ask(ONE_EACH, *questions, schema=schema, noise=noise, rows_per_person=1, **settings)


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE])
@pytest.mark.parametrize("kind", QUESTIONS)
def test_with_one_row_each_answers_and_bill_are_those_about_records(kind: str, relation: Neighbours) -> None:
    one, other = (answered(kind, relation, unit=unit) for unit in (False, True))
    told: list[Any] = [json.loads(each.receipt) for each in (one, other)]

    assert one.epsilon == other.epsilon
    assert [{**line, "neighbours": ""} for line in told[0]["bill"]] == [
        {**line, "neighbours": ""} for line in told[1]["bill"]
    ]
    assert told[0]["answers"] == told[1]["answers"]
