"""Bills: how much less the same training run is stated as."""

from fractions import Fraction
from statistics import fmean

from benchmarks.harness import Progress
from expost.accounting.claim import best_statement
from expost.accounting.descent import Descent
from expost.accounting.stops import PlannedStops

RATE, NOISE = Fraction(1, 10), Fraction("4.406831168")
STOPS, DELTA = (500, 1500, 2500, 3500, 4500), 0.002


def run(progress: Progress) -> dict[str, float]:
    """Five stops of a run, stated by the distribution of the privacy loss and by one Rényi order each.

    ``bills.pld_over_rdp`` is the mean of the quotients.
    """
    progress("five stops by the distribution of the privacy loss")
    promises = tuple(Descent(RATE, NOISE).promise(steps) for steps in STOPS)
    pledge = PlannedStops(promises, DELTA)
    quotients = [stop.epsilon / best_statement(stop.promise, pledge.share)[0] for stop in pledge.table]
    return {"bills.pld_over_rdp": fmean(quotients)}
