"""``python -m mutants [--again] [MODULE…]``: mutate the trusted base; fail unless every mutant dies or is known not to.

The tests run in a copy of the tree, so nothing here is changed but ``results.json``, module by module. With
``--again``, only what survived the last recorded run and is not listed as equivalent is tried, and the record amended.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import circumstances

from mutants.kill import NOTHING
from mutants.ledger import Verdict, amend, equivalents, judged, record, survivors
from mutants.suite import MODULES

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".mutants" / "calls.json"
COPIED = ("src", "tests", "mutants")


def main(arguments: list[str]) -> int:
    """Try the mutants of what is named on the command line; 2 if there is no such module, 1 if one is not sound."""
    again, named = "--again" in arguments, [each for each in arguments if each != "--again"]
    unknown = sorted(set(named) - set(MODULES))
    if unknown:
        print(f"{', '.join(unknown)} is not a module that is mutated; see mutants/suite.py.", file=sys.stderr)
        return 2
    listed, commit, sound = equivalents(), str(circumstances()["commit"]), True
    with TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        for module in named or MODULES:
            names = [name for name in survivors(module) if name not in listed] if again else []
            if again and not names:
                continue
            tried = _tried(copy, module, names)
            if any(noticed for each, _, noticed, _ in tried if each == NOTHING.module):
                sys.exit("tests fail when nothing is changed; mend that first.")
            fates = [(name, noticed, seconds) for each, name, noticed, seconds in tried if each == module]
            verdict = judged(module, {name: noticed for name, noticed, _ in fates}, () if again else listed)
            if again:
                amend(module, verdict, commit=commit)
            else:
                record(module, verdict, commit=commit, seconds=sum(seconds for _, _, seconds in fates))
            _tell(module, verdict)
            sound = sound and verdict.sound
    return 0 if sound else 1


def _copied(folder: Path) -> Path:
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def _tried(copy: Path, module: str, names: Sequence[str]) -> list[tuple[str, str, bool, float]]:
    """For each mutant its module and name, whether it was noticed, and how long that took."""
    out = copy / "out.jsonl"
    given = {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        [sys.executable, "-m", "mutants.worker", str(KEPT), str(out), module, *names],
        cwd=copy,
        env={**os.environ, **given},
        check=True,
    )
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def _tell(module: str, verdict: Verdict) -> None:
    print(f"{module}: {verdict.mutants} mutants, {verdict.killed} killed, {verdict.equivalent} equivalent", flush=True)
    for name in verdict.survivors:
        print(f"  survived: {name}", flush=True)
    for name in verdict.mistaken:
        print(f"  listed as equivalent, but killed or gone: {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
