"""Trained heads: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from expost.accounting.curve import AdpEpsilon
from expost.jobs.finetuning.recipe import HeadRecipe, Shape, TrainingPlan
from expost.receipts.receipt import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import words
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import outcome_facts
from expost.report.page import computed_with, covered_section, method_section
from expost.search import Outcome
from expost.text import Json
from expost.training.head.arrays import InNumpy
from expost.training.head.mechanism import Head
from expost.training.head.score import Classifier

OPEN = "Open to anyone: all weights that were released on the way, and the optimiser's memory beside them."
EXTRACTOR = (
    "Not covered: where the features come from. Whatever turned the records into features must have been trained and "
    "chosen on public data; if it was trained on these records, that has a bill of its own."
)
SETTINGS = (
    "Not covered: how the settings were chosen. Learning rate, clipping, schedule and accuracy must come from "
    "elsewhere; each trial on these records has a bill of its own."
)
EXACT = (
    "Sums and noise were integers, and the noise was an exact discrete Gaussian, so the bound holds for the machine's "
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
    rung: ClassVar[str] = "release"
    lines: ClassVar[Mapping[str, str]] = {"Head": "noisy training steps"}
    covered: ClassVar[str] = "The bound covers the whole procedure: every training step and the decision to stop."

    def passed(self, facts: Facts) -> str:
        """The head itself was checked."""
        asked = words.asked_for(facts)
        if not facts.divided:
            return f"The trained head passed the check at {asked} on public records."
        return f"The trained head passed the check at {asked} on held-out records that it was not trained on."

    def name(self, place: int) -> str:
        """Its number, and how many steps led to it."""
        return f"{place}, after {self.steps[place - 1]:,} steps"

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """Steps, classes and features."""
        steps = self.steps[len(facts.rungs) - 1]
        return "training steps", f"{steps:,}", f"{self.classes} classes, {self.width} features"

    def sections(self, facts: Facts) -> str:
        """The procedure, and what the bound covers."""
        counted = " They were counted from the labels." if self.counted else ""
        public = f"Taken to be public: that there are {self.classes} classes and {self.width} features.{counted}"
        method = method_section(self._method(facts))
        covers = covered_section(facts, OPEN, EXTRACTOR, SETTINGS, public)
        return f"{method}{covers}{computed_with(facts.versions, self.device)}"

    def _method(self, facts: Facts) -> tuple[str, ...]:
        """Sample, clip, add noise, move, check."""
        later = f", the others {self.steps[1] - self.steps[0]:,} steps apart" if len(self.steps) > 1 else ""
        return (
            *words.parts(facts),
            "Each record came as a row of features, which was scaled to length 1 by itself. Softmax regression was "
            "trained on the rows, starting from zero weights.",
            f"In every step each record took part with probability {self.rate}, independently of the others (Poisson "
            f"sampling). Its gradient was clipped to norm {self.clip:g}, noise of {float(self.noise_multiplier):.4g} "
            f"times that norm was added to the sum, and {self.optimizer} moved the weights at a learning rate of "
            f"{self.learning_rate:g}, multiplied by {self.drop:g} after the first release.",
            FLOATING if facts.floating else EXACT,
            "Each release went on from the one before, so no step was paid for twice. The first came after "
            f"{self.steps[0]:,} steps{later}.",
            words.checked(facts),
            "The head was made from noisy sums alone: it may be published and used at no further cost.",
        )

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
    shape: Shape,
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
    return outcome_facts(
        outcome,
        ledger,
        job=_job(recipe, shape, counted=counted),
        title=title,
        measure="accuracy",
        asked=recipe.target.threshold,
        held=held,
        check=recipe.judge(),
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        stops=head_stops(recipe, plan),
        reason=plan.reason,
        neighbours=Head.neighbours.value,
        because=because,
        cap=cap,
        packages=() if isinstance(recipe.arrays, InNumpy) else ("torch",),
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
        neighbours=Head.neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=head_stops(recipe, plan),
        looks=recipe.looks(),
    )


def _job(recipe: HeadRecipe, shape: Shape, *, counted: bool) -> HeadJob:
    return HeadJob(
        classes=shape.classes,
        counted=counted,
        width=shape.width,
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
