"""How the definitions are shown."""

import math
from collections.abc import Mapping
from typing import TypedDict

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.markdown import prose, scientific, table

TITLE = "The definitions"
FIGURES = {
    "definitions": "Left: the largest δ after merging two outputs against the δ before; the probabilistic δ jumps far "
    "above the diagonal, the approximate δ stays on it. Right: the least pure claim for a Brownian run grows steadily "
    "with the reach of the noise, without end."
}


class Example(TypedDict):
    """Two laws in units of 1/parts, and what merging their first two outputs did."""

    p: list[int]
    q: list[int]
    before: float
    after: float


class Search(TypedDict):
    """All tables of one kind: how many, the largest growth, where, and δ after by δ before."""

    notion: str
    parts: int
    tables: int
    growth: float
    example: Example
    profile: list[list[float]]


class Brownian(TypedDict):
    """A claim for the Brownian run, what it was found to be, and the limit that it must keep."""

    notion: str
    claim: str
    measure: str
    found: float
    limit: float
    kept: bool


class Verdict(TypedDict):
    """A row of the paper's table: immune, and admitting a Brownian mechanism."""

    notion: str
    paper: list[str]
    ours: list[str]
    same: list[bool]


class Result(TypedDict):
    """Both columns of the table, and what they rest on."""

    alpha: float
    claim: float
    outputs: int
    searches: list[Search]
    brownian: list[Brownian]
    reaches: list[float]
    pure: list[float]
    table: list[Verdict]


def draw(result: Result) -> Mapping[str, Figure]:
    """Merging, and the pure claim of a Brownian run."""
    figure, (left, right) = style.panels(2)
    _draw_merging(left, {search["notion"]: search["profile"] for search in result["searches"]})
    right.plot(result["reaches"], result["pure"], color=style.BLUE, marker="o", markersize=4)
    right.set(xlim=0, ylim=0)
    style.titles(
        right, "No finite pure claim for a Brownian run", x="noise cut at so many deviations", y="least pure ε"
    )
    return {"definitions": figure}


def _draw_merging(axes: Axes, profiles: Mapping[str, list[list[float]]]) -> None:
    axes.plot([0, 1], [0, 1], color=style.RULE)
    for notion, colour, marker in (("probabilistic", style.ORANGE, "o"), ("approximate", style.BLUE, "s")):
        before, after = zip(*profiles[notion], strict=True)
        axes.plot(before, after, color=colour, marker=marker, markersize=4)
        middle = len(before) // 2
        style.note(axes, before[middle], after[middle], notion, up=-14, right=6, colour=colour)
    style.titles(axes, "Merging two outputs", x="δ before", y="largest δ after, over all tables")


def text(result: Result) -> str:
    """The paper's table, settled."""
    searched = {search["notion"]: search for search in result["searches"]}
    hurt = searched["probabilistic"]["example"]
    seen = f"""Over all {searched["approximate"]["tables"]} tables of {result["outputs"]} outputs whose probabilities
    are multiples of 1/{searched["approximate"]["parts"]}, merging two outputs never raises the approximate δ, and
    raises a probabilistic δ of {hurt["before"]:.2g} to {hurt["after"]:.2g}: the paper's open case is immune, which
    [theory](theory.md#the-approximate-notion-is-immune) proves. A Brownian mechanism needs a claim that holds although
    the loss has no bound, which the pure notion cannot give; each of the others keeps its limit on a run that stops
    by what it sees."""
    merges = """Growth is that of the excess of the loss over ε (pure), of δ, or of the logarithm of the moment. Only
    merges of two outputs are tried: any post-processing splits outputs by coins, which leaves the loss alone, and then
    merges. A dash stands where we could not check the paper's entry."""
    found = (_counterexample(searched["probabilistic"], result["claim"]), _brownian(result))
    return "\n\n".join([prose(seen), _immunity(result), prose(merges), *found])


def _immunity(result: Result) -> str:
    head = ("definition", "immune: paper", "ours", "tables searched", "largest growth", "Brownian: paper", "ours")
    rows = []
    for verdict, search in zip(result["table"], result["searches"], strict=True):
        growth = f"{search['growth']:.2g}" if search["growth"] > 0 else "none"
        ours = [each if same else f"**{each}**" for each, same in zip(verdict["ours"], verdict["same"], strict=True)]
        immune = (verdict["paper"][0], ours[0], f"{search['tables']}", growth)
        rows.append((f"{verdict['notion']} ex-post", *immune, verdict["paper"][1], ours[1]))
    return table(head, rows)


def _counterexample(search: Search, claim: float) -> str:
    example, parts = search["example"], search["parts"]
    head = f"""The table that loses most, as the search found it: every output claims ε = ln {math.exp(claim):.0f}, the
    first two are merged, and the probabilistic δ goes from {example["before"]:.2g} to {example["after"]:.2g}."""
    laws = (("P under X", example["p"]), ("P under X'", example["q"]))
    rows = [(name, *(f"{count / parts:g}" for count in law), f"{sum(law[:2]) / parts:g}") for name, law in laws]
    names = ("", *(f"output {place}" for place in range(1, len(example["p"]) + 1)), "1 and 2 merged")
    return f"{prose(head)}\n\n{table(names, rows)}"


def _brownian(result: Result) -> str:
    head = f"""A Brownian run of two steps, the second taken only if the first came out low, with outputs rounded to
    cells (order {result["alpha"]:g}). The least pure claim for it is {result["pure"][0]:.2f} when noise is cut at
    {result["reaches"][0]:g} deviations, {result["pure"][-1]:.2f} at {result["reaches"][-1]:g}, and so on."""
    rows = [
        (row["notion"], row["claim"], f"{row['measure']} {_written(row['found'])}", _written(row["limit"]))
        for row in result["brownian"]
    ]
    return f"{prose(head)}\n\n{table(('definition', 'claim', 'found', 'limit'), rows)}"


def _written(value: float) -> str:
    return scientific(value) if value < 0.01 else f"{value:.6g}"
