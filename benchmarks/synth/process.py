"""Work that is timed in a fresh process."""

import subprocess
import sys
from collections.abc import Callable

from benchmarks.harness import HERE

TARGET = "income"


def fresh(*arguments: str) -> Callable[[], object]:
    """An action that runs ``python -m benchmarks.synth`` with these arguments."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.synth", *arguments]
    return lambda: subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.DEVNULL)
