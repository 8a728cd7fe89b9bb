"""The linear head as something to tune: one private run with a public price."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

from expost.accounting.claim import NOTHING, best_statement
from expost.checks.gaussian import BalancedCheck
from expost.errors import InvalidValue
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.jobs.finetuning.wanted import Shape
from expost.noise import Noise
from expost.private import Neighbours
from expost.protocols import Price
from expost.release import Past
from expost.training.head.labelled import Labelled
from expost.training.head.score import Classifier, unit


@final
@dataclass(frozen=True, eq=False)
class HeadConfiguration:
    """Trains a head up to its recipe's first release and scores it on the other part, both at the same price.

    The score is the noisy number of held-out records right beyond those that the recipe's accuracy asks for, less
    ``margin`` standard errors; so 0 is what a run must reach, and luck alone seldom does.
    """

    name: str
    recipe: HeadRecipe
    classes: int
    delta: float
    margin: float = 2.0

    def __post_init__(self) -> None:
        if self.recipe.schedule.releases != 1:
            raise InvalidValue("a configuration to tune has one release; plan no others.")
        Shape(1, self.classes)

    @property
    def neighbours(self) -> Neighbours:
        """The recipe's."""
        return self.recipe.neighbours

    @property
    def floating(self) -> bool:
        """Whether noise is drawn in floating point."""
        return self.recipe.summation.floating

    @cached_property
    def epsilon(self) -> float:
        """The ε of one run at its own δ: of training or of scoring, whichever is larger."""
        trained = self.recipe.descent.promise(self.recipe.schedule.first)
        return best_statement(trained.beside(self._price.passed), self.delta)[0]

    def run(self, train: Labelled, held: Labelled, noise: Noise) -> tuple[Classifier, float]:
        """The head and its score."""
        (rung,) = self.recipe.releases.rungs
        train, held = (part.with_features(unit(part.features)) for part in (train, held))
        trained = self.recipe.head(Shape(train.width, self.classes)).sample(train, rung.budget, Past(), noise)
        head = Classifier(trained.weights)
        verdict = self._check.begin().answer(0, self._price, held, head, noise)
        assert verdict.margin is not None and verdict.std is not None  # a balanced check tells both
        return head, verdict.margin - self.margin * verdict.std

    @property
    def _check(self) -> BalancedCheck[Labelled, Classifier]:
        return BalancedCheck(self.recipe.question(), None)  # its margin is a score here, nothing passes

    @property
    def _price(self) -> Price:
        trained = self.recipe.descent.promise(self.recipe.schedule.first)
        return self._check.price(0, trained.as_spent(), NOTHING.as_spent())
