"""A draft proposes as the unit what looks like an identifier of which several rows have the same value, and says so."""

import uuid
from collections.abc import Sequence
from importlib import import_module

import pytest

from expost.private import Neighbours
from expost.tabular.drafts import seen as kept
from expost.tabular.drafts.draft import Draft, draft
from expost.tabular.schema.schema import Schema

pl = import_module("polars")
ROWS = 300
UNIQUE, PAIRS, FEW = [*range(ROWS)], [place // 2 for place in range(ROWS)], [place % 7 for place in range(ROWS)]
UUIDS = [str(uuid.UUID(int=place + 1)) for place in PAIRS]


def drafted(**columns: Sequence[object]) -> Draft:
    return draft(pl.DataFrame({**columns, "kept": [place % 2 for place in range(ROWS)]}))


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"patient_id": PAIRS}, "patient_id"),
        ({"patient_id": FEW}, "patient_id"),
        ({"PatientID": PAIRS}, "PatientID"),
        ({"userid": PAIRS}, "userid"),
        ({"Kunden-Nr": PAIRS}, "Kunden-Nr"),
        ({"id": PAIRS}, "id"),
        ({"customer": [f"c{place}" for place in PAIRS]}, "customer"),
        ({"x": UUIDS}, "x"),
        ({"visit_id": UNIQUE, "hospital_id": FEW, "patient_id": PAIRS}, "patient_id"),
        ({"account_id": PAIRS, "patient_id": FEW}, "patient_id"),
        ({"case_id": [*PAIRS[10:], *[0] * 10], "account_id": PAIRS}, "account_id"),
        ({"patient_id": UNIQUE}, None),
        ({"hospital_id": FEW}, None),
        ({"member": FEW}, None),
        ({"customer_age": FEW}, None),
        ({"patient_id": [None] * ROWS}, None),
        ({"": PAIRS}, None),
    ],
)
def test_the_unit_is_an_identifier_whose_values_repeat(columns: dict[str, list[object]], unit: str | None) -> None:
    """That of a person rather than others, then the one with the most values; others stay as they were."""
    made = drafted(**columns)

    schema = Schema.load(made.text)
    assert schema.unit == unit
    assert schema.neighbours is (Neighbours.ADD_REMOVE if unit is None else Neighbours.ADD_REMOVE_PERSON)
    assert unit not in schema.names
    assert not schema.reviewed


def test_what_is_proposed_as_the_unit_is_told_and_to_be_confirmed() -> None:
    made = drafted(patient_id=PAIRS, visit_id=UNIQUE)

    assert "proposed as the unit" in made.notes["patient_id"]
    assert "confirm that it says whose row it is" in made.notes["patient_id"]
    assert "patient_id" not in made.left_out
    assert made.left_out["visit_id"] == "by its name it tells people or rows apart."
    assert not any(note in made.text for note in made.notes.values())


def test_another_identifier_whose_values_repeat_may_be_the_unit_instead() -> None:
    made = drafted(patient_id=PAIRS, case_id=PAIRS)

    assert made.left_out["case_id"].endswith("whose row it is, declare it as the unit instead of patient_id.")


def test_a_record_may_bring_a_unit_into_a_draft_but_changes_none_of_its_comments() -> None:
    texts = [drafted(patient_id=column).text for column in (UNIQUE, [0, *UNIQUE[:-1]])]

    assert ["unit =" in text for text in texts] == [False, True]
    comments = [[line for line in text.splitlines() if line.startswith("#")] for text in texts]
    assert comments[0] == comments[1]
    assert any(line.startswith("#   unit ") and "confirm it" in line for line in comments[0])


def test_a_unit_with_more_values_than_are_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", 40)

    assert Schema.load(drafted(ticket_id=PAIRS).text).unit == "ticket_id"
