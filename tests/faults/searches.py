"""Searches of a caller's own whose receipts are forged; nothing here decides a result."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from expost.accounting.pledge import FixedOrder, HalfNormal, Mixture, Pledge
from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck, PublicCount
from expost.checks.sparse_vector import SparseVectorCheck
from expost.jobs.searches import of_search
from expost.ladder import Ladder, Rung
from expost.ledger import MemoryLedger
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.exponential import Exponential
from expost.mechanisms.gaussian import FloatGaussian, Gaussian
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.mechanisms.laplace_path import IntegerPath
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.noise import Floats, Integers, SeededNoise
from expost.odometer import Odometer
from expost.private import Split
from expost.release import Past
from expost.report.facts import Facts
from expost.search import planned_stops, search
from tests.unit.examples import ADD, budget, counts, people, right

LADDER = Ladder.of([1, 2, 4, 8], alpha=20)
FINE = Ladder.of([Fraction(1, 4), Fraction(1, 2), 1, 2], alpha=20)
"""Noise that is wide enough for a Gaussian profile on every rung."""
HIGH = Fraction(99, 100)
QUESTION: CentredSum[Integers, int] = CentredSum(right, HIGH, ADD)
SURE = Confidence(Fraction(95, 100), 4)


def floats(data: Integers) -> Floats:
    """The counts, as real numbers."""
    return counts().evaluate(data).astype(float)


@cache
def parts() -> Split[Integers]:
    """Two small bodies of codes."""
    return Split.from_parts(people(*[0] * 40, *[1] * 400), people(*[0] * 20, *[1] * 100), because="two hospitals")


class Own:
    """A question of the caller's own: how far the right records are above fifty, half a record at a time."""

    neighbours, sensitivity, unit, monotone = ADD, 2, 2, True

    def ask(self, candidate: int, held: Integers) -> int:
        """Twice the right records above fifty."""
        return 2 * int(right(candidate, held).sum()) - 100


MECHANISMS: dict[str, Callable[[], Any]] = {
    "Gaussian": lambda: Gaussian(counts()),
    "Brownian": lambda: Brownian(Gaussian(counts())),
    "floating Brownian": lambda: Brownian(FloatGaussian(floats, (3,), 1, ADD)),
    "floating Gaussian": lambda: FloatGaussian(floats, (3,), 1, ADD),
    "Laplace": lambda: Laplace(counts()),
    "floating Laplace": lambda: FloatLaplace(floats, (3,), 1, ADD),
    "noise reduction": lambda: NoiseReduction(counts(), IntegerPath()),
    "exponential": lambda: Exponential(counts().evaluate, 3, Fraction(1), ADD),
}
CHECKS: dict[str, Any] = {
    "balanced": BalancedCheck(QUESTION, None),
    "sure": BalancedCheck(CentredSum(right, HIGH, ADD, 10), SURE),
    "Gaussian": GaussianCheck(QUESTION, budget(Fraction(1, 2)), 3, None),
    "dear": GaussianCheck(QUESTION, budget(9), 3, None),
    "sparse vector": SparseVectorCheck(QUESTION, Fraction(50), Fraction(20), None),
    "monotone": SparseVectorCheck(PublicCount(right, HIGH, 120, ADD), Fraction(50), Fraction(20), SURE),
    "a public number": BalancedCheck(PublicCount(right, HIGH, 120, ADD), None),
    "one's own question": GaussianCheck(Own(), budget(1), 4, None),
    "public": PublicCheck(lambda code: False),
}
PLEDGES: dict[str, Callable[[Pledge], Pledge | None]] = {
    "planned stops": lambda chosen: chosen,
    "fixed order": lambda chosen: FixedOrder(Fraction(6), 1e-5),
    "mixture": lambda chosen: Mixture.even([2.0, 8.0, 32.0], 1e-5),
    "half-normal": lambda chosen: HalfNormal(1.0, 1e-5),
    "none": lambda chosen: None,
}
KINDS: dict[str, tuple[str, str, str]] = {
    "search": ("Gaussian", "balanced", "planned stops"),
    "search, sure": ("Brownian", "sure", "planned stops"),
    "search, Gaussian check": ("Brownian", "Gaussian", "mixture"),
    "search, a check dearer than training": ("Gaussian", "dear", "fixed order"),
    "search, sparse vector": ("Gaussian", "sparse vector", "half-normal"),
    "search, monotone": ("Brownian", "monotone", "planned stops"),
    "search, a public number": ("Gaussian", "a public number", "fixed order"),
    "search, one's own question": ("Gaussian", "one's own question", "mixture"),
    "search, public": ("Brownian", "public", "planned stops"),
    "search, no pledge": ("Gaussian", "balanced", "none"),
    "search, Laplace": ("Laplace", "sparse vector", "planned stops"),
    "search, floating Laplace": ("floating Laplace", "public", "fixed order"),
    "search, floating Gaussian": ("floating Gaussian", "Gaussian", "planned stops"),
    "search, floating Brownian": ("floating Brownian", "balanced", "fixed order"),
    "search, noise reduction": ("noise reduction", "public", "fixed order"),
    "search, exponential": ("exponential", "public", "fixed order"),
    "search, after other steps": ("Gaussian", "balanced", "fixed order"),
    "search, Gaussian throughout": ("Brownian", "sure", "planned stops"),
    "search, Gaussian throughout, no pledge": ("Gaussian", "balanced", "none"),
    "search, several steps to a rung": ("Gaussian", "balanced", "fixed order"),
}


def twice(past: Past[Any], verdicts: tuple[Any, ...]) -> Rung | None:
    """Three rungs of two steps each, of which the second is not asked about."""
    return Rung(budget(1 + len(past.steps)), len(past.steps) != 1, 2) if len(past.steps) < 3 else None


@cache
def finished(name: str) -> Facts:
    """The facts of a rehearsed search of four rungs that nothing passes, or that a few things do."""
    kind, asked, pledged = KINDS[name]
    mechanism, check, ledger = MECHANISMS[kind](), CHECKS[asked], MemoryLedger()
    ladder = FINE if "throughout" in name else LADDER
    select: Any = twice if name.endswith("several steps to a rung") else ladder
    chosen = PlannedStops(planned_stops(mechanism, ladder, check), 1e-5) if pledged == "planned stops" else None
    odometer = Odometer(pledge=PLEDGES[pledged](chosen), ledger=ledger, rehearsal=True)  # type: ignore[arg-type]  # planned where it is used
    if name.endswith("other steps"):
        odometer.spend(Gaussian(counts()), parts().train, budget(1), Past(), SeededNoise(5))
    outcome = search(parts(), mechanism, select, lambda values: 1, check, noise=SeededNoise(3), odometer=odometer)
    return of_search(outcome, ledger, check=check, because="two hospitals", title="Codes")


SEARCHES: dict[str, Callable[[], Facts]] = {name: partial(finished, name) for name in KINDS}
