"""A search for the commonest code, by every check."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from expost.accounting.pledge import Pledge
from expost.accounting.stops import PlannedStops
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck, PublicCount
from expost.checks.sparse_vector import SparseVectorCheck
from expost.ladder import Ladder, Planned
from expost.ledger import MemoryLedger
from expost.mechanisms.gaussian import Gaussian
from expost.noise import Integers, SeededNoise
from expost.odometer import Odometer
from expost.private import Split
from expost.report.outcomes import AnyCheck
from expost.search import Outcome, planned_stops, search
from tests.unit.examples import ADD, budget, counts, people, right

LADDER = Ladder.of([1, 2, 4, 8], alpha=20)
HALF = Fraction(1, 2)
ONES = Split.from_parts(people(*[0] * 40, *[1] * 400), people(*[0] * 20, *[1] * 100), because="two hospitals")


def most(values: tuple[Any, ...]) -> int:
    """The commonest code."""
    return int(np.argmax(values[-1].values))


def run(
    check: AnyCheck,
    *,
    pledge: Callable[[Pledge], Pledge | None] = lambda chosen: chosen,
    select: Any = LADDER,
    ladder: Planned = LADDER,
    build: Callable[[tuple[Any, ...]], int] = most,
) -> tuple[Outcome[int], MemoryLedger, Odometer]:
    """A rehearsed search, its record and its odometer."""
    mechanism, ledger = Gaussian(counts()), MemoryLedger()
    chosen = PlannedStops(planned_stops(mechanism, ladder, check), 1e-5)
    odometer = Odometer(pledge=pledge(chosen), ledger=ledger, rehearsal=True)
    noise = SeededNoise(3)
    return search(ONES, mechanism, select, build, check, noise=noise, odometer=odometer), ledger, odometer


QUESTION: CentredSum[Integers, int] = CentredSum(right, HALF, ADD)
CHECKS: dict[str, AnyCheck] = {
    "balanced": BalancedCheck(QUESTION, None),
    "Gaussian": GaussianCheck(QUESTION, budget(HALF), 3, None),
    "sparse vector": SparseVectorCheck(QUESTION, Fraction(50), Fraction(20), None),
    "a public number": BalancedCheck(PublicCount(right, HALF, 120, ADD), None),
    "public": PublicCheck(lambda code: code == 1),
    "never": PublicCheck(lambda code: False),
}
