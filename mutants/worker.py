"""Tries the mutants of a module in a copy of the tree: ``python -m mutants.worker KEPT OUT MODULE [NAME…]``.

One line of JSON for each goes to OUT as soon as it is known: module, name, whether a test noticed it, and seconds.
A mutant that is none comes with them, which no test may notice. With names, only the mutants of these names are tried.
"""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from multiprocessing import Process
from pathlib import Path

import pytest

from mutants.kill import KILLED, NOTHING, SURVIVED, UNTRIED, Patched, Tell, Trial, afresh, in_turn
from mutants.operators import Mutant, mutants_of
from mutants.selection import traced
from mutants.suite import suite_of

QUICK, THOROUGH = 3.0, 12.0
"""Seconds of tests that a mutant is tried on at first, and that one is tried on before it counts as a survivor."""
HEAVY = ("numpy", "scipy.stats", "scipy.optimize", "sklearn.datasets", "mpmath", "torch", "opacus")
"""Imported once, before processes are forked; not hypothesis, which pytest must import itself."""


def main(kept: Path, out: Path, module: str, names: Sequence[str]) -> None:
    """All mutants of this module, or those named."""
    jobs, tests = os.cpu_count() or 1, suite_of(module)
    with out.open("w", buffering=1, encoding="utf-8") as log:

        def tell(trial: Trial, code: int, seconds: float) -> None:
            log.write(json.dumps([trial.mutant.module, trial.mutant.name, code != SURVIVED, seconds]) + "\n")

        calls = traced(tests, kept, jobs)
        found = [each for each in _mutants(module) if not names or each.name in names]
        noticed = _quickly([calls.trial(each, QUICK) for each in found if each.outer], tests, jobs, tell)
        for package in HEAVY:
            importlib.import_module(package)
        left = [calls.trial(each, THOROUGH, own=True) for each in found if each.name not in noticed]
        every = Trial(NOTHING, tuple({test for trial in left for test in trial.tests}), THOROUGH)
        in_turn([every, *left], lambda trial: afresh(trial) if trial.tests else SURVIVED, jobs, tell)


def _mutants(module: str) -> list[Mutant]:
    return mutants_of(module, Path("src/expost", module).read_text(encoding="utf-8"))


def _quickly(trials: Sequence[Trial], tests: Sequence[str], jobs: int, tell: Tell) -> set[str]:
    """The mutants that are noticed with tests collected beforehand, in a process of its own: it imports the package."""
    results = Path("quickly.txt")
    results.write_text("", encoding="utf-8")
    process = Process(target=_patched, args=(trials, tests, jobs, tell, results))
    process.start()
    process.join()
    if process.exitcode:
        sys.exit("the tests cannot be tried in a forked process as they are; mend that first.")
    return set(results.read_text(encoding="utf-8").splitlines())


def _patched(trials: Sequence[Trial], tests: Sequence[str], jobs: int, tell: Tell, results: Path) -> None:
    with results.open("a", buffering=1, encoding="utf-8") as names:

        def keep(trial: Trial, code: int, seconds: float) -> None:
            if code not in (SURVIVED, UNTRIED):
                names.write(trial.mutant.name + "\n")
                tell(trial, code, seconds)

        code = pytest.main(["-q", "-s", "-p", "no:cacheprovider", *tests], plugins=[Patched(trials, jobs, keep)])
    if code == KILLED:
        sys.exit(KILLED)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
