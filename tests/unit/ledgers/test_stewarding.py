"""What a steward does with a ledger comes to the same in each home: look at it, settle what was left open, check it."""

import re

import pytest

from tests.unit.commands import run, said
from tests.unit.ledgers.examples import whole_ledger


@pytest.fixture
def ledger(ledger_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_ledger(ledger_name)
    monkeypatch.setenv("EXPOST_LEDGER", ledger_name)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("ledger")
def test_a_ledger_is_shown_settled_and_checked() -> None:
    orphans = re.findall(r"^[0-9a-f]{8}", run("ledger", "orphans").output, re.MULTILINE)

    shown = said(run("ledger", "show"))
    settled = [run("ledger", "settle", orphan, "--statement", "the power failed") for orphan in orphans]
    proof = run("ledger", "verify")

    assert "% spent, 1.01 % held, " in shown
    assert len(orphans) == 2
    assert all("what it held is returned" in said(each) for each in settled)
    assert proof.exit_code == 0, proof.output
    assert "Every total is what the entries lead to" in said(proof)
