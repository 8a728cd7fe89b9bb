"""How full-batch heads are shown beside Adam's: the price of each accuracy, and how often it was reached."""

from collections.abc import Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.full_batch_text import NAMES, TITLE, Case, Result, text

__all__ = ["FIGURES", "TITLE", "Case", "Result", "draw", "text"]

FIGURES = {
    "full_batch": "Two panels against the threshold. Left, the stated privacy: full-batch heads lie far below Adam's "
    "at every threshold. Right, the share of searches that passed: full-batch heads stay above Adam's, which falls."
}
LOOKS: Final = {"full-batch": (style.BLUE, "s"), "adam": (style.SOFT, "o")}
APART = 0.003
"""How far the points of either method lie from their threshold."""


def draw(result: Result) -> Mapping[str, Figure]:
    """Prices on the left, shares on the right."""
    figure, axes = style.panels(2, height=3.2)
    for method, (colour, marker) in LOOKS.items():
        cases = [case for case in result["cases"] if case["method"] == method]
        aside = APART if method == "adam" else -APART
        for case in cases:
            _draw_price(axes[0], case, aside, colour=colour, marker=marker)
            _draw_share(axes[1], case, aside, colour=colour, marker=marker)
        axes[0].plot([], [], color=colour, marker=marker, linewidth=0, label=NAMES[method])
    axes[0].set_ylim(0)
    axes[1].set_ylim(-0.03, 1.03)
    style.titles(axes[0], "The price of the accuracy", x="threshold", y=f"ε at δ = {result['delta']:g}, mean")
    style.titles(axes[1], "Searches that passed", x="threshold", y="share")
    style.legend(axes[0])
    for each in axes:
        each.set_xticks(sorted({case["threshold"] for case in result["cases"]}))
    return {"full_batch": figure}


def _draw_price(axes: Axes, case: Case, aside: float, *, colour: str, marker: str) -> None:
    found = case["epsilon"]
    if found["mean"] is not None:
        x, reach = case["threshold"] + aside, found["reach"] or 0.0
        axes.errorbar([x], [found["mean"]], yerr=[reach], color=colour, marker=marker, markersize=5, elinewidth=1.2)


def _draw_share(axes: Axes, case: Case, aside: float, *, colour: str, marker: str) -> None:
    passed, x = case["passed"], case["threshold"] + aside
    if passed["interval"] is not None:
        axes.plot([x, x], passed["interval"], color=colour, linewidth=1.2)
        axes.plot([x], [passed["count"] / passed["of"]], color=colour, marker=marker, markersize=5)
