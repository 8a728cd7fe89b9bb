"""Tries the mutants of a module in a copy of the tree: ``python -m mutants.worker KEPT OUT MODULE``.

One line of JSON for each mutant goes to OUT as soon as it is known: its name, and whether a test noticed it.
"""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from multiprocessing import Process
from pathlib import Path

import pytest

from mutants.kill import SURVIVED, UNTRIED, Patched, Trial, afresh, in_turn
from mutants.operators import mutants_of
from mutants.selection import traced
from mutants.suite import tests_of

QUICK, THOROUGH = 15.0, 60.0
"""Seconds of tests that a mutant is tried on at first, and that one is tried on before it counts as a survivor."""
HEAVY = ("numpy", "scipy.stats", "scipy.optimize", "sklearn.datasets", "mpmath", "hypothesis", "torch", "opacus")
"""Imported once, before processes are forked."""


def main(kept: Path, out: Path, module: str) -> None:
    """All mutants of a module."""
    jobs, tests = os.cpu_count() or 1, tests_of(module)
    calls = traced(tests, kept, jobs)
    found = mutants_of(module, Path("src/expost", module).read_text(encoding="utf-8"))
    noticed = _quickly([calls.trial(each, QUICK) for each in found if each.outer], tests, jobs)
    with out.open("w", buffering=1, encoding="utf-8") as log:

        def tell(trial: Trial, code: int) -> None:
            log.write(json.dumps([trial.mutant.name, code != SURVIVED]) + "\n")

        for name in noticed:
            log.write(json.dumps([name, True]) + "\n")
        left = [calls.trial(each, THOROUGH) for each in found if each.name not in noticed]
        for package in HEAVY:
            importlib.import_module(package)
        in_turn(left, lambda trial: afresh(trial) if trial.tests else SURVIVED, jobs, tell)


def _quickly(trials: Sequence[Trial], tests: Sequence[str], jobs: int) -> set[str]:
    """The mutants that are noticed with tests collected beforehand, in a process of its own: it imports the package."""
    results = Path("quickly.jsonl")
    results.write_text("")
    process = Process(target=_patched, args=(trials, tests, jobs, results))
    process.start()
    process.join()
    ended = (json.loads(line) for line in results.read_text(encoding="utf-8").splitlines())
    return {name for name, code in ended if code not in (SURVIVED, UNTRIED)}


def _patched(trials: Sequence[Trial], tests: Sequence[str], jobs: int, results: Path) -> None:
    with results.open("a", buffering=1, encoding="utf-8") as log:

        def tell(trial: Trial, code: int) -> None:
            log.write(json.dumps([trial.mutant.name, code]) + "\n")

        quiet = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:terminal"]
        pytest.main([*quiet, *tests], plugins=[Patched(trials, jobs, tell)])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
