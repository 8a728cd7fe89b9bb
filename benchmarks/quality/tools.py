"""The tools: ours and its peers, each of which has an environment of its own, made with pip where it is not there yet.

Environments and what peers have made lie in a folder outside of the repository, ``EXPOST_BENCHMARKS`` or
``~/.cache/expost-benchmarks``. A peer's rows are kept under a digest of its environment, its program, the table and the
privacy, so that no peer runs twice for the same; ours always runs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias, final

import numpy as np

from benchmarks.harness import Progress
from benchmarks.quality.limited import Limits, Ran, limited
from benchmarks.quality.privacy import DELTA, measured_share, rho_of
from benchmarks.quality.tables import Coded, Codes

HOME = "EXPOST_BENCHMARKS"
"""The environment variable that names the folder."""
PEERS = Path(__file__).with_name("peers")

Made: TypeAlias = tuple[Ran, dict[str, Codes]]
"""What it took, and rows by the method that made them: none if it did not finish."""


@final
@dataclass(frozen=True, slots=True)
class Ours:
    """Ours, with a ladder of so many rungs."""

    name: str
    rungs: int

    def make(self, table: Coded, epsilon: float, limits: Limits, progress: Progress) -> Made:
        """Run it, whatever it made before."""
        out = _folder("ours") / f"{os.getpid()}.npz"
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.quality.ours", str(_given(table)), str(out)]
        ran = limited([*command, repr(epsilon), repr(DELTA), str(self.rungs)], limits)
        rows = {} if ran.failure else _rows(out)
        out.unlink(missing_ok=True)
        return ran, rows


@final
@dataclass(frozen=True, slots=True)
class Peer:
    """A program of ``peers/``, the packages it needs, and what it is told of the privacy."""

    name: str
    program: str
    packages: tuple[str, ...]
    constraints: str
    privacy: Callable[[Coded, float], tuple[str, ...]]

    def make(self, table: Coded, epsilon: float, limits: Limits, progress: Progress) -> Made:
        """What it made before, else what it makes now; one that was not given time enough may try again."""
        kept = _folder("made") / self.digest(table, epsilon)
        told, out = kept.with_suffix(".json"), kept.with_suffix(".npz")
        if told.exists():
            found = json.loads(told.read_text())
            ran = Ran(**found["ran"])
            if not ran.failure or Limits(**found["limits"]) == limits:
                return ran, {} if ran.failure else _rows(out)
        python = self.environment(progress)
        if python is None:
            return Ran(0, 0, 0, "could not be installed"), {}
        command = [str(python), str(PEERS / self.program), str(_given(table)), str(out), *self.privacy(table, epsilon)]
        ran = limited(command, limits)
        about = {"tool": self.name, "table": table.name, "rows": len(table.train), "epsilon": epsilon, "delta": DELTA}
        limit = {"seconds": limits.seconds, "mib": limits.mib}
        told.write_text(json.dumps({**about, "limits": limit, "ran": ran.dump()}, indent=2) + "\n")
        return ran, {} if ran.failure else _rows(out)

    def digest(self, table: Coded, epsilon: float) -> str:
        """What its rows follow from, but for its noise."""
        program = (PEERS / self.program).read_text()
        given = (self.packages, self._pinned(), program, self.privacy(table, epsilon), table.digest)
        return sha256(repr(given).encode()).hexdigest()[:32]

    def environment(self, progress: Progress) -> Path | None:
        """The interpreter of its environment, made if need be; nothing if it cannot be made."""
        digest = sha256(repr((self.packages, self._pinned(), sys.version_info[:2])).encode()).hexdigest()[:8]
        home = _folder("environments") / f"{Path(self.constraints).stem}-{digest}"
        python, ready = home / "bin" / "python", home / "ready"
        if ready.exists():
            return python
        progress(f"installing {' and '.join(self.packages)}")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constrained = ["-c", str(PEERS / self.constraints), *self.packages]
        for command in ([sys.executable, "-m", "venv", "--clear", str(home)], [*pip, *constrained]):
            if subprocess.run(command, check=False, capture_output=True).returncode:
                return None
        ready.touch()
        return python

    def _pinned(self) -> str:
        return (PEERS / self.constraints).read_text()


def _mst(table: Coded, epsilon: float) -> tuple[str, ...]:
    rho = rho_of(epsilon)
    return repr(rho), "MST", repr(measured_share(rho, len(table.sizes) - 1))


OPENDP = ("opendp_tables.py", ("opendp[mbi]==0.16.0", "pandas"), "opendp.txt")
OURS = (Ours("expost", 1), Ours("expost_ladder", 3))
RIVALS = (
    Peer("opendp_mst", *OPENDP, _mst),
    Peer("opendp_aim", *OPENDP, lambda table, epsilon: (repr(rho_of(epsilon)), "AIM")),
)
TOOLS: dict[str, Ours | Peer] = {tool.name: tool for tool in (*OURS, *RIVALS)}


def home() -> Path:
    """The folder of environments and of what peers have made."""
    return Path(os.environ.get(HOME) or Path.home() / ".cache" / "expost-benchmarks")


def _folder(name: str) -> Path:
    folder = home() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _given(table: Coded) -> Path:
    """The file with what a tool is given."""
    path = _folder("tables") / f"{table.name}-{table.digest[:16]}.npz"
    if not path.exists():
        table.save(path)
    return path


def _rows(path: Path) -> dict[str, Codes]:
    with np.load(path) as stored:
        return {method: stored[method].astype(np.int64) for method in stored.files}
