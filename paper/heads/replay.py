"""Heads trained once and judged often: each release of a long run is kept, and every check looks at the same ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, TypedDict, final

from expost import Budget, Ended, FixedOrder, Neighbours, Odometer, Past, Private, Promise, Split, search
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.jobs.finetuning.wanted import Shape
from expost.ledger import Fact
from expost.noise import Noise
from expost.training import Classifier, Labelled
from expost.training.head.mechanism import Head, Trained
from expost.training.head.score import classified

Parts: TypeAlias = tuple[Labelled, Labelled, Labelled]
"""Records to train on, to validate on and to test on."""


class Ending(TypedDict):
    """How one search ended: ε by each rule, accuracies of the head it gave, releases made, whether one passed."""

    paper: float
    fixed: float
    stops: float
    validation: float
    test: float
    releases: int
    passed: bool


@final
@dataclass(frozen=True)
class Replay:
    """A training run as it was, with its price: at each number of steps the release that was made there."""

    head: Head
    made: Mapping[int, Trained] = field(repr=False)
    name: ClassVar[str] = "Replay"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE

    @property
    def floating(self) -> bool:
        """As the head."""
        return self.head.floating

    def promise(self, budget: Budget) -> Promise:
        """The head's."""
        return self.head.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The head's."""
        return self.head.facts(budget)

    def sample(self, data: Labelled, budget: Budget, past: Past[Trained], noise: Noise) -> Trained:
        """What was released after as many steps more."""
        taken = past.steps[-1].value.steps if past.steps else 0
        return self.made[taken + self.head.descent.steps(budget)]


def trained(job: HeadRecipe, shape: Shape, data: Labelled, noise: Noise) -> dict[int, Trained]:
    """Every release of the schedule, by its number of steps."""
    past: Past[Trained] = Past()
    odometer, sealed, head = Odometer(rehearsal=True), Private(data), job.head(shape)
    for rung in job.releases.rungs:
        past = past.then(odometer.spend(head, sealed, rung.budget, past, noise))
    return {step.value.steps: step.value for step in past.steps}


def _shape(made: Mapping[int, Trained]) -> Shape:
    classes, entries = next(iter(made.values())).weights.shape
    return Shape(entries - 1, classes)


def ending(
    job: HeadRecipe, made: Mapping[int, Trained], parts: tuple[Labelled, Labelled, Labelled], noise: Noise
) -> Ending:
    """One search over the releases that were made; the parts are to train on, to validate on and to test on."""
    train, held, test = parts
    split = Split.from_parts(Private(train), Private(held), because="drawn as different records")
    outcome = search(
        split,
        Replay(job.head(_shape(made)), made),
        job.releases,
        lambda steps: Classifier(steps[-1].weights),
        job.judge(),
        noise=noise,
        odometer=Odometer(pledge=plan_training(job).pledge, rehearsal=True),
    )
    head, alike = outcome.release.value, Promise(outcome.release.spent.curve)  # a run that always stops here
    return Ending(
        paper=alike.approx(job.delta),  # the best order once the stop is known: not valid
        fixed=FixedOrder(job.order, job.delta).epsilon(alike),
        stops=outcome.epsilon,
        validation=accuracy(head, held),
        test=accuracy(head, test),
        releases=len(outcome.history),
        passed=outcome.ended is Ended.HALTED,
    )


def accuracy(head: Classifier, records: Labelled) -> float:
    """The share of records whose class is predicted."""
    return float(classified(head, records).mean())
