"""Fine-tuning by person: the bill and the receipt are a person's, and with one row each all is as without a unit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from expost.cli import main
from expost.errors import InvalidValue
from expost.jobs import audit
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.judge import OnPublic, SparseVector
from expost.ledger import MemoryLedger
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.receipts.receipt import receipt, receipt_text
from expost.report.page import render
from expost.training import Classifier, FloatSums, Labelled
from tests.unit.jobs.finetuning.rehearsals import SHORT, refused
from tests.unit.report.examples import blobs

CANARY = "patient-4711"
WAYS: dict[str, dict[str, Any]] = {
    "full-batch": {"method": "full-batch", "releases": 3},
    "means": {"method": "means", "releases": 3},
    "ridge": {"method": "ridge", "releases": 3},
    "adam": SHORT,
    "floating": {**SHORT, "summation": FloatSums()},
    "sparse vector": {**SHORT, "check": SparseVector(), "confidence": None},
    "public": {**SHORT, "check": OnPublic(blobs(90))},
}
VISITS = [f"{CANARY}-{place}" for place in np.arange(600) // 4]


def done(way: str, **changes: Any) -> Result[Classifier]:
    return finetune(*blobs(), **({"accuracy": 0.8, "noise": SeededNoise(1), **WAYS[way]} | changes))


@pytest.mark.parametrize("way", WAYS)
def test_with_one_row_each_release_and_bill_are_those_without_a_unit(way: str) -> None:
    ledgers = [MemoryLedger(), MemoryLedger()]
    one, other = done(way, ledger=ledgers[0]), done(way, ledger=ledgers[1], unit=[f"p{each}" for each in range(600)])

    assert np.array_equal(one.release.value.weights, other.release.value.weights)
    assert (one.epsilon, repr(one.history)) == (other.epsilon, repr(other.history))
    lines = [[(each.what, each.part, each.facts, repr(spent)) for each, spent, _ in ledger.lines] for ledger in ledgers]
    assert lines[0] == lines[1]
    assert {each.neighbours for each, _, _ in ledgers[1].lines} == {"add or remove one person"}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_by_person_has_a_receipt_that_the_audit_recomputes_and_shows_nobody(way: str) -> None:
    found = done(way, unit=VISITS)

    written = receipt_text(receipt(found.facts))
    assert audit(json.loads(written)).matches
    assert found.facts.neighbours == "add or remove one person"
    page = render(found.facts)
    assert CANARY not in written + page
    assert "per person" in page


def forged(way: str, unit: Any, said: str) -> dict[str, Any]:
    """The receipt of a run, with other neighbours wherever they stand."""
    found = done(way, unit=unit)
    text = receipt_text(receipt(found.facts)).replace(found.facts.neighbours, said)
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@pytest.mark.parametrize("said", ["replace one person", "replace one record", "add or remove one household"])
@pytest.mark.parametrize("way", ["full-batch", "ridge", "adam"])
def test_a_receipt_with_neighbours_that_no_run_has_is_refused(way: str, said: str) -> None:
    assert not audit(forged(way, VISITS, said)).matches


def test_a_statement_about_persons_on_lines_about_records_is_refused() -> None:
    text = json.loads(receipt_text(receipt(done("full-batch").facts)))
    text["statement"]["neighbours"] = "add or remove one person"

    assert not audit(text).matches


def test_more_rows_of_the_same_persons_do_not_change_the_price() -> None:
    features, labels = blobs()
    several = finetune(
        np.repeat(features, 3, axis=0), np.repeat(labels, 3), accuracy=0.8, unit=np.repeat(np.arange(600), 3),
        noise=SeededNoise(1),
    )  # fmt: skip

    assert several.passed
    assert (
        several.facts.stops[0].epsilon == finetune(*blobs(), accuracy=0.8, noise=SeededNoise(1)).facts.stops[0].epsilon
    )


def test_a_file_names_the_array_that_is_the_unit(tmp_path: Path) -> None:
    features, labels = blobs()
    np.savez(tmp_path / "visits.npz", features=features, labels=labels, patient=np.array(VISITS))

    one, other = (
        done("adam", unit=VISITS),
        finetune(tmp_path / "visits.npz", accuracy=0.8, unit="patient", noise=SeededNoise(1), **SHORT),
    )

    assert np.array_equal(one.release.value.weights, other.release.value.weights)


def test_the_command_takes_a_unit(tmp_path: Path) -> None:
    features, labels = blobs()
    np.savez(tmp_path / "visits.npz", features=features, labels=labels, patient=np.array(VISITS))

    ended = CliRunner().invoke(
        main,
        [
            "finetune",
            str(tmp_path / "visits.npz"),
            "--unit",
            "patient",
            "--accuracy",
            "0.5",
            "--out",
            str(tmp_path / "out"),
        ],
    )

    assert ended.exit_code == 0, ended.output
    assert "per person" in ended.output
    assert CANARY not in ended.output + (tmp_path / "out" / "receipt.json").read_text(encoding="utf-8")


BAD: dict[str, tuple[Any, Any, str]] = {
    "too few": (blobs(), [CANARY] * 3, "one identifier per row"),
    "two columns": (blobs(), [[CANARY, CANARY]] * 600, "single column"),
    "a name beside arrays": (blobs(), "patient", "as an array too"),
    "an array beside a file": (("nowhere.npz",), [CANARY], "name the array"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_unit_that_does_not_fit_is_refused_before_anything_is_spent(name: str) -> None:
    given, unit, expected = BAD[name]

    told = str(refused(*given, unit=unit))

    assert expected in told
    assert CANARY not in told


def test_a_bound_on_rows_is_not_for_persons_nor_the_reverse() -> None:
    rows = Labelled.of(*blobs(), classes=3)
    for data, relation in (
        (rows, Neighbours.ADD_REMOVE_PERSON),
        (rows.of_persons(VISITS, SeededNoise(1)), Neighbours.ADD_REMOVE),
    ):
        with pytest.raises(InvalidValue, match="persons"):
            data.require(relation)
