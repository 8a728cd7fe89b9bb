"""The guide for data stewards is true: its table, drafts, checks, plan and run are what the commands print."""

import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

from expost.tabular.schema.declaration import toml
from tests.unit.commands import run, said
from tests.unit.report.pages import said as page_text

PAGE = (Path(__file__).parents[4] / "docs/data-steward.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SEED = ("--seed", "1")


def block(kind: str, start: str) -> str:
    """The block of this kind that begins so, without its first line where that is a command."""
    (found,) = (text for named, text in BLOCKS if named == kind and text.startswith(start))
    return str(found.partition("\n")[2] if start.startswith("$") else found)


def corrected(form: str, additions: str) -> str:
    """The schema with the settings that the guide adds to its head and to its columns."""
    added = tomllib.loads(additions)
    for column in added.pop("column"):
        name = f'name = "{column.pop("name")}"\n'
        form = form.replace(name, name + lines(column))
    return form.replace("neighbours", lines(added) + "neighbours")


def lines(settings: dict[str, object]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in settings.items())


def unnumbered(text: str) -> str:
    """The words of a text, with one mark for every number, digest and break."""
    return " ".join(re.sub(r"\d[\d.,…]*|sha256 \S+", "#", text).split())


FORM = block("toml", "# visits.toml")
ADDITIONS = block("toml", "# to the head")
UNTIL_SEEDED = "The last rung would have cost"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the practice table, and the schema before and after its correction."""
    made = tmp_path_factory.mktemp("guide")
    subprocess.run([sys.executable, "-c", block("python", "import csv")], cwd=made, check=True)
    (made / "form.toml").write_text(FORM, encoding="utf-8")
    (made / "visits.toml").write_text(corrected(FORM, ADDITIONS), encoding="utf-8")
    (made / "job.toml").write_text(block("toml", "# job.toml"), encoding="utf-8")
    return made


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> Result:
    """The run of the guide, after its check, with a seed."""
    (words,) = re.findall(r"^\$ expost (synth visits.csv .*)$", PAGE, re.MULTILINE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("check", "visits.csv", "--schema", "visits.toml")
        return run(*words.split(), *SEED)


def test_the_practice_table_is_a_european_file_of_visits_with_a_rare_outcome(here: Path) -> None:
    header, *rows = (here / "visits.csv").read_text(encoding="utf-8").splitlines()
    visits = Counter(row.split(";")[0] for row in rows)
    infected = sum(row.split(";")[7] == "ja" for row in rows)

    assert len(visits) == 20_000
    assert sum(times == 1 for times in visits.values()) > 10_000
    assert 1 <= sum(times > 100 for times in visits.values()) < 50
    assert header.startswith("patient_id;born;")
    assert 0.025 < infected / len(rows) < 0.035


def test_the_draft_says_what_the_guide_shows(here: Path) -> None:
    result = run("schema", "visits.csv")

    assert result.stderr == block("console", "$ expost schema")
    assert block("toml", '[[column]]\nname = "copayment"\nkind') in result.stdout
    assert '\nunit = "patient_id"\n' in result.stdout


def test_the_check_finds_what_the_guide_says_it_finds(here: Path) -> None:
    shown, _ = (text for kind, text in BLOCKS if text.startswith("$ expost check"))
    found, last = shown.partition("\n")[2].split("...\n")

    result = run("check", "visits.csv", "--schema", "form.toml")

    assert result.exit_code == 3
    assert result.stdout.startswith(found)
    assert result.stdout.endswith(last)


def test_the_corrected_schema_has_nothing_notable(here: Path) -> None:
    _, shown = (text for kind, text in BLOCKS if text.startswith("$ expost check"))

    result = run("check", "visits.csv", "--schema", "visits.toml")

    assert result.exit_code == 0
    assert result.stdout == shown.partition("\n")[2]


def test_the_draft_with_its_mark_has_nothing_notable_either(here: Path) -> None:
    (here / "draft.toml").write_text(run("schema", "visits.csv", "--missing", "k.A.").stdout, encoding="utf-8")

    assert run("check", "visits.csv", "--schema", "draft.toml").exit_code == 0


def test_the_plan_is_the_one_shown(here: Path) -> None:
    (words,) = re.findall(r"^\$ expost (plan synth .*)$", PAGE, re.MULTILINE)

    assert run(*words.split()).stdout.startswith(block("console", "$ expost plan synth"))


def test_the_run_tells_what_the_guide_shows_but_for_its_noise(done: Result) -> None:
    told, shown = map(unnumbered, (done.stdout, block("console", "$ expost synth visits.csv")))

    assert done.exit_code == 0, done.output
    assert told.partition(UNTIL_SEEDED)[0] == shown.partition(UNTIL_SEEDED)[0]
    assert "This cost ε = 0.200 at δ = 1e-5, per person." in said(done)


def test_the_report_has_the_sentences_about_rows_and_persons_that_the_guide_reads(folder: Path, done: Result) -> None:
    shown = re.findall(r"^\| (About .*?|As far as noise .*?|Rows per person .*?) \|", PAGE, re.MULTILINE)

    page = unnumbered(page_text((folder / "release/report.html").read_text(encoding="utf-8")))

    assert len(shown) == 3
    assert [each for each in map(unnumbered, shown) if each not in page] == []


def test_the_query_that_makes_one_record_per_person_is_taken_as_it_is_written(here: Path) -> None:
    _, command, source, *_ = shlex.split(block("sh", 'expost synth "duckdb:'))
    (copy,) = re.findall(r"`(COPY [^`]+)`", PAGE)
    duckdb.sql(copy)

    result = run("check", source, "--schema", "visits.toml")

    assert command == "synth"
    assert result.exit_code == 0, result.output
