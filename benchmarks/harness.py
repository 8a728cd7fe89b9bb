"""Run benchmarks and record them: ``python -m benchmarks.harness NAME``, or ``all``.

A benchmark is a module of this package with ``run(progress) -> dict[str, float]``: it says through ``progress``
what it is measuring and returns its figures by name. They are printed last, one per line, and written to
``results/NAME.json`` beside the machine, the versions and the commit they were measured with. A benchmark of a GPU says
``NEEDS_GPU = True``: on a machine without one it measures a miniature, which is printed and not recorded. So does one
of features that are not ours to give, ``NEEDS_FEATURES = True``, unless the environment names a file as ``FEATURES``.
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
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from types import ModuleType
from typing import TypeAlias

from rich.console import Console

Progress: TypeAlias = Callable[[str], None]

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PACKAGES = ("expost", "numpy", "scipy", "opendp", "scikit-learn", "mbi", "jax", "torch", "opacus",
            "duckdb", "polars", "pandas", "pyspark")  # fmt: skip
FEATURES = "FEATURES"
"""The environment variable that names a file of features."""
CODE = ("src", "benchmarks", ":!benchmarks/results", "paper", ":!paper/results", "constraints.txt")
"""What figures depend on; results that were just recorded are not part of it."""


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
    benchmark, before = importlib.import_module(f"benchmarks.{name}"), circumstances()
    with Console(stderr=True).status(name) as status:
        figures: dict[str, float] = benchmark.run(lambda text: status.update(f"{name}: {text}"))
    if lacking := _lacking(benchmark):
        print(f"{name} needs {lacking}: this is only a part of it, which is not recorded.", file=sys.stderr)
        return figures
    record = {"benchmark": name, **before, "figures": figures}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
    return figures


def _lacking(benchmark: ModuleType) -> str | None:
    """What there would have to be to measure all of it."""
    if getattr(benchmark, "NEEDS_GPU", False) and gpu() is None:
        return "a GPU"
    if getattr(benchmark, "NEEDS_FEATURES", False) and not os.environ.get(FEATURES):
        return f"{FEATURES}=FILE"
    return None


def circumstances() -> dict[str, object]:
    """What the figures depend on, without saying whose machine it was."""
    machine = {"cpu": _cpu(), "cores": os.cpu_count(), "os": f"{platform.system()} {platform.machine()}"}
    device = {} if (name := gpu()) is None else {"gpu": name}
    versions = {"python": platform.python_version(), **_versions()}
    return {"commit": _commit(), "machine": machine | device, "versions": versions}


def gpu() -> str | None:
    """The name of the GPU that torch computes on, if there is one."""
    if find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else None


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


def _commit() -> str:
    """The commit of the code, with "-dirty" where it has changed since."""
    head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--", *CODE)
    return f"{head or 'unknown'}{'-dirty' if changed else ''}"


def _git(*arguments: str) -> str:
    """What git says; nothing where there is no git or no repository."""
    with suppress(FileNotFoundError):
        done = subprocess.run(["git", *arguments], cwd=HERE.parent, capture_output=True, text=True, check=False)
        return done.stdout.strip()
    return ""


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
