"""Run benchmarks and record them: ``python -m benchmarks.harness NAME``, or ``all``.

A benchmark is a module of this package with ``run(progress) -> dict[str, float]``: it says through ``progress``
what it is measuring and returns its figures by name. They are printed last, one a line, and written to
``results/NAME.json`` beside the machine, the versions and the commit they were measured with.
"""

import importlib
import json
import os
import pkgutil
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeAlias

from rich.console import Console

Progress: TypeAlias = Callable[[str], None]

HERE = Path(__file__).parent
PACKAGES = ("expost", "numpy", "scipy", "opendp", "scikit-learn", "mbi", "jax")


def names() -> list[str]:
    """The benchmarks there are."""
    modules = (module.name for module in pkgutil.iter_modules([str(HERE)]))
    return sorted(name for name in modules if name != "harness")


def seconds(*actions: Callable[[], object], repeats: int) -> list[float]:
    """Median time of each action, taken in turns so that a busy machine slows all of them alike.

    One unmeasured turn comes first, to warm caches up.
    """
    turns = [[_once(action) for action in actions] for _ in range(repeats + 1)]
    return [median(times) for times in zip(*turns[1:], strict=True)]


def _once(action: Callable[[], object]) -> float:
    start = perf_counter()
    action()
    return perf_counter() - start


def measure(name: str) -> dict[str, float]:
    """The figures of one benchmark, shown in progress on the error stream and recorded."""
    benchmark = importlib.import_module(f"benchmarks.{name}")
    with Console(stderr=True).status(name) as status:
        figures: dict[str, float] = benchmark.run(lambda text: status.update(f"{name}: {text}"))
    record = {"benchmark": name, **circumstances(), "figures": figures}
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
    return figures


def circumstances() -> dict[str, object]:
    """What the figures depend on, without saying whose machine it was."""
    git = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    machine = {"cpu": _cpu(), "cores": os.cpu_count(), "os": f"{platform.system()} {platform.machine()}"}
    versions = {"python": platform.python_version(), **_versions()}
    return {"commit": git.stdout.strip() or "unknown", "machine": machine, "versions": versions}


def main(arguments: list[str]) -> int:
    """Measure what is named on the command line; 2 if there is no such benchmark."""
    known = names()
    chosen = known if arguments == ["all"] else arguments
    if not chosen or not set(chosen) <= set(known):
        asked = " ".join(arguments) or "nothing"
        print(f"{asked} is not a benchmark; choose from {', '.join(known)} or all.", file=sys.stderr)
        return 2
    figures = {figure: value for name in chosen for figure, value in measure(name).items()}
    for figure, value in figures.items():
        print(f"{figure} {value:.6g}")
    return 0


def _versions() -> dict[str, str]:
    """Of the packages that are installed: each benchmark needs only some of them."""
    found = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _cpu() -> str:
    """The processor's model, as Linux names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
