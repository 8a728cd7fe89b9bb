"""What ``check=`` takes: how candidates are judged, said before the question and its price are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, final

from expost.accounting.claim import Budget
from expost.checks.confidence import Confidence, worth_asking
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck, Question, as_typed
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import InvalidValue
from expost.numerics import Real
from expost.protocols import Check

D = TypeVar("D")
U = TypeVar("U")

AnyCheck: TypeAlias = Check[D, U] | PublicCheck[U]


class Judge(Protocol):
    """Makes the check of a run; implemented by Balanced, Budgeted, SparseVector and OnPublic."""

    @property
    def public(self) -> bool:
        """Whether it reads public records only, so that no private ones are held out."""
        ...

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> AnyCheck[D, U]:
        """The check of a question, given the price of the first rung, the looks planned and how sure a pass must be."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Balanced:
    """Each look at held-out records spends what training has spent by then, so that it adds nothing to the bill."""

    public: ClassVar[bool] = False

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> AnyCheck[D, U]:
        """The balanced check."""
        return BalancedCheck(question, confidence)


BALANCED = Balanced()
"""The default everywhere."""


@final
@dataclass(frozen=True, slots=True)
class Budgeted:
    """All looks at held-out records together spend ``epsilon``, a Rényi ε at the order of the rungs.

    Without one they spend what the first rung costs.

    Uses: five-step calibration.
    """

    epsilon: Real | None = None
    public: ClassVar[bool] = False

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> AnyCheck[D, U]:
        """The Gaussian check."""
        return GaussianCheck(question, _budget(self.epsilon, first), looks, confidence)


@final
@dataclass(frozen=True, slots=True)
class SparseVector:
    """A noisy threshold: only a pass costs more, and only yes or no is shown. ``epsilon`` is as for Budgeted."""

    epsilon: Real | None = None
    public: ClassVar[bool] = False

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> AnyCheck[D, U]:
        """The sparse vector check."""
        return SparseVectorCheck.calibrated(question, _budget(self.epsilon, first), confidence)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OnPublic:
    """A check on public records, which costs nothing; they come in any form that the job takes its private ones in.

    They must be others than the private ones, which is checked as far as it can be.
    """

    records: Any
    public: ClassVar[bool] = True

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> PublicCheck[U]:
        """The check, once the records are read."""
        return PublicCheck(lambda candidate: question.ask(candidate, self.records) >= 0)


def share_held(validation: Real) -> Fraction:
    """The share of records to hold out, as the decimal that was typed."""
    if not isinstance(validation, int | float | Fraction):
        raise InvalidValue(
            "validation is not a number; give the share to hold out, and public records as check=OnPublic(...)."
        )
    return as_typed(validation, "validation")


def _budget(epsilon: Real | None, first: Budget) -> Budget:
    return first if epsilon is None else Budget.of(epsilon, alpha=first.alpha)


def planned_looks_of(rungs: int, confidence: Confidence | None) -> int:
    """How many looks a check must be made for; the paper's is not asked about the last rung."""
    return max(1, rungs - 1) if confidence is None else confidence.looks


def asked_rungs(
    judge: Judge,
    question: Question[D, U],
    *,
    level: Fraction | None,
    trained: Callable[[], Sequence[Fraction]],
    rungs: int,
    held: float | None,
) -> tuple[int, ...] | None:
    """The rungs that a check is asked about, from 0; None for all but the last, as the paper's check has it.

    ``trained`` is the ρ of each rung: a balanced look at a cheap rung may be too noisy to be worth taking.
    """
    if level is None:
        return None
    return worth_asking(trained(), question, level, held) if isinstance(judge, Balanced) else tuple(range(rungs))
