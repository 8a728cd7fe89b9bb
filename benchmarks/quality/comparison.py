"""From runs to figures: each tool's own, and ours beside the best of the peers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from benchmarks.quality.limited import Ran
from benchmarks.quality.tools import OURS, RIVALS

AIM = "opendp_aim"
JUDGED = (1.0, 3.0)
"""The ε that ours is compared with peers at; at a tenth all of them are mostly noise."""


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """One tool at one ε on one table; no scores if it did not finish."""

    table: str
    epsilon: float
    tool: str
    ran: Ran
    scores: Mapping[str, float]

    def figures(self) -> dict[str, float]:
        """All of them, by name."""
        start = f"quality.{self.table}.epsilon_{f'{self.epsilon:g}'.replace('.', '')}.{self.tool}"
        taken = {"wall_seconds": self.ran.wall_seconds, "cpu_seconds": self.ran.cpu_seconds}
        told = {**self.scores, **taken, "peak_mib": self.ran.peak_mib} if self.scores else {**taken, "finished": 0.0}
        return {f"{start}.{name}": value for name, value in told.items()}


def figures(runs: Iterable[Measured]) -> dict[str, float]:
    """Those of every run, then ours beside the best peer, on the worst table and ε of those compared.

    Where one of these was too much for ours there is no such figure: the worst is then not known.
    """
    known = list(runs)
    found = {name: value for run in known for name, value in run.figures().items()}
    for ours in OURS:
        suffix = "" if ours is OURS[0] else f".{ours.name.partition('_')[2]}"
        found |= {f"quality.{name}{suffix}": value for name, value in _compared(known, ours.name).items()}
    return found


def _compared(runs: list[Measured], ours: str) -> dict[str, float]:
    over, below, times = [], [], []
    at = {(run.table, run.epsilon, run.tool): run for run in runs}
    for table, epsilon in {(run.table, run.epsilon) for run in runs if run.epsilon in JUDGED}:
        mine = at.get((table, epsilon, ours))
        if mine is None:
            continue
        if not mine.scores:
            return {}
        peers = [at[key] for tool in RIVALS if (key := (table, epsilon, tool.name)) in at]
        if finished := [peer for peer in peers if peer.scores]:
            over.append(mine.scores["two_way_mean"] / min(peer.scores["two_way_mean"] for peer in finished))
            below.append(max(peer.scores["accuracy"] for peer in finished) - mine.scores["accuracy"])
        # one that was stopped at its limit would have taken longer still
        took = [peer.ran.cpu_seconds for peer in peers if peer.tool == AIM]
        times += [seconds / mine.ran.cpu_seconds for seconds in took if seconds]
    told = {"two_way_over_best": over, "accuracy_below_best": below}
    found = {name: max(values) for name, values in told.items() if values}
    return found | ({"aim_time_ratio": min(times)} if times else {})
