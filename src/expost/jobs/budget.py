"""The odometer of a run under a cap."""

from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.errors import BudgetExceeded
from expost.filters import PledgedFilter
from expost.noise import Noise
from expost.odometer import Odometer
from expost.recorded import ReadableLedger


def capped(
    pledge: Pledge, first: AdpEpsilon, *, max_epsilon: float | None, ledger: ReadableLedger, noise: Noise, rung: str
) -> Odometer:
    """An odometer that keeps the stated ε within the cap; a cap that leaves no room to begin is refused."""
    if max_epsilon is not None and max_epsilon < first:
        raise BudgetExceeded(f"the first {rung} is stated as ε = {first:.4g}, above the cap {max_epsilon:g}; raise it.")
    limit = None if max_epsilon is None else PledgedFilter(pledge, AdpEpsilon(max_epsilon))
    return Odometer(pledge=pledge, cap=limit, ledger=ledger, rehearsal=noise.seeded)
