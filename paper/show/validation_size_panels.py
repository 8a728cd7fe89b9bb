"""The panels of the validation sizes, a line for each check."""

from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.summaries.summary import Mean, Share
from paper.tables.points import Point
from paper.tables.search import BALANCED, GAUSSIAN

LINES = {GAUSSIAN: (style.INK, style.DASHED), BALANCED: (style.BLUE, "-")}

Drawn = Literal["accepted_drawn", "level_drawn", "test_drawn", "below_drawn"]


def panels(
    sizes: Sequence[float], points: Mapping[str, Sequence[Point]], printed: Sequence[Share], alpha: int
) -> Mapping[str, Figure]:
    """Shares of good and of bad acceptances, final ε and test accuracy."""
    figure, axes = style.panels(2, 2, height=3.0)
    held = "share of records held out, %"
    shown: Sequence[tuple[Drawn, str, str, float]] = (
        ("accepted_drawn", "First release above the threshold accepted", "% of repeats", 100),
        ("level_drawn", "Where the search ended", f"Rényi ε at order {alpha}", 1),
        ("test_drawn", "How good the table is", "test accuracy", 1),
        ("below_drawn", "Releases below the threshold accepted", "% of repeats", 100),
    )
    for panel, (name, title, unit, scale) in zip(axes, shown, strict=True):
        for check, found in points.items():
            _line(panel, sizes, [each[name] for each in found], check, scale)
        style.titles(panel, title, x=held, y=unit)
        style.plain_ticks(panel, x=[100 * size for size in sizes])
    _paper(axes[0], sizes, printed)
    style.legend(axes[0])
    return {"validation_size": figure}


def _line(axes: Axes, sizes: Sequence[float], means: Sequence[Mean], check: str, scale: float) -> None:
    colour, dash = LINES[check]
    heights, reaches = ([scale * (each[key] or 0.0) for each in means] for key in ("mean", "reach"))
    places = [100 * size for size in sizes]
    axes.errorbar(places, heights, yerr=reaches, color=colour, linestyle=dash, marker="o", markersize=4, label=check)


def _paper(axes: Axes, sizes: Sequence[float], printed: Sequence[Share]) -> None:
    shares = [100 * each["count"] / each["of"] for each in printed]
    places = [100 * size for size in sizes]
    axes.plot(places, shares, color=style.SOFT, linestyle=style.DOTTED, marker="s", markersize=4, label="the paper")
    axes.set_ylim(0, 100)
