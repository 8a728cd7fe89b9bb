"""Runs of the program in real processes: begun, halted in a phase, signalled, and looked at when they are over."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, final

from expost.folders.place import is_release
from expost.jobs import audit as check
from expost.receipts.journal import read_journal
from expost.report.digits import price
from tests.faults.jobs import Job
from tests.faults.nursery import Order
from tests.faults.phases import GO, HEARD, REACHED
from tests.unit.folders.examples import RECEIPT

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds until a process that does not get where it should is given up."""
PROGRAM = """
import sys

import tests.faults.libraries
from tests.faults.nursery import live

live(*sys.argv[1:])
"""
NURSERY = (sys.executable, "-c", PROGRAM)


def environment(here: Path, **more: str) -> dict[str, str]:
    """The variables that a process begins with."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    own = {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "TMPDIR": str(here / "temporary")}
    return {**os.environ, **own, **more}


class Process(Protocol):
    """A process that was begun. Implemented by Forked and by subprocess.Popen."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def poll(self) -> int | None:
        """Its exit status, or the negative number of the signal that ended it; None while it runs."""
        ...


@final
@dataclass
class Forked:
    """A process that was forked from the nursery."""

    nursery: "Nursery"
    pid: int
    _status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, or the negative number of the signal that ended it; None while it runs."""
        if self._status is None:
            self._status = self.nursery.ask({"status": self.pid})
        return self._status


@final
class Nursery:
    """The process that is forked for every run."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def begin(self, order: Order, output: int, errors: int) -> Forked:
        """A new process, with these streams."""
        return Forked(self, self.ask(order, output, errors))

    def ask(self, order: Order, *streams: int) -> Any:
        """What the nursery answers."""
        socket.send_fds(self._control, [json.dumps(order).encode()], streams)
        return json.loads(self._control.recv(2**10))


@contextmanager
def nursery() -> Iterator[Nursery]:
    """One that lives as long as the block."""
    ours, its = socket.socketpair()
    command = [*NURSERY, "serve", str(its.fileno())]
    with its, subprocess.Popen(command, pass_fds=[its.fileno()], env=environment(Path()), cwd=ROOT) as process:
        its.close()
        try:
            yield Nursery(ours)
        finally:
            ours.close()
            process.wait(PATIENCE)


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
        assert said.startswith("expost: "), said
        assert said.endswith(".")
        assert "\n" not in said
        return said

    @property
    def journal(self) -> str | None:
        """The ε that the journal states, if there is one."""
        path = self.here / "out.journal"
        return price(read_journal(path.read_text(encoding="utf-8")).epsilon) if path.exists() else None


@final
@dataclass
class Scene:
    """A folder with what a job reads, an older release, and something dear to the user."""

    here: Path
    job: Job
    nursery: Nursery
    _before: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.job.sources(self.here)
        (self.here / "precious").write_text("kept", encoding="utf-8")
        (self.here / "temporary").mkdir()
        self._before = {each.name: each.read_bytes() for each in self.here.iterdir() if each.is_file()}
        (self.here / "out").mkdir()
        (self.here / "out/receipt.json").write_text(RECEIPT, encoding="utf-8")
        (self.here / "out" / self.job.product).write_text("old", encoding="utf-8")

    def begin(self, *words: str, names: tuple[str, ...] = (), out: str = "out", **settings: Any) -> "Running":
        """A run into a folder, which is halted, broken or weakened as the names say."""
        whole = (*self.job.words, "--out", out, "--overwrite", *words)
        phases = tuple(map(self.job.phase, names))
        return begun(self.nursery, self.here, *whole, names=phases, **settings)

    def run(self, *words: str, **settings: Any) -> Ended:
        """The same when it is over."""
        return self.begin(*words, **settings).end()

    def halted(self, *names: str, **settings: Any) -> "Running":
        """The same, halted in its phase."""
        running = self.begin(names=names, **settings)
        running.reach()
        return running

    def stopped(self, number: int, *names: str) -> Ended:
        """A run that gets a signal in its phase."""
        running = self.halted(*names)
        os.kill(running.process.pid, number)
        return running.end()

    def is_old(self) -> bool:
        """Whether the folder holds the older release, as it was."""
        found = {each.name: each.read_bytes() for each in (self.here / "out").iterdir() if each.is_file()}
        return found == {"receipt.json": RECEIPT.encode(), self.job.product: b"old"}

    def require_nothing_lost(self) -> None:
        """The user's files are as they were, and the folder holds the old release, or a whole new one that keeps it."""
        assert {name: (self.here / name).read_bytes() for name in self._before} == self._before
        if not self.is_old():
            self.require_whole(self.here / "out")
            assert (self.here / "out/earlier/receipt-1.json").read_text(encoding="utf-8") == RECEIPT

    def require_whole(self, folder: Path) -> None:
        """The folder is a release whose receipt adds up."""
        assert is_release(folder)
        assert {self.job.product, "report.html", "receipt.json"} <= {path.name for path in folder.iterdir()}
        assert (folder / self.job.product).read_bytes() != b"old"
        assert check(json.loads((folder / "receipt.json").read_text(encoding="utf-8")), beside=folder).matches

    @property
    def left(self) -> set[str]:
        """What there is that was not there before."""
        ours = {"temporary", "out", *map(str, (REACHED, GO, HEARD))}
        return {path.name for path in self.here.iterdir()} - self._before.keys() - ours


@final
@dataclass
class Running:
    """A process that was begun in a folder, and what can be read of it."""

    here: Path
    process: Process
    output: int | None
    errors: int | None

    def reach(self) -> None:
        """Wait until the process has come to its phase."""
        self._wait(lambda: (self.here / REACHED).exists() or self.process.poll() is not None)

    def hear(self, number: int) -> None:
        """Send a signal, and wait until the process has heard it."""
        os.kill(self.process.pid, number)
        self._wait(lambda: (self.here / HEARD).exists() or self.process.poll() is not None)

    def end(self, encoding: str = "utf-8") -> Ended:
        """The process when it is over, which it soon is: it may go on."""
        (self.here / GO).touch()
        return self.outcome(encoding)

    def outcome(self, encoding: str = "utf-8") -> Ended:
        """The process when it is over, without a word to those that are halted."""
        try:
            self._wait(lambda: self.process.poll() is not None)
        except TimeoutError:
            os.kill(self.process.pid, signal.SIGKILL)
            raise
        status = self.process.poll()
        assert status is not None
        return Ended(self.here, status, _text(self.output, encoding), _text(self.errors, encoding))

    def _wait(self, over: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not over():
            if time.monotonic() > until:
                raise TimeoutError("the process did not get where it should")
            time.sleep(0.01)


def begun(
    nursery: Nursery,
    here: Path,
    *words: str,
    names: tuple[str, ...] = (),
    largest: int | None = None,
    unprivileged: bool = False,
    streams: tuple[int | None, int | None] = (None, None),
    wrapped: tuple[str, ...] = (),
    **variables: str,
) -> Running:
    """The program with these words, forked unless it is wrapped, with pipes for the streams that are not given."""
    order: Order = {
        "here": str(here),
        "words": words,
        "names": names,
        "largest": largest,
        "unprivileged": unprivileged,
        "environment": environment(here, **variables),
    }
    (output, its_output), (errors, its_errors) = (
        os.pipe() if stream is None else (None, os.dup(stream)) for stream in streams
    )
    process: Process
    if wrapped:
        command = [*wrapped, *NURSERY, "order", json.dumps(order)]
        process = subprocess.Popen(command, cwd=here, env=order["environment"], stdout=its_output, stderr=its_errors)
    else:
        process = nursery.begin(order, its_output, its_errors)
    os.close(its_output)
    os.close(its_errors)
    return Running(here, process, output, errors)


def _text(stream: int | None, encoding: str) -> str:
    if stream is None:
        return ""
    with os.fdopen(stream, "rb") as reader:
        return reader.read().decode(encoding)


def closed_pipe() -> int:
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def full_device() -> int:
    """A device that takes nothing."""
    return os.open("/dev/full", os.O_WRONLY)
