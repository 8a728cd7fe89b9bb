"""The sparse vector check: any number of questions for the price of one pass."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import ZERO, Linear, total
from expost.accounting.sparse_vector import calibrate_sparse_vector
from expost.checks.confidence import Confidence, confidence_facts, require_planned
from expost.checks.question import Question, question_facts
from expost.ledger import Fact
from expost.noise import Noise
from expost.numerics import positive, up
from expost.private import Neighbours, keep_secret
from expost.protocols import Look, Price, Verdict
from expost.rules import Due, Recorded
from expost.sampling import limits

D = TypeVar("D")
U = TypeVar("U")


@final
@dataclass(frozen=True)
class SparseVectorCheck(Generic[D, U]):
    """Gaussian noise on the threshold once, Laplace noise on each question; only pass or fail is revealed.

    ``variance`` and ``scale`` are in units of the question's sensitivity. Costs ρ = 1/(2·variance) once, and
    ξ = 2/scale (1/scale for a monotone question) when a question passes, after which the check is over.

    Implements: sparse vector check.
    Uses: sparse vector cost; confident checks.
    """

    question: Question[D, U]
    variance: Fraction
    scale: Fraction
    confidence: Confidence | None
    name: ClassVar[str] = "sparse vector check"

    def __post_init__(self) -> None:
        reach = self.question.sensitivity
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        limits.variance(self.variance * reach**2)
        limits.scale(self.scale * reach)
        _ = self.guard  # refused now if there is none, not with data open

    @classmethod
    def calibrated(
        cls, question: Question[D, U], budget: Budget, confidence: Confidence | None
    ) -> "SparseVectorCheck[D, U]":
        """The least total variance that the budget allows."""
        noise = calibrate_sparse_vector(budget.alpha, budget.epsilon, question.monotone)
        return cls(question, Fraction(noise.sigma_1) ** 2, Fraction(noise.b), confidence)

    @property
    def neighbours(self) -> Neighbours:
        """The question's."""
        return self.question.neighbours

    @property
    def threshold_cost(self) -> Linear:
        """What is paid once."""
        return _threshold_cost(self.variance)

    @property
    def pass_cost(self) -> Linear:
        """What a pass adds."""
        return _pass_cost(self.scale, self.question.monotone)

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """The threshold at the first question, and a pass if it comes."""
        require_planned(index, self.confidence)
        due = Promise(self.threshold_cost) if index == 0 else NOTHING
        return Price(due + Promise(self.pass_cost), due)

    @property
    def guard(self) -> int:
        """The least margin that passes, in the question's units; 0 without a confidence."""
        if self.confidence is None:
            return 0
        reach = self.question.sensitivity
        return self.confidence.threshold_guard(self.variance * reach**2, self.scale * reach)

    def look(self, price: Price) -> Look:
        """How noisy an answer is, and what passes; the same whatever the price."""
        reach, unit = self.question.sensitivity, self.question.unit
        return Look(math.sqrt(up(self.variance + 2 * self.scale**2)) * reach / unit, self.guard / unit)

    def begin(self) -> "SparseVectorAnswers[D, U]":
        """The state of a fresh run, with its own secret threshold."""
        return SparseVectorAnswers(self)

    def facts(self) -> Mapping[str, Fact]:
        """Sensitivity, confidence and both scales."""
        return {
            **question_facts(self.question),
            **confidence_facts(self.confidence),
            "variance": str(self.variance),
            "scale": str(self.scale),
            "monotone": self.question.monotone,
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """The threshold, a pass, both or neither, each at what its scale gives."""
        threshold = _threshold_cost(line.fraction("variance"))
        passing = _pass_cost(line.fraction("scale"), line.facts["monotone"] is True)
        return Due(total(threshold if line.rho else ZERO, passing if line.xi else ZERO), floating=False)


@final
class SparseVectorAnswers(Generic[D, U]):
    """Pass or fail against a noisy threshold, which is secret and outlives each question."""

    __slots__ = ("__threshold", "_check")

    def __init__(self, check: SparseVectorCheck[D, U]) -> None:
        self._check = check
        self.__threshold: int | None = None

    def answer(self, index: int, price: Price, held: D, candidate: U, noise: Noise) -> Verdict:
        """Judge the candidate."""
        reach, value = self._check.question.sensitivity, self._check.question.ask(candidate, held)
        if self.__threshold is None:
            self.__threshold = int(noise.discrete_gaussian(self._check.variance * reach**2, ()))
        guard = self._check.guard
        noisy = value + int(noise.discrete_laplace(self._check.scale * reach, ()))
        return Verdict(noisy >= self.__threshold + guard, guard=guard / self._check.question.unit)

    __reduce__ = keep_secret


def _threshold_cost(variance: Fraction) -> Linear:
    return Linear(Fraction(0), 1 / (2 * variance))


def _pass_cost(scale: Fraction, monotone: bool) -> Linear:
    return Linear((1 if monotone else 2) / scale, Fraction(0))
