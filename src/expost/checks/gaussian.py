"""Gaussian checks: each question answered with fresh exact noise, at a planned or at a balanced price.

With a confidence a candidate passes when its noisy margin is at least the guard; without one, as in the paper, when it
is at least 0, and then a pass does not promise that the candidate is accurate enough.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar, final

from expost.accounting.claim import Budget, Promise, Spent
from expost.accounting.curve import largest_rho
from expost.accounting.gaussian import lattice_line
from expost.checks.confidence import Confidence, confidence_facts, require_planned
from expost.checks.question import Question, question_facts
from expost.errors import InvalidValue, SpentCheck
from expost.ledger import Fact
from expost.noise import Noise
from expost.numerics import positive, up
from expost.private import Neighbours
from expost.protocols import Look, Price, Verdict
from expost.rules import Due, Recorded
from expost.sampling import limits

D = TypeVar("D")
U = TypeVar("U")


@final
@dataclass(frozen=True)
class GaussianCheck(Generic[D, U]):
    """A fixed budget spread evenly over a planned number of questions; only those asked are paid.

    Implements: Gaussian checks.
    Uses: confident checks.
    """

    question: Question[D, U]
    budget: Budget
    questions: int
    confidence: Confidence | None
    name: ClassVar[str] = "Gaussian check"

    def __post_init__(self) -> None:
        if self.questions < 1:
            raise InvalidValue(f"questions is {self.questions}; plan at least one, or use a ladder of one rung.")
        if self.confidence is not None and self.confidence.looks < self.questions:
            raise InvalidValue(
                f"{self.questions} questions are planned, the confidence is for {self.confidence.looks} looks; plan as "
                "many looks as questions."
            )

    @property
    def neighbours(self) -> Neighbours:
        """The question's."""
        return self.question.neighbours

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """An even share of the budget."""
        if index >= self.questions:
            raise SpentCheck("every planned question has been asked; plan one for each rung that is asked about.")
        return _price(self.question, self.budget.rho / self.questions)

    def look(self, price: Price) -> Look:
        """How noisy the answer at this price is, and what passes."""
        return GaussianAnswers(self.question, self.confidence).look(price)

    def begin(self) -> "GaussianAnswers[D, U]":
        """The state of a fresh run: none but the question."""
        return GaussianAnswers(self.question, self.confidence)

    def facts(self) -> Mapping[str, Fact]:
        """The sensitivity, the confidence, and the budget with the questions that share it; the variance follows."""
        return {
            **question_facts(self.question),
            **confidence_facts(self.confidence),
            "epsilon": str(self.budget.epsilon),
            "alpha": str(self.budget.alpha),
            "questions": self.questions,
        }

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity and price give the variance, and so the curve."""
        return _due(line)


@final
@dataclass(frozen=True)
class BalancedCheck(Generic[D, U]):
    """Each question spends on the held-out part what the training part has spent beyond it: the maximum stays.

    Implements: balanced checks.
    Uses: parallel odometer; confident checks.
    """

    question: Question[D, U]
    confidence: Confidence | None
    name: ClassVar[str] = "balanced check"

    @property
    def neighbours(self) -> Neighbours:
        """The question's."""
        return self.question.neighbours

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """What the training part has spent beyond the held-out part."""
        require_planned(index, self.confidence)
        rho = largest_rho(trained.curve) - largest_rho(asked.curve)
        if rho <= 0:
            raise SpentCheck(
                "the training part has spent no Gaussian budget beyond the held-out part; nothing to balance."
            )
        return _price(self.question, rho)

    def look(self, price: Price) -> Look:
        """How noisy the answer at this price is, and what passes."""
        return GaussianAnswers(self.question, self.confidence).look(price)

    def begin(self) -> "GaussianAnswers[D, U]":
        """The state of a fresh run: none but the question."""
        return GaussianAnswers(self.question, self.confidence)

    def facts(self) -> Mapping[str, Fact]:
        """The sensitivity and the confidence; the variance follows from the price."""
        return {**question_facts(self.question), **confidence_facts(self.confidence)}

    @staticmethod
    def rule(line: Recorded) -> Due:
        """Sensitivity and price give the variance, and so the curve; what is balanced is seen from the lines before."""
        return _due(line)


@final
@dataclass(frozen=True)
class GaussianAnswers(Generic[D, U]):
    """The noisy margin, and whether it is at or above the guard; fresh noise for each question."""

    question: Question[D, U]
    confidence: Confidence | None

    def answer(self, index: int, price: Price, held: D, candidate: U, noise: Noise) -> Verdict:
        """Judge the candidate at the price's variance."""
        variance, look = self._variance(price), self.look(price)
        noisy = self.question.ask(candidate, held) + int(noise.discrete_gaussian(variance, ()))
        return Verdict(noisy >= self._guard(variance), noisy / self.question.unit, look.std, look.guard)

    def look(self, price: Price) -> Look:
        """How noisy the answer at this price is, and what passes."""
        variance, unit = self._variance(price), self.question.unit
        return Look(math.sqrt(up(variance)) / unit, self._guard(variance) / unit)

    def _variance(self, price: Price) -> Fraction:
        return _variance(self.question, largest_rho(price.passed.curve))

    def _guard(self, variance: Fraction) -> int:
        """The least margin that passes, in the question's units."""
        return 0 if self.confidence is None else self.confidence.guard(variance)


def _variance(question: Question[D, U], rho: Fraction) -> Fraction:
    return limits.variance(Fraction(question.sensitivity**2) / (2 * rho))


def _price(question: Question[D, U], rho: Fraction) -> Price:
    """Gaussian noise costs the same whatever the answer; however far a record moves it, it is one cell."""
    promise = Promise(lattice_line(_variance(question, rho), Fraction(question.sensitivity**2), cells=1))
    return Price(promise, promise)


def _due(line: Recorded) -> Due:
    reach = Fraction(line.whole("sensitivity") ** 2)
    return Due(lattice_line(reach / (2 * positive(line.rho, "rho")), reach, cells=1), floating=False)
