"""How figures look: few lines, labels beside them, colours that survive colour blindness and grey print.

Grey is the paper, or what we compare with; colours are ours. No meaning rests on colour alone: lines also differ in
dash and carry their names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.style import context

INK, SOFT, RULE = "#1b2026", "#6b747e", "#dfe3e8"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#aa4499"
OURS = (BLUE, ORANGE, GREEN, PURPLE)

Dash: TypeAlias = tuple[int, tuple[float, ...]]
DASHED: Dash = (0, (5, 2))
DOTTED: Dash = (0, (1, 1.2))
MIXED: Dash = (0, (6, 2, 1, 2))

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": RULE,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "expost",
    "svg.fonttype": "path",
}


def panels(columns: int, rows: int = 1, *, width: float = 9.2, height: float = 3.7) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels, row by row; the height is that of one row."""
    with context(SETTINGS, after_reset=True):
        figure = Figure(figsize=(width, height * rows))
        figure.set_layout_engine("constrained", wspace=0.06, hspace=0.08)
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [each for row in axes for each in row]


def titles(axes: Axes, title: str, *, x: str, y: str) -> None:
    """What the panel shows, and what its axes measure."""
    axes.set_title(title, loc="left", fontsize=10, pad=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def name_line(axes: Axes, xs: Sequence[float], ys: Sequence[float], label: str, *, colour: str, up: float = 0) -> None:
    """The name of a line beside its last point, in its colour; ``up`` moves it by so many points."""
    axes.annotate(
        label,
        (xs[-1], ys[-1]),
        xytext=(5, up),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=8,
        annotation_clip=False,
    )


def note(axes: Axes, x: float, y: float, text: str, *, up: float = 5, right: float = 0, colour: str = INK) -> None:
    """A few words at a point, moved by so many points."""
    axes.annotate(text, (x, y), xytext=(right, up), textcoords="offset points", fontsize=8, color=colour)


def legend(axes: Axes) -> None:
    """The names of lines that run too close together to be named beside them."""
    axes.legend(facecolor="white", edgecolor="none", framealpha=0.9, fontsize=8, handlelength=2.6, borderaxespad=0.2)


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """The names of a panel's lines, below all panels that have them."""
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=8,
        handlelength=2.6,
    )


def plain_ticks(axes: Axes, *, x: Sequence[float] = (), y: Sequence[float] = ()) -> None:
    """Ticks at just these places, written as ordinary numbers, also on a logarithmic scale."""
    for axis, places in ((axes.xaxis, x), (axes.yaxis, y)):
        if places:
            axis.set_ticks(list(places), [f"{place:g}" for place in places])
            axis.set_ticks([], minor=True)


def save(figure: Figure, path: Path) -> None:
    """Write the figure; equal figures give equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = {"Date": None, "Creator": None} if path.suffix == ".svg" else {}
    with context(SETTINGS, after_reset=True):
        figure.savefig(path, dpi=150, metadata=plain)
