"""Names with control characters, of folders above all, are shown without them: no terminal obeys a path."""

from pathlib import Path

import pytest
from click.testing import Result

from expost.folders.claim import Claim
from tests.unit.commands import beside, run
from tests.unit.jobs.synthesis.customers import SCHEMA, csv

DRAWS = "a\x1b[2J\x9b1m\x07\r\nε = 0 is spent.\x7f\u202e"
"""Clears the screen, in two ways, rings, begins a line with a claim of its own, and turns what follows around."""
SHOWN = "a?[2J?1m???ε = 0 is spent.??"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and its schema, to work in."""
    csv(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def synth(*words: str, source: str = "customers.csv") -> Result:
    """A release of the customers."""
    usual = ("--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.8", "--seed", "1")
    return run("synth", source, *beside((*usual, "--estimator", "model", "--ladder", "renyi:0.02:2:3"), words))


def plain(result: Result) -> str:
    """All that was said, which is letters and line ends."""
    said = result.stdout + result.stderr
    assert "".join(said.split("\n")).isprintable(), ascii(said)
    return said


def test_a_release_into_such_a_folder_is_made_and_its_name_shown_without_them(here: Path) -> None:
    result = synth("--out", DRAWS)

    assert result.exit_code == 0
    assert plain(result).endswith(f"Written to {SHOWN}/\n")
    assert (here / DRAWS / "receipt.json").exists()


def test_without_care_a_terminal_would_obey_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: the same release, shown as it was typed."""
    monkeypatch.setattr("expost.terminal.screen.printable", str)

    result = synth("--out", DRAWS)

    assert "\x9b1m" in result.stdout


def test_such_a_folder_is_refused_in_the_same_letters(here: Path) -> None:
    (here / DRAWS).mkdir()
    (here / f"{DRAWS}2.journal").write_text("mine", encoding="utf-8")

    taken, foreign = synth("--out", DRAWS), synth("--out", f"{DRAWS}2")
    under = synth("--out", f"customers.csv/{DRAWS}")
    with Claim(here / f"{DRAWS}3"):
        twice = synth("--out", f"{DRAWS}3")

    assert [each.exit_code for each in (taken, foreign, under, twice)] == [2] * 4
    for each in (taken, foreign, under, twice):
        assert plain(each).count("\n") == 1
        assert SHOWN in each.stderr


def test_a_journal_that_is_left_beside_it_is_named_in_the_same_letters(here: Path) -> None:
    result = synth("--out", DRAWS, "--estimator", "tests.unit.test_cli.Failing")

    assert result.exit_code == 2
    assert plain(result).endswith(f", as {SHOWN}.journal says.\n")
    assert (here / f"{DRAWS}.journal").exists()


def test_a_title_of_such_letters_is_told_in_json_by_escapes(here: Path) -> None:
    result = synth("--out", "out", "--json", "--title", DRAWS)

    assert result.exit_code == 0
    assert r"\u001b[2J\u009b1m\u0007\r\nε = 0 is spent.\u007f\u202e" in plain(result)
    assert "".join((here / "out/receipt.json").read_text(encoding="utf-8").split("\n")).isprintable()
    assert run("audit", "out/receipt.json").exit_code == 0


def test_the_name_of_a_table_is_not_on_its_receipt(here: Path) -> None:
    (here / "customers.csv").rename(here / "ward-3.csv")

    assert "ward-3" not in synth("--out", "out", "--json", source="ward-3.csv").output


@pytest.mark.parametrize("text", ["3", r'"a\u001b[2J\u009b1m" = 3', r'out = "a\u0000b"'])
def test_a_file_of_options_and_what_it_names_cannot_draw_either(here: Path, text: str) -> None:
    (here / DRAWS).write_text(text, encoding="utf-8")

    result = synth("--config", DRAWS)

    assert result.exit_code == 2
    assert SHOWN in plain(result)
