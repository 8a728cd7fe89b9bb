"""Signals: SIGTERM and SIGHUP end a run as the interrupt key does, and none of them before a release is on the disk."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Self, final

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
