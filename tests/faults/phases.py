"""Where a run can be halted, broken or weakened, from inside its process."""

import errno
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import expost.folders.claim
import expost.folders.journal
import expost.folders.place
import expost.jobs.asking.answer
import expost.jobs.asking.climb
import expost.jobs.finetuning.records
import expost.jobs.synthesis.run
import expost.odometer
import expost.tabular.hidden
import expost.tabular.planting
import expost.terminal.ending
from expost.folders.claim import Claim
from expost.folders.journal import Journal
from expost.terminal.ending import Signals
from expost.terminal.screen import Screen
from expost.training.head.score import Classifier

REACHED, GO, HEARD = Path("REACHED"), Path("GO"), Path("HEARD")
"""A run that halts makes the first, and waits for the second; it makes the third when it has heard a signal."""


def halt() -> None:
    """Wait until the run may go on."""
    REACHED.touch()
    while not GO.exists():
        time.sleep(0.005)


def before(owner: Any, name: str, *, call: int = 1, act: Callable[[], None] = halt) -> None:
    """Do something before a function is called for this time."""
    run, calls = getattr(owner, name), iter(range(1, 10**6))

    def acting(*words: Any, **settings: Any) -> Any:
        if next(calls) == call:
            act()
        return run(*words, **settings)

    setattr(owner, name, acting)


def after(owner: Any, name: str, *, act: Callable[[], None] = halt) -> None:
    """Do something when a function has been called for the first time."""
    run, calls = getattr(owner, name), iter(range(1, 10**6))

    def acting(*words: Any, **settings: Any) -> Any:
        done = run(*words, **settings)
        if next(calls) == 1:
            act()
        return done

    setattr(owner, name, acting)


def opening(call: int, act: Callable[[], None] = halt) -> None:
    """Halt, or whatever else, with data open for this time."""
    guarded: Callable[[Callable[[], Any]], Any] = getattr(expost.odometer, "guarded")  # noqa: B009
    calls = iter(range(1, 10**6))

    def acting(run: Callable[[], Any]) -> Any:
        if next(calls) == call:
            act()
        return run()

    setattr(expost.odometer, "guarded", lambda run: guarded(lambda: acting(run)))  # noqa: B010


def in_mid_line() -> None:
    """Halt with half of the first hold in the journal."""
    write = os.write

    def halved(file: int, line: bytes) -> int:
        if not line.startswith(b'{"hold": 1,') or REACHED.exists():
            return write(file, line)
        done = write(file, line[: len(line) // 2])
        halt()
        return done

    os.write = halved  # type: ignore[assignment]


def fails(failure: BaseException) -> Callable[[], None]:
    """Something that goes wrong."""

    def fail() -> None:
        raise failure

    return fail


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

PHASES: dict[str, Callable[[], None]] = {
    "beginning": partial(before, Claim, "__init__"),
    "journal made": partial(before, Journal, "__init__"),
    "claiming": partial(before, expost.folders.claim, "sweep"),
    "claimed": partial(before, Screen, "__enter__"),
    "reading a table": partial(before, expost.tabular.hidden, "read_pieces"),
    "reading records": partial(before, expost.jobs.finetuning.records, "read_npz"),
    "noting": in_mid_line,
    "opening 1": partial(opening, 1),
    "opening 2": partial(opening, 2),
    "opening 3": partial(opening, 3),
    "opening 4": partial(opening, 4),
    "billing": partial(before, Journal, "capture"),
    "fitting": partial(before, expost.tabular.planting, "fit"),
    "training": partial(after, Screen, "advance"),
    "showing": partial(after, Journal, "show"),
    "between rungs": partial(after, Screen, "add"),
    "receipt written": partial(before, expost.folders.claim, "write_through", call=2),
    "writing a table": partial(before, expost.jobs.synthesis.run, "write_table"),
    "writing answers": partial(before, expost.jobs.asking.answer, "write_table"),
    "writing a head": partial(before, Classifier, "save"),
    "all written": partial(before, expost.folders.claim, "_keep_receipts"),
    "exchanging": partial(before, expost.folders.place, "exchange"),
    "exchanged": partial(after, expost.folders.place, "exchange"),
    "delivered": partial(before, Claim, "give_up"),
    "given up": partial(before, Claim, "__exit__"),
    "telling": partial(before, Screen, "end"),
}
"""Moments at which a run halts, in the order in which they come."""

FAULTS: dict[str, Callable[[], None]] = {
    "memory runs out": partial(before, Screen, "add", act=fails(MemoryError())),
    "memory runs out in a tally": partial(before, expost.jobs.asking.climb, "look", act=fails(MemoryError())),
    "memory runs out in the fit": partial(before, expost.tabular.planting, "fit", act=fails(MemoryError())),
    "a fault of ours": partial(before, Screen, "add", act=fails(RuntimeError("a fault of ours"))),
    "a fault of ours in a look": partial(
        before, expost.jobs.asking.climb, "look", act=fails(RuntimeError("a fault of ours"))
    ),
    "a step fails": partial(opening, 1, fails(RuntimeError("a private value"))),
    "the disk is full": partial(before, expost.folders.claim, "write_through", act=fails(FULL)),
}
"""What can go wrong inside a run."""

WEAKENED: dict[str, Callable[[], None]] = {
    "deaf": expost.terminal.ending.ENDINGS.clear,
    "forgetful": lambda: setattr(Journal, "_append", lambda journal, line: None),
    "unable to exchange": lambda: setattr(expost.folders.place, "exchange", lambda one, other: False),
}
"""Runs that lack what the tests are about."""
OBSERVED: dict[str, Callable[[], None]] = {"hearing": partial(after, Signals, "_heard", act=HEARD.touch)}
"""What a test cannot see from outside."""


def prepare(*names: str) -> None:
    """Make this process halt, fail or be weaker than it should be."""
    for name in names:
        {**PHASES, **FAULTS, **WEAKENED, **OBSERVED}[name]()
