"""How the formulas for other orders are shown."""

import math
from collections.abc import Mapping
from typing import Final, TypedDict

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.markdown import prose, scientific, table
from paper.show.spread import difference
from paper.summaries.compare import Compared

TITLE = "Other orders, and the price of a check"
FIGURES = {
    "orders": "Left: the Rényi bill of the first rung against the order; above the order of calibration the formula as "
    "printed falls below ours, the completed sum lies above. Right: noise of a check against the number of planned "
    "questions; plain Gaussian noise rises to meet the two sparse vector lines, balanced checks lie far below."
}


class Formula(TypedDict):
    """The bill at one order for one rung, by each formula."""

    rung: float
    order: float
    paper: float
    completed: float
    ours: float
    gaussian: float


class Noise(TypedDict):
    """The calibrated noise of a sparse vector check, in records, and from how many questions on it is the smaller."""

    name: str
    share: float
    threshold: float
    question: float
    total: float
    accuracy: float
    xi: float
    rho: float
    wins_from: int


class Result(TypedDict):
    """Constants, formulas, and the noise of every kind of check in records."""

    alpha: int
    check: float
    query: float
    held: int
    compared: dict[str, Compared]
    formulas: list[Formula]
    noise: list[Noise]
    questions: list[int]
    gaussian: list[float]
    planned: float
    balanced: list[float]


BILLS: Final = ("paper", "completed", "ours", "gaussian")
RECORDS: Final = ("threshold", "question", "total")
SMALL: Final = ("accuracy", "xi", "rho", "share")


def draw(result: Result) -> Mapping[str, Figure]:
    """The first rung's bill against the order, and the noise of a check against the number of questions."""
    figure, (left, right) = style.panels(2)
    _draw_bill(left, result)
    _draw_noise(right, result)
    return {"orders": figure}


def _draw_bill(axes: Axes, result: Result) -> None:
    rows = [row for row in result["formulas"] if row["rung"] == result["formulas"][0]["rung"]]
    orders = [row["order"] for row in rows]
    for label, values, colour, dash, width in (
        ("the paper's sum, with ε of the queries", [row["completed"] for row in rows], style.ORANGE, "-", 1.8),
        ("ours: larger of the two parts", [row["ours"] for row in rows], style.BLUE, "-", 3.5),
        ("the paper's sum, as printed", [row["paper"] for row in rows], style.SOFT, style.DASHED, 1.8),
        ("ours, plain Gaussian check", [row["gaussian"] for row in rows], style.GREEN, style.DOTTED, 1.8),
    ):
        axes.plot(orders, values, color=colour, linestyle=dash, linewidth=width, label=label)
    axes.set(xscale="log", yscale="log")
    style.titles(axes, "The bill of the first rung at other orders", x="Rényi order", y="Rényi ε")
    style.plain_ticks(axes, x=orders, y=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1))
    style.legend(axes)


def _draw_noise(axes: Axes, result: Result) -> None:
    counts = result["questions"]
    axes.plot(counts, result["gaussian"], color=style.SOFT, linestyle=style.DASHED)
    x, y = (math.sqrt(values[0] * values[-1]) for values in (counts, result["gaussian"]))
    style.note(axes, x, y, "plain Gaussian", right=8, up=-8)
    for row, colour in zip(result["noise"], (style.ORANGE, style.PURPLE), strict=True):
        axes.axhline(row["total"], color=colour)
        axes.plot([row["wins_from"]], [row["total"]], color=colour, marker="o", markersize=5)
        style.note(axes, counts[0], row["total"], row["name"], colour=colour)
    balanced = result["balanced"]
    axes.plot(range(1, len(balanced) + 1), balanced, color=style.BLUE, marker="o", markersize=4, linewidth=0)
    style.note(axes, len(balanced), balanced[-1], "balanced checks, question by question", right=8, colour=style.BLUE)
    axes.set(xscale="log", yscale="log")
    style.titles(axes, "Noise of a check", x="planned questions", y="standard deviation, records")
    style.plain_ticks(axes, x=(1, 2, 5, 10, 20, 50, 100, 200), y=(5, 10, 20, 50, 100, 200, 500))


def text(result: Result) -> str:
    """The constants, the formulas, and the noise."""
    constants = [
        (f"sparse vector {name}", each["paper"], scientific(each["ours"], 5), *difference(each))
        for name, each in result["compared"].items()
    ]
    compared = table(("constant", "paper", "ours", "difference", "why"), constants)
    formula = f"""The bill at order α' of a run that stopped at rung ε (at order α = {result["alpha"]}). As printed:
    ξ + (ρ + ε/α)α'. With ε_query: (ε_query/α)α' more. Ours: max(εα'/α, ξ + ρα') + (ε_query/α)α', as the check reads
    another part of the data."""
    return "\n\n".join([prose(_seen(result)), compared, prose(formula), _formulas(result), _noise(result)])


def _seen(result: Result) -> str:
    plain, monotone = result["noise"]
    first = [row for row in result["formulas"] if row["rung"] == result["formulas"][0]["rung"]][-1]
    return f"""The constants are met, but the paper's formula for other orders leaves out the ε = {result["query"]:g}
    that the choice of queries cost: below order {result["alpha"]} a sum where the maximum would do covers for it,
    above it does not, and at order {first["order"]:g} the first rung is billed {first["paper"]:.4f} where
    {first["ours"]:.4f} was spent. A sparse vector check pays from {plain["wins_from"]} planned questions on (monotone
    ones: {monotone["wins_from"]}); for the ladder's few, plain Gaussian noise is {result["planned"]:.1f} records
    against {plain["total"]:.1f}, and balanced checks take {result["balanced"][0]:.1f} falling to
    {result["balanced"][-1]:.1f}."""


def _formulas(result: Result) -> str:
    names = ("rung ε", "order α'", "as printed", "with ε_query", "ours", "ours, plain Gaussian check")
    found = result["formulas"]
    return table(names, [[f"{row['rung']:g}", f"{row['order']:g}", *(f"{row[k]:.6f}" for k in BILLS)] for row in found])


def _noise(result: Result) -> str:
    names = ("check", "σ₁", "σ₂", "total", "in accuracy", "ξ", "ρ", "threshold share")
    rows = [
        [row["name"], *(f"{row[key]:.4f}" for key in RECORDS), *(scientific(row[key], 5) for key in SMALL)]
        for row in result["noise"]
    ]
    planned = (f"{result['planned']:.4f}", scientific(result["planned"] / result["held"], 5))
    held = f"Calibrated noise in records, and in accuracy on {result['held']} held-out records:\n\n"
    return held + table(names, [*rows, ["plain Gaussian, a question a rung but one", "", "", *planned, "", "", ""]])
