"""Synthetic tables beside those of other tools, at equal (ε, δ) and on the same codes.

Four tables (``tables``), ε of a tenth, 1 and 3, δ of 10⁻⁵. Peers are OpenDP's MST and AIM with their defaults
(``tools``), AIM with its slowest part done quicker, since few of its runs end otherwise, and as many rows as there are
records; of the two ways in which they make rows, the one with the smaller two-way error counts. Every tool has a
process of its own, one core, half an hour of CPU time and 14,000 MiB.

Ours is ``expost``, the default path of somebody who wants one table at this ε: a ladder with one rung, stated as ε, and
a target accuracy that is never reached. What is held out for the check, a fifth of Adult, 8,000 records or a twentieth
of a million, is not made up for, since it is part of what the default costs. ``expost_ladder`` climbs three rungs that
end at ε, with δ split among them, which is where accuracy-first users end who have asked for too much; it runs once.
Ours counts with the median of five runs.

The errors are total variation distances to the records that the tool was given, over all pairs of columns and over 200
triples. Accuracy and AUC are those of gradient boosting that has learnt from the synthetic rows, on real records that
no tool has seen.

``two_way_over_best`` is our mean two-way error over the best peer's, ``accuracy_below_best`` how far our accuracy is
below the best peer's, and ``aim_time_ratio`` the CPU time of AIM over ours, each on the table and at the ε, 1 or 3,
where ours does worst. An AIM that was stopped at a limit counts with the time it had until then. A run that did not
finish has ``finished 0`` among its figures.
"""

from benchmarks.harness import Progress
from benchmarks.quality.comparison import Measured, figures
from benchmarks.quality.limited import Limits
from benchmarks.quality.runs import EPSILONS, REPEATS, measured, reference
from benchmarks.quality.tables import TABLES
from benchmarks.quality.tools import TOOLS


def run(progress: Progress) -> dict[str, float]:
    """Everything, which takes hours where nothing of the peers is cached."""
    runs: list[Measured] = []
    found: dict[str, float] = {}
    for load in TABLES.values():
        table = load()
        found |= reference(table)
        runs += measured(table, EPSILONS, TOOLS.values(), limits=Limits(), repeats=REPEATS, progress=progress)
    return found | figures(runs)
