"""The commands ask and plan ask: refused in a sentence before data is opened, and shown, written and audited after."""

import json
import re
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

from expost.jobs.asking.command import free_folder
from expost.jobs.asking.screen import small_bar
from tests.unit.asking_examples import PERSONS, visits
from tests.unit.commands import run, said
from tests.unit.jobs.synthesis.customers import SCHEMA


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with customers and their schemas, to work in."""
    visits().write_csv(tmp_path / "customers.csv")
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    (tmp_path / "persons.toml").write_text(PERSONS.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


BEFORE = {"customers.csv", "schema.toml", "persons.toml"}


def ask(*words: str, schema: str = "schema.toml") -> Result:
    """A rehearsed question about the customers."""
    return run("ask", "customers.csv", *words, "--schema", schema, "--seed", "1")


def test_an_answer_is_shown_and_written_to_the_first_free_folder(here: Path) -> None:
    first, second = (ask("count by region", "--within", "40") for _ in range(2))

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.output.endswith("\nWritten to expost-answer/\n")
    assert second.output.endswith("\nWritten to expost-answer-2/\n")
    kept = {"answers.csv", "receipt.json", "report.html", "schema.toml"}
    assert {path.name for path in (here / "expost-answer").iterdir()} == kept
    assert {path.name for path in here.iterdir()} == BEFORE | {"expost-answer", "expost-answer-2"}


def test_a_folder_that_a_run_has_claimed_is_not_free(here: Path) -> None:
    (here / "expost-answer.journal").touch()

    assert free_folder(here).name == "expost-answer-2"


def test_the_digest_and_the_exact_price_are_said_before_the_answers(here: Path) -> None:
    done = ask("count by region", "--within", "40")

    receipt = json.loads((here / "expost-answer/receipt.json").read_text(encoding="utf-8"))
    lines = done.output.splitlines()
    assert lines[0] == f"pledged: sha256 {receipt['pledged']}"
    assert lines[1] == "This costs ε = 0.161 at δ = 1e-5, whatever the data say."


def test_a_price_that_depends_on_the_data_is_announced_as_a_cap() -> None:
    assert "This costs at most ε = 0.5 at δ = 1e-5" in ask("count by plan", "--top", "1", "--max-epsilon", "0.5").output


def test_the_table_shows_each_group_with_its_noise(here: Path) -> None:
    done = ask("count by region", "--within", "40")

    shown = re.findall(r"^(north|south|west) +([\d,]+) +(\d+) ", done.output, re.MULTILINE)
    told = duckdb.read_csv(str(here / "expost-answer/answers.csv")).fetchall()
    assert [(name, int(value.replace(",", ""))) for name, value, _ in shown] == [
        (name, round(estimate)) for name, estimate, *_ in told
    ]


def test_what_is_not_reached_ends_with_3(here: Path) -> None:
    done = ask("count by region", "--within", "1%", "--max-epsilon", "0.3", "--fewer-than", "5")

    assert done.exit_code == 3
    assert "NOT SETTLED" in done.output
    assert "the run stopped before it would have cost more than ε = 0.3" in said(done)


def test_the_receipt_is_printed_instead_of_words(here: Path) -> None:
    done = ask("count by region", "--within", "40", "--json", "--format", "parquet", "--out", "out")

    assert done.stdout == (here / "out/receipt.json").read_text(encoding="utf-8")
    assert done.stderr.startswith("pledged: sha256 ")
    assert len(duckdb.read_parquet(str(here / "out/answers.parquet")).fetchall()) == 3


def test_an_answer_replaces_another_and_keeps_its_receipt(here: Path) -> None:
    ask("count by region", "--within", "40", "--out", "out")

    refused = ask("count by region", "--within", "50", "--out", "out")
    replaced = ask("count by region", "--within", "50", "--out", "out", "--overwrite")

    assert (refused.exit_code, replaced.exit_code) == (2, 0)
    assert (here / "out/earlier/receipt-1.json").is_file()


def test_sql_and_several_questions_are_answered_together(here: Path) -> None:
    done = ask("SELECT region, count(*) FROM t GROUP BY region", "count", "--within", "60", "--together")

    assert done.exit_code == 0
    assert "with 95 % confidence for all of them together" in said(done)


def test_a_title_and_options_from_a_file_are_taken(here: Path) -> None:
    (here / "ask.toml").write_text('within = "40"\ntitle = "Regions"\n', encoding="utf-8")

    ask("count by region", "--config", "ask.toml")

    assert "<h1>Regions</h1>" in (here / "expost-answer/report.html").read_text(encoding="utf-8")


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no target": (("count by region",), "say how precise"),
    "two targets": (("count by region", "--within", "5%", "--top", "1"), "say how precise"),
    "a share of nothing": (("count by region", "--top", "1", "--of-total"), "--of-total is about --within"),
    "a distance of the total": (("count by region", "--within", "5", "--of-total"), "not a share"),
    "no number": (("count by region", "--above", "many"), "above is many, which is not a number"),
    "an unknown column": (("count by colour", "--within", "5%"), "colour"),
    "an unknown group": (("count by plan", "--compare", "basic", "none"), "there is no group none"),
    "too many at the top": (("count by plan", "--top", "2"), "ask for fewer"),
    "nonsense": (("how many are there", "--within", "5%"), "ask, for example"),
    "a confidence of 1": (("count", "--within", "5%", "--confidence", "1"), "confidence"),
    "a confidence in words": (("count", "--within", "5%", "--confidence", "high"), "not a number"),
    "too precise for its cap": (("count", "--within", "3", "--max-epsilon", "0.1"), "above the 0.1"),
    "a share without its sign": (("count", "--within", "0.05"), "a share of the truth, as in 5%"),
    "rows of persons without persons": (("count", "--within", "5%", "--rows-per-person", "2"), "names a unit"),
    "persons without a unit": (("persons by plan", "--within", "5%"), "persons cannot be counted"),
    "another clause": (("SELECT count(*) FROM t LIMIT 3", "--within", "5%"), "LIMIT"),
}


@pytest.mark.parametrize(("words", "reason"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_in_one_sentence_before_data_is_opened(
    words: tuple[str, ...], reason: str, here: Path
) -> None:
    """The source is not there, so that a run that opened it would say so."""
    done = run("ask", "missing.csv", *words, "--schema", "schema.toml")

    assert (done.exit_code, done.stdout) == (2, "")
    assert reason in done.stderr
    assert done.stderr.startswith("expost: ")
    assert done.stderr.count("\n") == 1
    assert {path.name for path in here.iterdir()} == BEFORE


def test_a_draft_of_a_schema_is_refused(here: Path) -> None:
    draft = SCHEMA.dumps().replace("reviewed = true", "reviewed = false")
    (here / "draft.toml").write_text(draft, encoding="utf-8")

    done = ask("count", "--within", "50", schema="draft.toml")

    assert (done.exit_code, "the schema is a draft" in done.stderr) == (2, True)


def test_a_plan_of_a_known_price_needs_no_data_and_says_what_is_read() -> None:
    done = run("plan", "ask", "count by region", "--schema", "schema.toml", "--within", "40")

    assert done.exit_code == 0
    assert "This costs ε = 0.161 at δ = 1e-5, whatever the data say. Columns that are read: region." in said(done)


def test_a_plan_says_that_it_reads_no_file(here: Path) -> None:
    """Who asks puts plan before the same words, with the table among them."""
    done = run("plan", "ask", "customers.csv", "count by region", "--schema", "schema.toml", "--within", "40")

    assert done.exit_code == 2
    assert said(done) == "expost: a plan reads no table; leave out customers.csv."


def test_a_plan_of_a_jump_tells_the_levels_and_the_groups_out_of_reach() -> None:
    done = run("plan", "ask", "count by region", "--schema", "persons.toml", "--within", "5%")

    assert "Columns that are read: who, region." in said(done)
    sizes = [int(each.replace(",", "")) for each in re.findall(r"fewer than ([\d,]+)", done.output)]
    assert len(sizes) > 5
    assert sizes == sorted(sizes, reverse=True)


def test_a_plan_says_that_sizes_grow_with_the_rows_of_a_person_that_count_in_full() -> None:
    """Else somebody plans for groups that the run then tells only as fewer than sixteen times as many."""
    words = ("plan", "ask", "count by region", "--schema", "persons.toml", "--within", "5%")
    grow = "If as many as 8 count in full, each number is 8 times as large"

    assert grow in said(run(*words))
    assert grow not in said(run(*words, "--rows-per-person", "8"))
    assert grow not in said(run(*words[:2], "persons", *words[3:]))


def test_a_plan_has_no_sizes_where_every_group_is_told() -> None:
    done = run("plan", "ask", "count by region", "--schema", "persons.toml", "--within", "50")

    assert "told only as" not in said(done)
    assert "Groups that are too small" not in said(done)
    assert "Say --rows-per-person, and it has one price" in said(done)


def test_a_distance_that_reaches_from_end_to_end_of_a_column_is_said_to_tell_nothing(here: Path) -> None:
    """It is what somebody gets who asks for a count and a mean within the same distance."""
    questions = ("count by region", "mean age by region", "--within", "60")
    idle = "“mean of age by region” is within 60 of the middle of its range whatever the data say"

    assert idle in said(run("plan", "ask", *questions, "--schema", "schema.toml"))
    assert idle in said(ask(*questions))
    assert idle not in said(ask("mean age by region", "--within", "20"))


def test_a_plan_of_a_decision_tells_its_levels() -> None:
    done = run("plan", "ask", "count by region", "--schema", "schema.toml", "--top", "1")

    assert "until error bars decide it" in said(done)
    assert "out of reach" not in done.output


def test_small_bars_end_in_parts_of_a_letter_where_the_terminal_has_them() -> None:
    assert (small_bar(1.0, "utf-8"), small_bar(0.03, "utf-8"), small_bar(1.0, "latin-1")) == ("█" * 16, "▌", "#" * 16)
