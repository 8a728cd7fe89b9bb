"""A ledger that cannot be read or written says so in one sentence, and nothing is released."""

import ctypes
import json
import os
import resource
import shutil
import sqlite3
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from threading import Timer
from typing import Any, final

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.errors import ExpostError, LedgerConflict
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of, open_ledger
from expost.ledgers.overview import overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.sqlite import SqliteHome
from expost.ledgers.terms import zcdp_terms
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.release import Past
from expost.statistic import histogram
from tests.faults.nursery import CAPABILITIES
from tests.unit.commands import run as command

DATA = Private(np.repeat(np.arange(4), 5), Neighbours.ADD_REMOVE)
BUDGET = Budget(Fraction(1, 50), Fraction(2))
WAIT = 0.2


@final
class Spending:
    """A run that releases, and remembers how often data was opened and what left."""

    def __init__(self, book: Book, during: Callable[[], object] = lambda: None) -> None:
        self.opened = self.released = 0
        self._during = during
        self._odometer = Odometer(ledger=LedgerRun(book, "visits"))
        self._made_by: Gaussian[Integers] = Gaussian(histogram(lambda codes: codes, 4, Neighbours.ADD_REMOVE))
        self.name, self.neighbours, self.floating = self._made_by.name, self._made_by.neighbours, False
        self.promise, self.facts = self._made_by.promise, self._made_by.facts

    def step(self) -> None:
        self._odometer.spend(self, DATA, BUDGET, Past(), SystemNoise())
        self.released += 1

    def sample(self, *words: Any) -> Any:
        self.opened += 1
        self._during()
        return self._made_by.sample(*words)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "ledger.db")


def made(path: Path) -> Path:
    with Book(home_of(str(path), create=True)) as book:
        book.add("visits", zcdp_terms(100))
    return path


def sentence(refused: ExpostError) -> str:
    """All that is said: one sentence, which says what to do."""
    said = str(refused)
    assert said.endswith(".")
    assert "\n" not in said
    assert "; " in said
    assert "Error" not in said
    return said


@contextmanager
def refusal(spending: Spending | None = None, *, opened: int = 0, released: int = 0) -> Iterator[list[str]]:
    """What is refused here in one sentence, after data was opened and values left this number of times."""
    found: list[str] = []
    with pytest.raises(LedgerConflict) as refused:
        yield found
    found.append(sentence(refused.value))
    if spending is not None:
        assert (spending.opened, spending.released) == (opened, released)


def totals(path: Path) -> tuple[Fraction, Fraction]:
    with open_ledger(path) as book:
        assert verify_ledger(book.home).flaws == ()
        (found,) = overviews(book.home)
    return as_fraction(found.account.spent[0]), as_fraction(found.account.committed[0])


def elsewhere(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a process finds that may do something to itself."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            found = work()
        except BaseException as failure:  # noqa: BLE001  a forked process must not go on as its parent
            found = {"failed": f"{type(failure).__name__}: {failure}"}
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        answer: dict[str, Any] = json.loads(told.read())
    os.waitpid(child, 0)
    assert "failed" not in answer, answer
    return answer


def until_refused(path: Path, most: int = 1000) -> dict[str, Any]:
    """Release until the ledger says no; what it said, how often data was opened, and how many values left."""
    opened = released = 0
    try:
        with Book(SqliteHome(path, wait=WAIT)) as book:
            for _ in range(most):
                spending = Spending(book)
                try:
                    spending.step()
                finally:
                    opened, released = opened + spending.opened, released + spending.released
    except LedgerConflict as refused:
        return {"said": sentence(refused), "opened": opened, "released": released}
    return {"said": "", "opened": opened, "released": released}


def unprivileged(work: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """The same work where a file that is read-only is so for root, too."""

    def drop_first() -> dict[str, Any]:
        if os.geteuid() == 0:
            assert ctypes.CDLL(None).capset(struct.pack("Ii", CAPABILITIES, 0), bytes(24)) == 0
        return work()

    return drop_first


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here; the limit on files stands for it")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


class TestFullDisk:
    """A disk that takes nothing more, in the midst of a run."""

    def test_a_full_disk_refuses_and_counts_what_left(self, tiny: Path, tmp_path: Path) -> None:
        path = made(tiny / "ledger.db")

        found = until_refused(path)

        assert "disk is full" in found["said"] or "is full" in found["said"]
        assert found["released"] > 0
        saved = Path(shutil.copytree(tiny, tmp_path / "saved")) / "ledger.db"
        self.require_counted(saved, found)

    def test_a_file_that_may_not_grow_refuses_and_counts_what_left(self, path: Path) -> None:
        def work() -> dict[str, Any]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
            return until_refused(path)

        found = elsewhere(work)

        assert "is full" in found["said"]
        assert found["released"] > 0
        self.require_counted(path, found)

    def test_no_ledger_is_left_where_there_is_no_room_for_one(self, tmp_path: Path) -> None:
        def work() -> dict[str, Any]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
            try:
                SqliteHome.create(tmp_path / "ledger.db")
            except LedgerConflict as refused:
                return {"said": sentence(refused)}
            return {"said": ""}

        assert "is full" in elsewhere(work)["said"]
        assert [*tmp_path.iterdir()] == []

    @staticmethod
    def require_counted(path: Path, found: dict[str, Any]) -> None:
        spent, committed = totals(path)
        assert spent >= found["released"] * Fraction(1, 100)
        assert committed >= found["opened"] * Fraction(1, 100)
        assert found["opened"] <= found["released"] + 1


class TestReadOnly:
    """Places that may be read and not written."""

    def test_a_file(self, path: Path) -> None:
        path.chmod(0o400)

        found = elsewhere(unprivileged(lambda: until_refused(path)))

        assert (found["opened"], found["released"]) == (0, 0)
        assert "is read-only; give yourself the right to write" in found["said"]

    def test_a_folder(self, path: Path) -> None:
        path.parent.chmod(0o500)

        found = elsewhere(unprivileged(lambda: until_refused(path)))

        path.parent.chmod(0o700)
        assert (found["opened"], found["released"]) == (0, 0)
        assert "the right to write" in found["said"]

    def test_a_file_of_somebody_else(self, path: Path) -> None:
        path.chmod(0o000)

        found = elsewhere(unprivileged(lambda: until_refused(path)))

        assert (found["opened"], found["released"]) == (0, 0)
        assert "is read-only; give yourself the right to write" in found["said"]

    def test_a_disk(self, tiny: Path) -> None:
        path = made(tiny / "ledger.db")
        subprocess.run(["mount", "-o", "remount,ro", str(tiny)], check=True)

        found = until_refused(path)

        assert (found["opened"], found["released"]) == (0, 0)
        assert "is read-only; give yourself the right to write" in found["said"]

    def test_a_folder_for_a_new_ledger(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)

        def work() -> dict[str, Any]:
            try:
                SqliteHome.create(tmp_path / "ledger.db")
            except LedgerConflict as refused:
                return {"said": sentence(refused)}
            return {"said": ""}

        assert "cannot be made (Permission denied)" in elsewhere(unprivileged(work))["said"]
        tmp_path.chmod(0o700)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The file while another program has it for itself."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


class TestLocked:
    """A file that another program does not let go."""

    def test_no_run_begins(self, path: Path) -> None:
        with Book(SqliteHome(path, wait=WAIT)) as book, locked(path), refusal() as said:
            Spending(book)

        assert "in use by another program" in said[0]
        assert totals(path) == (Fraction(0), Fraction(0))

    def test_no_data_is_opened(self, path: Path) -> None:
        with Book(SqliteHome(path, wait=WAIT)) as book:
            spending = Spending(book)
            with locked(path), refusal(spending):
                spending.step()

        assert totals(path) == (Fraction(0), Fraction(0))

    def test_no_value_leaves_and_the_hold_counts(self, path: Path) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        with Book(SqliteHome(path, wait=WAIT)) as book:
            spending = Spending(book, lambda: other.execute("BEGIN IMMEDIATE"))
            with refusal(spending, opened=1):
                spending.step()
        other.execute("ROLLBACK")
        other.close()

        spent, committed = totals(path)
        assert spent == 0
        assert committed > 0

    def test_one_that_lets_go_in_time_is_waited_for(self, path: Path) -> None:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        letting_go = Timer(2 * WAIT, lambda: other.execute("ROLLBACK"))
        with Book(SqliteHome(path, wait=30)) as book:
            letting_go.start()
            spending = Spending(book)
            spending.step()
        letting_go.join()
        other.close()

        assert spending.released == 1


def other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE runs (id TEXT)")
    connection.commit()
    connection.close()


STRANGERS: dict[str, Callable[[Path], object]] = {
    "a text": lambda path: path.write_text("dear diary", encoding="utf-8"),
    "a long text": lambda path: path.write_text("dear diary\n" * 10_000, encoding="utf-8"),
    "an empty file": lambda path: path.touch(),
    "a folder": lambda path: path.mkdir(),
    "a database of another program": other_database,
    "a ledger that was cut short": lambda path: path.write_bytes(made(path).read_bytes()[:3000]),
    "the head of a ledger": lambda path: path.write_bytes(made(path).read_bytes()[:4096]),
    "a device": lambda path: path.symlink_to("/dev/full"),
    "nothing": lambda path: None,
}


class TestStrangers:
    """Files that are not ledgers."""

    @pytest.mark.parametrize("make", STRANGERS.values(), ids=STRANGERS)
    def test_nothing_is_released_on_them_and_they_stay_as_they_are(
        self, tmp_path: Path, make: Callable[[Path], object]
    ) -> None:
        path = tmp_path / "stranger"
        make(path)
        before = path.read_bytes() if path.is_file() else None

        with refusal(), open_ledger(path) as book:
            Spending(book)

        assert (path.read_bytes() if path.is_file() else None) == before

    @pytest.mark.parametrize("make", [each for name, each in STRANGERS.items() if name != "nothing"])
    def test_no_ledger_is_made_of_them(self, tmp_path: Path, make: Callable[[Path], object]) -> None:
        path = tmp_path / "stranger"
        make(path)
        before = path.read_bytes() if path.is_file() else None

        result = command("ledger", "init", str(path), "--dataset", "visits", "--cap-zcdp", "1")

        assert result.exit_code == 2, result.output
        assert result.stderr.count("\n") == 1
        assert (path.read_bytes() if path.is_file() else None) == before

    def test_a_ledger_of_a_later_version_is_not_touched(self, path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()

        with refusal() as said:
            Spending(open_ledger(path))

        assert "was written by a later expost; update expost" in said[0]


class TestClock:
    """Clocks that run backwards."""

    def test_a_clock_that_is_an_hour_behind_refuses(self, path: Path) -> None:
        times = [datetime.now(UTC) + timedelta(hours=hours) for hours in (2, 1)]
        with Book(SqliteHome(path), clock=lambda: times[0]) as book:
            Spending(book)
        with Book(SqliteHome(path), clock=lambda: times[1]) as book, refusal() as said:
            Spending(book)

        assert "is before the last entry of the ledger" in said[0]
        assert "set the clock" in said[0]

    def test_a_clock_that_is_set_back_in_the_midst_of_a_step_lets_nothing_leave(self, path: Path) -> None:
        times = [datetime.now(UTC) + timedelta(hours=2)]
        with Book(SqliteHome(path), clock=lambda: times[-1]) as book:
            spending = Spending(book, lambda: times.append(datetime.now(UTC)))
            with refusal(spending, opened=1):
                spending.step()

        assert totals(path)[0] == 0
        assert totals(path)[1] > 0

    def test_a_clock_that_is_a_minute_behind_goes_on_with_the_time_of_the_last_entry(self, path: Path) -> None:
        times = iter([datetime.now(UTC) + timedelta(minutes=minutes) for minutes in (3, 2, 1)])
        with Book(SqliteHome(path), clock=lambda: next(times)) as book:
            spending = Spending(book)
            spending.step()

        assert spending.released == 1
        assert totals(path)[0] > 0  # whose times were checked


REMOVALS: dict[str, Callable[[Path], object]] = {
    "the file is deleted": lambda path: path.unlink(),
    "the file is moved": lambda path: path.rename(path.with_name("elsewhere.db")),
    "the file is replaced": lambda path: Path(shutil.copy(path, f"{path}.new")).replace(path),
    "the log is deleted": lambda path: Path(f"{path}-wal").unlink(),
    "all is deleted": lambda path: shutil.rmtree(path.parent),
    "the folder is moved": lambda path: path.parent.rename(path.parent.with_name("elsewhere")),
}


class TestRemoved:
    """A file that is taken away under a process that has it open, which would go on in a file that nobody finds."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        (tmp_path / "here").mkdir()
        return made(tmp_path / "here" / "ledger.db")

    @pytest.mark.parametrize("remove", REMOVALS.values(), ids=REMOVALS)
    def test_no_data_is_opened_after_it(self, path: Path, remove: Callable[[Path], object]) -> None:
        with Book(SqliteHome(path)) as book:
            spending = Spending(book)
            remove(path)
            with refusal(spending) as said:
                spending.step()

        assert "was moved, deleted or replaced while it was open" in said[0]

    @pytest.mark.parametrize("remove", REMOVALS.values(), ids=REMOVALS)
    def test_no_value_leaves_after_it(self, path: Path, remove: Callable[[Path], object]) -> None:
        with Book(SqliteHome(path)) as book:
            spending = Spending(book, lambda: remove(path))
            with refusal(spending, opened=1):
                spending.step()

    def test_a_log_that_is_deleted_after_a_crash_is_found_beside_a_receipt(self, path: Path) -> None:
        """Without its log the file is one of an earlier time; nothing in it can say so."""

        def work() -> dict[str, Any]:
            book = Book(SqliteHome(path))
            spending = Spending(book)
            spending.step()
            (found,) = overviews(book.home)
            ((run,),) = sqlite3.connect(path).execute("SELECT id FROM runs").fetchall()
            return {"dataset": "visits", "run": run, "entry": found.entries, "head": found.head}

        receipt = elsewhere(work)
        Path(f"{path}-wal").unlink()

        with open_ledger(path) as book:
            assert "put back to an earlier state" in verify_ledger(book.home, receipt).flaws[0]
