"""A shelf for arrays that together may not fit into memory: some are kept there, the others in files."""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from os import getpid
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import Unreadable
from expost.tabular.source.spill import spill_folder

Arrays: TypeAlias = tuple[NDArray[Any], ...]


@final
@dataclass(slots=True, eq=False, repr=False, weakref_slot=True)
class Shelved:
    """Some arrays on a shelf, which are gone from it as soon as nobody refers to them."""

    size: int
    _held: Arrays | None
    _file: Path | None = None
    _layout: tuple[tuple[np.dtype[Any], int], ...] = ()
    _mark: NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(1, np.uint8)
    )  # by which storage that is shared is seen

    def arrays(self) -> Arrays:
        """The arrays as they were put there; not to be written to."""
        if self._held is not None:
            return self._held
        assert self._file is not None
        found, place = [], 0
        for kind, length in self._layout:
            found.append(_read(self._file, kind, length, place))
            place += kind.itemsize * length
        return tuple(found)

    def __repr__(self) -> str:
        return "Shelved"


@final
class Shelf:
    """Keeps arrays in memory while there is room, and all others in a folder that only this process can enter.

    The folder goes with the shelf, and at the latest with the process. Shows nothing when printed.
    """

    def __init__(self, room: int) -> None:
        self._room, self._used, self._numbers = room, [0], count()
        self._folder: Path | None = None
        self._removal: weakref.finalize[Any, Any] | None = None

    def __repr__(self) -> str:
        return "Shelf"

    def put(self, arrays: Sequence[NDArray[Any]]) -> Shelved:
        """Keep one-dimensional arrays."""
        size = sum(each.nbytes for each in arrays)
        if self._used[0] + size <= self._room:
            self._used[0] += size
            kept = Shelved(size, tuple(arrays))
            weakref.finalize(kept, _give_back, self._used, size)
            return kept
        file = self._place() / str(next(self._numbers))
        kept = Shelved(size, None, file, tuple((each.dtype, len(each)) for each in arrays))
        weakref.finalize(kept, file.unlink, missing_ok=True).atexit = False  # the folder goes as a whole
        try:
            with file.open("xb") as out:
                for each in arrays:
                    out.write(np.ascontiguousarray(each).data)
        except OSError:
            raise Unreadable(
                "the table does not fit into memory, and there is no room for it in the folder for temporary files; "
                "free some, name another folder by TMPDIR, or allow more memory."
            ) from None
        return kept

    def close(self) -> None:
        """Delete the files; what they held cannot be read any more."""
        if self._removal is not None:
            self._removal()

    def _place(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(dir=spill_folder(getpid())))
            self._removal = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def _read(file: Path, kind: np.dtype[Any], length: int, place: int) -> NDArray[Any]:
    """An array as it was written; what NumPy finds of a file that was cut would pass for all of it."""
    try:
        found = np.fromfile(file, kind, length, offset=place)
    except OSError:
        found = np.zeros(0, kind)
    if len(found) != length:
        raise Unreadable(
            "what was kept of the table in the folder for temporary files is gone or was cut; let nothing clean that "
            "folder during a run, or name another one by TMPDIR."
        )
    return found


def _give_back(used: list[int], size: int) -> None:
    used[0] -= size
