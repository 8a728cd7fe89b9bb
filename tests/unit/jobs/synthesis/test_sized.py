"""Where nobody says how many records there are, they are counted first, and no more are held out than a check needs."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost import Aim, Neighbours, OnPublic
from expost.errors import ExpostError
from expost.jobs import audit
from expost.jobs.synthesis import prices
from expost.jobs.synthesis.choice import COUNTING, record_number
from expost.jobs.synthesis.prices import table_recipe
from expost.jobs.synthesis.recipe import plan_synthesis
from expost.receipts.receipt import receipt, receipt_text
from expost.report.page import render
from tests.unit.examples import OF_RECORDS
from tests.unit.jobs.synthesis.customers import LADDER, SCHEMA, csv, made, public_records
from tests.unit.report.examples import customers
from tests.unit.report.pages import said


def parts_read(**settings: Any) -> list[str]:
    """The parts that the first lines of a bill read."""
    return [item.entry.part for item in made(customers(SCHEMA, 900), **settings).facts.bill][:2]


def test_all_records_are_counted_before_they_are_divided() -> None:
    assert parts_read() == ["data", "data/train"]


@pytest.mark.parametrize("settings", [{"records": 900}, {"validation": 0.2}], ids=str)
def test_they_are_not_where_their_number_or_the_share_is_known(settings: dict[str, Any]) -> None:
    assert parts_read(**settings) == ["data/train", "data/train"]


def test_they_are_not_where_none_are_held_out(tmp_path: Path) -> None:
    done = made(csv(tmp_path), check=OnPublic(public_records(tmp_path)))

    assert receipt(done.facts)["sizing"] is None
    assert audit(receipt(done.facts)).matches


def test_no_more_are_held_out_than_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "ENOUGH_HELD", 500)

    few, many = (made(customers(SCHEMA, count)).facts for count in (1000, 20_000))

    assert few.held == pytest.approx(200, abs=60)
    assert many.held == pytest.approx(500, abs=60)


@pytest.mark.parametrize(
    ("records", "held"),
    [
        (100, 20),
        (40_000, 8_000),
        (45_222, 8_000),
        (160_000, 8_000),
        (400_000, 20_000),
        (10**6, 50_000),
        (10**8, 50_000),
    ],
)
def test_how_many_are_held_out_never_falls_as_there_are_more(records: int, held: int) -> None:
    assert prices.usual_share(records) * records == held


def test_the_price_of_every_rung_is_as_without_the_count() -> None:
    aims = (Aim.accuracy("renewed", 0.8),)
    counted, plain = (
        plan_synthesis(table_recipe(schema=SCHEMA, aims=aims, ladder=LADDER, validation=share)) for share in (None, 0.2)
    )

    for one, other in zip(counted.stops, plain.stops, strict=True):
        assert counted.pledge.epsilon(one) == pytest.approx(plain.pledge.epsilon(other), rel=1e-3)


@pytest.mark.parametrize("neighbours", OF_RECORDS)
def test_one_record_moves_the_number_by_one_at_most(neighbours: Neighbours) -> None:
    number = record_number(neighbours)
    values = [int(number.evaluate(customers(SCHEMA, count))[0]) for count in (1, 2, 3)]

    assert np.diff(values).tolist() == [1, 1]
    assert number.l2_squared == number.l1 == (2 if neighbours.replaces else 1)


def test_the_report_says_that_they_were_counted() -> None:
    assert "All records were counted with noise first" in said(render(made(customers(SCHEMA, 900)).facts))
    assert "counted with noise first" not in said(render(made(customers(SCHEMA, 900), validation=0.2).facts))


def forgotten(found: dict[str, Any]) -> None:
    found["sizing"] = None


def unbilled(found: dict[str, Any]) -> None:
    del found["bill"][0]


def both(found: dict[str, Any]) -> None:
    forgotten(found)
    unbilled(found)


def cheaper(found: dict[str, Any]) -> None:
    found["sizing"]["epsilon"] = str(Fraction(found["sizing"]["epsilon"]) / 2)


def elsewhere(found: dict[str, Any]) -> None:
    found["bill"][0]["part"] = "data/train"


@pytest.mark.parametrize("forge", [forgotten, unbilled, both, cheaper, elsewhere])
def test_a_receipt_that_hides_the_count_is_noticed(forge: Callable[[dict[str, Any]], None]) -> None:
    found = json.loads(receipt_text(receipt(made(customers(SCHEMA, 900)).facts)))
    assert audit(copy.deepcopy(found)).matches
    assert Fraction(found["sizing"]["epsilon"]) > COUNTING / 10_000
    forge(found)

    try:
        matches = audit(found).matches
    except ExpostError:
        matches = False

    assert not matches
