"""How the conversions are shown: the table, the worst cases, and where the minimum over orders breaks."""

from collections.abc import Mapping
from typing import TypedDict

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.markdown import percent, prose, scientific, table
from paper.show.spread import difference
from paper.summaries.compare import Compared

TITLE = "From Rényi ε to (ε, δ)"
FIGURES = {
    "conversions": "Left: ε of (ε, δ) on every rung; the paper's conversion is highest at small budgets, planned "
    "stops are lowest. Right: the δ of the minimum over orders rises with the number of rungs, past the δ it claims."
}


class Column(TypedDict):
    """One conversion: its ε on each rung, and the worst δ of both notions over all stopping rules."""

    name: str
    notion: str
    epsilons: list[float]
    tail: float
    delta: float


class Decade(TypedDict):
    """The minimum over orders on so many rungs, each ten times the last."""

    rungs: int
    tail: float
    delta: float


class Result(TypedDict):
    """The table, its columns' worst cases, and where the minimum over orders breaks."""

    alpha: int
    delta: float
    levels: list[float]
    compared: list[Compared]
    columns: list[Column]
    decades_delta: float
    decades: list[Decade]


DRAWN = {
    "fixed order, Lemma 7": (style.SOFT, style.DASHED, "the paper: fixed order, Lemma 7"),
    "fixed order, CKS": (style.ORANGE, "-", "fixed order, CKS offset"),
    "half-normal": (style.PURPLE, style.DOTTED, "half-normal mixture"),
    "planned stops": (style.BLUE, "-", "planned stops"),
}


def draw(result: Result) -> Mapping[str, Figure]:
    """The conversions on the ladder, and the minimum over orders on ever longer ladders."""
    figure, (left, right) = style.panels(2)
    _draw_ladder(left, result)
    _draw_decades(right, result)
    return {"conversions": figure}


def _draw_ladder(axes: Axes, result: Result) -> None:
    for column in result["columns"]:
        if column["name"] in DRAWN:
            colour, dash, label = DRAWN[column["name"]]
            axes.plot(result["levels"], column["epsilons"], color=colour, linestyle=dash, label=label)
    axes.set(xscale="log", yscale="log")
    stated = f"ε at δ = {scientific(result['delta'], 1)}"
    style.titles(axes, "What a rung costs as (ε, δ)", x=f"Rényi ε at order {result['alpha']}", y=stated)
    style.plain_ticks(axes, x=(0.01, 0.1, 1), y=(0.1, 0.2, 0.5, 1, 2))
    style.legend(axes)


def _draw_decades(axes: Axes, result: Result) -> None:
    rungs, claimed = [row["rungs"] for row in result["decades"]], result["decades_delta"]
    tails, deltas = [row["tail"] for row in result["decades"]], [row["delta"] for row in result["decades"]]
    for values, colour, label in ((tails, style.ORANGE, "probabilistic"), (deltas, style.BLUE, "approximate")):
        axes.plot(rungs, values, color=colour, marker="o", markersize=3)
        style.name_line(axes, rungs, values, label, colour=colour)
    axes.axhline(claimed, color=style.SOFT, linestyle=style.DASHED)
    style.note(axes, rungs[0], claimed, f"claimed δ = {claimed:g}")
    axes.set_ylim(0)
    style.plain_ticks(axes, x=(1, 5, 10, 15, 20))
    title = "The minimum over orders is not valid"
    style.titles(axes, title, x="rungs, each ten times the last", y="worst δ over all stopping rules")


def text(result: Result) -> str:
    """The tables, and what to see in them."""
    delta = scientific(result["delta"], 1)
    return "\n\n".join(
        [
            prose(_seen(result)),
            _compared(result),
            f"The same rungs by every rule at δ = {delta}. All parameters are fixed before the first release.",
            _columns(result),
            prose(f"""What stopping rules can make of each, computed exactly: a notion holds where its worst δ is at
            most {delta}. The last two are not valid rules; that the first of them holds on this short ladder is slack,
            and no theorem."""),
            _worst(result),
            f"The minimum over orders on longer ladders, claiming δ = {result['decades_delta']:g}:",
            _decades(result),
        ]
    )


def _seen(result: Result) -> str:
    paper, planned = (
        next(column["epsilons"] for column in result["columns"] if column["name"] == name)
        for name in ("fixed order, Lemma 7", "planned stops")
    )
    saved = [percent(1 - ours / theirs, 0) for ours, theirs in zip(planned, paper, strict=True)]
    met = "is met in all printed digits" if all(each["agrees"] for each in result["compared"]) else "is not met"
    broken = [row for row in result["decades"] if row["delta"] > result["decades_delta"]]
    breaks = (
        f"on {broken[0]['rungs']} rungs it has δ = {broken[0]['delta']:.4f}" if broken else "longer ladders show it"
    )
    return f"""The paper's column {met}, and stops that are planned beforehand state the same releases with an ε that
    is {saved[0]} smaller on the first rung and {saved[-1]} on the last. Taking the best order once the output is known,
    which the paper's section on optimisation calls valid, is not: claiming δ = {result["decades_delta"]:g},
    {breaks}."""


def _compared(result: Result) -> str:
    rows = [
        (f"{level:.6f}", each["paper"], f"{each['ours']:.6f}", *difference(each))
        for level, each in zip(result["levels"], result["compared"], strict=True)
    ]
    return table((f"Rényi ε at {result['alpha']}", "paper", "ours", "difference", "why"), rows)


def _columns(result: Result) -> str:
    shown = [each for each in result["columns"] if each["notion"] != "none"]
    rows = [(each["name"], each["notion"], *(f"{epsilon:.6f}" for epsilon in each["epsilons"])) for each in shown]
    return table(("rule", "notion", *(f"{level:.4g}" for level in result["levels"])), rows)


def _worst(result: Result) -> str:
    rows = [(each["name"], scientific(each["tail"], 3), scientific(each["delta"], 3)) for each in result["columns"]]
    return table(("rule", "worst probabilistic δ", "worst approximate δ"), rows)


def _decades(result: Result) -> str:
    rows = [(f"{row['rungs']}", f"{row['tail']:.5f}", f"{row['delta']:.4f}") for row in result["decades"]]
    return table(("rungs", "worst probabilistic δ", "worst approximate δ"), rows)
