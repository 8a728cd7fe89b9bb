"""A synthesis where the unit is a person with any number of rows."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from expost.errors import MechanismFailed, SchemaMismatch
from expost.jobs import audit
from expost.jobs.job import Result
from expost.jobs.synthesis import run
from expost.jobs.synthesis.choice import PairSelection
from expost.jobs.synthesis.prices import on_public_table, table_recipe
from expost.jobs.synthesis.recipe import plan_synthesis
from expost.jobs.synthesis.screen import synthesis_plan
from expost.judge import OnPublic
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers, SeededNoise, Shape
from expost.receipts.receipt import receipt, receipt_text
from expost.report.page import render
from expost.tabular.aims import Aim
from expost.tabular.persons import NUMBERS, Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.jobs.synthesis.customers import SCHEMA, made, records
from tests.unit.report.examples import COUNTED, customers, facts, person_facts
from tests.unit.report.pages import said
from tests.unit.tabular.source.telling import shown

UNIT = replace(SCHEMA, unit="customer", neighbours=SCHEMA.neighbours.of_persons)


class Still:
    """Draws that are repeated, and Gaussian noise of 0."""

    def __init__(self) -> None:
        self._noise = SeededNoise(5)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        return np.zeros(shape, dtype=np.int64)


def persons(count: int, rows: Callable[[Integers], Integers]) -> Grouped:
    """Customers, each with as many rows as this says by their number; all rows of one are alike."""
    owners = np.repeat(np.arange(count), rows(np.arange(count)))
    plain = customers(SCHEMA, count)
    return Grouped.of(Table(UNIT, {name: codes[owners] for name, codes in plain.columns.items()}), owners)


def alone(count: int) -> Grouped:
    return persons(count, np.ones_like)


def of_persons(table: Grouped, **changes: Any) -> Result[Any]:
    return made(table, schema=UNIT, **changes)


def columns(done: Result[Any]) -> dict[str, Any]:
    found: dict[str, Any] = done.release.value.fetchnumpy()
    return found


def test_with_one_row_each_the_bill_is_that_of_records_to_the_last_bit() -> None:
    one, other = made(customers(SCHEMA, 900)).facts, of_persons(alone(900)).facts

    assert [stop.promise for stop in one.stops] == [stop.promise for stop in other.stops]
    assert [stop.epsilon for stop in one.stops] == [stop.epsilon for stop in other.stops]
    for line, mine in zip(one.bill, other.bill, strict=False):
        assert (line.entry.what, line.entry.part, line.spent) == (mine.entry.what, mine.entry.part, mine.spent)


def test_with_one_row_each_the_release_is_that_of_records_given_the_noise() -> None:
    plain = made(customers(SCHEMA, 900), noise=Still())
    grouped = of_persons(alone(900), noise=Still())

    assert grouped.history == plain.history
    for name in SCHEMA.names:
        assert np.array_equal(columns(grouped)[name], columns(plain)[name])


def test_a_person_with_many_rows_counts_like_another() -> None:
    done = of_persons(persons(900, lambda place: 1 + 30 * (place % 10 == 0)))

    assert len(columns(done)["age"]) == pytest.approx(900, rel=0.1)
    assert done.facts.held == pytest.approx(180, abs=60)


def test_the_held_out_are_persons() -> None:
    done = of_persons(persons(900, lambda place: np.full_like(place, 7)), noise=Still())

    assert done.facts.held == pytest.approx(180, abs=60)
    assert len(columns(done)["age"]) == pytest.approx(900, rel=0.1)


@pytest.mark.parametrize("settings", [{}, {"validation": 0.25}, {"records": 900}], ids=str)
def test_an_audit_agrees(settings: dict[str, Any]) -> None:
    told = receipt(of_persons(persons(900, lambda place: 1 + place % 4), **settings).facts)

    assert audit(json.loads(receipt_text(told))).matches


def as_records(found: dict[str, Any]) -> None:
    for entry in (found, found["statement"]):
        entry["neighbours"] = "add or remove one record"


def uncounted(found: dict[str, Any]) -> None:
    found["persons"] = None


def half_counted(found: dict[str, Any]) -> None:
    found["persons"]["rows"].pop()


def quieter(found: dict[str, Any]) -> None:
    found["persons"]["std"] /= 2


def in_parts(found: dict[str, Any]) -> None:
    found["persons"]["rows"][0] += 0.5


@pytest.mark.parametrize("forge", [as_records, uncounted, half_counted, quieter, in_parts])
def test_a_receipt_that_tells_another_unit_is_noticed(forge: Callable[[dict[str, Any]], None]) -> None:
    told = json.loads(receipt_text(receipt(of_persons(alone(900)).facts)))
    forged = copy.deepcopy(told)
    forge(forged)

    assert audit(told).matches
    assert not _passes(forged)


def test_a_receipt_by_which_counting_persons_cost_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the step on its bill, and with all other steps paid in full."""
    told = Measurement(np.array([700.0, 200.0, *[0.0] * 6]), Fraction(1))
    with monkeypatch.context() as patched:
        patched.setattr(PairSelection, "sizing", property(lambda self: None))
        patched.setattr(run, "sized", lambda sealed, recipe, odometer, noise: (recipe, told))
        forged = json.loads(receipt_text(receipt(of_persons(alone(900)).facts)))

    assert forged["sizing"] is None
    assert not _passes(forged)


def _passes(found: dict[str, Any]) -> bool:
    try:
        return bool(audit(found).matches)
    except Exception as error:  # noqa: BLE001  whatever it is refused by
        return not str(error)


def test_how_many_have_how_many_rows_is_on_record() -> None:
    told: Any = receipt(of_persons(persons(900, lambda place: 1 + 6 * (place % 3 == 0)), noise=Still()).facts)

    assert told["persons"]["rows"] == [600, 0, 0, 300, *[0] * (len(NUMBERS) - 4)]


class Failing(Still):
    """Noise that ends where rows are drawn."""

    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self._failure = failure

    def uniform(self, shape: Shape) -> Floats:
        raise self._failure


@pytest.mark.parametrize("failure", [OSError("no entropy"), KeyboardInterrupt()], ids=repr)
def test_a_failure_while_rows_are_drawn_does_not_show_how_many_a_person_has(failure: BaseException) -> None:
    with pytest.raises((MechanismFailed, KeyboardInterrupt)) as failed:
        of_persons(persons(90, lambda place: 1 + 4321 * (place == 7)), noise=Failing(failure))

    assert "4322" not in shown(failed.value)


def test_a_table_that_was_coded_without_its_unit_is_refused() -> None:
    with pytest.raises(SchemaMismatch, match="unit"):
        made(Table(UNIT, customers(SCHEMA, 90).columns), schema=UNIT)


def test_the_report_tells_how_many_rows_persons_have_and_what_these_weigh() -> None:
    page = said(render(person_facts()))

    assert "About 33.3 % of the persons (± 1.5 %) have more than one row." in page
    assert "All rows of a person together weigh as much as 1.30 rows, on average over persons." in page
    assert "3 to 5" in page and "more than 100" in page


def test_nothing_is_said_of_weights_that_noise_may_have_made() -> None:
    told = replace(COUNTED, weight=1.0).words

    assert "together weigh as much as one row, as far as noise lets that be told" in told


def test_the_report_says_what_a_table_of_persons_cannot_answer() -> None:
    page = said(render(person_facts()))

    assert "Rows per person are not modelled. Every synthetic row stands for itself" in page
    assert "there are about as many rows as persons" in page
    assert "statistics per person, such as the share of those who came back, cannot be had from this table" in page


def test_a_table_of_records_does_not_speak_of_rows_per_person() -> None:
    page = said(render(facts()))

    assert "Rows and persons" not in page
    assert "The unit is" not in page


def test_the_report_names_the_unit_beside_the_schema() -> None:
    assert "The unit is customer. This column says whose row it is." in said(render(person_facts()))


def seen_by_anybody() -> Any:
    """Public records of 150 persons with two rows each, who do not agree about themselves."""
    return pl.DataFrame(records(300) | {"customer": [place // 2 for place in range(300)]})


def test_of_public_persons_the_same_row_each_is_judged_in_every_run() -> None:
    first, second = (on_public_table(OnPublic(seen_by_anybody()), UNIT).table for _ in range(2))

    assert (len(first), first.people.chosen.tolist()) == (150, second.people.chosen.tolist())
    assert {*first.people.chosen.tolist()} == {0, 1}


def test_the_report_says_that_public_persons_were_judged_by_one_row() -> None:
    page = said(render(of_persons(alone(900), check=OnPublic(seen_by_anybody())).facts))

    assert "A person among those records was judged by one of their rows, which was drawn at random." in page
    assert "held-out person" not in page


def test_public_records_that_lack_the_unit_are_told_from_the_table() -> None:
    with pytest.raises(SchemaMismatch, match=r"^the public records of the check .*: .*customer \(the unit\)"):
        on_public_table(OnPublic(seen_by_anybody().drop("customer")), UNIT)


def test_the_plan_of_persons_is_that_of_records_in_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    def planned(schema: Schema) -> str:
        recipe = table_recipe(schema=schema, aims=(Aim.accuracy("renewed", Fraction(8, 10)),), records=900)
        synthesis_plan(recipe, plan_synthesis(recipe))
        return " ".join(capsys.readouterr().out.split())

    of_records, told = planned(SCHEMA), planned(UNIT)

    assert "are in persons" in told
    assert "A share of 20 % of about 900 persons is held out." in told
    assert "All persons are counted with noise first, by how many rows they have" in told
    assert "record" not in told
    assert noises(told) == noises(of_records) != []


def noises(told: str) -> list[str]:
    """The rows of the plan's table, without their prices: counting persons first is on the bill."""
    return re.findall(r"\d [\d.]+ [\d.]+ ([\d.]+ \S+ \S+ \S+)", told[told.index("rung") : told.index("Asked")])
