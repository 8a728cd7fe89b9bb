"""Two folders that change places at once, so that neither name is ever missing."""

import ctypes
import os
import sys
from pathlib import Path

AT_FDCWD = -100
"""Linux's word for paths as they are."""
SWAP = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""


def exchange(one: Path, other: Path) -> bool:
    """Whether the two have changed places; where the system cannot do that, both are where they were."""
    words = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None), "renameat2", None)
        return call is not None and call(AT_FDCWD, words[0], AT_FDCWD, words[1], ctypes.c_uint(SWAP)) == 0
    if sys.platform == "darwin":
        return bool(ctypes.CDLL(None).renamex_np(*words, ctypes.c_uint(SWAP)) == 0)
    return False
