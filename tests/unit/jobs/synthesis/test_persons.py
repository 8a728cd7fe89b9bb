"""A synthesis where the unit is a person with any number of rows."""

import copy
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from expost.accounting.claim import Budget
from expost.errors import MechanismFailed, SchemaMismatch
from expost.jobs import audit
from expost.jobs.job import Result
from expost.jobs.synthesis import run
from expost.jobs.synthesis.choice import PairSelection
from expost.jobs.synthesis.counted import Counted
from expost.jobs.synthesis.persons import how_weighed
from expost.jobs.synthesis.prices import on_public_table, table_recipe
from expost.jobs.synthesis.procedure import Synthesis, synthesise
from expost.jobs.synthesis.recipe import plan_synthesis
from expost.jobs.synthesis.screen import synthesis_plan
from expost.judge import OnPublic
from expost.ladder import Ladder
from expost.mechanisms.gaussian import Measurement
from expost.noise import Floats, Integers, SeededNoise, Shape
from expost.private import Neighbours
from expost.receipts.receipt import receipt, receipt_text
from expost.report.page import render
from expost.report.words import forewords
from expost.tabular.aims import Aim
from expost.tabular.one_row import OneRowEach
from expost.tabular.persons import GRID, NUMBERS, Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.jobs.synthesis.customers import SCHEMA, made, records
from tests.unit.report.examples import COUNTED, customers, facts, person_facts
from tests.unit.report.pages import said
from tests.unit.tabular.source.telling import shown

pa = import_module("pyarrow")
UNIT = replace(SCHEMA, unit="customer", neighbours=SCHEMA.neighbours.of_persons)


class Still:
    """Draws that are repeated, and Gaussian noise of 0."""

    def __init__(self) -> None:
        self._noise = SeededNoise(5)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        return np.zeros(shape, dtype=np.int64)


class Stepped(Still):
    """Gaussian noise of counts that is repeated, in whole records: of so many steps each."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._steps, self._draws = steps, np.random.default_rng(6)

    def discrete_gaussian(self, variance: Fraction, shape: Shape) -> Integers:
        if shape in ((), (1,), (len(NUMBERS),)):  # of a check, and of all records, who are counted in cells or in one
            return np.zeros(shape, dtype=np.int64)
        std = math.sqrt(variance) / self._steps
        return np.rint(std * self._draws.standard_normal(shape)).astype(np.int64) * self._steps


def persons(count: int, rows: Callable[[Integers], Integers], form: Schema = UNIT) -> Grouped:
    """Customers, each with as many rows as this says by their number; all rows of one are alike."""
    owners = np.repeat(np.arange(count), rows(np.arange(count)))
    plain = customers(SCHEMA, count)
    return Grouped.of(Table(form, {name: codes[owners] for name, codes in plain.columns.items()}), owners)


def alone(count: int) -> Grouped:
    return persons(count, np.ones_like)


def of_persons(table: Grouped, **changes: Any) -> Result[Any]:
    return made(table, schema=UNIT, **changes)


def columns(done: Result[Any]) -> dict[str, Any]:
    found: dict[str, Any] = done.release.value.fetchnumpy()
    return found


RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE]


def both(
    relation: Neighbours, noise: Callable[[], Any] = lambda: SeededNoise(1), **changes: Any
) -> tuple[Result[Any], Result[Any]]:
    """A run on records, and one on persons with a row each."""
    plain = replace(SCHEMA, neighbours=relation)
    form = replace(UNIT, neighbours=relation.of_persons)
    return (
        made(customers(plain, 900), schema=plain, noise=noise(), **changes),
        made(persons(900, np.ones_like, form), schema=form, noise=noise(), **changes),
    )


@pytest.mark.parametrize("relation", RELATIONS)
def test_with_one_row_each_the_bill_is_that_of_records_to_the_last_bit(relation: Neighbours) -> None:
    one, other = (each.facts for each in both(relation))

    assert [stop.promise for stop in one.stops] == [stop.promise for stop in other.stops]
    assert [stop.epsilon for stop in one.stops] == [stop.epsilon for stop in other.stops]
    for line, mine in zip(one.bill, other.bill, strict=False):
        assert (line.entry.what, line.entry.part, line.spent) == (mine.entry.what, mine.entry.part, mine.spent)


@pytest.mark.parametrize("relation", RELATIONS)
def test_with_one_row_each_the_release_is_that_of_records_given_the_noise(relation: Neighbours) -> None:
    plain, grouped = both(relation, Still)

    assert [each.line.verdict for each in grouped.history] == [each.line.verdict for each in plain.history]
    for name in SCHEMA.names:
        assert np.array_equal(columns(grouped)[name], columns(plain)[name])


@pytest.mark.parametrize("relation", RELATIONS)
def test_with_one_row_each_and_noise_in_whole_records_the_release_is_that_of_records(relation: Neighbours) -> None:
    """To the last bit, and so is every noisy count of every rung."""
    plain, form = replace(SCHEMA, neighbours=relation), replace(UNIT, neighbours=relation.of_persons)
    settings: dict[str, Any] = {"accuracy": 0.99, "patience": 0}
    one = made(customers(plain, 900), schema=plain, noise=Stepped(1), **settings)
    other = made(persons(900, np.ones_like, form), schema=form, noise=Stepped(GRID), **settings)

    counts: list[Any] = [receipt(each.facts)["counts"] for each in (one, other)]
    assert counts[0] == counts[1]
    assert [each.line.verdict for each in one.history] == [each.line.verdict for each in other.history]
    for name in SCHEMA.names:
        assert np.array_equal(columns(one)[name], columns(other)[name])


@pytest.mark.parametrize("relation", RELATIONS)
def test_where_their_number_is_public_persons_are_counted_all_the_same_and_the_bill_is_nearly_that_of_records(
    relation: Neighbours,
) -> None:
    """For a fiftieth of what selection may spend, of which the other steps have as much less."""
    one, other = (each.facts for each in both(relation, records=900))

    assert [each.entry.what for each in other.bill[:3]] == ["Gaussian", *(each.entry.what for each in one.bill[:2])]
    assert other.bill[0].entry.part == "data"
    for stop, mine in zip(one.stops, other.stops, strict=True):
        assert 0.998 < mine.epsilon / stop.epsilon < 1


def test_two_hundred_thousand_persons_are_one_table_of_as_many() -> None:
    count = 200_000
    frame = pl.DataFrame({name: cells * 1000 for name, cells in records(200).items()})
    frame = frame.with_columns(pl.Series("customer", [f"{place:x}" for place in range(count)]))

    done = made(frame, schema=UNIT)

    assert len(done.release.value) == pytest.approx(count, rel=0.01)
    told: Any = json.loads(receipt_text(receipt(done.facts)))
    assert (told["persons"]["allowance"], told["persons"]["weight"]) == (1, 1)
    assert told["persons"]["rows"][0] == pytest.approx(count, rel=0.01)
    assert audit(told).matches


def test_a_person_who_has_all_rows_is_one_person() -> None:
    """Of whom nothing can be seen in the noise."""
    frame = pl.DataFrame(records(3000) | {"customer": ["somebody"] * 3000})

    done = made(frame, schema=UNIT, validation=0.5)

    told: Any = json.loads(receipt_text(receipt(done.facts)))
    assert abs(sum(told["persons"]["rows"])) < 6 * 8**0.5 * told["persons"]["std"]
    assert len(done.release.value) < 1000
    assert audit(told).matches


def test_a_person_with_many_rows_counts_like_another() -> None:
    done = of_persons(persons(900, lambda place: 1 + 30 * (place % 10 == 0)))

    assert len(columns(done)["age"]) == pytest.approx(900, rel=0.1)
    assert done.facts.held == pytest.approx(180, abs=60)


def test_the_held_out_are_persons() -> None:
    done = of_persons(persons(900, lambda place: np.full_like(place, 7)), noise=Still())

    assert done.facts.held == pytest.approx(180, abs=60)
    assert len(columns(done)["age"]) == pytest.approx(900, rel=0.1)


def test_what_is_judged_is_a_row_that_was_drawn_and_the_same_in_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks, ask = list[tuple[Any, Any]](), OneRowEach.ask

    def noted(self: OneRowEach[Any], candidate: Any, held: Grouped) -> int:
        looks.append((held.sizes, held.people.chosen))
        return ask(self, candidate, held)

    monkeypatch.setattr(OneRowEach, "ask", noted)
    of_persons(persons(900, lambda place: np.full_like(place, 3)), accuracy=0.99, patience=0)

    first = looks[0][1]
    assert len(looks) > 1
    assert np.bincount(first, minlength=3).min() > len(first) / 5
    assert all(np.array_equal(first, places) and (sizes == 3).all() for sizes, places in looks)


@pytest.mark.parametrize("settings", [{}, {"validation": 0.25}, {"records": 900}], ids=str)
def test_an_audit_agrees(settings: dict[str, Any]) -> None:
    told = receipt(of_persons(persons(900, lambda place: 1 + place % 4), **settings).facts)

    assert audit(json.loads(receipt_text(told))).matches


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_edges_are_found_by_average_rows_and_an_audit_agrees(neighbours: str) -> None:
    form = Schema.load(f"""
reviewed = true
neighbours = "{neighbours}"
unit = "who"
[[column]]
name = "age"
kind = "integer"
edges = "private"
range = [0, 100]
bins = 4
closed = "left"
missing = false
[[column]]
name = "plan"
kind = "boolean"
missing = false
[[column]]
name = "renewed"
kind = "boolean"
missing = false
""")
    place = np.arange(1200)
    age, who = place * 7 % 100, place // 2 * (place % 3 > 0)
    rows = {"age": age, "plan": place % 2 == 0, "renewed": age > 50, "who": who}
    done = made(duckdb.from_arrow(pa.table(rows)), schema=form)

    told: Any = receipt(done.facts)
    assert audit(json.loads(receipt_text(told))).matches
    assert [line["facts"].get("statistic") for line in told["bill"][:3]] == [
        "persons by number of rows", "marginals of persons", "marginals of persons",
    ]  # fmt: skip
    assert len(columns(done)["age"]) > 0


@pytest.mark.parametrize("relation", [Neighbours.ADD_REMOVE_PERSON, Neighbours.REPLACE_PERSON])
def test_an_allowance_that_is_declared_is_used_and_told_at_the_same_price(relation: Neighbours) -> None:
    form = replace(UNIT, neighbours=relation)
    data = persons(900, lambda place: 1 + 3 * (place % 3 == 0), form)
    done = {each: rich(data, schema=form, rows_per_person=each, noise=Still()).facts for each in (1, 4)}
    found: dict[int, Any] = {each: receipt(facts) for each, facts in done.items()}

    told = {each: (one["persons"]["allowance"], one["persons"]["declared"]) for each, one in found.items()}
    assert told == {1: (1, True), 4: (4, True)}
    assert (found[1]["persons"]["weight"], found[4]["persons"]["weight"]) == (1, pytest.approx(2, rel=0.05))
    assert [stop.promise for stop in done[1].stops] == [stop.promise for stop in done[4].stops]
    assert found[1]["bill"] == found[4]["bill"]
    assert all(audit(json.loads(receipt_text(each))).matches for each in found.values())


def rich(table: Grouped, **changes: Any) -> Result[Any]:
    """A run with little noise, in the first counts as well."""
    cheap = {"ladder": Ladder.geometric(20, 40, 2, alpha=20), "query": Budget.of(1, alpha=20)}
    return made(table, **({"schema": UNIT} | cheap | changes))


def several(count: int = 3000) -> Grouped:
    """Persons most of whom have one row, some four and some thirty."""
    return persons(count, lambda place: np.select([place % 10 < 7, place % 10 < 9], [1, 4], 30))


def differing(count: int = 3000) -> Grouped:
    """As many rows of each, all of which differ."""
    alike = several(count)
    shuffled = np.random.default_rng(3).permutation(len(alike.table))
    columns = {name: codes[shuffled] for name, codes in alike.table.columns.items()}
    return Grouped(Table(UNIT, columns), alike.people)


def test_with_little_noise_the_run_itself_lets_several_rows_count_and_an_audit_works_it_out_again() -> None:
    told: Any = json.loads(receipt_text(receipt(rich(several()).facts)))

    assert told["persons"]["allowance"] > 1
    assert not told["persons"]["declared"]
    assert audit(told).matches
    for other in {1, 2, 4, 8, 16, 32, 64, 128, 256} - {told["persons"]["allowance"]}:
        assert not _passes(told | {"persons": told["persons"] | {"allowance": other}})
    assert not _passes(told | {"persons": told["persons"] | {"allowance": 3, "declared": True}})


def test_the_allowance_is_chosen_from_the_released_counts_and_the_plan_alone() -> None:
    """Others with as many rows, all of which differ, are given the same."""
    noise = Still()

    told: list[Any] = [receipt(rich(each, noise=noise).facts) for each in (several(), differing())]

    assert told[0]["persons"]["rows"] == told[1]["persons"]["rows"]
    assert told[0]["persons"]["allowance"] == told[1]["persons"]["allowance"] > 1
    assert told[0]["persons"]["weight"] < told[1]["persons"]["weight"]


def test_counts_that_are_compared_with_one_row_of_each_are_of_no_larger_weights() -> None:
    aims = {"target": None, "accuracy": None, "aims": (Aim.within(Fraction(9, 10)),)}
    told: Any = json.loads(receipt_text(receipt(rich(several(), **aims).facts)))

    assert told["persons"]["allowance"] == 1
    assert audit(told).matches
    assert not _passes(told | {"persons": told["persons"] | {"allowance": 4}})


def test_of_persons_with_one_row_each_none_counts_for_more_however_little_noise_there_is() -> None:
    told: Any = receipt(rich(alone(900)).facts)

    assert (told["persons"]["allowance"], told["persons"]["weight"]) == (1, 1)


@pytest.mark.parametrize(("table", "known"), [(differing, False), (alone, True)], ids=["several rows", "one row each"])
def test_counts_that_are_scaled_to_persons_do_not_tell_how_many_there_are(
    table: Callable[[int], Grouped], known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their number is then as uncertain as the columns alone leave it, and so is that of those held out."""
    finished = list[Synthesis]()

    def kept(*given: Any, **options: Any) -> Synthesis:
        finished.append(synthesise(*given, **options))
        return finished[-1]

    monkeypatch.setattr(run, "synthesise", kept)
    rich(table(3000), accuracy=0.999, rows_per_person=1)

    (done,) = finished
    odds, counted = 1 / 4, done.counted
    least = odds * Counted.of(done.released[: len(UNIT.names)], (), Fraction(1, 5)).std
    noise = math.sqrt(counted.held_std**2 - odds * counted.records / (4 / 5))
    assert (done.scale == 1) is known
    assert (noise < 0.9 * least) is known
    assert (noise > 0.99 * least) is not known


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


def declared_otherwise(found: dict[str, Any]) -> None:
    found["persons"].update(allowance=3, declared=True)


def more_in_full(found: dict[str, Any]) -> None:
    found["persons"]["allowance"] = 2


def beyond_numbers(found: dict[str, Any]) -> None:
    found["persons"]["rows"][3] = 1e308


@pytest.mark.parametrize(
    "forge", [as_records, uncounted, half_counted, quieter, in_parts, declared_otherwise, more_in_full, beyond_numbers]
)
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
    assert "a person has at least about 1.6 rows, on average, and together they weigh as much as 1.30." in page
    assert "of m rows that differ each counts for 1/√m, of m that are alike for 1/m." in page
    assert "3 to 5" in page and "more than 100" in page


def test_nothing_is_said_of_weights_that_noise_may_have_made() -> None:
    told, most = replace(COUNTED, weight=1.0), replace(COUNTED, rows=(2000.0, *[31.0] * 7), weight=1.0)

    assert "As far as noise lets that be told, a person has at least about 1.6 rows, on average" in told.words
    assert told.words.endswith("as much as one.")
    assert most.words.endswith("weigh as much as one row, as far as noise lets that be told.")
    assert (told.cut[:48], most.cut) == ("Rows of a person who has several count for less.", "")


def test_no_row_is_said_to_count_for_less_where_the_numbers_shown_do_not_tell_that() -> None:
    """Of 1.24 rows, which are shown as 1.2, and a weight of 1.21."""
    told = replace(COUNTED, rows=(7600.0, 2400.0, *[0.0] * 6), std=31.0, weight=1.21)

    assert told.weighed == "All rows of a person together weigh as much as 1.21 rows, on average over persons."
    assert told.cut == ""
    assert "about 1.2 rows" in replace(told, weight=1.19).cut


def test_at_its_end_a_run_says_how_much_was_cut() -> None:
    facts = rich(several()).facts
    told: Any = receipt(facts)
    weight = told["persons"]["weight"]

    assert 1 < weight < 4.9
    assert (
        "Rows of a person who has several count for less. As far as noise lets that be told, a person has at least "
        f"about 4.9 rows, on average, and together they weigh as much as {weight:.2f}."
    ) in forewords(facts)[0]
    assert "count for less" not in " ".join(forewords(rich(alone(900)).facts))


@pytest.mark.parametrize(
    ("declared", "told"),
    [(True, "This was declared."), (False, "The run chose this from how many persons have how many rows")],
)
def test_the_report_tells_how_many_rows_count_in_full(declared: bool, told: str) -> None:
    page = how_weighed(replace(COUNTED, allowance=4, declared=declared))

    assert "of m rows that are alike each counts for 4/m, of m that differ for 4/√m, and none for more than 1" in page
    assert told in page


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


def planned(schema: Schema, capsys: pytest.CaptureFixture[str], **changes: Any) -> str:
    usual: dict[str, Any] = {"aims": (Aim.accuracy("renewed", Fraction(8, 10)),), "records": 900}
    recipe = table_recipe(schema=schema, **(usual | changes))
    synthesis_plan(recipe, plan_synthesis(recipe))
    return " ".join(capsys.readouterr().out.split())


def test_a_plan_says_that_more_rows_may_count_or_has_the_noise_of_those_that_are_declared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usual, more = planned(UNIT, capsys), planned(UNIT, capsys, rows_per_person=4)
    overlap = planned(UNIT, capsys, aims=(Aim.within(Fraction(1, 10)),))

    may = ["several rows of each may then count in full" in told for told in (usual, more, overlap)]
    assert may == [True, False, False]
    for one, other in zip(noises(usual), noises(more), strict=True):
        assert float(other.split()[0]) == pytest.approx(4 * float(one.split()[0]), abs=0.3)
        assert other.split()[1:] == one.split()[1:]


def test_the_plan_of_persons_is_that_of_records_in_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    of_records, told = planned(SCHEMA, capsys), planned(UNIT, capsys)

    assert "are in persons" in told
    assert "A share of 20 % of about 900 persons is held out." in told
    assert "All persons are counted with noise first, by how many rows they have" in told
    assert "record" not in told
    assert noises(told) == noises(of_records) != []


def noises(told: str) -> list[str]:
    """The rows of the plan's table, without their prices: counting persons first is on the bill."""
    return re.findall(r"\d [\d.]+ [\d.]+ ([\d.]+ \S+ \S+ \S+)", told[told.index("rung") : told.index("Asked")])
