"""A type checker stops misuse before it runs: every marked line is rejected for its reason, and no other line is."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MISUSES = sorted((ROOT / "tests/typing/misuse").glob("*.py"))
RIGHT_USE = ROOT / "tests/typing/right_use.py"
SETTINGS = ROOT / "tests/typing/mypy.ini"
MARK = re.compile(r"  # rejected: ([a-z-]+)$")


class Rejection(NamedTuple):
    file: str
    line: int
    code: str


def marked(programs: Iterable[Path]) -> set[Rejection]:
    return {
        Rejection(program.name, number, mark[1])
        for program in programs
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
        if (mark := MARK.search(line))
    }


def rejected(programs: Iterable[Path]) -> set[Rejection]:
    """What mypy finds in programs of users."""
    command = [sys.executable, "-m", "mypy", "--config-file", str(SETTINGS), "--output=json"]
    run = subprocess.run([*command, *map(str, programs)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    findings = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return {
        Rejection(Path(each["file"]).name, each["line"], each["code"])
        for each in findings
        if each["severity"] == "error"
    }


def test_every_misuse_is_rejected_for_its_reason_and_nothing_beside_it() -> None:
    expected = marked(MISUSES)

    found = rejected(MISUSES)

    assert (sorted(expected - found), sorted(found - expected)) == ([], [])


def test_no_program_has_lost_its_marks() -> None:
    assert {misuse.file for misuse in marked(MISUSES)} == {program.name for program in MISUSES}
    assert len(marked(MISUSES)) >= 60


def test_the_same_names_used_as_they_are_meant_are_accepted() -> None:
    assert rejected([RIGHT_USE]) == set()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("count: int = 3  # rejected: assignment", set()),
        ("count: int = 'three'", {Rejection("program.py", 1, "assignment")}),
    ],
)
def test_the_comparison_notices_an_accepted_misuse_and_an_unmarked_one(
    tmp_path: Path, line: str, found: set[Rejection]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(line + "\n", encoding="utf-8")

    assert rejected([program]) == found != marked([program])
