"""A ledger on the command line: what is refused before anything is read, and what is said."""

from pathlib import Path

import pytest

from expost.ledgers.book import init_ledger, open_ledger
from expost.ledgers.overview import overviews
from expost.ledgers.terms import epsilon_terms
from tests.unit.commands import kept, run, said
from tests.unit.jobs.synthesis.customers import SCHEMA, csv

SYNTH = (
    "synth", "customers.csv", "--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.3", "--estimator",
    "model", "--ladder", "0.2:1:3", "--out", "out",
)  # fmt: skip
FINETUNE = ("finetune", "records.npz", "--accuracy", "0.3", "--out", "out")
DEMO = ("demo", "--out", "out")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    init_ledger(tmp_path / "ledger.db", "people", epsilon_terms(5, 1e-6)).home.close()
    return tmp_path


REFUSED = {
    "no data set": (("--ledger", "ledger.db"), "say with --dataset which one"),
    "no ledger": (("--dataset", "people"), "give --ledger or set EXPOST_LEDGER"),
    "a rehearsal": (("--ledger", "ledger.db", "--dataset", "people", "--seed", "1"), "leave --seed out, or name no"),
    "no file": (("--ledger", "nowhere.db", "--dataset", "people"), "cannot be opened"),
    "another file": (("--ledger", "schema.toml", "--dataset", "people"), "is not a ledger of expost"),
    "another data set": (("--ledger", "ledger.db", "--dataset", "others"), "has no data set 'others'"),
}


@pytest.mark.parametrize("command", [SYNTH, FINETUNE, DEMO], ids=lambda words: words[0])
@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_in_one_sentence_before_the_records_are_looked_for(
    kind: str, command: tuple[str, ...], here: Path
) -> None:
    words, reason = REFUSED[kind]
    found = run(*command, *words)

    assert found.exit_code == 2
    assert reason in found.stderr
    assert found.stderr.startswith("expost: ")
    assert found.stderr.count("\n") == 1
    assert {each.name for each in here.iterdir()} == {"schema.toml", "ledger.db"}
    with open_ledger("ledger.db") as book:
        assert overviews(book.home)[0].entries == 1


def test_a_rehearsal_is_told_which_variable_names_the_ledger(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPOST_LEDGER", "ledger.db")

    assert "neither by --ledger nor in EXPOST_LEDGER" in run(*SYNTH, "--dataset", "people", "--seed", "1").stderr


def test_a_plan_that_fits_in_part_is_said_before_the_records_are_read(here: Path) -> None:
    csv(here)
    init_ledger(here / "small.db", "people", epsilon_terms(0.9, 1e-6)).home.close()

    found = run(*SYNTH, "--ledger", "small.db", "--dataset", "people")

    before, _, _ = found.stdout.partition("rung: 1")
    assert "people: nothing is spent yet; with this run at most ε = " in before
    assert " of 0.9 at δ = 1e-6.\nThe ledger has room for 2 of the 3 planned rungs; the run ends with that " in before
    assert kept(here)["cap"] == kept(here)["plan"]["stops"][1]["epsilon"]


def test_an_analyst_is_told_of_the_allowance_that_leaves_room_for_a_part_of_the_plan(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    csv(here)
    with open_ledger("ledger.db") as book:
        monkeypatch.setenv("EXPOST_TOKEN", book.add_analyst("people", "ben", 0.9))

    before, _, _ = run(*SYNTH, "--ledger", "ledger.db", "--dataset", "people").stdout.partition("rung: 1")

    assert " of 5 at δ = 1e-6. The analyst 'ben' has spent nothing of an allowance of 0.9; with this run at " in before
    assert ".\nThe allowance of the analyst 'ben' has room for 2 of the 3 planned rungs; " in before


def test_an_allowance_that_is_too_small_is_named_as_what_refuses(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    csv(here)
    with open_ledger("ledger.db") as book:
        monkeypatch.setenv("EXPOST_TOKEN", book.add_analyst("people", "ben", 0.1))

    found = run(*SYNTH, "--ledger", "ledger.db", "--dataset", "people")

    assert "the analyst 'ben' has 0 % of their allowance spent or held" in found.stderr


def test_what_was_held_captured_and_returned_is_said_at_the_end(here: Path) -> None:
    csv(here)
    found = run(*SYNTH, "--ledger", "ledger.db", "--dataset", "people")
    with open_ledger("ledger.db") as book:
        ledger = overviews(book.home)[0]

    assert " % of the cap was held, " in said(found)
    assert " captured and " in said(found)
    assert " returned; ε = " in said(found)
    assert kept(here)["ledger"] == {
        "dataset": "people", "run": kept(here)["ledger"]["run"], "entry": ledger.entries, "head": ledger.head,
    }  # fmt: skip


def test_without_a_ledger_the_receipt_says_so(here: Path) -> None:
    csv(here)
    found = run(*SYNTH)

    assert kept(here)["ledger"] is None
    assert "of the cap was held" not in said(found)


def test_a_journal_is_not_compared_with_a_ledger(here: Path) -> None:
    (here / "run.journal").write_text('{"format": "expost journal 1"}\n', encoding="utf-8")

    assert run("audit", "run.journal", "--ledger", "ledger.db").exit_code == 2
