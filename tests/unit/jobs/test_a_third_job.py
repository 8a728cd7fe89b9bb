"""A third job is one folder and one line: the command line, the folder, the receipt and the audit take it as it is."""

import json
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from expost import jobs
from expost.jobs import audit
from tests.unit.jobs.commonest import COMMONEST


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> click.Group:
    """A command line whose list of jobs has one more line."""
    monkeypatch.setattr(jobs, "JOBS", (*jobs.JOBS, COMMONEST))
    main, plans = click.Group(), click.Group("plan")
    main.add_command(plans)
    for job in jobs.JOBS:
        job.add_to(main, plans)
    return main


@pytest.fixture
def released(line: click.Group, tmp_path: Path) -> Path:
    """What the third job's command has written."""
    np.savetxt(tmp_path / "codes.txt", [0] * 100 + [1] * 900 + [2] * 200, fmt="%d")
    words = ["commonest", str(tmp_path / "codes.txt"), "--codes", "3", "--accuracy", "0.6", "--seed", "1"]

    result = CliRunner().invoke(line, [*words, "--out", str(tmp_path / "out")])

    assert result.exit_code == 0, result.output
    assert "NOT PRIVATE" in result.output
    return tmp_path / "out"


def test_its_command_makes_a_folder_with_a_report_and_a_receipt(released: Path) -> None:
    assert {path.name for path in released.iterdir()} == {"model.npz", "report.html", "receipt.json"}
    assert int(np.load(released / "model.npz")["code"]) == 1
    page = (released / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert "The commonest code passed the check at 60 %" in page


def test_its_receipt_is_worked_out_again_in_full(released: Path) -> None:
    assert audit(json.loads((released / "receipt.json").read_text(encoding="utf-8"))).matches


def test_without_its_line_the_receipt_is_taken_at_its_word(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "JOBS", tuple(job for job in jobs.JOBS if job is not COMMONEST))

    assert audit(json.loads((released / "receipt.json").read_text(encoding="utf-8"))).believed


def test_a_cheaper_receipt_of_it_is_caught(released: Path) -> None:
    found = json.loads((released / "receipt.json").read_text(encoding="utf-8"))
    found["codes"] = 2
    found["bill"][0]["facts"]["variance"] = "1000000"

    assert audit(found).differences


def test_its_plan_stands_beside_the_others(line: click.Group) -> None:
    result = CliRunner().invoke(line, ["plan", "--help"])

    assert {"synth", "finetune", "commonest"} <= set(result.output.split())
