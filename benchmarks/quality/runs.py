"""Runs of the tools on one table, and their scores, which are kept beside what a peer has made."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median

from benchmarks.harness import Progress
from benchmarks.quality import scores as scoring
from benchmarks.quality.comparison import Measured
from benchmarks.quality.limited import Limits, Ran
from benchmarks.quality.tables import Coded, Codes
from benchmarks.quality.tools import OURS, Ours, Peer, home

EPSILONS = (0.1, 1.0, 3.0)
REPEATS = 5
"""Runs of our first tool, of whose figures each is the median."""


def measured(
    table: Coded,
    epsilons: Sequence[float],
    tools: Iterable[Ours | Peer],
    *,
    limits: Limits,
    repeats: int,
    progress: Progress,
) -> Iterator[Measured]:
    """Each tool at each ε, as it is done."""
    known = list(tools)
    for epsilon in epsilons:
        for tool in known:
            progress(f"{table.name} at ε = {epsilon:g}: {tool.name}")
            many = repeats if tool == OURS[0] else 1
            yield _middle([_once(table, epsilon, tool, limits, progress) for _ in range(many)])


def _once(table: Coded, epsilon: float, tool: Ours | Peer, limits: Limits, progress: Progress) -> Measured:
    ran, made = tool.make(table, epsilon, limits, progress)
    each = [_scores(table, rows) for rows in made.values()]
    best = min(each, key=lambda found: found["two_way_mean"]) if each else {}
    return Measured(table.name, epsilon, tool.name, ran, best)


def _middle(runs: list[Measured]) -> Measured:
    """The median of every figure; the first run that did not finish, if one did not."""
    for each in runs:
        if each.ran.failure:
            return each
    first = runs[0]
    ran = Ran(
        median(each.ran.wall_seconds for each in runs),
        median(each.ran.cpu_seconds for each in runs),
        median(each.ran.peak_mib for each in runs),
    )
    scores = {name: median(each.scores[name] for each in runs) for name in first.scores}
    return Measured(first.table, first.epsilon, first.tool, ran, scores)


def reference(table: Coded) -> dict[str, float]:
    """What a classifier learns from the records themselves."""
    found = _scores(table, table.train)
    return {f"quality.{table.name}.records.{name}": found[name] for name in ("accuracy", "auc")}


def _scores(table: Coded, rows: Codes) -> dict[str, float]:
    """Found again where the same rows were scored by the same program before."""
    digest = sha256(table.digest.encode() + Path(scoring.__file__).read_bytes() + rows.tobytes()).hexdigest()
    kept = home() / "scores" / f"{digest[:32]}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    found = scoring.scores(table, rows)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found))
    return found
