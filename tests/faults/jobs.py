"""The jobs that the faults are tried on: what is typed, what is read and made, and where they can be halted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from expost.jobs.finetuning.recipe import plan_training
from expost.report.digits import price
from tests.faults.head import head
from tests.unit.asking_examples import answer_of
from tests.unit.jobs.synthesis.customers import SCHEMA, csv, made
from tests.unit.report.examples import blobs, customers


@final
@dataclass(frozen=True, eq=False)
class Job:
    """A command, which writes a release over an older one.

    ``own`` are the phases of this job alone, as those are called that every job has; ``first`` is what a run is stated
    at that stops on its first rung, or anywhere before.
    """

    name: str
    words: tuple[str, ...]
    product: str
    exhausted: str
    own: Mapping[str, str]
    sources: Callable[[Path], object]
    first: Callable[[], str]

    def phase(self, name: str) -> str:
        """A phase by the name that all jobs have for it."""
        return self.own.get(name, name)


def _table(here: Path) -> None:
    csv(here)
    (here / "schema.toml").write_text(SCHEMA.dumps(), encoding="utf-8")


def _records(here: Path) -> None:
    features, labels = blobs(120)
    np.savez(here / "records.npz", features=features, labels=labels)


def _first_of_table() -> str:
    done = made(customers(SCHEMA, 900), confidence=None)
    return price(done.facts.stops[0].epsilon)


def _first_of_head() -> str:
    return price(plan_training(head()).epsilons[0])


SYNTH = Job(
    "synth",
    ("synth", "customers.csv", "--schema", "schema.toml", "--target", "renewed", "--accuracy", "0.3",
     "--estimator", "model", "--ladder", "renyi:0.02:2:3", "--confidence", "none"),
    "synthetic.csv",
    "memory runs out in the fit",
    {"reading": "reading a table", "writing": "writing a table", "rung 1": "opening 3", "checking": "opening 4"},
    _table,
    _first_of_table,
)  # fmt: skip
FINETUNE = Job(
    "finetune",
    ("finetune", "records.npz", "--accuracy", "0.05", "--start", "1", "--releases", "2", "--epochs", "2",
     "--epochs-between", "2", "--rate", "0.5", "--confidence", "none"),
    "model.npz",
    "memory runs out",
    {"reading": "reading records", "writing": "writing a head", "rung 1": "opening 1", "checking": "opening 2"},
    _records,
    _first_of_head,
)  # fmt: skip
ASK = Job(
    "ask",
    ("ask", "customers.csv", "count by region", "--schema", "schema.toml", "--within", "40"),
    "answers.csv",
    "memory runs out in a tally",
    {
        "reading": "reading a table",
        "writing": "writing answers",
        "rung 1": "opening 1",
        "a fault of ours": "a fault of ours in a look",
    },
    _table,
    lambda: price(answer_of("one release").epsilon),
)
JOBS = (SYNTH, FINETUNE, ASK)
