"""A check of a ledger finds whatever was changed in it, by real SQL on a copy of a real file; and nothing else."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from expost.errors import LedgerConflict, Unreadable
from expost.ledgers.book import open_ledger
from expost.ledgers.chain import GENESIS, link
from expost.ledgers.proof import LedgerProof, booking_in, verify_ledger
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.terms import terms_text, zcdp_terms
from expost.receipts.notation import MOST_ENTRY
from expost.receipts.testimony import OnLedger
from expost.text import Json
from tests.unit.ledgers.examples import begun, booked_by, spend, whole_ledger

Booked = dict[str, Json]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Booked]:
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    return path, whole_ledger(path)


@pytest.fixture
def ledger(made: tuple[Path, Booked], tmp_path: Path) -> Path:
    return Path(shutil.copy(made[0], tmp_path / "ledger.db"))


@pytest.fixture
def booked(made: tuple[Path, Booked]) -> Booked:
    return made[1]


def verified(path: Path, against: Booked | None = None) -> LedgerProof:
    with open_ledger(path) as book:
        return verify_ledger(book.home, against)


def changed(path: Path, script: str) -> None:
    """The file as somebody else leaves it who knows SQL."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.executescript(script)
    connection.close()


def rehashed(path: Path) -> None:
    """The file as somebody leaves it who also knows how entries are chained."""
    connection = sqlite3.connect(path)
    for (dataset,) in connection.execute("SELECT id FROM datasets").fetchall():
        head = GENESIS
        rows = connection.execute("SELECT number, at, kind, run, body FROM entries WHERE dataset = ?", (dataset,))
        for number, at, kind, run, body in sorted(rows.fetchall()):
            head = link(head, (number, at, kind, run, body))
            connection.execute("UPDATE entries SET hash = ? WHERE dataset = ? AND number = ?", (head, dataset, number))
        connection.execute("UPDATE datasets SET head = ? WHERE id = ?", (head, dataset))
    connection.commit()
    connection.close()


def rewritten(path: Path, kind: str, change: Callable[[dict[str, Json]], None]) -> None:
    """The last entry of a kind with another body, and a chain that follows from it."""
    connection = sqlite3.connect(path)
    which = "FROM entries WHERE dataset = 1 AND kind = ? ORDER BY number DESC LIMIT 1"
    ((number, text),) = connection.execute(f"SELECT number, body {which}", (kind,)).fetchall()
    body = json.loads(text)
    change(body)
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    connection.execute("UPDATE entries SET body = ? WHERE dataset = 1 AND number = ?", (text, number))
    connection.commit()
    connection.close()
    rehashed(path)


def test_a_ledger_as_it_was_written_holds(ledger: Path, booked: Booked) -> None:
    proof = verified(ledger, booked)

    assert proof.flaws == ()
    assert [(chain.dataset, chain.runs) for chain in proof.chains] == [("admissions", 5), ("visits", 1)]


def test_a_ledger_whose_chain_is_worked_out_again_is_the_same(ledger: Path, booked: Booked) -> None:
    rehashed(ledger)

    assert verified(ledger, booked).holds


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "UPDATE entries SET body = replace(body, '1/1000', '1/9000') WHERE number = 5",
            "Entry 5 of 'admissions' does",
        ),
        ("UPDATE entries SET at = replace(at, '20', '19') WHERE number = 4 AND dataset = 1", "Entry 4 of"),
        ("UPDATE entries SET kind = 'hold' WHERE kind = 'close'", "does not follow"),
        ("UPDATE entries SET run = NULL WHERE number = 6", "Entry 6 of 'admissions' does not follow"),
        (
            "UPDATE entries SET hash = substr(hash, 2) || substr(hash, 1, 1) WHERE number = 7 AND dataset = 1",
            "Entry 7 of",
        ),
        ("DELETE FROM entries WHERE number = 5", "Entry 5 of 'admissions' is missing"),
        ("DELETE FROM entries WHERE number = 1 AND dataset = 1", "Entry 1 of 'admissions' is missing"),
        ("DELETE FROM entries WHERE dataset = 2", "ends at entry 0"),
        (
            "DELETE FROM entries WHERE dataset = 1 AND number = (SELECT entries FROM datasets WHERE id = 1)",
            "entries at the end were deleted",
        ),
        (
            "UPDATE entries SET number = -number WHERE number IN (5, 6);"
            "UPDATE entries SET number = 11 + number WHERE number < 0",
            "Entry 5 of 'admissions' does not follow",
        ),
        (
            "UPDATE entries SET dataset = -dataset WHERE number = 3;"
            "UPDATE entries SET dataset = 3 + dataset WHERE dataset < 0",
            "does not follow",
        ),
    ],
)
def test_a_changed_deleted_or_moved_entry_is_found(ledger: Path, script: str, said: str) -> None:
    changed(ledger, script)

    assert any(said in flaw for flaw in verified(ledger).flaws)


TOTALS = "The totals or the terms of 'admissions'"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("UPDATE datasets SET spent = '[' || replace(hex(zeroblob(14)), '00', '0,') || '0]' WHERE id = 1", TOTALS),
        ("UPDATE datasets SET committed = spent WHERE id = 1", TOTALS),
        ("UPDATE datasets SET room = room || '0' WHERE id = 1", TOTALS),
        ("UPDATE datasets SET unit = 'one household' WHERE id = 1", TOTALS),
        ("UPDATE datasets SET neighbours = NULL WHERE id = 1", TOTALS),
        ("UPDATE datasets SET secret = substr(secret, 2) || substr(secret, 1, 1) WHERE id = 1", TOTALS),
        ("UPDATE datasets SET name = 'admission' WHERE id = 1", "The totals or the terms of 'admission'"),
        ("UPDATE datasets SET terms = replace(terms, '\"3\"', '\"30\"') WHERE id = 1", TOTALS),
        ("UPDATE datasets SET head = hex(zeroblob(32)) WHERE id = 1", TOTALS),
        ("UPDATE datasets SET latest = replace(latest, '20', '19') WHERE id = 1", TOTALS),
        ("UPDATE datasets SET entries = entries - 1 WHERE id = 1", "ends at entry"),
        ("UPDATE datasets SET id = 3 WHERE id = 2; UPDATE entries SET dataset = 3 WHERE dataset = 2", "A data set is"),
        ("UPDATE runs SET state = 'closed' WHERE state = 'open'", "is not what its entries lead to"),
        ("UPDATE runs SET state = 'open' WHERE what = 'a table'", "is not what its entries lead to"),
        ("UPDATE runs SET payload = '{\"count\": 4}' WHERE payload IS NOT NULL", "is not what its entries lead to"),
        ("UPDATE runs SET idempotency = NULL", "is not what its entries lead to"),
        ("UPDATE runs SET analyst = NULL WHERE what = 'a table'", "is not what its entries lead to"),
        ("UPDATE runs SET what = x'00' WHERE what = 'a table'", "is not what its entries lead to"),
        ("DELETE FROM runs WHERE what = 'a table'", "of 'admissions' is missing"),
        ("INSERT INTO runs SELECT 'x', dataset, NULL, what, NULL, NULL, NULL, opened, begun, state, NULL "
         "FROM runs WHERE what = 'a table'", "The run x of 'admissions'"),
        ("UPDATE analysts SET token = hex(zeroblob(32))", "The analysts of"),
        ("UPDATE analysts SET spent = (SELECT spent FROM datasets WHERE id = 1)", "The analysts of"),
        ("DELETE FROM analysts", "The analysts of"),
        ("UPDATE splits SET because = 'a guess'", "The splits of"),
        ("UPDATE splits SET train_committed = held_committed", "The splits of"),
        ("DELETE FROM splits", "The splits of"),
        ("UPDATE releases SET digest = 'another'", "The shared releases of"),
        ("UPDATE releases SET refining = (SELECT id FROM runs WHERE what = 'a table')", "The shared releases of"),
        ("UPDATE views SET payload = (SELECT max(payload) FROM views)", "The shared releases of"),
        ("DELETE FROM views WHERE level = (SELECT max(level) FROM views)", "The shared releases of"),
        ("UPDATE seen SET level = '1'", "The shared releases of"),
        ("DELETE FROM seen", "The shared releases of"),
        ("DELETE FROM datasets WHERE id = 1", "A data set is missing"),
        ("UPDATE entries SET dataset = 3 WHERE dataset = 2", "entries of a data set that is not there"),
    ],
)  # fmt: skip
def test_a_table_that_the_entries_do_not_lead_to_is_found(ledger: Path, script: str, said: str) -> None:
    changed(ledger, script)

    assert any(said in flaw for flaw in verified(ledger).flaws)


def test_a_data_set_that_was_deleted_with_all_its_entries_is_missed(ledger: Path) -> None:
    tables = ("seen", "views", "releases", "entries", "runs", "splits", "analysts")
    changed(ledger, ";".join(f"DELETE FROM {table}" for table in tables) + ";DELETE FROM datasets WHERE id = 1")

    assert "A data set is missing" in verified(ledger).flaws[0]


def _cheaper(body: dict[str, Json]) -> None:
    body["curve"] = {"lines": [{"xi": "0", "rho": "1/9999", "gaussian": "1/9999"}]}


def _unknown(body: dict[str, Json]) -> None:
    body["note"] = "nothing"


def _negative(body: dict[str, Json]) -> None:
    body["spent"] = {"own": " ".join(["-1"] * 15)}


def _shorter(body: dict[str, Json]) -> None:
    body["spent"] = {"own": "0"}


def _elsewhere(body: dict[str, Json]) -> None:
    body["neighbours"] = "differ in nothing"


def _returned(body: dict[str, Json]) -> None:
    body["committed"] = body["spent"]


def _unpaid(body: dict[str, Json]) -> None:
    body["amount"] = "[" + ",".join(["0"] * 15) + "]"


def _finer(body: dict[str, Json]) -> None:
    body["level"] = "1"


def _larger(body: dict[str, Json]) -> None:
    terms = body["terms"]
    assert isinstance(terms, dict)
    terms["cap"] = "30"


def _broken(body: dict[str, Json]) -> None:
    body["curve"] = {"orders": [2], "values": [[]]}


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("capture", _cheaper, "does not say what the run has spent"),
        ("capture", _unknown, "has one that expost does not write"),
        ("capture", _negative, "an amount in the ledger is not one that expost writes"),
        ("capture", _shorter, "an amount in the ledger is not one that expost writes"),
        ("capture", _elsewhere, "is billed for other neighbours"),
        ("capture", _broken, "belongs"),
        ("hold", _returned, "holds less than what it is for"),
        ("grant", _unpaid, "does not bill an analyst for what they see"),
        ("view", _finer, "cannot be at this level"),
        ("analyst", _larger, "the caps of the ledger are not what expost makes"),
    ],
)
def test_an_entry_that_cannot_follow_is_found_though_the_chain_was_made_anew(
    ledger: Path, kind: str, change: Callable[[dict[str, Json]], None], said: str
) -> None:
    rewritten(ledger, kind, change)

    (flaw,) = verified(ledger).flaws
    assert said in flaw


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("UPDATE entries SET kind = 'refund' WHERE kind = 'close' AND dataset = 1", "of a kind that is not known"),
        ("UPDATE entries SET kind = 'reserve' WHERE kind = 'hold' AND dataset = 1", "of a kind that is not known"),
        ("UPDATE entries SET at = '2001' || substr(at, 5) WHERE number = 9", "older than the one before"),
        ("UPDATE entries SET at = 'yesterday' WHERE number = 9", "is not one that expost writes"),
        ("UPDATE entries SET body = '[' WHERE number = 9", "is not one that expost writes"),
        ("UPDATE entries SET body = replace(hex(zeroblob(30000)), '0', '[') WHERE number = 9", "is not one that"),
        ("UPDATE entries SET run = 'x' WHERE number = 9", "of a run that is not open"),
        ("DELETE FROM entries WHERE number = 1 AND dataset = 1;"
         "UPDATE entries SET number = -number WHERE dataset = 1;"
         "UPDATE entries SET number = -number - 1 WHERE dataset = 1", "once more, or not first"),
    ],
)  # fmt: skip
def test_an_entry_of_no_sense_is_found_though_the_chain_was_made_anew(ledger: Path, script: str, said: str) -> None:
    changed(ledger, script)
    rehashed(ledger)

    assert any(said in flaw for flaw in verified(ledger).flaws)


def test_a_cap_that_was_passed_is_found(ledger: Path) -> None:
    """The cap of the visits, 1, becomes one that a charge of 1/4 passes; nothing else is wrong with the file."""
    terms = zcdp_terms(0.125)
    connection = sqlite3.connect(ledger)
    ((text,),) = connection.execute("SELECT body FROM entries WHERE dataset = 2 AND number = 1").fetchall()
    body = json.dumps({**json.loads(text), "terms": terms.out()}, separators=(",", ":"))
    connection.execute("UPDATE entries SET body = ? WHERE dataset = 2 AND number = 1", (body,))
    connection.execute("UPDATE datasets SET terms = ? WHERE id = 2", (terms_text(terms),))
    connection.commit()
    connection.close()
    rehashed(ledger)

    assert verified(ledger).flaws == ("Entry 3 of 'visits' passes a cap.",)


def test_a_damaged_page_is_found(ledger: Path) -> None:
    """The middle of the file is written over; SQLite notices, or an entry is not what it was."""
    size = ledger.stat().st_size
    with ledger.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 4096)

    try:
        found = verified(ledger).flaws
    except LedgerConflict as refused:
        found = (str(refused),)

    assert found


class TestAgainstAReceipt:
    """What a file cannot show by itself."""

    @pytest.fixture
    def earlier(self, ledger: Path, tmp_path: Path) -> tuple[Path, Booked]:
        """A copy, and what a receipt says that was written after it."""
        copy = Path(shutil.copy(ledger, tmp_path / "copy.db"))
        with open_ledger(ledger) as book:
            with begun(book, "visits") as run:
                spend(run, "1/8")
            return copy, booked_by(book, run, "visits")

    def test_the_ledger_of_a_receipt_has_its_entry(self, ledger: Path, earlier: tuple[Path, Booked]) -> None:
        assert verified(ledger, earlier[1]).holds

    def test_a_file_that_was_put_back_is_found(self, earlier: tuple[Path, Booked]) -> None:
        assert verified(earlier[0]).holds
        assert "put back to an earlier state, and what was spent" in verified(*earlier).flaws[0]

    def test_a_file_that_was_put_back_and_went_on_is_found(self, earlier: tuple[Path, Booked]) -> None:
        with open_ledger(earlier[0]) as book:
            for _ in range(3):
                with begun(book, "visits") as run:
                    spend(run, "1/8")

        assert verified(earlier[0]).holds
        assert "is not the one that the receipt names" in verified(*earlier).flaws[0]

    def test_a_chain_that_was_made_anew_is_found(self, ledger: Path, booked: Booked) -> None:
        changed(ledger, "UPDATE entries SET body = replace(body, 'a table', 'a chair') WHERE number < 5;"
                "UPDATE runs SET what = 'a chair' WHERE what = 'a table'")  # fmt: skip
        rehashed(ledger)

        assert verified(ledger).holds
        assert "is not the one that the receipt names" in verified(ledger, booked).flaws[0]

    def test_another_ledger_is_found(self, ledger: Path, booked: Booked) -> None:
        assert "does not have" in verified(ledger, {**booked, "dataset": "staff"}).flaws[0]

    @pytest.mark.parametrize("receipt", [{}, {"ledger": None}, {"ledger": {"dataset": "visits"}}])
    def test_a_receipt_without_a_ledger_is_refused(self, receipt: dict[str, Json]) -> None:
        with pytest.raises(Unreadable, match="does not name a ledger"):
            booking_in(receipt)


@pytest.mark.parametrize("statement", [None, "the power failed"])
def test_a_settled_ledger_holds(ledger: Path, statement: str | None) -> None:
    with open_ledger(ledger) as book:
        for run in unsettled(book):
            settle(book, run.id, statement=statement)

    assert verified(ledger).holds


def test_a_settlement_without_its_statement_is_found(ledger: Path) -> None:
    with open_ledger(ledger) as book:
        settle(book, unsettled(book)[0].id, statement="the power failed")
    rewritten(ledger, "settle", lambda body: body.update(statement=None))

    (flaw,) = verified(ledger).flaws
    assert "settles without a statement" in flaw


@pytest.mark.parametrize("entry", [10**7 + 1, MOST_ENTRY])
def test_a_receipt_may_name_an_entry_of_any_number_that_a_ledger_can_have(
    ledger: Path, booked: Booked, entry: int
) -> None:
    """All runs of all years count, so that it is more than one run has steps."""
    named = {**booked, "entry": entry}

    (flaw,) = verified(ledger, named).flaws

    assert f"written at entry {entry} " in flaw
    assert OnLedger.of(named).entry == entry


def test_a_receipt_that_names_an_entry_that_no_ledger_can_have_is_refused(ledger: Path, booked: Booked) -> None:
    for entry in (MOST_ENTRY + 1, 0, -1, True):
        named = {**booked, "entry": entry}

        with pytest.raises(Unreadable):
            verified(ledger, named)
        with pytest.raises(Unreadable):
            OnLedger.of(named)
