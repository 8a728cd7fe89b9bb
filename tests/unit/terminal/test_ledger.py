"""The commands of a steward: what they show of a ledger, what they change, and what they refuse in a sentence."""

import json
import re
import sqlite3
from pathlib import Path

import pytest
import yaml

from expost.ledgers.book import open_ledger
from expost.ledgers.settling import unsettled
from expost.text import Json
from tests.server import Server
from tests.unit.commands import run, said
from tests.unit.ledgers.examples import begun, held, spend, whole_ledger

CAP = "epsilon=3, delta=1e-6"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXPOST_LEDGER", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def booked(here: Path) -> dict[str, Json]:
    return whole_ledger(here / "hospital.db")


def refusal(*words: str) -> str:
    result = run("ledger", *words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.fullmatch(r"expost: .+\.\n", result.stderr)
    return result.stderr


def test_init_makes_a_ledger_that_only_its_owner_reads_and_says_where_its_chain_begins(here: Path) -> None:
    result = run("ledger", "init", "hospital.db", "--dataset", "admissions", "--cap", CAP)

    assert result.exit_code == 0, result.output
    assert "stays within ε = 3 at δ = 1e-6, for one record. Its chain begins with" in said(result)
    assert (here / "hospital.db").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in here.iterdir()] == ["hospital.db"]


def test_init_shows_no_password_of_a_server(here: Path, postgres: Server) -> None:
    postgres.emptied()

    shown = said(run("ledger", "init", postgres.url("postgres", password="secret"), "--dataset", "a", "--cap", CAP))

    assert "a is on the ledger postgresql://expost@/" in shown
    assert "secret" not in shown


def test_a_name_that_is_too_long_for_a_file_is_refused(here: Path) -> None:
    assert "cannot be made (File name too long)" in refusal("init", 300 * "x", "--dataset", "a", "--cap", CAP)


@pytest.mark.parametrize(
    ("words", "cap"),
    [
        (("--cap", "delta = 1e-6,epsilon = 1/2"), "cap ε = 0.5 at δ = 1e-6, for one person"),
        (("--cap-rdp", "1.0", "--alpha", "20"), "cap ε = 1 at the Rényi order 20, for one person"),
        (("--cap-zcdp", "0.1"), "cap ρ = 0.1, for one person"),
    ],
)
def test_a_second_data_set_is_put_on_the_same_ledger(here: Path, words: tuple[str, ...], cap: str) -> None:
    run("ledger", "init", "hospital.db", "--dataset", "admissions", "--cap", CAP)

    run("ledger", "init", "hospital.db", "--dataset", "visits", "--unit", "one person", *words)

    shown = said(run("ledger", "show", "hospital.db"))
    assert "admissions cap ε = 3 at δ = 1e-6, for one record" in shown
    assert f"visits {cap}" in shown


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--cap", CAP, "--cap-zcdp", "1"),
        ("--cap-rdp", "1"),
        ("--alpha", "20"),
        ("--cap-zcdp", "1", "--alpha", "20"),
        ("--cap", "3"),
        ("--cap", "epsilon=3"),
        ("--cap", "epsilon=3, delta=1e-6, delta=1e-5"),
        ("--cap", "epsilon=three, delta=1e-6"),
        ("--cap", "epsilon=nan, delta=1e-6"),
        ("--cap", "epsilon=3, delta=0"),
        ("--cap", "epsilon=3, delta=1"),
        ("--cap", "epsilon=-3, delta=1e-6"),
        ("--cap", "epsilon=1e-9, delta=1e-6"),
        ("--cap-rdp", "1", "--alpha", "1"),
        ("--cap-rdp", "1/0", "--alpha", "2"),
        ("--cap-zcdp", "0"),
        ("--cap-zcdp", "inf"),
        ("--cap-zcdp", "1e99999"),
        ("--cap-zcdp", "1e60"),
        ("--cap-rdp", "1e60", "--alpha", "2"),
        ("--cap", "epsilon=1e60, delta=1e-6"),
        ("--cap-rdp", "1", "--alpha", "1e400"),
        ("--cap-rdp", "1", "--alpha", "1e7"),
        ("--cap-rdp", "1", "--alpha", "1.00000001"),
        ("--cap-rdp", "1e-13", "--alpha", "2"),
        ("--cap-zcdp", "1e-30"),
        ("--cap-zcdp", "1e-400"),
        ("--cap-zcdp", "1/3"),
        ("--cap", "epsilon=3.0000004, delta=1e-6"),
        ("--cap", "epsilon=3, delta=1.0000004e-6"),
        ("--cap", "epsilon=3, delta=1e400"),
    ],
    ids=" ".join,
)
def test_an_absurd_cap_is_refused_before_a_file_is_made(here: Path, words: tuple[str, ...]) -> None:
    refusal("init", "hospital.db", "--dataset", "admissions", *words)

    assert [*here.iterdir()] == []


def test_an_allowance_that_cannot_be_told_in_full_is_refused(booked: dict[str, Json]) -> None:
    words = ("analyst", "add", "ben", "hospital.db", "--dataset", "admissions", "--epsilon", "1/3")

    assert "the allowance is 1/3, which six digits do not tell in full; give one such as 0.333333" in refusal(*words)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_an_absurd_name_is_refused_before_a_file_is_made(here: Path, name: str) -> None:
    assert "the name of a data set" in refusal("init", "hospital.db", "--dataset", name, "--cap", CAP)
    assert [*here.iterdir()] == []


def test_a_unit_in_words_is_told_to_cover_nobody_by_itself(here: Path) -> None:
    shown = said(run("ledger", "init", "hospital.db", "--dataset", "a", "--cap", CAP, "--unit", "one patient"))

    assert (
        "at δ = 1e-6, for one patient. That holds of runs whose schema names this unit; others are per record." in shown
    )


def test_a_unit_that_says_nothing_is_refused_before_a_file_is_made(here: Path) -> None:
    words = ("init", "hospital.db", "--dataset", "admissions", "--cap", CAP, "--unit", "")

    assert "what is protected is empty" in refusal(*words)
    assert [*here.iterdir()] == []


def test_a_cap_stays_as_it_is(booked: dict[str, Json]) -> None:
    assert "its cap stays" in refusal("init", "hospital.db", "--dataset", "visits", "--cap-zcdp", "9")


def test_show_says_what_is_spent_held_and_left_by_data_set_and_by_analyst(booked: dict[str, Json]) -> None:
    shown = said(run("ledger", "show", "hospital.db"))

    assert "% spent, 1.01 % held, " in shown
    assert "held ε = 1.02 at δ = 1e-6 with what is held; 1 run is open" in shown
    assert "left ρ = 0.179 for Gaussian noise, which by itself is ε = 2.76 at δ = 1e-6" in shown
    assert re.search(r"Ana 0\.\d+ 0\.\d+ 1 █+▒+░+ ", shown)
    assert "a crash Gaussian on data 0.505 %" in shown
    assert "visits cap ρ = 1, for one record ████████░░░░░░░░░░░░░░░░░░░░░░░░ 25.0 % spent, 75.0 % left" in shown


def test_the_bar_and_its_shares_fit_on_a_line_of_eighty_letters(booked: dict[str, Json]) -> None:
    """Shares have three digits, so that the longest are those of a small run beside another one."""
    longest = "0.00505 % spent, 0.00505 % held, 99.9 % left"

    lines = run("ledger", "show", "hospital.db").output.splitlines()

    (shown,) = (line for line in lines if " held, " in line)
    bar = shown.partition("%")[0].rstrip("0123456789. ")
    assert shown.endswith(" left")
    assert len(f"{bar}   {longest}") <= 80


def test_show_can_be_of_one_data_set_and_without_lines(booked: dict[str, Json]) -> None:
    shown = run("ledger", "show", "hospital.db", "--dataset", "visits", "--lines", "0").output

    assert "admissions" not in shown
    assert "Gaussian on data" not in shown


def test_nothing_on_a_ledger_can_draw_on_a_terminal(booked: dict[str, Json], here: Path) -> None:
    with sqlite3.connect(here / "hospital.db") as connection:
        connection.execute("UPDATE runs SET what = 'a' || char(27) || '[31m[red]'")
        connection.execute("UPDATE analysts SET name = 'b' || char(27) || '[31m[red]'")
    connection.close()

    for command in ("show", "orphans", "verify"):
        assert "\x1b" not in run("ledger", command, "hospital.db").output
    assert "a?[31m[red]" in said(run("ledger", "show", "hospital.db"))


def test_a_ledger_can_be_named_by_a_variable(booked: dict[str, Json], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPOST_LEDGER", "hospital.db")
    identity = said(run("ledger", "orphans")).split()[0]

    assert "admissions" in run("ledger", "show").output
    assert run("ledger", "verify").exit_code == 0
    assert run("ledger", "analyst", "add", "Ben", "--epsilon", "0.5", "--dataset", "admissions").exit_code == 0
    assert run("ledger", "settle", identity, "--in-full").exit_code == 0


@pytest.mark.parametrize("command", ["show", "verify", "orphans", "settle"])
def test_a_ledger_that_is_not_named_is_asked_for(here: Path, command: str) -> None:
    more = ("abcd", "--in-full") if command == "settle" else ()

    assert "give its file, or set EXPOST_LEDGER" in refusal(command, *more)


@pytest.mark.parametrize("command", ["show", "verify", "orphans"])
def test_a_ledger_that_is_not_there_is_not_made(here: Path, command: str) -> None:
    assert "make one with `expost ledger init`" in refusal(command, "hospital.db")
    assert [*here.iterdir()] == []


def test_verify_says_that_it_holds_and_what_it_cannot_know(booked: dict[str, Json]) -> None:
    result = run("ledger", "verify", "hospital.db")

    assert result.exit_code == 0, result.output
    assert "visits 4 entries, 1 run, from " in said(result)
    assert "Every total is what the entries lead to, and no cap was passed." in said(result)
    assert "give one with --against" in said(result)


def test_verify_against_a_receipt_says_that_its_entry_is_there(booked: dict[str, Json], here: Path) -> None:
    (here / "receipt.json").write_text(json.dumps({"ledger": booked}), encoding="utf-8")

    result = run("ledger", "verify", "hospital.db", "--against", "receipt.json")

    assert result.exit_code == 0, result.output
    assert "The entry that the receipt names is there" in said(result)


def test_verify_exits_with_three_where_something_is_wrong(booked: dict[str, Json], here: Path) -> None:
    (here / "receipt.json").write_text(json.dumps({"ledger": {**booked, "entry": 999}}), encoding="utf-8")

    result = run("ledger", "verify", "hospital.db", "--against", "receipt.json")

    assert result.exit_code == 3
    assert "wrong The receipt was written at entry 999 of 'admissions', and the ledger has" in said(result)
    assert "Every total" not in said(result)


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"ledger": {"dataset": 1, "run": 2, "entry": 3, "head": 4}}'])
def test_verify_refuses_a_receipt_that_names_no_ledger(booked: dict[str, Json], here: Path, text: str) -> None:
    (here / "receipt.json").write_text(text, encoding="utf-8")

    assert "receipt" in refusal("verify", "hospital.db", "--against", "receipt.json")


def test_a_token_is_printed_once_and_lets_its_analyst_spend(here: Path) -> None:
    run("ledger", "init", "hospital.db", "--dataset", "visits", "--cap-zcdp", "1")

    result = run("ledger", "analyst", "add", "Ana", "hospital.db", "--rho", "0.5")

    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"[0-9a-f]{64}\n", result.stdout)
    assert "Ana may spend ρ = 0.5 of visits." in result.stderr
    token = result.stdout.strip()
    assert token.encode() not in (here / "hospital.db").read_bytes()
    with open_ledger("hospital.db") as book, begun(book, "visits", token=token) as spending:
        spend(spending, "1/2")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("Ana", "--epsilon", "4", "--dataset", "admissions"), "above the cap"),
        (("Ana", "--epsilon", "1", "--dataset", "admissions"), "is an analyst"),
        (("Ben", "--epsilon", "x", "--dataset", "admissions"), "is not a number"),
        (("Ben", "--epsilon", "0", "--dataset", "admissions"), "is 0"),
        (("Ben", "--epsilon", "1"), "say which one is meant with --dataset"),
        (("Ben", "--epsilon", "1", "--dataset", "staff"), "no data set 'staff'"),
        (("", "--rho", "1", "--dataset", "visits"), "the name of an analyst"),
    ],
)
def test_an_allowance_that_cannot_be_is_refused(booked: dict[str, Json], words: tuple[str, ...], reason: str) -> None:
    assert reason in refusal("analyst", "add", words[0], "hospital.db", *words[1:])


@pytest.mark.parametrize(
    ("dataset", "words", "reason"),
    [
        ("visits", ("--epsilon", "0.5"), "the cap of visits is on the ρ of zCDP; give the allowance with --rho."),
        ("admissions", ("--rho", "0.5"), "the cap of admissions is on ε at δ = 1e-6; give the allowance with --epsil"),
        ("visits", (), "say what they may spend, with --epsilon or --rho"),
        ("visits", ("--epsilon", "0.5", "--rho", "0.5"), "say what they may spend, with --epsilon or --rho"),
    ],
)
def test_an_allowance_in_another_notation_than_the_cap_is_refused(
    booked: dict[str, Json], dataset: str, words: tuple[str, ...], reason: str
) -> None:
    """An ε that is taken for a ρ allows far more than was meant."""
    assert reason in refusal("analyst", "add", "Ben", "hospital.db", "--dataset", dataset, *words)


def test_show_lists_older_charges_and_why_a_run_was_settled(booked: dict[str, Json]) -> None:
    first = said(run("ledger", "show", "hospital.db", "--dataset", "admissions", "--lines", "2"))
    before = re.search(r"What came before: --before (\d+)", first)
    assert before is not None
    second = said(run("ledger", "show", "hospital.db", "--dataset", "admissions", "--before", before[1]))
    assert "What came before" not in second
    assert second.count("Gaussian") > 2
    with open_ledger("hospital.db") as book:
        (orphan,) = unsettled(book, "admissions")
    run("ledger", "settle", "hospital.db", orphan.id, "--statement", "the cable was cut")

    shown = said(run("ledger", "show", "hospital.db", "--dataset", "admissions"))

    assert "the cable was cut" in shown
    assert orphan.id[:8] in shown


def test_orphans_are_listed_with_where_they_ran_and_what_they_hold(booked: dict[str, Json]) -> None:
    listed = said(run("ledger", "orphans", "hospital.db", "--dataset", "admissions"))

    assert re.search(r"[0-9a-f]{8} a crash of Ana, on 'admissions' since \d{4}-\d\d-\d\d \d\d:\d\d UTC; its", listed)
    assert re.search(r"where process \d+ on \S+ captured ε = 0\.\d+ at δ = 1e-6 holds up to ε = 0\.\d+", listed)


def test_no_orphans_are_said_to_be_none(here: Path) -> None:
    run("ledger", "init", "hospital.db", "--dataset", "visits", "--cap-zcdp", "1")

    assert run("ledger", "orphans", "hospital.db").output == "No run is open.\n"


def test_settle_returns_what_is_held_on_a_statement(here: Path) -> None:
    run("ledger", "init", "hospital.db", "--dataset", "visits", "--cap-zcdp", "1")
    with open_ledger("hospital.db") as book:
        held(begun(book, "visits"), "1/2")
        (orphan,) = unsettled(book)

    result = run("ledger", "settle", "hospital.db", orphan.id[:8], "--statement", "the power failed")

    assert "what it held is returned. Entry 4 says so" in said(result)
    assert "nothing spent, 100 % left" in run("ledger", "show", "hospital.db").output
    assert run("ledger", "verify", "hospital.db").exit_code == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("hospital.db", "abcd"), "say --in-full"),
        (("hospital.db", "abcd", "--in-full", "--statement", "x"), "say --in-full"),
        (("hospital.db", "zzzz", "--in-full"), "no open run begins with 'zzzz'"),
        (("hospital.db", "abcd", "more", "--in-full"), "one run"),
        (("hospital.db", "abcd", "--statement", " "), "the statement is empty"),
    ],
)
def test_a_settlement_that_says_too_little_is_refused(
    booked: dict[str, Json], words: tuple[str, ...], reason: str
) -> None:
    assert reason in refusal("settle", *words)


def test_an_option_is_taken_once(here: Path) -> None:
    words = ("init", "hospital.db", "--dataset", "a", "--dataset", "b", "--cap-zcdp", "1")

    assert "--dataset is given 2 times" in run("ledger", *words).stderr


def test_a_record_for_the_registry_is_written_to_a_new_file(booked: dict[str, Json], here: Path) -> None:
    words = ("export", "hospital.db", "--dataset", "admissions", "--curator", "General Hospital", "--registry")

    result = run("ledger", *words, "out.yaml")

    assert result.exit_code == 0, result.output
    assert yaml.safe_load((here / "out.yaml").read_text())["deployment"]["product"]["data_curators"] == [
        "General Hospital"
    ]
    assert run("ledger", *words[:4], "--registry", "short.yaml").exit_code == 0
    assert "name a new file" in refusal(*words, "out.yaml")
    assert "name a new file" in refusal(*words, "missing/out.yaml")
