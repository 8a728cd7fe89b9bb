"""Trained torch modules: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

from expost.looks import planned_looks
from expost.report import words
from expost.report.coverage import coverage
from expost.report.coverage import looks as looks_covered
from expost.report.facts import Facts, versions
from expost.report.job import Terms
from expost.report.searching import computed_with, searched
from expost.report.training import COVERED, FLOATING, SETTINGS
from expost.search import Ended, Outcome

if TYPE_CHECKING:
    from torch import nn

    from expost.report.notation import Json
    from expost.training.course import Stage
    from expost.training.module import Trainer

FROZEN = (
    "Not covered: the weights that training started from and those that stayed frozen. If they were trained on these "
    "records, that has a bill of its own."
)
LAYERS = (
    "Not covered: layers that mix records or keep something of them. Modules are tried on made-up records, which is a "
    "trial and not a proof; publish the module of this release, not the one that was trained."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleJob:
    """A torch module, and how it was trained; ``steps`` are those by each release, none where a run was resumed.

    ``resolution`` is how many steps to 1 the score has that releases were judged by.
    """

    module: str
    parameters: int
    steps: tuple[int, ...]
    rate: Fraction
    noise_multiplier: Fraction
    clip: Fraction
    batch: int
    records: int
    optimizer: str
    resolution: int
    kind: ClassVar[str] = "A trained module"
    target: ClassVar[str] = "the label"
    product: ClassVar[str] = "The trained module"
    unseen: ClassVar[str] = "held-out records it was not trained on"
    first: ClassVar[str] = "every training step"
    lines: ClassVar[Mapping[str, str]] = {
        "ModuleDescent": "noisy training steps",
        "Carried": "what earlier processes of the run spent",
    }
    terms: ClassVar[Terms] = Terms(
        rung="release",
        title="The releases",
        whole="training",
        onward="training on",
        top="to the last release",
        taken="reached",
        finer="trained further",
    )

    def size(self, facts: Facts) -> tuple[str, str, str]:
        """Steps and parameters."""
        trained = f"{self.parameters:,} trained parameters"
        if not self.steps:
            return "training", "resumed", f"after earlier processes; {trained}"
        return "training steps", f"{self.steps[len(facts.rungs) - 1]:,}", trained

    def name(self, place: int) -> str:
        """Its number, and how many steps led to it."""
        return f"{place}, after {self.steps[place - 1]:,} steps" if self.steps else f"{place} since it was resumed"

    def method(self, facts: Facts) -> tuple[str, ...]:
        """Sample, clip, add noise, move, try."""
        return (
            *words.divided(facts),
            f"In every step a record took part by its own coin of chance {self.rate} (Poisson sampling), which is the "
            f"expected batch of {self.batch:,} over the public number of {self.records:,} records. Its gradient was "
            f"clipped to norm {float(self.clip):g}, noise of {float(self.noise_multiplier):.4g} times that norm was "
            f"added to the sum, and {self.optimizer} moved the weights.",
            FLOATING,
            "Each release went on from the one before, so that no step was paid twice.",
            words.tried(facts) if facts.asked is not None else "Whoever ran the training chose when to stop.",
            "The module was made from noisy sums alone: it may be published and used without further cost.",
        )

    def exhibits(self) -> str:
        """None: weights are not a chart."""
        return ""

    def appendix(self, facts: Facts) -> str:
        """What the bound is about, and what it is not."""
        public = (
            f"Taken to be public: the number of {self.records:,} records that the sampling rate rests on, and the "
            "shape and type of a record."
        )
        told = coverage(facts, COVERED.format(looks=looks_covered(facts)), FROZEN, LAYERS, SETTINGS, public)
        return f"{told}{computed_with(facts)}"

    def receipt(self) -> "Mapping[str, Json]":
        """The settings of the training."""
        return {
            "training": {
                "module": self.module,
                "trained parameters": self.parameters,
                "steps": list(self.steps),
                "rate": str(self.rate),
                "noise multiplier": str(self.noise_multiplier),
                "clip": str(self.clip),
                "batch": self.batch,
                "public number of records": self.records,
                "optimizer": self.optimizer,
                "resolution": self.resolution,
            }
        }


def of_training(trainer: "Trainer", found: "Outcome[nn.Module] | Stage", *, title: str = "Module") -> Facts:
    """What a report tells of a trainer's run: ``found`` is what ``until`` or a callback came to, or the last stage."""
    announced = trainer.announced
    judge, goal = announced.judge, announced.goal
    outcome = found if isinstance(found, Outcome) else Outcome(found.release, Ended.EXHAUSTED, found.history)
    told = searched(
        outcome,
        trainer.record,
        job=_job(trainer, outcome.release.value),
        title=title,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        held=None,
        check=judge,
        because=announced.because,
        cap=announced.cap,
    )
    course, planned = announced.course, announced.course.releases.rungs
    if course.descent.start.steps == 0:  # a resumed run takes what was left of the planned rungs, and is not replayed
        told = replace(
            told,
            rungs=tuple(replace(each, times=rung.times) for each, rung in zip(told.rungs, planned, strict=False)),
            stops=tuple(replace(stop, rung=rung) for stop, rung in zip(told.stops, planned, strict=True)),
        )
    looks = planned_looks(course.descent, course.releases, judge)
    return replace(told, looks=looks, versions=versions("torch", "opacus"))


def _job(trainer: "Trainer", module: "nn.Module") -> ModuleJob:
    course, goal = trainer.announced.course, trainer.announced.goal
    descent, settings = course.descent.descent, course.descent.settings
    return ModuleJob(
        module=type(module).__name__,
        parameters=sum(each.numel() for each in course.descent.start.parameters.values()),
        steps=() if course.descent.start.steps else course.releases.schedule.steps,
        rate=descent.rate,
        noise_multiplier=descent.noise_multiplier,
        clip=course.descent.clip,
        batch=course.descent.batch,
        records=course.descent.records,
        optimizer=str(settings["optimizer"]),
        resolution=1 if goal is None else goal.score.resolution,
    )
