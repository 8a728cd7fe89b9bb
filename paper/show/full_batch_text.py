"""Full-batch heads beside Adam's: what was found, as it is stored, and in words."""

from typing import Final, TypedDict

from paper.show.markdown import percent, prose, table
from paper.show.spread import in_percent, of, plus_minus
from paper.summaries.summary import Mean, Share

TITLE = "The same experiment with full-batch heads"
NAMES: Final = {"full-batch": "full-batch", "adam": "Adam"}


class Case(TypedDict):
    """Searches by one method at one threshold, accepted or not; ``over_adam`` is the ε over Adam's in the same repeats.

    ``by_orders`` is the mean ε if each planned stop were stated by its best Rényi order.
    """

    method: str
    threshold: float
    passed: Share
    truly: Share
    releases: Mean
    epsilon: Mean
    by_orders: Mean
    test: Mean
    over_adam: Mean | None


class Result(TypedDict):
    """The data, what full-batch releases are stated as, and how searches ended."""

    data: str
    digest: str
    records: int
    delta: float
    confidence: float
    steps: list[int]
    stops: list[float]
    cases: list[Case]


def text(result: Result) -> str:
    """What to see, how searches ended, what releases cost, and what to keep in mind."""
    return "\n\n".join(
        [
            prose(_seen(result)),
            _cases(result),
            prose(_plan(result)),
            prose(_kept_in_mind(result)),
        ]
    )


def _seen(result: Result) -> str:
    pairs = list(zip(result["cases"][::2], result["cases"][1::2], strict=True))
    (ours, adam), (last, adams_last) = pairs[0], pairs[-1]
    assert ours["over_adam"] is not None  # full-batch comes first
    return f"""**An accuracy of {ours["threshold"]:g} costs ε = {plus_minus(ours["epsilon"], 2)} where Adam pays
    {plus_minus(adam["epsilon"], 2)}**: {plus_minus(ours["over_adam"], 2)} of it. At {last["threshold"]:g}
    {of(last["passed"])} searches pass, at ε = {plus_minus(last["epsilon"], 2)} on average, and of Adam's
    {of(adams_last["passed"])}. Both search on the draws of the section before, with private balanced checks and
    {percent(result["confidence"], 0)} confidence; Adam has the settings found there, full-batch those that
    `expost finetune` has by itself. A noisy mean of the features is released first, and a few gradient steps in which
    every record takes part are taken from there: plain Gaussian releases, which are stated by their exact profile, and
    nothing is left to be tuned."""


def _cases(result: Result) -> str:
    head = (
        "threshold",
        "method",
        "passed",
        "of these truly, on test",
        "releases",
        "ε, planned stops",
        "ε, by Rényi orders",
        "over Adam's",
        "test accuracy",
    )
    return table(head, [_cells(case) for case in result["cases"]])


def _cells(case: Case) -> list[str]:
    return [
        f"{case['threshold']:g}",
        NAMES[case["method"]],
        of(case["passed"]),
        of(case["truly"]),
        plus_minus(case["releases"], 1),
        plus_minus(case["epsilon"], 2),
        plus_minus(case["by_orders"], 2),
        "" if case["over_adam"] is None else plus_minus(case["over_adam"], 2),
        in_percent(case["test"]),
    ]


def _plan(result: Result) -> str:
    stops = ", ".join(f"{epsilon:.2f}" for epsilon in result["stops"])
    return f"""Full-batch releases are stated as ε = {stops}, the last after {result["steps"][-1]} steps in all. Means
    are over all repeats, where a search that never passes counts with what its last release costs; shares on test
    records are of the searches that passed. Intervals are of 95 %. By Rényi orders is what planned stops would state if
    each were stated by the best order for it."""


def _kept_in_mind(result: Result) -> str:
    return f"""The constants of the full-batch method, such as the number of steps and the radius that centred features
    are clipped to, were settled on features of CIFAR-10, as Adam's learning rate was on digits. This is for few
    records, {result["records"]} here. With many more, Adam's many steps go further:
    [the guide](ml-engineer.md#which-method) says where, measured. Data: {result["data"]}."""
