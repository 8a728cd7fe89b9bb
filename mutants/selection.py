"""Which tests each mutant is tried on: those that call the function it is in, the quickest first."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from mutants.kill import Trial
from mutants.operators import Mutant
from mutants.tracing import Calls


@final
@dataclass(frozen=True, slots=True)
class Tests:
    """What each test calls and how long it takes."""

    calls: Calls

    def trial(self, mutant: Mutant, most: float, *, own: bool = False) -> Trial:
        """The mutant with its tests, as many as take so many seconds together, and at least one if there is any.

        What is outside of functions is tried on the tests that call anything in the module. With ``own``, the tests
        that mirror the module are taken along whatever they call: a forked process calls functions unseen.
        """
        wanted, mirror = f"{mutant.module}:{mutant.outer}", _mirror(mutant.module) if own else ""
        chosen, total = list[str](), 0.0
        for name, (seconds, called) in sorted(self.calls.items(), key=lambda test: test[1][0]):
            calls = any(each == wanted if mutant.outer else each.startswith(wanted) for each in called)
            mirrors = bool(mirror) and name.startswith(mirror)
            if mirrors or (calls and (not chosen or total + seconds <= most)):
                chosen.append(name)
                total += seconds
        return Trial(mutant, tuple(chosen), total)


def _mirror(module: str) -> str:
    """The tests of the same name."""
    path = Path(module)
    return (Path("tests/unit") / path.parent / f"test_{path.stem.lstrip('_')}.py::").as_posix()


def traced(given: Sequence[str], kept: Path, jobs: int) -> Tests:
    """What these tests call, noted anew where one of them or the package has changed since it was noted in ``kept``."""
    files = [str(path) for each in given for path in _files(Path(each))]
    known: dict[str, tuple[str, Calls]] = json.loads(kept.read_text()) if kept.exists() else {}
    package = _digest(sorted(Path("src").rglob("*.py")))
    marks = {file: package + _digest([Path(file)]) for file in files}
    stale = [file for file in files if known.get(file, ("", {}))[0] != marks[file]]
    noted = _trace(stale, jobs)
    for file in stale:
        known[file] = marks[file], {name: call for name, call in noted.items() if name.partition("::")[0] == file}
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(known))
    return Tests({name: call for file in files for name, call in known[file][1].items()})


def _files(path: Path) -> Iterable[Path]:
    return sorted(path.rglob("test_*.py")) if path.is_dir() else [path]


def _digest(paths: Sequence[Path]) -> str:
    together = hashlib.sha256()
    for path in paths:
        together.update(path.read_bytes())
    return together.hexdigest()


def _trace(files: Sequence[str], jobs: int) -> Calls:
    """Run these tests in several processes."""
    parts = [files[start::jobs] for start in range(jobs) if files[start::jobs]]
    outputs = [Path(f"calls{number}.json").resolve() for number in range(len(parts))]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-p", "mutants.tracing", "-p", "no:cacheprovider", *part],
            env={**os.environ, "MUTANTS_TRACE": str(output)},
        )
        for part, output in zip(parts, outputs, strict=True)
    ]
    if not {process.wait() for process in processes} <= {0, 1}:  # 1: some failed, and take no part
        sys.exit("the tests cannot be run as they are; mend that first.")
    calls: Calls = {}
    for output in outputs:
        calls |= json.loads(output.read_text())
    return calls
