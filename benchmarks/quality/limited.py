"""A process of its own with limits: how long it took, how much of a core and of memory, and whether it finished.

CPU time is what the limit is on, since a busy machine makes the time by the clock a poor one; five times as long by the
clock ends it too. Memory is the largest that was resident, seen ten times a second where there is a /proc.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter, sleep
from typing import final

from benchmarks.harness import HERE

ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
"""Every tool gets one core: threads that wait for each other would count as work."""
PATIENCE = 5
"""The time by the clock that a process may take, over the CPU time it may take."""


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of CPU and MiB of memory that a process may take."""

    seconds: float = 1800
    mib: float = 14000


@final
@dataclass(frozen=True, slots=True)
class Ran:
    """What a process took; ``failure`` is empty if it finished, and else says why it did not."""

    wall_seconds: float
    cpu_seconds: float
    peak_mib: float
    failure: str = ""

    def dump(self) -> dict[str, object]:
        """As it is written to a file."""
        return asdict(self)


def limited(command: Sequence[str], limits: Limits) -> Ran:
    """Run the command to its end or to one of the limits."""
    with TemporaryFile() as said:
        start, peak, failure = perf_counter(), 0.0, ""
        environment = {**os.environ, **ONE_CORE}
        process = subprocess.Popen(
            command, cwd=HERE.parent, env=environment, stdout=said, stderr=said, start_new_session=True
        )
        try:
            while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
                peak = max(peak, _resident(process.pid))
                failure = failure or _beyond(limits, process.pid, perf_counter() - start, peak)
                if failure:
                    os.killpg(process.pid, signal.SIGKILL)
                sleep(0.1)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        wall, usage = perf_counter() - start, ended[2]
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        if process.returncode and not failure:
            said.seek(0)
            lines = said.read().decode(errors="replace").split("\n")
            told = [line.strip() for line in lines if any(map(str.isalnum, line))]
            failure = f"failed: {told[-1][:300] if told else f'status {process.returncode}'}"
    return Ran(wall, usage.ru_utime + usage.ru_stime, peak, failure)


def _beyond(limits: Limits, pid: int, wall: float, peak: float) -> str:
    if peak > limits.mib:
        return f"not finished: over {limits.mib:g} MiB of memory"
    if _cpu(pid) > limits.seconds or wall > PATIENCE * limits.seconds:
        return f"not finished within {limits.seconds:g} s"
    return ""


def _resident(pid: int) -> float:
    """The most memory that was resident so far, in MiB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), default=0.0)


def _cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
