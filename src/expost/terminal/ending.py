"""How a command ends: refusals in one sentence, a run with its bill on the disk before a signal or a word about it."""

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn, Protocol, Self, final

import click

from expost.bill import spent_so_far
from expost.errors import ExpostError, MechanismFailed
from expost.folders.claim import Claim
from expost.noise import Noise, SeededNoise, SystemNoise
from expost.recorded import ReadableLedger
from expost.report.digits import price
from expost.terminal.kept import OnRecord
from expost.terminal.options import Command, require_once
from expost.terminal.screen import Concluded, Screen
from expost.terminal.steady import is_lost, steady_streams
from expost.text import printable

ENDINGS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "cut off from its terminal"))
    if hasattr(signal, name)
}
"""The signals that a run answers, and how it says that it ended by one; SIGHUP is not known everywhere."""


@final
class Signals:
    """Raises KeyboardInterrupt for every one of them, and remembers which came first: libraries raise something else.

    What was ignored when the process began, as nohup has it, stays ignored.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._waiting = self._deaf = False
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if current_thread() is main_thread():
            for number in ENDINGS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._former[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *failure: object) -> None:
        for number, former in self._former.items():
            signal.signal(number, former)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the first signal wait until the block is done; a second one does not."""
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False
        if self.number is not None:
            raise KeyboardInterrupt

    def ignore(self) -> None:
        """The run is ending; let it say so."""
        self._deaf = True

    @property
    def word(self) -> str | None:
        """How the run ended by a signal, if it did."""
        return None if self.number is None else ENDINGS[self.number]

    def _heard(self, number: int, frame: FrameType | None) -> None:
        first, self.number = self.number is None, number if self.number is None else self.number
        if not (self._deaf or (first and self._waiting)):
            raise KeyboardInterrupt


REACHED, NOT_SHOWN, REFUSED, NOT_REACHED, FAILED, BY_SIGNAL = 0, 1, 2, 3, 4, 128
"""The exit statuses; that of a signal is added to its number."""


class Finished(Concluded, Protocol):
    """A run that came to an end, and can be kept. Implemented by Result and Answer."""

    @property
    def passed(self) -> bool:
        """Whether the target was reached."""
        ...

    def save(self, folder: Path | Claim, *, format: str | None = None) -> None:  # noqa: A002  the word for it
        """Write it into a new folder, all or nothing."""
        ...


class Program(click.Group):
    """Commands that take each option once, and whose output may go to a pipe that is closed or a full disk."""

    group_class = type

    def resolve_command(self, context: click.Context, words: list[str]) -> Any:
        """The command that is called, refused where an option is given twice and would be taken once."""
        name, command, rest = super().resolve_command(context, words)
        if command is not None:
            require_once(context, command, rest)
        return name, command, rest

    def main(self, *words: Any, **settings: Any) -> Any:
        """Run a command."""
        with steady_streams():
            return super().main(*words, **settings)


def stop(sentence: str, status: int) -> NoReturn:
    """End without a release."""
    say(sentence)
    sys.exit(status)


def say(sentence: str) -> None:
    """A sentence on the error stream, below what the interrupt key left; nothing in a path can draw on a terminal."""
    below = "\n" if sentence.startswith("\n") else ""
    click.echo(f"{below}{printable(sentence.removeprefix(below))}", err=True)


def plainly(command: Command) -> Command:
    """Refusals in one sentence on the error stream, with their own exit status."""

    @wraps(command)
    def run(**settings: Any) -> None:
        try:
            command(**settings)
        except ExpostError as refusal:
            stop(f"expost: {refusal}", REFUSED)
        except KeyboardInterrupt:
            stop("\nexpost: interrupted.", BY_SIGNAL + signal.SIGINT)
        if is_lost(sys.stdout):
            sys.exit(NOT_SHOWN)

    return run


def release(
    run: Callable[[Noise, ReadableLedger], Finished],
    claim: Claim,
    screen: Screen,
    settings: Mapping[str, Any],
) -> NoReturn:
    """Run the job with a live table, write its files, and say how it ended and what was spent, whatever happens."""
    noise: Noise = SystemNoise() if settings["seed"] is None else SeededNoise(settings["seed"])
    record = OnRecord(claim, str(click.get_current_context().info_name), settings)
    with Signals() as signals:
        try:
            with claim, record, screen:
                done = run(noise, record.ledger)
                with signals.waiting():
                    record.close()  # before the receipt, which names the entry that the run ends with
                    missed = _keep(done, claim, settings.get("format_"))
                    claim.give_up()  # while signals wait: one that came later would leave the journal behind
        except BaseException as failure:  # whatever it is, what was spent is said
            signals.ignore()
            _say_spent(failure, claim, signals, record.told)
            raise
        signals.ignore()
        screen.end(done, claim.where)
        if record.unreturned is not None:
            say(f"expost: {record.unreturned}")
        if missed is not None:
            stop(f"expost: {claim.place.typed} could not be written ({missed}){_spent(claim)}.", FAILED)
        sys.exit(REACHED if done.passed else NOT_REACHED)


def _keep(done: Finished, claim: Claim, chosen: str | None) -> str | None:
    """Write a release to its folder or, because it is paid for, anywhere else; why, if it is not in its folder."""
    try:
        done.save(claim, format=chosen)
    except (OSError, ExpostError) as failure:
        spare = Path(tempfile.mkdtemp(prefix="expost-"))
        try:
            done.save(spare / claim.place.folder.name, format=chosen)
        except BaseException:
            spare.rmdir()
            raise
        claim.delivered = spare / claim.place.folder.name
        return _reason(failure)
    return None


def _say_spent(failure: BaseException, claim: Claim, signals: Signals, told: str) -> None:
    """End by a signal, a refusal or a lack of disk or memory in one sentence; anything else keeps its traceback.

    What a lasting ledger has ``told`` of the run comes after it.
    """
    if signals.number is not None:
        stop(f"\nexpost: {signals.word}{_spent(claim)}.{told}", BY_SIGNAL + signals.number)
    match failure:
        case MechanismFailed():  # which says itself what is spent
            left = "" if claim.left is None else f" The journal {claim.left} says so too."
            stop(f"expost: {failure}{left}{told}", REFUSED)
        case ExpostError():
            paid = spent_so_far(claim.ledger)
            spent = f" ε = {price(paid)} is spent{_recorded(claim)}." if paid else ""
            stop(f"expost: {failure}{spent}{told}", REFUSED)
        case OSError():
            stop(f"expost: a file could not be written ({_reason(failure)}){_spent(claim)}.{told}", FAILED)
        case MemoryError():
            stop(f"expost: memory ran out{_spent(claim)}.{told}", FAILED)
        case KeyboardInterrupt():  # raised by other means than a signal
            stop(f"\nexpost: interrupted{_spent(claim)}.{told}", BY_SIGNAL + signal.SIGINT)
    say(f"expost: the run failed{_spent(claim)}.{told}")


def _spent(claim: Claim) -> str:
    """What there is of a run that has ended, what it cost, and where that is written down."""
    written = "nothing was written" if claim.delivered is None else f"the release is in {claim.where}"
    return f"; {written}, and ε = {price(spent_so_far(claim.ledger))} is spent{_recorded(claim)}"


def _recorded(claim: Claim) -> str:
    return "" if claim.left is None else f", as {claim.left} says"


def _reason(failure: BaseException) -> str:
    return str(getattr(failure, "strerror", None) or failure).rstrip(".")
