"""The guide for the analyst is true: its table, its commands with what they print, and its Python."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from expost.jobs.asking.phrases import queries_in
from expost.noise import SeededNoise
from expost.report.words import NOT_PRIVATE
from expost.tabular.schema.schema import Schema
from tests.unit.commands import run

PAGE = (Path(__file__).parents[2] / "docs/analyst.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SEED = ("--seed", "5")
BARS = "█▏▎▍▌▋▊▉"


def block(kind: str, start: str) -> str:
    (found,) = (text for named, text in BLOCKS if named == kind and text.startswith(start))
    return str(found)


def typed() -> list[tuple[str, str]]:
    """Every command of the guide, in order, with what it shows of what is printed."""
    shown = "".join(text for kind, text in BLOCKS if kind == "console")
    _, *commands = re.split(r"^\$ ", shown, flags=re.MULTILINE)
    return [(each.partition("\n")[0], each.partition("\n")[2]) for each in commands]


def unnumbered(text: str) -> str:
    """The words of a text, without bars and breaks, and with one mark for every number and digest."""
    plain = re.sub(rf"[{BARS}]+", " ", " ".join(text.split()).replace(f" {NOT_PRIVATE}", ""))
    return " ".join(re.sub(r"sha256 \S+|with [0-9a-f]{64}|with …|\d[\d.,]*", "#", plain).split())


def parts(shown: str) -> list[str]:
    """What is shown between dots that stand for the rest."""
    return [unnumbered(part) for part in re.split(r"(?<!sha256 )(?<!with )…", shown) if part.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who follows the guide, with the table, and the schema before and after the unit."""
    made = tmp_path_factory.mktemp("analyst")
    subprocess.run([sys.executable, "-c", block("python", "import csv")], cwd=made, check=True)
    form = block("toml", "# visits.toml")
    (made / "visits.toml").write_text(form, encoding="utf-8")
    (made / "persons.toml").write_text(block("toml", "# to the head").partition("\n")[2] + form, encoding="utf-8")
    return made


def test_every_command_prints_what_the_guide_shows_but_for_its_noise(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One folder and one order, since later commands go on from earlier ones."""
    monkeypatch.chdir(folder)
    told = []
    for command, shown in typed():
        words = shlex.split(command)[1:]
        seeded = SEED if words[0] == "ask" and "--ledger" not in words else ()
        told.append((command, parts(shown), unnumbered(run(*words, *seeded).output)))

    assert len(told) > 20
    assert [(command, part) for command, shown, output in told for part in shown if part not in output] == []


def test_the_python_of_the_guide_refines_an_answer_and_saves_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"noise": SeededNoise(5)}
    script = block("python", "import expost").replace("fewer_than=1000)", "fewer_than=1000, noise=noise)")

    exec(script, names)

    assert 0 < names["rough"] < names["price"]
    assert names["finer"].epsilon <= names["price"]
    assert names["finer"].passed
    assert (folder / "wards/report.html").exists()


def test_every_question_of_the_table_of_questions_is_understood(folder: Path) -> None:
    schema = Schema.load(folder / "persons.toml")
    rows = re.findall(r"^\| (`.+) \| .+ \|$", PAGE.partition("| ask | answer |")[2].partition("\n\n")[0], re.MULTILINE)
    conditions = re.findall(r"`((?:where )?ward (?:=|in) .+?)`", PAGE)

    questions = [query for row in rows for text in re.findall(r"`(.+?)`", row) for query in queries_in(text)]
    questions += [each for text in conditions for each in queries_in(f"count where {text.removeprefix('where ')}")]

    assert len(questions) >= 12
    for each in questions:
        each.require(schema)


def test_every_option_that_the_guide_names_exists() -> None:
    helped = run("ask", "--help").output + run("ledger", "init", "--help").output

    assert {each for each in re.findall(r"--[a-z][a-z-]*", PAGE) if each not in helped} == set()


def test_the_readme_shows_an_answer_of_the_guide() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```\n\$ expost ask (.*?)^```", readme, re.DOTALL | re.MULTILINE)

    assert [line for line in shown.splitlines() if line.removesuffix("…") not in PAGE] == []
