"""The paper's search: its ladder, its threshold, and the checks that it and we put to a candidate, confident or not."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from expost import BalancedCheck, Budget, CentredSum, GaussianCheck, Ladder, Neighbours, SparseVectorCheck
from expost.accounting.sparse_vector import calibrate_sparse_vector
from expost.checks import PublicCount
from expost.checks.confidence import Confidence
from expost.noise import Floats
from expost.protocols import Check
from paper.summaries.confidence import LEVEL, confident
from paper.tables.climb import Climb

GAUSSIAN, SPARSE, BALANCED = "plain Gaussian", "sparse vector", "balanced"
PLAIN = {confident(name): name for name in (GAUSSIAN, SPARSE, BALANCED)}
"""The checks with a confidence, each with the name of the same check without one."""


@final
@dataclass(frozen=True)
class Asked:
    """A check, and of how many rungs it is asked, counted from the first."""

    check: Check[range, int]
    looks: int


@final
@dataclass(frozen=True)
class Search:
    """The paper's search: ladder, budgets of selection and check at the same order, and the accuracy asked."""

    alpha: int = 20
    low: float = 0.01
    high: float = 1.0
    rungs: int = 7
    query: str = "0.01"
    check: str = "0.01"
    threshold: str = "0.825"
    delta: float = 1e-5

    @property
    def ladder(self) -> Ladder:
        """The levels of ε."""
        return Ladder.geometric(self.low, self.high, self.rungs, alpha=self.alpha)

    def budget(self, epsilon: str) -> Budget:
        """So much at the order of the ladder."""
        return Budget.of(Fraction(epsilon), alpha=self.alpha)

    def above(self, climb: Climb) -> list[bool]:
        """Whether each candidate truly reaches the threshold on the held-out records."""
        return [right >= Fraction(self.threshold) * climb["held"] for right in climb["right"]]

    def checks(self, held: int) -> dict[str, Asked]:
        """The paper's two, of a count against so many records, balanced checks of the centred sum, and all three sure.

        Both of the paper's take one record to move the count by one; its sparse vector does not use that all counts
        move the same way, so its noise is calibrated as if they did not. Without a confidence the last
        candidate is returned unchecked, as in the paper.
        """
        sure = Confidence(LEVEL, self.rungs)
        without, with_one = self._checks(held, self.rungs - 1, None), self._checks(held, self.rungs, sure)
        return without | {confident(name): asked for name, asked in with_one.items()}

    def _checks(self, held: int, looks: int, confidence: Confidence | None) -> dict[str, Asked]:
        threshold, neighbours = Fraction(self.threshold), Neighbours.ADD_REMOVE
        count: PublicCount[range, int] = PublicCount(_first, threshold, held, neighbours)
        sparse = calibrate_sparse_vector(self.alpha, Fraction(self.check), monotone=False)
        checks: dict[str, Check[range, int]] = {
            GAUSSIAN: GaussianCheck(count, self.budget(self.check), looks, confidence),
            SPARSE: SparseVectorCheck(count, Fraction(sparse.sigma_1) ** 2, Fraction(sparse.b), confidence),
            BALANCED: BalancedCheck(CentredSum(_first, threshold, neighbours), confidence),
        }
        return {name: Asked(check, looks) for name, check in checks.items()}


SEARCH = Search()


def _first(right: int, held: range) -> Floats:
    """A score that is 1 for as many records as were predicted rightly; which of them does not matter to a sum."""
    return (np.arange(len(held)) < right).astype(np.float64)
