"""Whenever a process is killed that replaces a release, its folder is the old release or the new one, at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from expost.folders.claim import Claim
from expost.folders.place import is_release
from expost.jobs import audit as check
from tests.faults.processes import environment
from tests.unit.folders.examples import RECEIPT, can_exchange

PROGRAM = """
import os, signal, sys
from pathlib import Path

import expost.folders.place
from expost.folders.claim import deliver
from expost.receipts.receipt import receipt, receipt_text
from tests.unit.report.examples import facts
from tests.unit.folders.examples import older_release

told, exchange = receipt_text(receipt(facts())), expost.folders.place.exchange
if sys.argv[1] == "unable":
    exchange = lambda one, other: False


def exchanged(one, other):
    done = exchange(one, other)
    sys.audit("os.exchanged")
    return done


def put(fresh):
    (fresh / "synthetic.csv").write_text("new", encoding="utf-8")


def replace(moment):
    left = iter(range(moment))

    def hear(event, words):
        if event.startswith(("open", "os.", "shutil.", "fcntl.")) and next(left, None) is None:
            signal.raise_signal(signal.SIGKILL)

    sys.addaudithook(hear)
    deliver(Path("out"), put, receipt=told, report="a page", overwrite=True)


expost.folders.place.exchange = exchanged
for moment in range(1000):
    os.mkdir(str(moment))
    older_release(Path(f"{moment}/out"))
    child = os.fork()
    if not child:
        os.chdir(str(moment))
        replace(moment)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != -signal.SIGKILL:
        sys.exit(status)
"""


def deliveries(here: Path, able: str) -> list[Path]:
    """Folders in which a release was being replaced by a process that was killed, each a moment later than the last."""
    subprocess.run([sys.executable, "-c", PROGRAM, able], cwd=here, env=environment(here), check=True)
    return sorted(here.iterdir(), key=lambda each: int(each.name))[:-1]


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of processes that can exchange two folders at once."""
    return deliveries(tmp_path_factory.mktemp("exchanged"), "able")


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of processes that cannot, and take the old one away first."""
    return deliveries(tmp_path_factory.mktemp("moved"), "unable")


def is_old(folder: Path) -> bool:
    """Whether this is the release that was there before."""
    held = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir() if each.is_file()}
    return held == {"receipt.json": RECEIPT, "synthetic.csv": "old"}


def is_new(folder: Path) -> bool:
    """Whether this is the release that was to come, with the receipt of the one before."""
    return (
        is_release(folder)
        and {each.name for each in folder.iterdir()} == {"synthetic.csv", "report.html", "receipt.json", "earlier"}
        and check(json.loads((folder / "receipt.json").read_text(encoding="utf-8"))).matches
        and (folder / "earlier/receipt-1.json").read_text(encoding="utf-8") == RECEIPT
    )


def require_old_then_new(moments: list[Path]) -> None:
    """Up to some moment the folder is the old release, and from then on the new one."""
    old = [is_old(each / "out") for each in moments]
    assert all(is_new(each / "out") for each, before in zip(moments, old, strict=True) if not before)
    assert old == sorted(old, reverse=True)
    assert set(old) == {True, False}


@can_exchange
def test_a_killed_process_leaves_the_old_release_or_the_new_one_in_its_place(exchanged: list[Path]) -> None:
    require_old_then_new(exchanged)


def test_where_folders_cannot_be_exchanged_there_is_a_moment_with_neither(moved: list[Path]) -> None:
    """The weaker way, which the test above would notice."""
    missing = [each for each in moved if not (each / "out").exists()]

    assert len(missing) == 1
    require_old_then_new([each for each in moved if each not in missing])


def require_tidied(moments: list[Path]) -> None:
    """The next run clears what is left of a killed one, puts back what it took away, and ends with a release."""
    for each in moments:
        with Claim(each / "out", overwrite=True):
            pass
        assert [path.name for path in each.iterdir()] == ["out"]
    require_old_then_new(moments)


def test_the_next_run_clears_what_a_killed_one_has_left(exchanged: list[Path], moved: list[Path]) -> None:
    for moments in (exchanged, moved):
        require_tidied(moments)
