"""Ways to make a head once a centre is known: what a rung runs, and the head that a release of it makes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias, final

from expost.jobs.finetuning.wanted import Shape, Training
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Floats
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.training.head.arrays import Arrays, InNumpy
from expost.training.head.centre import Centre
from expost.training.head.closed_form import class_means, ridge
from expost.training.head.full_batch import STEPS, FullBatch
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told, Trained
from expost.training.head.moments import Moments, SecondMoments
from expost.training.head.score import Classifier

Planes: TypeAlias = Callable[[Estimate], tuple[Floats, Floats]]
"""Slopes and biases from an estimate of moments."""


@final
@dataclass(frozen=True, slots=True)
class Computing:
    """For which neighbours, how gradient steps are computed, and who hears of them.

    Moments are always exact, and computed with NumPy.
    """

    neighbours: Neighbours
    summation: Summation = field(default_factory=IntegerSums)
    arrays: Arrays = field(default_factory=InNumpy)
    told: Told | None = None


class CentredMethod(Protocol):
    """What the rungs run. Implemented by GradientSteps, ClassMeans and Ridge.

    What must hold: the price of a budget depends neither on the shape nor on the centre, and what is too large is
    refused when the training is made. Without a centre it has a price only.
    """

    @property
    def name(self) -> str:
        """As it is typed, and in the receipt."""

    @property
    def per_release(self) -> int:
        """How many steps, or measurements, a release takes."""

    def training(self, shape: Shape, centre: Centre | None, computing: Computing) -> Training[Any]:
        """The mechanism of the rungs, and the head that a release makes; each method releases a value of its own."""


@final
@dataclass(frozen=True, slots=True)
class GradientSteps:
    """A few full-batch gradient steps."""

    per_release: int = STEPS
    name: ClassVar[str] = "full-batch"

    def training(self, shape: Shape, centre: Centre | None, computing: Computing) -> Training[Trained]:
        """Steps that go on from those of the release before."""
        steps = FullBatch(
            width=shape.width,
            classes=shape.classes,
            centre=centre,
            steps=self.per_release,
            summation=computing.summation,
            arrays=computing.arrays,
            told=computing.told,
            neighbours=computing.neighbours,
        )
        return Training(steps, lambda trained: Classifier(steps.weights(trained)))


@final
@dataclass(frozen=True, slots=True)
class ClassMeans:
    """The noisy mean of each class."""

    name: ClassVar[str] = "means"
    per_release: ClassVar[int] = 1

    def training(self, shape: Shape, centre: Centre | None, computing: Computing) -> Training[Estimate]:
        """Class sums, refined by each release."""
        moments = Moments(shape.width, shape.classes)
        statistic = moments.statistic(centre, computing.neighbours)
        return _refined(statistic, lambda found: class_means(moments.read(found)), centre)


@final
@dataclass(frozen=True, slots=True)
class Ridge:
    """Ridge regression from noisy class sums and second moments."""

    name: ClassVar[str] = "ridge"
    per_release: ClassVar[int] = 1

    def training(self, shape: Shape, centre: Centre | None, computing: Computing) -> Training[Estimate]:
        """Class sums and second moments, refined by each release."""
        moments = SecondMoments(Moments(shape.width, shape.classes))
        statistic = moments.statistic(centre, computing.neighbours)
        return _refined(statistic, lambda found: ridge(*moments.read(found)), centre)


CENTRED: Mapping[str, CentredMethod] = {method.name: method for method in (GradientSteps(), ClassMeans(), Ridge())}
"""By name."""


def _refined(statistic: Statistic[Labelled], planes: Planes, centre: Centre | None) -> Training[Estimate]:
    def head(found: Estimate) -> Classifier:
        assert centre is not None  # a price alone is never run
        return Classifier(centre.undone(*planes(found)))

    return Training(Brownian(Gaussian(statistic)), head)
