"""A ledger on a server: what it sets, and one sentence for each way in which a server fails, which releases nothing."""

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from expost.errors import LedgerConflict, NotInstalled
from expost.ledgers.book import Book, home_of
from expost.ledgers.moving import RUN
from expost.ledgers.proof import verify_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.terms import zcdp_terms
from tests.server import LOCKED, PASSWORD, Server
from tests.unit.ledgers.relay import relay
from tests.unit.ledgers.steps import hold, rho, run, step, totals

postgres_home = pytest.importorskip("expost.ledgers.postgres", reason="psycopg is not installed")
PostgresHome, server = postgres_home.PostgresHome, importlib.import_module("expost.ledgers.server")

FIRST_OR_LATER = ["in the first step", "in a later one"]
MOMENTS = [f"{when} {which}" for when in ("at once", "in the commit") for which in FIRST_OR_LATER]
LOST = "lost during a commit"
FAILING = """
    CREATE FUNCTION expost.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        {how}; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON expost.entries {when} FOR EACH ROW EXECUTE FUNCTION expost.fail()
"""


@pytest.fixture
def url(postgres: Server) -> str:
    """The address of a new ledger with one data set."""
    return made(postgres.emptied())


def made(address: str) -> str:
    with Book(PostgresHome.create(address)) as book:
        book.add("visits", zcdp_terms(1))
    return address


def steps(begun: LedgerRun, before: int) -> None:
    """Steps before the one that counts, after which a run knows its data set and asks nothing."""
    for _ in range(before):
        step(begun, "1/8")


def database(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def sentence(refused: pytest.ExceptionInfo[LedgerConflict]) -> str:
    said = str(refused.value)
    assert said.startswith(("the ledger postgresql://", "the connection to the ledger", "the server")), said
    assert said.endswith(".")
    assert "\n" not in said
    assert refused.value.__cause__ is None
    return said


def test_a_server_that_cannot_be_reached_is_told_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(LedgerConflict) as refused:
        PostgresHome(f"postgresql://ann:{PASSWORD}@/books?host={tmp_path}")

    assert "cannot be reached" in sentence(refused)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    ("role", "password", "name", "told"),
    [
        (LOCKED, "wrong-password", "postgres", "refuses the role or its password"),
        (LOCKED, None, "postgres", "refuses the role or its password"),
        ("expost", None, "nowhere", "is not there; make its database"),
        ("stranger", None, "postgres", "is not there; make its database or role"),
    ],
)
def test_who_is_not_let_in_is_told_why(postgres: Server, role: str, password: str | None, name: str, told: str) -> None:
    with pytest.raises(LedgerConflict) as refused:
        PostgresHome(postgres.url(name, role=role, password=password))

    assert told in sentence(refused)
    assert "wrong-password" not in str(refused.value)


@pytest.mark.usefixtures("url")
def test_a_role_without_rights_is_told_and_its_password_is_not_shown(postgres: Server) -> None:
    with pytest.raises(LedgerConflict) as refused:
        PostgresHome(postgres.url("postgres", role=LOCKED, password=PASSWORD))

    assert "does not let this role read and write" in sentence(refused)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("password", ["secret%zz", "my/secret", "123/secret", "my@secret", "my@/secret"])
def test_an_address_that_cannot_be_read_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(LedgerConflict, match="write it as postgresql://role@host/database") as refused:
        home_of(f"postgresql://ann:{password}@host/books")

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "postgresql+psycopg://ann:secret@host/books",
        "PostgreSQL://ann:secret@host/books",
        " postgresql://ann:secret@host/books",
        "postgresql:/ann:secret@host/books",
        "postgresql:ann:secret@host/books",
        "mysql://ann:secret@host/books",
        "host=localhost dbname=books password=secret",
        "dbname=books password = 'secret'",
        "postgresql://ann:secret\udcff@host/books",
        "postgresql://ann:\0secret@host/books",
        "secret\0.db",
    ],
)
def test_what_is_almost_an_address_is_not_taken_for_a_file_and_not_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, create: bool
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(LedgerConflict, match="write it as postgresql://role@host/database") as refused:
        home_of(name, create=create)

    assert "secret" not in str(refused.value)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("53100", "disk of its server is full"),
        ("53200", "no room for more"),
        ("40001", "changed by another program at the same moment"),
        ("40P01", "changed by another program at the same moment"),
        ("23514", "breaks its own rules"),
        ("42501", "does not let this role"),
        ("XX001", "cannot be used (XX001)"),
    ],
)
@pytest.mark.parametrize("moment", [*product(("", "DEFERRABLE INITIALLY DEFERRED"), (0, 1))], ids=MOMENTS)
def test_what_a_server_refuses_is_told_and_was_not_done(
    postgres: Server, url: str, code: str, told: str, moment: tuple[str, int]
) -> None:
    when, before = moment
    with Book(PostgresHome(url)) as book:
        begun = run(book)
        steps(begun, before)
        postgres.execute(FAILING.format(how=f"RAISE SQLSTATE '{code}'", when=when))

        with pytest.raises(LedgerConflict) as refused:
            hold(begun, "1/4")

        assert told in sentence(refused)
        assert totals(book)["committed"] == rho(Fraction(before, 8))
        postgres.execute("DROP TRIGGER failing ON expost.entries")
        step(begun, "1/4")
        assert totals(book)["spent"] == rho(Fraction(before + 2, 8))


def test_a_read_only_server_is_told(postgres: Server) -> None:
    url = made(postgres.database())
    postgres.execute(f"ALTER DATABASE {database(url)} SET default_transaction_read_only = on")

    with Book(PostgresHome(url)) as book, pytest.raises(LedgerConflict) as refused:
        run(book)

    assert "is read-only" in sentence(refused)


def test_a_ledger_in_use_is_waited_for_and_no_longer_than_was_said(url: str) -> None:
    with Book(PostgresHome(url)) as other, Book(PostgresHome(url, wait=0.5)) as book:
        begun = run(book)
        with other.home.writing() as writing:
            writing.rows("SELECT 1 FROM datasets{lock}")
            start = time.monotonic()

            with pytest.raises(LedgerConflict) as refused:
                hold(begun, "1/4")

            assert 0.5 <= time.monotonic() - start < 5
        assert "in use by another program" in sentence(refused)
        step(begun, "1/4")


def test_a_program_that_hangs_with_the_ledger_in_hand_loses_it(url: str) -> None:
    with Book(PostgresHome(url, wait=0.3)) as hanging, Book(PostgresHome(url)) as book:
        with pytest.raises(LedgerConflict), hanging.home.writing() as writing:
            writing.rows("SELECT 1 FROM datasets{lock}")
            step(run(book), "1/4")

        step(run(hanging), "1/8")
        assert totals(book)["spent"] == rho("3/8")


@pytest.mark.parametrize("before", [0, 1], ids=FIRST_OR_LATER)
def test_a_server_that_hangs_is_given_up_and_what_was_held_stays_held(url: str, before: int) -> None:
    """No limit that was set on the server ends the wait: it keeps none, and its kernel answers for it."""
    with Book(PostgresHome(url)) as book, Book(PostgresHome(url, wait=0.5)) as waiting:
        begun = run(waiting)
        steps(begun, before)
        with waiting.home.reading() as reading:
            ((process,),) = reading.rows("SELECT pg_backend_pid()")
        os.kill(int(str(process)), signal.SIGSTOP)
        try:
            with pytest.raises(LedgerConflict) as refused:
                hold(begun, "1/4")
        finally:
            os.kill(int(str(process)), signal.SIGCONT)

        told = LOST if before else "cannot be reached"
        assert told in sentence(refused)
        step(begun, "1/2")
        begun.close()
        assert totals(book)["spent"] == rho(Fraction(before, 8) + Fraction(1, 2))
        assert verify_ledger(book.home).holds


def test_a_server_that_ends_in_a_commit_leaves_the_hold_and_releases_nothing(postgres: Server, url: str) -> None:
    dying = FAILING.format(how="PERFORM pg_terminate_backend(pg_backend_pid())", when="DEFERRABLE INITIALLY DEFERRED")
    with Book(PostgresHome(url)) as book:
        begun = run(book)
        held = hold(begun, "1/4")
        postgres.execute(dying)

        with pytest.raises(LedgerConflict) as refused:
            begun.capture(held, held.promise.as_spent())

        assert LOST in sentence(refused)
        assert totals(book) == {"spent": rho(0), "committed": rho("1/4")}


@pytest.mark.parametrize("lost", ["hold", "capture"])
def test_a_commit_that_was_made_and_not_told_releases_nothing_and_is_counted_once(url: str, lost: str) -> None:
    before, _, folder_of_server = url.partition("host=")
    with (
        tempfile.TemporaryDirectory() as folder,
        relay(Path(folder), Path(folder_of_server)) as line,
        Book(PostgresHome(f"{before}host={folder}")) as book,
    ):
        begun = run(book)
        held = hold(begun, "1/4") if lost == "capture" else None
        line.cut = True

        with pytest.raises(LedgerConflict) as refused:
            hold(begun, "1/4") if held is None else begun.capture(held, held.promise.as_spent())

        assert LOST in sentence(refused)
        assert totals(book) == {"spent": rho(0 if held is None else "1/4"), "committed": rho("1/4")}
        step(begun, "1/8")
        begun.close()
        total = rho("1/8" if held is None else "3/8")
        assert totals(book) == {"spent": total, "committed": total}
        assert verify_ledger(book.home).holds


ACTS = {
    "a trigger": (FAILING.format(how="NULL", when=""), "failing is a trigger or a rule that expost did not make"),
    "a rule": (
        "CREATE RULE failing AS ON UPDATE TO expost.datasets DO INSTEAD NOTHING",
        "failing is a trigger or a rule that expost did not make",
    ),
    "a check that is gone": (
        "ALTER TABLE expost.datasets DROP CONSTRAINT datasets_room_check",
        "the table datasets lacks rules that expost gave it",
    ),
    "a key that is gone": (
        "ALTER TABLE expost.entries DROP CONSTRAINT entries_pkey",
        "the table entries lacks rules that expost gave it",
    ),
    "a table that is a view": (
        "ALTER TABLE expost.seen RENAME TO hidden; CREATE VIEW expost.seen AS SELECT * FROM expost.hidden",
        "the table seen lacks rules that expost gave it",
    ),
    "a table that a crash empties": (
        "ALTER TABLE expost.seen SET UNLOGGED",
        "the table seen is not on the disk of the server",
    ),
}


@pytest.mark.parametrize(("act", "told"), ACTS.values(), ids=ACTS)
def test_what_another_program_made_of_the_tables_is_noticed_by_who_looks(
    postgres: Server, url: str, act: str, told: str
) -> None:
    with Book(PostgresHome(url)) as book:
        assert verify_ledger(book.home).holds
        postgres.execute(act)

        (flaw, *_) = verify_ledger(book.home).flaws

    assert told in flaw


@pytest.mark.parametrize(("act", "told"), ACTS.values(), ids=ACTS)
def test_tables_that_do_not_do_what_they_should_are_not_opened(postgres: Server, url: str, act: str, told: str) -> None:
    """A trigger by which totals stay as they are, while the chain goes on, would let every cap be passed."""
    postgres.execute(act)

    with pytest.raises(LedgerConflict) as refused:
        PostgresHome(url)

    assert f"{told}; undo that, and compare it with your receipts." in sentence(refused)


@pytest.mark.parametrize("before", [0, 1], ids=FIRST_OR_LATER)
def test_a_commit_that_did_not_wait_for_a_standby_is_none(postgres: Server, url: str, before: int) -> None:
    """The server waits until somebody tells it not to, commits on its own disk, and warns."""
    cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    with Book(PostgresHome(url)) as book, ThreadPoolExecutor() as pool:
        begun = run(book)
        steps(begun, before)
        with setting(postgres, "synchronous_standby_names", "nobody"):
            holding = pool.submit(hold, begun, "1/4")
            while not holding.done():
                postgres.execute(cancel)
            with pytest.raises(LedgerConflict) as refused:
                holding.result()

        assert "did not make sure" in sentence(refused)
        step(begun, "1/4")


def test_a_server_that_does_not_write_to_its_disk_is_refused(postgres: Server, url: str) -> None:
    with setting(postgres, "fsync", "off"), pytest.raises(LedgerConflict) as refused:
        PostgresHome(url)

    assert "set fsync = on" in sentence(refused)


@contextmanager
def setting(postgres: Server, name: str, value: str) -> Iterator[None]:
    """A server that is set in another way as long as the block."""
    for words in (f"SET {name} = '{value}'", None):
        postgres.execute(f"ALTER SYSTEM {words or f'RESET {name}'}")
        postgres.execute("SELECT pg_reload_conf()")
        time.sleep(0.2)
        if words:
            yield


def test_commits_wait_for_the_disk_whatever_the_database_says(postgres: Server) -> None:
    url = made(postgres.database())
    postgres.execute(f"ALTER DATABASE {database(url)} SET synchronous_commit = off")

    with Book(PostgresHome(url)) as book, book.home.reading() as reading:
        assert reading.rows("SELECT current_setting('synchronous_commit')") == [("on",)]


OTHERS = """
    INSERT INTO expost.runs (id, dataset, what, opened, begun, state)
        SELECT 'run ' || n, 1, 'another run', '', 1, 'closed' FROM generate_series(1, 20000) n;
    INSERT INTO expost.entries
        SELECT 1, 9 + n, '', 'capture', 'run ' || n, repeat('x', 400), repeat('0', 64) FROM generate_series(1, 20000) n;
    UPDATE expost.datasets SET entries = 20009, head = repeat('0', 64)
"""
"""Entries of other runs, each with one of its own."""
ENTRIES_READ = (
    "SELECT CAST(coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS BIGINT) FROM pg_stat_xact_user_tables "
    "WHERE relname = 'entries'"
)


def test_what_a_run_has_spent_is_found_without_reading_the_entries_of_others(postgres: Server, url: str) -> None:
    """Where runs have few entries a server would rather read all there are, with the data set locked."""
    counts = []
    with Book(PostgresHome(url)) as book:
        begun = run(book)
        step(begun, "1/8")
        postgres.execute(OTHERS)
        postgres.execute("ANALYZE")
        step(begun, "1/4")
        for _ in range(10):
            with book.home.writing() as writing:
                ((before,),) = writing.rows(ENTRIES_READ)
                writing.rows(RUN, begun.id)
                ((after,),) = writing.rows(f"{ENTRIES_READ} AND true")
            counts.append(int(str(after)) - int(str(before)))

    assert max(counts) < 10


def test_a_text_that_would_be_cut_short_is_refused(url: str) -> None:
    with Book(PostgresHome(url)) as book, pytest.raises(LedgerConflict, match="NUL character"):
        book.begin("visits\0", "a run")

    with Book(PostgresHome(url)) as book, book.home.reading() as reading:
        assert reading.rows("SELECT what FROM runs") == []


def test_tables_of_another_program_are_left_alone(postgres: Server) -> None:
    address = postgres.emptied()
    postgres.execute("CREATE SCHEMA expost")
    postgres.execute("CREATE TABLE expost.datasets ()")

    with pytest.raises(LedgerConflict) as refused:
        PostgresHome.create(address)

    assert "tables of another program" in sentence(refused)


def test_a_ledger_of_a_later_expost_is_refused(postgres: Server, url: str) -> None:
    postgres.execute("INSERT INTO expost.migrations VALUES (99)")

    with pytest.raises(LedgerConflict) as refused:
        PostgresHome(url)

    assert "written by a later expost" in sentence(refused)


def test_several_programs_make_one_ledger(postgres: Server) -> None:
    address = postgres.emptied()

    with ThreadPoolExecutor() as pool:
        homes = list(pool.map(lambda _: PostgresHome.create(address), range(4)))

    for home in homes:
        home.close()


def test_without_its_driver_a_server_is_refused_and_a_file_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "expost.ledgers.postgres")
    monkeypatch.setitem(sys.modules, "psycopg", None)

    home_of(str(tmp_path / "ledger.db"), create=True).close()
    with pytest.raises(NotInstalled, match=r"install expost\[postgres\]"):
        home_of("postgresql:///books")


def test_a_ledger_in_a_file_never_loads_the_driver() -> None:
    code = "import sys, expost, expost.ledgers.run; sys.exit('psycopg' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
