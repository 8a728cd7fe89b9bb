"""The capability to open a Private and to make a Release. Types stop accidents, not insiders."""

import warnings
from collections.abc import Callable
from threading import Lock
from typing import TypeVar, final

import numpy as np

from expost.errors import ForgedRelease, MechanismFailed

T = TypeVar("T")


@final
class Seal:
    """A token of which one instance exists."""

    __slots__ = ()


SEAL = Seal()


@final
class _Silence:
    """No warnings while a thread has data open: the filter is the whole process's, so the last one out restores it."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._filters.__exit__(None, None, None)


_SILENCE = _Silence()


def require(seal: Seal) -> None:
    """Refuse every token but the one."""
    if seal is not SEAL:
        raise ForgedRelease("only a mechanism run through an odometer opens private data or makes a release.")


def guarded(run: Callable[[], T]) -> T:
    """What ``run`` returns with private data open; if it fails or warns, nothing of the cause, which may show data."""
    failure: BaseException
    try:
        with _SILENCE, np.errstate(all="ignore"):
            return run()
    except Exception:  # noqa: BLE001  whatever it is, it was raised with private data open
        failure = MechanismFailed(
            "a step failed with private data open; the cause is withheld and the cost stays counted. "
            "Try the function on invented data, and make it accept every record."
        )
    except KeyboardInterrupt:
        failure = KeyboardInterrupt("interrupted with private data open; the cost stays counted.")
    except BaseException:  # noqa: BLE001  an exit, whose frames would show data as well
        failure = SystemExit("stopped with private data open; the cost stays counted.")
    raise failure
