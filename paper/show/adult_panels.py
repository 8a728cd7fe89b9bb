"""The panels of the Adult search: accuracy and accepted level, one row a check."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from paper.show import style
from paper.summaries.confidence import confident
from paper.tables.outcomes import Outcome
from paper.tables.search import BALANCED, GAUSSIAN, SPARSE

ROWS = {
    (GAUSSIAN, False): (GAUSSIAN, style.SOFT, style.INK),
    (SPARSE, False): (SPARSE, style.SOFT, style.INK),
    (confident(BALANCED), True): ("ours", style.BLUE, style.BLUE),
}
"""Check and whether the split is ours, then the name, the colour of repeats and that of their mean."""


def panels(outcomes: Sequence[Outcome], levels: Sequence[float], threshold: float, paper: str) -> Mapping[str, Figure]:
    """Validation accuracy, test accuracy and accepted level for the paper's checks on its split, and for ours."""
    shown = [each for each in outcomes if (each["check"], each["split"] != paper) in ROWS]
    figure, axes = style.panels(3, len(shown), height=2.7)
    for place, each in enumerate(shown):
        name, faint, strong = ROWS[each["check"], each["split"] != paper]
        left, middle, right = axes[3 * place : 3 * place + 3]
        for panel, accuracies, title in (
            (left, each["validation"], f"{name}: validation"),
            (middle, each["test"], f"{name}: test"),
        ):
            _accuracy(panel, levels, accuracies, each["stops"], faint=faint, strong=strong)
            panel.axhline(threshold, color=style.ORANGE, linestyle=style.DASHED, linewidth=1.2)
            style.titles(panel, title, x="Rényi ε", y="accuracy")
        _levels(right, levels, each, strong)
        style.titles(right, f"{name}: where it stopped", x="Rényi ε", y="repeats")
    style.note(axes[0], levels[-1], threshold, "threshold", up=-11, right=-34, colour=style.ORANGE)
    _same_heights([axes[3 * place + side] for place in range(len(shown)) for side in (0, 1)])
    _same_heights(axes[2::3])
    return {"adult": figure}


def _accuracy(
    axes: Axes,
    levels: Sequence[float],
    accuracies: Sequence[Sequence[float]],
    stops: Sequence[int],
    *,
    faint: str,
    strong: str,
) -> None:
    """Each repeat up to where it stopped, and the mean of those that stopped at a rung."""
    ends = list(zip(accuracies, stops, strict=True))
    lines = [list(zip(levels[: stop + 1], row, strict=False)) for row, stop in ends]
    axes.add_collection(LineCollection(lines, colors=faint, alpha=0.25, linewidths=0.7))
    dots = [levels[stop] for stop in stops], [row[stop] for row, stop in ends]
    axes.plot(*dots, color=faint, alpha=0.35, marker="o", markersize=2.5, linewidth=0)
    rungs = sorted(set(stops))
    means = [fmean(row[rung] for row, stop in ends if stop == rung) for rung in rungs]
    axes.plot([levels[rung] for rung in rungs], means, color=strong, marker="o", markersize=5)
    axes.set(xscale="log", xlim=(0.8 * levels[0], 1.25 * levels[-1]))
    style.plain_ticks(axes, x=(0.01, 0.1, 1))


def _levels(axes: Axes, levels: Sequence[float], found: Outcome, colour: str) -> None:
    """How many repeats were accepted at each rung; those that were not at any are hatched, on top of the last."""
    accepted = [rung for rung, passed in zip(found["stops"], found["passed"], strict=True) if passed]
    for rung in range(len(levels)):
        axes.bar(rung, accepted.count(rung), width=0.7, color=colour, edgecolor=colour)
    never, last = len(found["stops"]) - len(accepted), len(levels) - 1
    axes.bar(last, never, width=0.7, bottom=accepted.count(last), color="none", edgecolor=colour, hatch="///")
    axes.set_xticks(range(len(levels)), [f"{level:.2g}" for level in levels], fontsize=7)
    axes.grid(visible=False, axis="x")


def _same_heights(axes: Sequence[Axes]) -> None:
    """One range for panels that are to be compared."""
    low, high = min(each.get_ylim()[0] for each in axes), max(each.get_ylim()[1] for each in axes)
    for each in axes:
        each.set_ylim(low, high)
