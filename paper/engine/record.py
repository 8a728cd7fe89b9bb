"""Results on disk: what was computed, with which code and settings, and where it lies."""

import json
import os
import re
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import machine, python_version, system
from shutil import which
from time import perf_counter
from typing import Any, TypedDict, final

from paper.engine.item import Item
from paper.engine.job import Job

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("expost", "numpy", "scipy", "scikit-learn", "torch", "opacus", "matplotlib")
CODE = ("src", "paper", ":!paper/results", "constraints.txt")
SEED = 1
"""The first seed of every item's repeats."""


class Record(TypedDict):
    """A results file: the result of one item, and all it depends on."""

    item: str
    version: int
    quick: bool
    commit: str
    versions: dict[str, str]
    machine: dict[str, Any]
    seed: int
    settings: dict[str, Any]
    seconds: float
    repeats: dict[str, float]
    result: Any


@final
@dataclass(frozen=True)
class Place:
    """Where results, figures, the page and finished repeats are kept."""

    results: Path
    figures: Path
    page: Path
    cache: Path

    @classmethod
    def under(cls, folder: Path) -> "Place":
        """All in one folder."""
        return cls(folder / "results", folder / "figures", folder / "paper.md", folder / ".cache")

    def of(self, name: str) -> Path:
        """The results file of an item."""
        return self.results / f"{name}.json"


HOME = Place(ROOT / "paper/results", ROOT / "docs/figures", ROOT / "docs/paper.md", ROOT / "paper/.cache")
"""The committed results, and the page made from them."""


def record(name: str, item: Item, place: Place, *, quick: bool, workers: int) -> Record:
    """Run one item and write its results file."""
    commit, settings, start = code_version(), item.QUICK if quick else item.FULL, perf_counter()
    job = Job(name, item.VERSION, settings, SEED, place.cache, workers)
    result = item.run(job)
    found = Record(
        item=name,
        version=item.VERSION,
        quick=quick,
        commit=commit,
        versions=versions(),
        machine={"cores": os.cpu_count(), "workers": workers, "os": f"{system()} {machine()}"},
        seed=SEED,
        settings=asdict(settings),
        seconds=round(perf_counter() - start, 2),
        repeats={"count": len(job.took), "seconds": round(sum(job.took), 2)},
        result=result,
    )
    place.results.mkdir(parents=True, exist_ok=True)
    place.of(name).write_text(as_text(found), encoding="utf-8")
    return found


def read(name: str, place: Place) -> Record | None:
    """The results of an item, if they are there."""
    path = place.of(name)
    if not path.exists():
        return None
    found: Record = json.loads(path.read_text(encoding="utf-8"))
    return found


def as_text(found: Record) -> str:
    """JSON to read and to compare: a key a line, a list of numbers on one line."""
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    numbers = re.compile(r"\[\s+-?\d[^\[\]{}\"]*\]")
    return numbers.sub(lambda match: " ".join(match[0].split()).replace("[ ", "[").replace(" ]", "]"), text) + "\n"


def code_version() -> str:
    """The commit, with "-dirty" where code has changed since."""
    head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--", *CODE)
    return f"{head or 'unknown'}{'-dirty' if changed else ''}"


def versions() -> dict[str, str]:
    """Python and those of the packages that are installed."""
    found = {"python": python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git(*arguments: str) -> str:
    program = which("git")
    if program is None:
        return ""
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip()
