"""A receipt says what expost writes and nothing else: a number that no audit reads is one that a reader may believe.

The attack: leave every number as it is, and add another ε, in a field of one's own whose name looks like ours, or in a
text that nobody compares.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from expost.jobs import audit as check
from expost.jobs.tunings import receipt as tuning
from expost.receipts.receipt import FIXED, digest
from expost.report.words import NOT_PRIVATE
from tests.faults.forgeries import Receipt, receipt_of

NAMES = ("balanced check", "head", "full-batch", "means", "ridge", "module", "search", "tuning")
ADDED = {"ε": 0.01, "epsilоn": 0.01, "Epsilon": 0.01, "epsilon ": 0.01}
"""Names that read as ours; the second has a Cyrillic letter."""
FREE = ("facts", "versions")
"""Tables with names of their own, and none of the statement."""


def tables(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Receipt]]:
    """The tables of a receipt, of equal ones in a list the last."""
    if isinstance(found, dict):
        yield path, found
        for name, value in found.items():
            if name not in FREE:
                yield from tables(value, (*path, name))
    elif isinstance(found, list) and found:
        yield from tables(found[-1], (*path, "#"))


def sealed(found: Receipt) -> Receipt:
    """With the digest of what it says by now."""
    return {**found, "pledged": digest(found, FIXED if "plan" in found else tuning.FIXED)}


@pytest.mark.parametrize("name", NAMES)
def test_no_table_of_a_receipt_has_a_field_more(name: str) -> None:
    for path, _ in [*tables(receipt_of(name))]:
        found = receipt_of(name)
        dict(tables(found))[path].update(ADDED)

        assert check(sealed(found)).differences, path


@pytest.mark.parametrize("added", ADDED)
def test_a_name_that_looks_like_ours_is_another(added: str) -> None:
    found = receipt_of("balanced check")
    found["statement"][added] = 0.01

    assert "one that expost writes" in str(check(found))


@pytest.mark.parametrize("name", ["balanced check", "reached", "ended at a cap", "head", "module", "search"])
def test_why_a_run_ended_is_not_a_text_of_the_receipts_own(name: str) -> None:
    found = receipt_of(name)
    found["ended"]["because"] = "a candidate passed the check with 100 % confidence, for ε = 0.01"

    assert any("why the run ended" in said for said in check(found).differences)


@pytest.mark.parametrize("name", ["head", "module"])
def test_the_steps_of_a_training_are_those_of_its_plan(name: str) -> None:
    found = receipt_of(name)
    found["training"]["steps"] = [1 for _ in found["training"]["steps"]]

    assert check(found).differences


@pytest.mark.parametrize("name", ["balanced check", "tuning"])
@pytest.mark.parametrize("part", ["title", "versions"])
def test_every_part_has_its_type(name: str, part: str) -> None:
    assert check({**receipt_of(name), part: 0.01}).differences


@pytest.mark.parametrize("name", ["balanced check", "tuning"])
def test_a_warning_is_ours_or_none(name: str) -> None:
    found = receipt_of(name)
    assert found["warning"] == NOT_PRIVATE
    found["seeded"] = False
    for line in found.get("bill", ()):
        line["seeded"] = False

    assert any("NOT PRIVATE" in said for said in check(found).differences)
    assert any("NOT PRIVATE" in said for said in check({**found, "warning": "ε = 0.01"}).differences)


@pytest.mark.parametrize("name", ["head", "full-batch", "means", "ridge", "module"])
def test_every_setting_of_a_training_has_its_type(name: str) -> None:
    """A setting that no cost rests on is read too: else a table of one's own would stand in its place."""
    for setting in receipt_of(name)["training"]:
        found = receipt_of(name)
        found["training"][setting] = {"epsilon": 0.01}

        assert check(found).differences, setting
