"""How fine-tuning is shown: what releases cost and reach, and how searches end."""

from collections.abc import Callable, Mapping
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper.show import style
from paper.show.finetuning_result import Case, Plan, Result
from paper.show.finetuning_text import TITLE, text
from paper.summaries.confidence import confident
from paper.summaries.summary import Mean, Share

__all__ = ["FIGURES", "TITLE", "Case", "Plan", "Result", "draw", "text"]

FIGURES = {
    "finetuning": "Six panels. What each release is stated as by three rules; the accuracy of each release, rising "
    "with training; and for public and private validation against the threshold: releases made, the stated ε, accuracy "
    "beyond the threshold, and the share of accepted heads that truly reach it. Higher thresholds take more releases."
}
KINDS: Final = {
    "public": ("public", style.GREEN, "o"),
    "private, balanced": ("private, balanced", style.BLUE, "s"),
    "private, calibrated": ("private, the paper's", style.ORANGE, "^"),
    confident("private, balanced"): (confident("balanced"), style.BLUE, "D"),
    confident("private, calibrated"): (confident("the paper's"), style.ORANGE, "v"),
}
RULES: Final = (
    ("paper", style.SOFT, style.DASHED, "best order at the stop: not valid"),
    ("fixed", style.PURPLE, style.DOTTED, "fixed order"),
    ("stops", style.BLUE, "-", "planned stops"),
)
APART = 0.004
"""How far the points of different kinds are moved apart."""


def draw(result: Result) -> Mapping[str, Figure]:
    """Releases above, endings below."""
    figure, axes = style.panels(3, 2, width=11.5, height=3.3)
    _draw_prices(axes[0], result)
    _draw_accuracies(axes[1], result)
    _draw_means(axes[2], result, "Releases made", "releases, mean", lambda case: case["releases"])
    _draw_means(axes[3], result, "The final release", "ε by planned stops, mean", lambda case: case["stops"])
    style.legend(axes[3])
    _draw_beyond(axes[4], result)
    _draw_shares(axes[5], result)
    for each in axes[2:]:
        each.set_xticks([case["threshold"] for case in _of(result, "public")])
    return {"finetuning": figure}


def _draw_prices(axes: Axes, result: Result) -> None:
    plan = result["plans"][0]
    values = {"paper": plan["paper"], "fixed": plan["fixed"], "stops": plan["stops"]}
    for rule, colour, dash, label in RULES:
        axes.plot(plan["steps"], values[rule], color=colour, linestyle=dash, marker=".", label=label)
    axes.set_ylim(0)
    style.titles(axes, "Each release, public validation", x="steps", y=f"ε at δ = {result['delta']:g}")
    style.legend(axes)


def _draw_accuracies(axes: Axes, result: Result) -> None:
    steps = result["plans"][0]["steps"]
    for values, colour, dash, label in (
        (result["validation"], style.BLUE, "-", "validation"),
        (result["reached"], style.INK, style.DASHED, "test"),
    ):
        axes.plot(steps, values, color=colour, linestyle=dash, marker=".", label=label)
    for case in _of(result, "public"):
        axes.axhline(case["threshold"], color=style.SOFT, linewidth=0.9, linestyle=style.DOTTED)
    style.titles(axes, "Accuracy; dotted: the thresholds", x="steps", y="accuracy, mean")
    style.legend(axes)


def _draw_means(axes: Axes, result: Result, title: str, y: str, value: Callable[[Case], Mean]) -> None:
    for place, (kind, (label, colour, marker)) in enumerate(KINDS.items()):
        found = [(case["threshold"] + _aside(place), value(case)) for case in _of(result, kind)]
        _points(axes, found, colour=colour, marker=marker, label=label)
    axes.set_ylim(0)
    style.titles(axes, title, x="threshold", y=y)


def _draw_beyond(axes: Axes, result: Result) -> None:
    """Validation accuracy in full, test accuracy in hollow points, both less the threshold."""
    for place, (kind, (_, colour, marker)) in enumerate(KINDS.items()):
        for case in _of(result, kind):
            x = case["threshold"] + _aside(place)
            _points(axes, [(x - APART / 4, _less(case["validation"], case))], colour=colour, marker=marker)
            _points(axes, [(x + APART / 4, _less(case["test"], case))], colour=colour, marker=marker, hollow=True)
    axes.axhline(0, color=style.SOFT, linewidth=0.9)
    style.titles(axes, "Beyond the threshold; hollow: test", x="threshold", y="accuracy less threshold, mean")


def _draw_shares(axes: Axes, result: Result) -> None:
    for place, (kind, (_, colour, marker)) in enumerate(KINDS.items()):
        for case in _of(result, kind):
            x, truly = case["threshold"] + _aside(place), case["truly"]
            if truly["interval"] is not None:
                axes.plot([x, x], truly["interval"], color=colour, linewidth=1.2)
                axes.plot([x], [_share(truly)], color=colour, marker=marker, markersize=5)
    axes.set_ylim(-0.03, 1.03)
    style.titles(axes, "Accepted heads truly at the threshold", x="threshold", y="share, on test records")


def _points(
    axes: Axes,
    found: list[tuple[float, Mean]],
    *,
    colour: str,
    marker: str,
    label: str | None = None,
    hollow: bool = False,
) -> None:
    """Means with their intervals."""
    shown = [(x, each["mean"], each["reach"] or 0.0) for x, each in found if each["mean"] is not None]
    xs, ys, reaches = ([row[column] for row in shown] for column in range(3))
    axes.errorbar(
        xs,
        ys,
        yerr=reaches,
        color=colour,
        marker=marker,
        markersize=5,
        markerfacecolor="white" if hollow else colour,
        linewidth=0,
        elinewidth=1.2,
        label=label,
    )


def _aside(place: int) -> float:
    """How far the points of a kind lie from their threshold."""
    return (place - len(KINDS) // 2) * APART


def _of(result: Result, kind: str) -> list[Case]:
    return [case for case in result["cases"] if case["kind"] == kind]


def _less(found: Mean, case: Case) -> Mean:
    return found if found["mean"] is None else {**found, "mean": found["mean"] - case["threshold"]}


def _share(found: Share) -> float:
    return found["count"] / found["of"]
