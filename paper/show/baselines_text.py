"""The comparison with other methods in words and tables."""

from paper.show.baselines_result import Interval, Panel, Result, Row
from paper.show.markdown import percent, prose, scientific, table

TITLE = "What accuracy-first saves"
NAMES = {
    "oracle": "oracle: knows the rung",
    "ours": "Brownian ladder, balanced checks",
    "closer": "Brownian ladder, rungs twice as close",
    "reduced": "Laplace noise reduction, ReducedAboveThreshold",
    "above": "Laplace noise reduction, AboveThreshold",
    "doubling": "doubling",
    "afresh": "independent re-release",
}
PREDICTORS = {"ridge": "Ridge regression", "naive Bayes": "Naive Bayes"}


def text(result: Result) -> str:
    """The headline, a table for each predictor, and what the comparison leaves out."""
    parts = [prose(_seen(result))]
    for panel in result["panels"]:
        parts += [prose(_about(panel)), _table(panel)]
    return "\n\n".join([*parts, prose(_rules(result)), prose(_limits(result))])


def _seen(result: Result) -> str:
    many, few = result["panels"][0], result["panels"][-1]
    doubled, oracle = _of(many, "doubling")["ours_over"], _of(many, "oracle")["ours_over"]
    ours, closer, doubling = (_of(few, name) for name in ("ours", "closer", "doubling"))
    return f"""**For the same accuracy of ridge regression the Brownian ladder states {_ratio(doubled)} of doubling's
    ε**, and {_ratio(oracle)} times that of an oracle who knows the right rung and needs no check (intervals of 95 %).
    For naive Bayes it states {_ratio(doubling["ours_over"])} of doubling's, but reaches the target in
    {percent(ours["reached"], 0)} against {percent(doubling["reached"], 0)} of repeats, and much hangs on the spacing of
    rungs: twice as close, with more checks that get less each, they cost
    {closer["price"]["mean"] / ours["price"]["mean"]:.1f} times as much, or
    {closer["price"]["mean"] / doubling["price"]["mean"]:.1f} times doubling."""


def _about(panel: Panel) -> str:
    return f"""{PREDICTORS[panel["predictor"]]} on Adult from {panel["pairs"]} tables of counts with
    {panel["cells"]} cells together, to accuracy {panel["target"]:g} on held-out records; the ladder has
    {len(panel["levels"])} rungs, stated as ε = {panel["levels"][0]:.3g} to {panel["levels"][-1]:.3g}."""


def _table(panel: Panel) -> str:
    head = ("method", "guard", "stated ε", "quartiles", "ours over it", "reaches the target", "mean accuracy", "rungs")
    return table(head, [_cells(row) for row in panel["rows"]])


def _cells(row: Row) -> list[str]:
    price, (low, _, high) = row["price"], row["quartiles"]
    shares = " to ".join(percent(each, 0) for each in row["reached_interval"])
    return [
        NAMES[row["method"]],
        percent(row["guard"]),
        f"{price['mean']:.3g} ({price['low']:.3g} to {price['high']:.3g})",
        f"{low:.3g}, {high:.3g}",
        "" if row["method"] == "ours" else _ratio(row["ours_over"]),
        f"{percent(row['reached'], 0)} ({shares})",
        f"{row['accuracy']:.4f}",
        f"{row['rungs']:.1f}",
    ]


def _rules(result: Result) -> str:
    return f"""Equal accuracy means equally sure: a check asks for the target plus a guard, for each method the least
    with which {percent(result["surely"], 0)} of {result["reported"]} repeats accept a predictor that truly reaches the
    target on the held-out records; the numbers are from as many others, and a repeat has the same division of the
    records for all methods. Gaussian methods have balanced checks and planned stops at
    δ = {scientific(result["delta"], 1)}; the Laplace methods climb levels of the same ε, are pure, and would be stated
    with δ = 0. Doubling takes {result["doublings"]} budgets over the same range. Prices are geometric means."""


def _limits(result: Result) -> str:
    return f"""This comparison is ours and not in the paper. Predictors, targets and the spacing of rungs, which is the
    paper's, were settled after pilots with other seeds than those reported; in the first, naive Bayes on rungs about
    twice as close, the ladder was dearer than doubling, as its row still shows. Guards are chosen on a sample, so that
    methods end up unequally sure; compare the shares. Every method is billed the larger of what training and held-out
    records spent; their authors check on the records they train on, where AboveThreshold adds its ε to that of the
    release and ReducedAboveThreshold doubles it. AboveThreshold has the level of the ladder's middle, more than naive
    Bayes needs. The Laplace methods are calibrated to the absolute sensitivity, which for many tables is far above the
    Euclidean one: how much of their gap is noise and how much search is not told apart. The oracle's rung is the first
    on the Brownian path that truly reaches the target. The penalty of the regression follows from the noise alone;
    {percent(result["held"], 0)} of the records are held out."""


def _of(panel: Panel, method: str) -> Row:
    return next(row for row in panel["rows"] if row["method"] == method)


def _ratio(interval: Interval) -> str:
    return f"{interval['mean']:.2f} ({interval['low']:.2f} to {interval['high']:.2f})"
