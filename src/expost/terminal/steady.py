"""Text on a terminal that may be gone, full or unable to spell ε: what cannot be shown never ends a run."""

import codecs
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO, final

SPELLED = {
    "ε": "epsilon", "δ": "delta", "α": "alpha", "ρ": "rho", "∞": "infinity", "±": "+/-", "≤": "<=", "≥": ">=",
    "−": "-", "—": "-", "–": "-", "…": "...", "×": "x", "·": "*", "’": "'", "“": '"', "”": '"',
}  # fmt: skip
"""What our texts hold that not every terminal does."""
SPELL = "expost.spell"


def _spell(error: UnicodeError) -> tuple[str, int]:
    """The letters that an encoding lacks in letters that every encoding has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return SPELLED.get(letter, plain or "?")


codecs.register_error(SPELL, _spell)


@final
class Steady:
    """A stream that swallows what its device does not take; from the first failure on it shows nothing more."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self.lost = stream or _nowhere(), stream is None
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=SPELL)

    @property
    def encoding(self) -> str:
        """That of the device."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether somebody is watching."""
        return not self.lost and self._stream.isatty()

    def fileno(self) -> int:
        """The number of the open file."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Show the text, if that can be done."""
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Show what was written so far."""
        self._try(self._stream.flush)

    def _try(self, run: Callable[[], object]) -> None:
        if self.lost:
            return
        try:
            run()
        except (OSError, ValueError):  # the second is what a stream says that was closed
            self.lost = True
            with suppress(OSError, ValueError):  # what is left in its buffer would fail again when the process ends
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, self._stream.fileno())
                os.close(nowhere)


def _nowhere() -> TextIO:
    """In place of a stream that was closed from the start: no file of ours may take its number."""
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


@contextmanager
def steady_streams() -> Iterator[None]:
    """Output and error stream that outlive their devices."""
    former = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(Steady, former)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = former


def spelled(text: str, encoding: str) -> str:
    """The text as an encoding shows it, for tables, which count letters."""
    return text.encode(encoding, SPELL).decode(encoding)


def is_lost(stream: object) -> bool:
    """Whether something could not be shown."""
    return isinstance(stream, Steady) and stream.lost
