"""However a run ends, nothing of the user's is lost, ε is stated, and what was paid for is kept where it can be."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, final

import pytest

from expost.report import check
from expost.report.digits import price
from expost.report.journal import read_journal
from expost.runs.claim import Claim
from expost.runs.place import is_release
from tests.unit.commands import PLEDGED
from tests.unit.report.examples import customers
from tests.unit.runs.test_place import older_release
from tests.unit.test_runs import SCHEMA, csv, made

PROGRAM = """
import os, resource, sys, time
from pathlib import Path

import expost.step
import expost.tabular.synthesis
import expost.runs.tables
import expost.cli.signals
import expost.runs.journal
from expost.cli import main

phase, weakened, *words = sys.argv[1:]
opened = {"selecting": 1, "rung 1": 3, "checking": 4, "breaking": 3}
guarded, read, write = expost.step.guarded, expost.runs.tables.read, expost.runs.tables.write
calls = iter(range(1, 1000))


def halt(run):
    if phase == "breaking":
        raise RuntimeError("a private value")
    Path("REACHED").touch()
    while not Path("GO").exists():
        time.sleep(0.01)
    return run()


def open_data(run):
    return guarded(lambda: halt(run) if next(calls) == opened.get(phase) else run())


def fails(*words):
    raise MemoryError if phase == "fitting" else RuntimeError("a fault of ours")


expost.step.guarded = open_data
if phase == "reading":
    expost.runs.tables.read = lambda *words: halt(lambda: read(*words))
if phase == "writing":
    expost.runs.tables.write = lambda *words: halt(lambda: write(*words))
if phase in ("fitting", "failing"):
    expost.tabular.synthesis.fit = fails
if weakened == "deaf":
    expost.cli.signals.ENDINGS.clear()
if weakened == "forgetful":
    expost.runs.journal.Journal._append = lambda journal, line: None
if "LARGEST" in os.environ:  # no file may grow beyond it, as on a disk that is full
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LARGEST"]),) * 2)
sys.argv = ["expost", *words]
main()
"""
WORDS = ("customers.csv", "--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.6", "--estimator", "model")
LADDER = ("--ladder", "0.02:2:3", "--confidence", "none")
PATIENCE = 120.0
"""Seconds until a process that does not get where it should is given up."""

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "cut off from its terminal"}
SPENDING = ("selecting", "rung 1", "checking")


@final
@dataclass(frozen=True)
class Ended:
    """How a process ended, and the folder it ran in."""

    here: Path
    status: int
    output: str
    errors: str

    @property
    def sentence(self) -> str:
        """All that the error stream says: one sentence."""
        said = self.errors.strip()
        assert said.startswith("expost: ")
        assert said.endswith(".")
        assert "\n" not in said
        return said

    @property
    def journal(self) -> str | None:
        """The ε that the journal states, if there is one."""
        path = self.here / "out.journal"
        return price(read_journal(path.read_text(encoding="utf-8")).epsilon) if path.exists() else None

    def require_nothing_lost(self) -> None:
        """The user's files are as they were, and the folder holds the old release, or a whole new one that keeps it."""
        assert (self.here / "customers.csv").read_text(encoding="utf-8").count("\n") == 901
        assert (self.here / "schema.toml").read_text(encoding="utf-8") == SCHEMA.dumps()
        assert (self.here / "precious").read_text(encoding="utf-8") == "kept"
        if (self.here / "out/synthetic.csv").read_text(encoding="utf-8") != "old":
            require_whole(self.here / "out")
            assert (self.here / "out/earlier/receipt-1.json").exists()


@cache
def first() -> str:
    """What a run is stated at that stops on its first rung, or anywhere before."""
    done = made(customers(SCHEMA, 900), confidence=None)
    return price(done.synthesis.plan.pledge.epsilon(done.synthesis.plan.stops[0]))


def require_whole(folder: Path) -> None:
    """The folder is a release whose receipt adds up."""
    assert is_release(folder)
    assert {"synthetic.csv", "report.html", "receipt.json"} <= {path.name for path in folder.iterdir()}
    assert check(json.loads((folder / "receipt.json").read_text(encoding="utf-8"))).matches


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a table, its schema, an older release, and something dear to the user."""
    csv(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    older_release(tmp_path / "out")
    return tmp_path


def begun(
    here: Path,
    *words: str,
    phase: str = "",
    weakened: str = "",
    out: str = "out",
    output: int | IO[str] = subprocess.PIPE,
    errors: int | IO[str] = subprocess.PIPE,
    wrapped: tuple[str, ...] = (),
    **environment: str,
) -> subprocess.Popen[bytes]:
    """A real process that makes a release in the place of the older one, and halts in the phase."""
    command = (sys.executable, "-c", PROGRAM, phase, weakened, "synth", *WORDS, *LADDER, "--out", out)
    return subprocess.Popen(
        [*wrapped, *command, "--overwrite", *words],
        cwd=here,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "TMPDIR": str(here / "temporary"), **environment},
        stdout=output,
        stderr=errors,
    )


def reached(here: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has come to its phase."""
    until = time.monotonic() + PATIENCE
    while not (here / "REACHED").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


def ended(here: Path, process: subprocess.Popen[bytes], encoding: str = "utf-8") -> Ended:
    """The process when it is over, which it soon is."""
    (here / "GO").touch()
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return Ended(here, process.returncode, *((text or b"").decode(encoding) for text in (output, errors)))


def stopped(here: Path, number: int, phase: str, weakened: str = "") -> Ended:
    """A process that gets a signal in a phase."""
    process = begun(here, phase=phase, weakened=weakened)
    reached(here, process)
    process.send_signal(number)
    return ended(here, process)


@pytest.mark.parametrize("phase", SPENDING)
@pytest.mark.parametrize("number", NAMES)
def test_a_signal_in_mid_run_ends_it_with_the_price_on_screen_and_in_the_journal(
    number: int, phase: str, here: Path
) -> None:
    end = stopped(here, number, phase)

    told = f"nothing was written, and ε = {first()} is spent, as out.journal says."
    assert end.sentence == f"expost: {NAMES[signal.Signals(number)]}; {told}"
    assert (end.status, end.journal) == (128 + number, first())
    assert PLEDGED.fullmatch(end.output)
    end.require_nothing_lost()
    assert left(here) == {"out.journal"}


@pytest.mark.parametrize("number", NAMES)
def test_a_signal_while_the_table_is_read_costs_nothing_and_leaves_nothing(number: int, here: Path) -> None:
    end = stopped(here, number, "reading")

    told = "nothing was written, and ε = 0 is spent."
    assert end.sentence == f"expost: {NAMES[signal.Signals(number)]}; {told}"
    assert end.status == 128 + number
    assert PLEDGED.fullmatch(end.output)
    end.require_nothing_lost()
    assert left(here) == set()


@pytest.mark.parametrize("number", NAMES)
def test_a_signal_while_files_are_written_waits_until_the_release_is_whole(number: int, here: Path) -> None:
    end = stopped(here, number, "writing")

    assert end.status == 128 + number
    assert end.sentence.startswith(f"expost: {NAMES[signal.Signals(number)]}; the release is in out, and ε = ")
    assert (here / "out/synthetic.csv").read_text(encoding="utf-8") != "old"
    end.require_nothing_lost()
    assert left(here) == set()


@pytest.mark.parametrize("phase", ["reading", *SPENDING, "writing"])
def test_a_run_that_is_killed_leaves_its_price_in_the_journal_and_the_next_run_tidies_up(
    phase: str, here: Path
) -> None:
    end = stopped(here, signal.SIGKILL, phase)

    assert end.status == -signal.SIGKILL
    assert end.journal == ("0" if phase == "reading" else first())
    assert (here / "out/synthetic.csv").read_text(encoding="utf-8") == "old"
    end.require_nothing_lost()

    with Claim(here / "out", overwrite=True):
        pass
    assert left(here) == (set() if phase == "reading" else {"out-1.journal"})


def left(here: Path) -> set[str]:
    """What there is that was not there before."""
    before = {"customers.csv", "schema.toml", "precious", "temporary", "out", "REACHED", "GO"}
    return {path.name for path in here.iterdir()} - before


def test_a_process_that_does_not_heed_the_signal_says_nothing(here: Path) -> None:
    """The same run without our handlers: what the tests above would notice."""
    end = stopped(here, signal.SIGTERM, "rung 1", weakened="deaf")

    assert (end.status, end.errors) == (-signal.SIGTERM, "")
    assert end.journal == first()


def test_a_killed_run_whose_journal_is_not_on_the_disk_says_nothing(here: Path) -> None:
    """The same run with a journal in memory alone: what the tests above would notice."""
    end = stopped(here, signal.SIGKILL, "rung 1", weakened="forgetful")

    assert (end.status, end.errors) == (-signal.SIGKILL, "")
    assert (here / "out.journal").read_text(encoding="utf-8") == ""


def closed_pipe() -> IO[Any]:
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


def full_device() -> IO[Any]:
    """A device that takes nothing."""
    return Path("/dev/full").open("wb")


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["words", "json"])
@pytest.mark.parametrize("device", [closed_pipe, full_device])
def test_a_run_whose_output_goes_nowhere_keeps_its_release(
    device: Callable[[], IO[Any]], words: tuple[str, ...], here: Path
) -> None:
    with device() as stream:
        end = ended(here, begun(here, *words, output=stream, errors=stream))

    assert end.status == 0
    assert (here / "out/synthetic.csv").read_text(encoding="utf-8") != "old"
    end.require_nothing_lost()
    assert left(here) == set()


def test_a_run_whose_streams_are_closed_from_the_start_keeps_its_release(here: Path) -> None:
    end = ended(here, begun(here, wrapped=("sh", "-c", 'exec "$@" >&- 2>&-', "sh")))

    assert end.status == 0
    assert (here / "out/synthetic.csv").read_text(encoding="utf-8") != "old"
    end.require_nothing_lost()
    assert left(here) == set()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_greek_is_told_in_letters_that_it_has(encoding: str, here: Path) -> None:
    end = ended(here, begun(here, PYTHONIOENCODING=encoding), encoding)

    assert (end.status, end.errors) == (0, "")
    assert "rung: 1  epsilon so far: " in end.output
    assert " This cost epsilon = " in " ".join(end.output.split())
    end.require_nothing_lost()


def test_memory_that_runs_out_in_the_fit_is_told_with_what_was_spent(here: Path) -> None:
    end = ended(here, begun(here, phase="fitting"))

    told = f"nothing was written, and ε = {first()} is spent, as out.journal says."
    assert end.sentence == f"expost: memory ran out; {told}"
    assert (end.status, end.journal) == (4, first())
    end.require_nothing_lost()


def test_a_step_that_fails_with_data_open_is_told_with_what_was_spent_once(here: Path) -> None:
    end = ended(here, begun(here, phase="breaking"))

    assert (end.status, end.journal) == (2, first())
    assert "a private value" not in end.errors
    assert end.sentence.count("ε = ") == 1
    assert end.sentence.endswith(" is spent. The journal out.journal says so too.")
    end.require_nothing_lost()


def test_a_fault_of_ours_is_told_with_what_was_spent_and_keeps_its_traceback(here: Path) -> None:
    end = ended(here, begun(here, phase="failing"))

    told = f"nothing was written, and ε = {first()} is spent, as out.journal says."
    assert (end.status, end.journal) == (1, first())
    assert end.errors.startswith(f"expost: the run failed; {told}\nTraceback")
    end.require_nothing_lost()


def test_a_disk_that_is_full_when_the_release_is_written_leaves_the_journal(here: Path) -> None:
    end = ended(here, begun(here, LARGEST="16000"))

    assert end.status == 4
    assert "could not be written (File too large); nothing was written, and ε = " in end.sentence
    assert end.sentence.endswith(f"ε = {end.journal} is spent, as out.journal says.")
    assert end.journal == first()
    end.require_nothing_lost()
    assert left(here) == {"out.journal"}


def test_a_disk_that_is_full_before_anything_is_spent_costs_nothing(here: Path) -> None:
    end = ended(here, begun(here, LARGEST="100"))

    assert end.status == 4
    assert end.sentence.endswith("; nothing was written, and ε = 0 is spent.")
    end.require_nothing_lost()
    assert left(here) == set()


def test_of_two_runs_into_one_folder_the_second_is_refused_and_the_first_ends_well(here: Path) -> None:
    running = begun(here, phase="rung 1")
    reached(here, running)
    second = begun(here, out="missing/../out")
    output, errors = second.communicate(timeout=PATIENCE)
    end = ended(here, running)

    assert (second.returncode, output) == (2, b"")
    assert errors.decode().startswith("expost: another run is making missing/../out; ")
    assert (end.status, end.errors) == (0, "")
    end.require_nothing_lost()
    assert left(here) == set()


def test_a_folder_that_vanishes_in_mid_run_is_made_again(here: Path) -> None:
    process = begun(here, phase="rung 1", out="inner/out")
    reached(here, process)
    shutil.rmtree(here / "inner")

    end = ended(here, process)

    assert (end.status, end.errors) == (0, "")
    require_whole(here / "inner/out")
    assert {path.name for path in (here / "inner").iterdir()} == {"out"}


def elsewhere(end: Ended) -> Path:
    """The folder that a release went to because it could not go to its own."""
    assert end.status == 4
    (found,) = (here := end.here / "temporary").glob("expost-*/out")
    assert f"; the release is in {found}, and ε = " in end.sentence
    assert here.is_dir()
    return found


def test_a_release_whose_place_was_taken_in_mid_run_goes_elsewhere(here: Path) -> None:
    process = begun(here, phase="rung 1", out="inner/out")
    reached(here, process)
    shutil.rmtree(here / "inner")
    (here / "inner").write_text("kept", encoding="utf-8")

    end = ended(here, process)

    require_whole(elsewhere(end))
    assert (here / "inner").read_text(encoding="utf-8") == "kept"


MOUNTS = ("unshare", "--user", "--map-root-user", "--mount")
can_mount = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*MOUNTS, "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True, check=False).returncode != 0,
    reason="no file systems can be mounted here",
)


def mounted(place: str, options: str) -> tuple[str, ...]:
    """A small file system in this place, for one process alone."""
    return (*MOUNTS, "sh", "-c", f'mount -t tmpfs -o {options} none {place} && exec "$@"', "sh")


@can_mount
def test_a_disk_that_is_full_sends_the_release_elsewhere(here: Path) -> None:
    (here / "disk").mkdir()

    end = ended(here, begun(here, "--rows", "20000", out="disk/out", wrapped=mounted("disk", "size=200k")))

    require_whole(elsewhere(end))
    end.require_nothing_lost()


@can_mount
@pytest.mark.parametrize(
    ("out", "options", "told"),
    [
        ("disk", "size=1m", "disk is a mount point, which cannot be replaced"),
        ("disk/out", "ro", "is not a folder to write to"),
        ("disk/a/b/out", "ro", "is not a folder to write to"),
    ],
)
def test_a_mount_point_and_a_read_only_folder_are_refused_before_anything_is_spent(
    out: str, options: str, told: str, here: Path
) -> None:
    (here / "disk").mkdir()

    end = ended(here, begun(here, out=out, wrapped=mounted("disk", options)))

    assert (end.status, end.output) == (2, "")
    assert told in end.sentence
    end.require_nothing_lost()
    assert left(here) == {"disk"}
