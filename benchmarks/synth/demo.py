"""What the demo costs and how long it takes, and a fresh process up to the first synthetic table."""

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import NoReturn

from benchmarks.harness import Progress, seconds
from benchmarks.synth.process import TARGET, fresh

NOT_REACHED = 3
"""The demo's exit status when no rung passed the noisy check: it has done all its work then too."""


RUNS = 8
"""Rehearsals whose ε is averaged."""


def figures(progress: Progress) -> dict[str, float]:
    """The demo from start to exit, a fresh process up to the first synthetic table, and the ε of the demo."""
    progress("the demo")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("expost")), "demo", "--overwrite", "--out", folder]

        def demo() -> None:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode not in {0, NOT_REACHED}:
                raise RuntimeError(f"the demo ended with status {done.returncode}: {done.stderr}")

        whole, first = seconds(demo, fresh("table"), repeats=5)
    progress("what it costs")
    return {"synth.demo_seconds": whole, "synth.first_table_seconds": first, "synth.demo_epsilon": mean(epsilons())}


def epsilons() -> list[float]:
    """What rehearsals of the demo are stated at, a seed each; before patience and growth their mean was .594."""
    from expost.datasets import adult  # noqa: PLC0415
    from expost.jobs.synthesis.run import synthesize  # noqa: PLC0415
    from expost.noise import SeededNoise  # noqa: PLC0415

    table, schema = adult.load(), adult.adult_schema()
    runs = (
        synthesize(table, schema=schema, target=TARGET, accuracy=0.825, noise=SeededNoise(seed)) for seed in range(RUNS)
    )
    return [float(done.epsilon) for done in runs]


def table() -> None:
    """The demo's job up to its first synthetic table, where learning would begin."""
    from expost.datasets import adult  # noqa: PLC0415
    from expost.jobs.synthesis.run import synthesize  # noqa: PLC0415

    def learner(table: object, model: object, target: str, noise: object) -> NoReturn:
        sys.exit()

    synthesize(adult.load(), schema=adult.adult_schema(), target=TARGET, accuracy=0.825, learner=learner)
