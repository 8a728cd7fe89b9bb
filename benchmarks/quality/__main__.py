"""Some of it: ``python -m benchmarks.quality --only adult --epsilon 1``.

Each run is a line on the screen as it is done, and the figures of these runs follow; nothing is recorded, which
``python -m benchmarks.harness quality`` does of all. ``--rows`` is for a miniature.
"""

import argparse
import sys

from benchmarks.quality.comparison import Measured, figures
from benchmarks.quality.limited import Limits
from benchmarks.quality.runs import EPSILONS, REPEATS, measured, reference
from benchmarks.quality.tables import TABLES
from benchmarks.quality.tools import TOOLS

SHOWN = ("two_way_mean", "two_way_worst", "three_way_mean", "accuracy", "auc")


def main(arguments: list[str]) -> None:
    """Run what is asked for."""
    asked = _parser().parse_args(arguments)
    limits = Limits(seconds=asked.seconds, mib=asked.mib)
    tools = [TOOLS[name] for name in asked.tool or TOOLS]
    _show("table", "ε", "tool", "two-way", "worst", "three-way", "accuracy", "AUC", "wall", "CPU", "MiB")
    runs: list[Measured] = []
    found: dict[str, float] = {}
    for name in asked.only or TABLES:
        table = TABLES[name]()
        table = table if asked.rows is None else table.head(asked.rows)
        found |= reference(table)
        epsilons = asked.epsilon or EPSILONS
        for run in measured(table, epsilons, tools, limits=limits, repeats=asked.repeats, progress=_tell):
            runs.append(run)
            _show(*_line(run))
    for figure, value in (found | figures(runs)).items():
        print(f"{figure} {value:.6g}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=TABLES, help="a table; all of them if none is named")
    parser.add_argument("--epsilon", action="append", type=float, help="an ε; .1, 1 and 3 if none is named")
    parser.add_argument("--tool", action="append", choices=TOOLS, help="a tool; all of them if none is named")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of ours, whose median counts")
    parser.add_argument("--rows", type=int, help="so many records instead of all of them")
    parser.add_argument("--seconds", type=float, default=Limits().seconds, help="CPU time that a run may take")
    parser.add_argument("--mib", type=float, default=Limits().mib, help="memory that a run may take")
    return parser


def _line(run: Measured) -> list[str]:
    start, ran = [run.table, f"{run.epsilon:g}", run.tool], run.ran
    took = [f"{ran.wall_seconds:.1f}", f"{ran.cpu_seconds:.1f}", f"{ran.peak_mib:.0f}"]
    if not run.scores:
        return [*start, "-", "-", "-", "-", "-", *took, ran.failure]
    return [*start, *(f"{run.scores[name]:.4f}" for name in SHOWN), *took]


def _show(table: str, epsilon: str, tool: str, *rest: str) -> None:
    print(f"{table:8} {epsilon:>4} {tool:15}", *(f"{each:>9}" for each in rest), flush=True)


def _tell(text: str) -> None:
    print(f"{text} …", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
