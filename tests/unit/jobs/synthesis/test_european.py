"""From a European file to a synthetic one: flagged under a naive schema, read right under a declared one."""

import csv
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from tests.unit.commands import kept, run, said
from tests.unit.jobs.synthesis.customers import LADDER, made
from tests.unit.jobs.synthesis.european import DECLARED, NAIVE, european

pl = import_module("polars")

SHORT = ("--estimator", "model", "--ladder", "renyi:0.02:2:3", "--accuracy", "0.7", "--target", "raucher")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    european(tmp_path)
    (tmp_path / "naive.toml").write_text(NAIVE, encoding="utf-8")
    (tmp_path / "declared.toml").write_text(DECLARED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(form: str) -> Result:
    return run("check", "patienten.csv", "--schema", form)


def synth(form: str, *words: str) -> Result:
    return run("synth", "patienten.csv", "--schema", form, "--out", "out", "--seed", "1", *SHORT, *words)


def test_a_naive_schema_is_flagged_column_by_column_with_what_to_declare(here: Path) -> None:
    result = check("naive.toml")

    assert result.exit_code == 3
    assert result.stdout.startswith("PRIVATE: for the eyes of the data's owner only.")
    assert [line.split()[:2] for line in result.stdout.splitlines()[5:9]] == [
        ["geboren", "all"],
        ["gewicht", "all"],
        ["umsatz", "all"],
        ["raucher", "all"],
    ]
    assert 'declare format = "%d.%m.%Y".' in said(result)
    assert 'These look like numbers with decimal commas; declare decimal = ",".' in said(result)
    assert 'declare decimal = "," and thousands = ".".' in said(result)
    assert 'These look like truth values; declare true = ["ja"] and false = ["nein"].' in said(result)


def test_a_declared_schema_has_nothing_notable(here: Path) -> None:
    result = check("declared.toml")

    assert result.exit_code == 0, result.output
    assert "Nothing is notable" in result.stdout


def test_a_declared_schema_reads_every_cell(here: Path) -> None:
    """By hand, without the reader: the year, the number before the comma, and the word."""
    table = read_table(here / "patienten.csv", Schema.load(DECLARED))

    rows = [line.split(";") for line in (here / "patienten.csv").read_text(encoding="utf-8").splitlines()[1:]]
    years = [{"1931": 0, "1960": 1, "1990": 2}[row[1][-4:]] for row in rows]
    weights = [{"55": 0, "70": 1, "90": 2}[row[2].partition(",")[0]] for row in rows]
    money = [{"2": 1, "7": 2}.get(row[3].partition(".")[0], 0) if "." in row[3] else 0 for row in rows]
    assert table.codes("geboren").tolist() == years
    assert table.codes("gewicht").tolist() == weights
    assert table.codes("umsatz").tolist() == money
    assert table.codes("raucher").tolist() == [row[4] == "ja" for row in rows]


@pytest.mark.parametrize("chosen", ["csv", "parquet"])
def test_the_schema_of_the_real_file_reads_the_synthetic_one(chosen: str, here: Path) -> None:
    assert synth("declared.toml", "--format", chosen).exit_code == 0

    result = run("check", f"out/synthetic.{chosen}", "--schema", "declared.toml")

    assert result.exit_code == 0, result.output


def test_the_synthetic_file_has_the_codes_that_were_drawn_in_either_format(here: Path) -> None:
    done = made(here / "patienten.csv", schema=Schema.load(DECLARED), target="raucher", accuracy=0.7, ladder=LADDER)
    for name in ("csv", "parquet"):
        done.save(here / name, format=name)

    text, values = (read_table(here / name / f"synthetic.{name}", Schema.load(DECLARED)) for name in ("csv", "parquet"))

    assert all(np.array_equal(text.codes(name), values.codes(name)) for name in text.schema.names)
    assert min(len(np.unique(text.codes(name))) for name in text.schema.names) > 1


def test_the_synthetic_file_has_the_sign_between_fields_that_the_real_one_has(here: Path) -> None:
    """Numbers with a comma then need no quotes, as in the real file."""
    synth("declared.toml")

    text = (here / "out/synthetic.csv").read_text(encoding="utf-8")
    head, *rows = csv.reader(text.splitlines(), delimiter=";")
    assert head == ["geboren", "gewicht", "umsatz", "raucher"]
    assert all(len(row) == 4 and "," in row[1] for row in rows)
    assert '"' not in text


@pytest.mark.parametrize(("decimal", "sign"), [(",", ";"), (".", ",")])
def test_of_a_frame_the_fields_are_parted_by_a_sign_that_numbers_do_not_have(
    decimal: str, sign: str, here: Path
) -> None:
    frame = pl.read_csv(here / "patienten.csv", separator=";", infer_schema=False)
    frame = frame.with_columns(
        pl.col("gewicht", "umsatz").str.replace_all(".", "", literal=True).str.replace(",", decimal)
    )
    form = Schema.load(
        DECLARED.replace('decimal = ","\nthousands = "."', 'decimal = ","').replace('","', f'"{decimal}"')
    )

    made(frame, schema=form, target="raucher", accuracy=0.7, ladder=LADDER).save(here / "framed")

    head = (here / "framed/synthetic.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert head == sign.join(["geboren", "gewicht", "umsatz", "raucher"])


def test_a_run_says_whether_the_table_was_checked_on_the_terminal_in_the_report_and_in_the_receipt(here: Path) -> None:
    before = synth("declared.toml")
    check("declared.toml")
    after = synth("declared.toml", "--overwrite")

    assert "The table was not checked against its schema beforehand." in before.stdout.splitlines()[1]
    assert "The table was checked against its schema beforehand." in after.stdout.splitlines()[1]
    assert "The table was checked against its schema beforehand." in (here / "out/report.html").read_text("utf-8")
    assert kept(here)["schema"]["checked"] is True
    assert run("audit", "out/receipt.json").exit_code == 0


def test_with_the_receipt_on_the_output_it_is_said_beside_it(here: Path) -> None:
    result = synth("declared.toml", "--json")

    assert "The table was not checked" in result.stderr
    assert "not checked" not in result.stdout


def test_a_check_of_another_schema_or_another_table_does_not_count(here: Path) -> None:
    (here / "other.csv").write_bytes((here / "patienten.csv").read_bytes())
    check("naive.toml")
    run("check", "other.csv", "--schema", "declared.toml")

    synth("declared.toml")

    assert kept(here)["schema"]["checked"] is False


def test_a_draft_that_was_checked_and_then_reviewed_was_checked(here: Path) -> None:
    (here / "declared.toml").write_text(DECLARED.replace("reviewed = true", "reviewed = false"), encoding="utf-8")
    assert check("declared.toml").exit_code == 0
    (here / "declared.toml").write_text(f"# seen by us\n{DECLARED}", encoding="utf-8")

    synth("declared.toml")

    assert kept(here)["schema"]["checked"] is True


def test_what_is_said_does_not_depend_on_what_the_table_holds(here: Path) -> None:
    """One record more, or another one, after the check or before it; notable or not: the sentence is the same."""
    check("declared.toml")
    first = synth("declared.toml").stdout.splitlines()[:2]
    with (here / "patienten.csv").open("a", encoding="utf-8") as file:
        file.write("900;never;heavy;much;perhaps\n")

    second = synth("declared.toml", "--overwrite").stdout.splitlines()[:2]
    (here / "declared.toml.checked").unlink()
    check("declared.toml")

    assert first == second == synth("declared.toml", "--overwrite").stdout.splitlines()[:2]
