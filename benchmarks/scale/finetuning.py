"""Memory of a fine-tuning over that of its features, each in a process of its own: the most it held beyond its imports.

Features are records around the mean of their class, as an array that stays the caller's, or in an .npz file. What is
asked for is out of reach, so that every release is made and every look taken.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import HERE, Progress
from expost import SeededNoise
from expost.jobs.finetuning.prices import HeadSettings
from expost.jobs.finetuning.run import finetune

RECORDS, WIDTH, CLASSES = 100_000, 512, 10
METHODS: Final = ("full-batch", "means", "ridge", "adam")
GIVEN: Final = ("float32", "float64", "npz float32", "npz float64")
CHUNK = 4096


def finetuning_memory(
    progress: Progress, records: int = RECORDS, width: int = WIDTH, methods: tuple[str, ...] = METHODS
) -> dict[str, float]:
    """Peak memory over the bytes of the features as given, for float32 arrays by method and else for the default."""
    figures: dict[str, float] = {}
    for method in methods:
        for given in GIVEN if method == METHODS[0] else GIVEN[:1]:
            progress(f"fine-tuning on {records:,} records of {width} features, {method}, {given}")
            name = method if given == GIVEN[0] else f"{method}.{given.replace(' ', '_')}"
            figures[f"scale.finetuning_memory.{name}"] = held(method, given, records, width)
    return figures


def held(method: str, given: str, records: int, width: int) -> float:
    """The figure of one run."""
    with TemporaryDirectory(prefix="expost-scale-") as folder:
        file = Path(folder) / "features.npz"
        if given.startswith("npz"):
            np.savez(file, features=features(records, width, given.split()[1]), labels=labels(records))
        words = [method, given, str(records), str(width), str(file)]
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scale.finetuning", *words]
        run = subprocess.run(command, cwd=HERE.parent, check=True, capture_output=True, text=True)
    return float(run.stdout)


def features(records: int, width: int, kind: str) -> NDArray[np.floating]:
    """Records of length 1 or so around the mean of their class, made some at a time."""
    made, means = np.empty((records, width), kind), np.random.default_rng(0).standard_normal((CLASSES, width))
    for start in range(0, records, CHUNK):
        some = labels(records)[start : start + CHUNK]
        noise = np.random.default_rng(start + 1).standard_normal((len(some), width))
        made[start : start + CHUNK] = (means[some] + 5 * noise) / np.sqrt(width)
    return made


def labels(records: int) -> NDArray[np.int64]:
    """The classes in turns."""
    return np.arange(records) % CLASSES


def peak(setting: str) -> int:
    """Bytes resident now (``VmRSS``) or at most so far (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(setting))


def _measure(method: str, given: str, records: int, width: int, file: Path) -> float:
    """In the process itself: what a run held beyond the imports, over the bytes of its features."""
    size = records * width * np.dtype(given.rsplit(maxsplit=1)[-1]).itemsize
    settings: HeadSettings = {"method": method, "validation": 0.5}
    if method == "adam":  # many steps take long, and each is like the others
        settings |= {"releases": 1, "epochs": 1}
    before, of_file = peak("VmRSS"), given.startswith("npz")
    rows, classes = (file, None) if of_file else (features(records, width, given), labels(records))
    finetune(rows, classes, accuracy=0.999, classes=CLASSES, noise=SeededNoise(1), **settings)
    return (peak("VmHWM") - before) / size


if __name__ == "__main__":
    _method, _given, _records, _width, _file = sys.argv[1:]
    print(_measure(_method, _given, int(_records), int(_width), Path(_file)))
