"""Trained heads: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from expost.accounting.curve import AdpEpsilon
from expost.bill import billed
from expost.jobs.finetuning.recipe import HeadRecipe, TrainingPlan
from expost.receipts.commitment import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import words
from expost.report.charts import safe
from expost.report.coverage import coverage, looks
from expost.report.facts import Facts, PlannedStop, Reading, Terms, versions
from expost.search import Outcome
from expost.text import Json
from expost.training.head.arrays import InNumpy
from expost.training.head.score import Classifier

COVERED = (
    "Covered: every training step{looks} and the decision to stop. All weights that were released "
    "on the way, and the optimiser's memory beside them, may be seen by anybody."
)
EXTRACTOR = (
    "Not covered: where the features come from. What turned the records into features must have been trained and "
    "chosen on public data; if it was trained on these records, that has a bill of its own."
)
SETTINGS = (
    "Not covered: how the settings were chosen. Learning rate, clipping, schedule and accuracy must come from "
    "elsewhere; each trial on these records has a bill of its own."
)
EXACT = (
    "Sums and noise were integers, and the noise an exact discrete Gaussian, so the bound holds for the machine's "
    "arithmetic too."
)
FLOATING = (
    "Sums and noise were in floating point. The bound is that of ideal Gaussian noise: what rounding may reveal is NOT "
    "covered."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class HeadJob:
    """A linear head, and how it was trained; ``counted`` where the number of classes was taken from the labels."""

    classes: int
    counted: bool
    width: int
    steps: tuple[int, ...]
    rate: Fraction
    noise_multiplier: Fraction
    clip: float
    batch: float
    optimizer: str
    learning_rate: float
    drop: float
    device: str
    kind: ClassVar[str] = "A trained classifier"
    target: ClassVar[str] = "the class"
    product: ClassVar[str] = "The trained head"
    unseen: ClassVar[str] = "held-out records it was not trained on"
    first: ClassVar[str] = "every training step"
    lines: ClassVar[Mapping[str, str]] = {"Head": "noisy training steps"}
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
        """Steps, classes and features."""
        return (
            "training steps",
            f"{self.steps[len(facts.rungs) - 1]:,}",
            f"{self.classes} classes, {self.width} features",
        )

    def name(self, place: int) -> str:
        """Its number, and how many steps led to it."""
        return f"{place}, after {self.steps[place - 1]:,} steps"

    def method(self, facts: Facts) -> tuple[str, ...]:
        """Sample, clip, add noise, move, try."""
        return (
            *words.divided(facts),
            "Each record came as a row of features, scaled to length 1 by itself, and softmax regression was trained "
            "on the rows from zero weights.",
            f"In every step a record took part by its own coin of chance {self.rate} (Poisson sampling). Its gradient "
            f"was clipped to norm {self.clip:g}, noise of {float(self.noise_multiplier):.4g} times that norm was added "
            f"to the sum, and {self.optimizer} moved the weights at a learning rate of {self.learning_rate:g}, "
            f"multiplied by {self.drop:g} after the first release.",
            FLOATING if facts.floating else EXACT,
            f"Each release went on from the one before, so that no step was paid twice. {self._schedule}",
            words.tried(facts),
            "The head was made from noisy sums alone: it may be published and used without further cost.",
        )

    @property
    def _schedule(self) -> str:
        later = f", the others {self.steps[1] - self.steps[0]:,} steps apart" if len(self.steps) > 1 else ""
        return f"The first came after {self.steps[0]:,} steps{later}."

    def exhibits(self) -> str:
        """None: weights are not a chart."""
        return ""

    def appendix(self, facts: Facts) -> str:
        """What the bound is about, and what it is not."""
        told = ", ".join(f"{name} {version}" for name, version in facts.versions)
        origin = " They were counted from the labels." if self.counted else ""
        public = f"Taken to be public: that there are {self.classes} classes and {self.width} features.{origin}"
        note = f'<p class="note">{safe(f"computed with {self.device}; {told}")}</p>'
        return f"{coverage(facts, COVERED.format(looks=looks(facts)), EXTRACTOR, SETTINGS, public)}{note}"

    def receipt(self) -> Mapping[str, Json]:
        """The settings of the training."""
        return {
            "training": {
                "classes": self.classes,
                "classes counted from the labels": self.counted,
                "features": self.width,
                "steps": list(self.steps),
                "rate": str(self.rate),
                "noise multiplier": str(self.noise_multiplier),
                "clip": self.clip,
                "batch": self.batch,
                "optimizer": self.optimizer,
                "learning rate": self.learning_rate,
                "drop": self.drop,
                "computed with": self.device,
            }
        }


def head_facts(
    outcome: Outcome[Classifier],
    recipe: HeadRecipe,
    plan: TrainingPlan,
    ledger: ReadableLedger,
    *,
    title: str,
    because: str,
    held: float | None,
    counted: bool,
    cap: AdpEpsilon | None = None,
) -> Facts:
    """The facts of a finished run; ``held`` is about how many records were held out, if that is public."""
    asked, pledge = recipe.target.threshold, plan.pledge
    return Facts(
        title=title,
        job=_job(recipe, counted=counted),
        measure="accuracy",
        asked=asked,
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        ended=outcome.ended,
        cap=cap,
        seeded=outcome.release.seeded,
        floating=outcome.release.floating,
        epsilon=outcome.epsilon,
        delta=recipe.delta,
        spent=outcome.release.spent,
        pledge=pledge,
        reason=plan.reason,
        neighbours=recipe.head().neighbours.value,
        because=because,
        held=held,
        rungs=tuple(Reading.of(line, pledge, asked=asked, held=held) for line in outcome.history),
        stops=head_stops(recipe, plan),
        bill=billed(ledger),
        versions=versions(*(() if isinstance(recipe.arrays, InNumpy) else ("torch",))),
        check=CheckOnRecord.of(recipe.judge()),
    )


def head_stops(recipe: HeadRecipe, plan: TrainingPlan) -> tuple[PlannedStop, ...]:
    """What stopping at each release costs, and what is spent up to it."""
    rungs = zip(plan.pledge.table, recipe.releases.rungs, strict=True)
    return tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in rungs)


def head_commitment(recipe: HeadRecipe, plan: TrainingPlan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the records."""
    return Commitment(
        kind=HeadJob.kind,
        target=HeadJob.target,
        measure="accuracy",
        asked=recipe.target.threshold,
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        neighbours=recipe.head().neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=head_stops(recipe, plan),
        looks=recipe.looks(),
    )


def _job(recipe: HeadRecipe, *, counted: bool) -> HeadJob:
    return HeadJob(
        classes=recipe.classes,
        counted=counted,
        width=recipe.width,
        steps=recipe.schedule.steps,
        rate=recipe.descent.rate,
        noise_multiplier=recipe.descent.noise_multiplier,
        clip=recipe.clip,
        batch=recipe.batch,
        optimizer=type(recipe.optimizer).__name__,
        learning_rate=recipe.optimizer.learning_rate,
        drop=recipe.drop,
        device=recipe.arrays.name,
    )
