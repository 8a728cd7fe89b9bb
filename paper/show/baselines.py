"""How the comparison with other methods is shown: one panel and one table for each predictor."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.baselines_result import Interval, Panel, Result, Row
from paper.show.baselines_text import NAMES, PREDICTORS, TITLE, text
from paper.show.markdown import scientific

__all__ = ["FIGURES", "NAMES", "TITLE", "Interval", "Panel", "Result", "Row", "draw", "text"]

FIGURES = {
    "baselines": "The price of an accuracy by each method, on a logarithmic scale, for two predictors. Left, ridge "
    "regression: the Brownian ladder comes closest to the oracle, then doubling, then the Laplace methods. Right, "
    "naive Bayes: the Brownian ladder is again next to the oracle, but with rungs twice as close it is the dearest."
}
OURS = ("ours", "closer")


def draw(result: Result) -> Mapping[str, Figure]:
    """A panel for each predictor, the methods below one another."""
    figure, axes = style.panels(len(result["panels"]), height=3.2)
    for each, panel in zip(axes, result["panels"], strict=True):
        _draw_panel(each, panel, result["delta"])
    for each in axes[1:]:
        each.set_yticklabels([])
    return {"baselines": figure}


def _draw_panel(axes: Axes, panel: Panel, delta: float) -> None:
    rows = panel["rows"]
    for place, row in enumerate(rows):
        colour = style.BLUE if row["method"] in OURS else style.SOFT
        low, _, high = row["quartiles"]
        axes.plot([low, high], [place, place], color=colour, alpha=0.35, linewidth=6, solid_capstyle="butt")
        price = row["price"]
        axes.plot([price["low"], price["high"]], [place, place], color=colour)
        axes.plot([price["mean"]], [place], color=colour, marker="o", markersize=5)
        style.note(axes, price["mean"], place, f"{price['mean']:.3g}", up=8, right=-8, colour=colour)
    axes.set(xscale="log", ylim=(len(rows) - 0.5, -0.7))
    axes.set_yticks(range(len(rows)), [NAMES[row["method"]].replace(", ", ",\n") for row in rows])
    axes.grid(visible=False, axis="y")
    style.plain_ticks(axes, x=_ticks(rows))
    title = f"{PREDICTORS[panel['predictor']]}, accuracy {panel['target']:g}"
    style.titles(axes, title, x=f"stated ε at δ = {scientific(delta, 1)}", y="")


def _ticks(rows: list[Row]) -> list[float]:
    low, high = min(row["quartiles"][0] for row in rows), max(row["quartiles"][2] for row in rows)
    places = [base * 10.0**power for power in range(-3, 2) for base in (1, 2, 5)]
    return [place for place in places if low / 1.5 <= place <= high * 1.5]
