"""Trained heads in words: what a report and a receipt say of how a head was trained, method by method."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from expost.accounting.claim import Budget
from expost.jobs.finetuning.methods import GradientSteps
from expost.jobs.finetuning.worded import ADDED_UP, LINES, TRAINED, scaled_words
from expost.receipts.costs import budget_out
from expost.report import arrangement, words
from expost.report.facts import Facts
from expost.report.page import covered_section, method_section
from expost.report.shares import asked_for
from expost.report.units import OF_PERSONS, by_row, by_unit, clipped
from expost.text import Json
from expost.training.head.centre import RADIUS

OPEN = "Open to anyone: all weights that were released on the way, and whatever else the training released beside them."
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


@dataclass(frozen=True, kw_only=True)
class ClassifierJob(ABC):
    """A linear head, whichever way it was trained; ``counted`` where the number of classes is that of the labels.

    Implemented by HeadJob and CentredJob.
    """

    classes: int
    counted: bool
    width: int
    steps: tuple[int, ...]
    device: str
    kind: ClassVar[str] = "A trained classifier"
    target: ClassVar[str] = "the class"
    rung: ClassVar[str] = "release"
    covered: ClassVar[str] = "The bound covers the whole procedure: every training step and the decision to stop."

    @property
    @abstractmethod
    def unit(self) -> str:
        """What leads to a release, in the plural."""

    @property
    @abstractmethod
    def lines(self) -> Mapping[str, str]:
        """What its lines of the bill are called, by the names of their mechanisms."""

    @abstractmethod
    def trained(self, neighbours: str) -> tuple[str, ...]:
        """How it was trained, step by step, on records or on persons."""

    @abstractmethod
    def settings(self) -> Mapping[str, Json]:
        """The settings of the training, for the receipt."""

    def passed(self, facts: Facts) -> str:
        """The head itself was checked."""
        asked = asked_for(facts)
        if not facts.divided:
            return f"The trained head passed the check at {asked} on public records."
        return f"The trained head passed the check at {asked} on {words.held_out(facts)} that it was not trained on."

    def name(self, place: int) -> str:
        """Its number, and how many steps or measurements led to it."""
        taken = self.steps[place - 1]
        return f"{place}, after {taken:,} {self.unit if taken > 1 else self.unit.removesuffix('s')}"

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """Steps or measurements, classes and features."""
        steps = self.steps[len(facts.rungs) - 1]
        return f"training {self.unit}", f"{steps:,}", f"{self.classes} classes, {self.width} features"

    def sections(self, facts: Facts) -> str:
        """The procedure, and what the bound covers."""
        counted = " They were counted from the labels." if self.counted else ""
        public = f"Taken to be public: that there are {self.classes} classes and {self.width} features.{counted}"
        method = method_section(
            (
                *arrangement.parts(facts),
                *self.trained(facts.neighbours),
                FLOATING if facts.floating else EXACT,
                f"All of it was computed with {self.device}.",
                arrangement.checked(facts),
                *([words.ONE_ROW] if words.judged_by_one_row(facts) else []),
                "The head was made from noisy sums alone: it may be published and used at no further cost.",
            )
        )
        left_out = (by_row(each, facts.neighbours) for each in (EXTRACTOR, SETTINGS))
        covers = covered_section(facts, OPEN, *left_out, public)
        return f"{method}{covers}"

    def receipt(self) -> Mapping[str, Json]:
        """The settings of the training."""
        return {
            "training": {
                "classes": self.classes,
                "classes counted from the labels": self.counted,
                "features": self.width,
                "steps": list(self.steps),
                **self.settings(),
                "computed with": self.device,
            }
        }


@final
@dataclass(frozen=True, kw_only=True)
class HeadJob(ClassifierJob):
    """Many steps of an optimiser, each on a sample of the records."""

    rate: Fraction
    noise_multiplier: Fraction
    clip: float
    batch: float
    optimizer: str
    learning_rate: float
    drop: float
    unit: ClassVar[str] = "steps"
    lines: ClassVar[Mapping[str, str]] = {"Head": "noisy training steps"}

    def trained(self, neighbours: str) -> tuple[str, ...]:
        """Sample, clip, add noise, move."""
        later = f", the others {self.steps[1] - self.steps[0]:,} steps apart" if len(self.steps) > 1 else ""
        return (
            f"{scaled_words(neighbours)} Softmax regression was trained on the rows, starting from zero weights.",
            f"In every step {by_unit('each record', neighbours)} took part with probability {self.rate}, independently "
            f"of the others (Poisson sampling). {clipped(neighbours).capitalize()} to norm {self.clip:g}, noise of "
            f"{float(self.noise_multiplier):.4g} times that norm was added to the sum, and {self.optimizer} moved the "
            f"weights at a learning rate of {self.learning_rate:g}, multiplied by {self.drop:g} after the first "
            "release.",
            "Each release went on from the one before, so no step was paid for twice. The first came after "
            f"{self.steps[0]:,} steps{later}.",
        )

    def settings(self) -> Mapping[str, Json]:
        """Rate, noise, clipping and the optimiser."""
        return {
            "method": "adam",
            "rate": str(self.rate),
            "noise multiplier": str(self.noise_multiplier),
            "clip": self.clip,
            "batch": self.batch,
            "optimizer": self.optimizer,
            "learning rate": self.learning_rate,
            "drop": self.drop,
        }


@final
@dataclass(frozen=True, kw_only=True)
class CentredJob(ClassifierJob):
    """A centre, then releases of the method of this name, each of ``per_release`` steps or measurements."""

    method: str
    centre: Budget
    per_release: int

    @property
    def unit(self) -> str:
        """Steps of gradients, or measurements of moments."""
        return "steps" if self.method == GradientSteps.name else "measurements"

    @property
    def lines(self) -> Mapping[str, str]:
        """The centre, and what measures from it."""
        return {"Gaussian": "mean of the features", **LINES[self.method]}

    def trained(self, neighbours: str) -> tuple[str, ...]:
        """Centre, and what the method makes of centred rows."""
        return (
            scaled_words(neighbours),
            "The mean of the rows and their number were released first, with noise. Every row was then measured from "
            f"that mean, and one farther than {RADIUS:g} from it was moved to that distance.",
            *([ADDED_UP] if neighbours in OF_PERSONS else []),
            *TRAINED[self.method](neighbours),
        )

    def settings(self) -> Mapping[str, Json]:
        """What the centre cost, and the steps per release where they are steps."""
        steps = {"steps per release": self.per_release} if self.method == GradientSteps.name else {}
        return {"method": self.method, "centre": budget_out(self.centre), **steps}
