"""No command ends in a traceback because its output goes nowhere, or to a terminal that has no ε."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

import pytest

from expost.receipts.receipt import receipt, receipt_text
from tests.faults.jobs import FINETUNE, SYNTH
from tests.faults.processes import Ended, Nursery, begun, closed_pipe, full_device
from tests.unit.report.examples import facts

JOURNAL = '{"format": "expost journal 1", "expost": "0"}\n'
RELEASE = ("--estimator", "model", "--ladder", "renyi:0.1:0.1:1", "--confidence", "none", "--rows", "9")


@final
@dataclass(frozen=True)
class Command:
    """What is typed, the exit status, and that of the same with its output lost."""

    words: tuple[str, ...]
    status: int
    unseen: int

    def __str__(self) -> str:
        return " ".join(self.words[:2])


COMMANDS = (
    Command(("--help",), 0, 0),
    Command(("--version",), 0, 0),
    Command(("plan", "synth", "--schema", "schema.toml", "--target", "renewed"), 0, 1),
    Command(("plan", "synth", "--schema", "missing.toml"), 2, 2),
    Command(("plan", *FINETUNE.words[:1], *FINETUNE.words[2:]), 0, 1),
    Command(("schema", "customers.csv"), 0, 1),
    Command(("check", "customers.csv", "--schema", "schema.toml"), 0, 1),
    Command(("explain", "--epsilon", "1", "--delta", "1e-5"), 0, 1),
    Command(("audit", "out.journal"), 0, 1),
    Command(("audit", "receipt.json"), 0, 0),
    Command(("audit", "changed.json"), 3, 3),
    Command(("audit", "customers.csv"), 2, 2),
    Command(("demo", "--accuracy", "0.99", *RELEASE), 3, 3),
)
every_command = pytest.mark.parametrize("command", COMMANDS, ids=str)


@cache
def some_receipt() -> str:
    """The receipt of some run."""
    return receipt_text(receipt(facts()))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with what the commands read."""
    SYNTH.sources(tmp_path)
    (tmp_path / "out.journal").write_text(JOURNAL, encoding="utf-8")
    (tmp_path / "receipt.json").write_text(some_receipt(), encoding="utf-8")
    (tmp_path / "changed.json").write_text(some_receipt().replace('"alpha": "20"', '"alpha": "19"'), encoding="utf-8")
    return tmp_path


def require_no_traceback(end: Ended) -> None:
    """Nothing but a sentence is said of what went wrong."""
    assert "Traceback" not in end.errors
    assert "Error" not in end.errors
    assert end.errors.count("\n") <= 1


@every_command
@pytest.mark.parametrize("device", [closed_pipe, full_device])
def test_a_command_whose_output_is_lost_ends_with_its_status(
    device: Callable[[], int], command: Command, here: Path, kept_nursery: Nursery
) -> None:
    stream = device()
    running = begun(kept_nursery, here, *command.words, streams=(stream, None))
    os.close(stream)

    end = running.end()

    require_no_traceback(end)
    assert end.status == command.unseen


@every_command
def test_a_command_that_can_say_nothing_at_all_ends_with_its_status(
    command: Command, here: Path, kept_nursery: Nursery
) -> None:
    stream = closed_pipe()
    running = begun(kept_nursery, here, *command.words, streams=(stream, stream))
    os.close(stream)

    assert running.end().status == command.unseen


@every_command
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_greek_shows_every_command(
    encoding: str, command: Command, here: Path, kept_nursery: Nursery
) -> None:
    end = begun(kept_nursery, here, *command.words, PYTHONIOENCODING=encoding).end(encoding)

    require_no_traceback(end)
    assert end.status == command.status
    assert end.output or end.errors
    assert "?" not in end.output.replace("such as ?", "")
