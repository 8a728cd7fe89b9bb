"""Where rows go that do not fit into memory: a folder that only its owner can enter, and that goes with the process."""

import atexit
import os
import platform
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

MARK = "expost-spill"


@cache
def spill_folder(process: int) -> Path:
    """A folder of this process, gone when it ends; those that killed processes left behind go too."""
    here = f"{MARK}-{re.sub(r'[^A-Za-z0-9]', '', platform.node())}-"
    for left in Path(tempfile.gettempdir()).glob(f"{here}*"):
        if _abandoned(left, here):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{here}{process}-"))
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a fork that ends must not take the folder from its parent
        shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path, here: str) -> bool:
    """Whether the folder was ours, made on this machine by a process that no longer runs."""
    number = folder.name.removeprefix(here).partition("-")[0]
    try:
        if os.name != "posix" or not number.isdigit() or folder.lstat().st_uid != os.getuid():
            return False
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
