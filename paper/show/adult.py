"""How the Adult search is shown: panels, the table of checks, bills, and the range of what the paper leaves open."""

from collections.abc import Mapping
from typing import TypedDict

from matplotlib.figure import Figure

from paper.claims import Claims, Variant
from paper.markdown import prose, table
from paper.outcomes import Outcome
from paper.search import GAUSSIAN, SPARSE
from paper.show.adult_claims import caveats, differences, variants
from paper.show.adult_panels import panels
from paper.show.spread import in_percent, of, plus_minus
from paper.summary import Mean

TITLE = "Synthetic Adult tables: when to stop"
FIGURES = {
    "adult": "Three rows of panels, for the paper's plain Gaussian and sparse vector checks and for ours: validation "
    "and test accuracy of every repeat against the Rényi ε until it stopped, with the mean of those that stopped at "
    "each level and the threshold, and a histogram of the levels where they stopped."
}
PAPER_SPLIT = "the paper's"
PRINTED = {GAUSSIAN: "about 60 %", SPARSE: "about 40 %"}
"""The paper's shares of repeats whose accepted validation accuracy is truly above the threshold."""


class Result(TypedDict):
    """Everything about the checks, the accuracy without noise, and the range of the variants."""

    alpha: int
    delta: float
    threshold: float
    draws: int
    levels: list[float]
    exact_validation: Mean
    exact_test: Mean
    outcomes: list[Outcome]
    claims: Claims
    variants: list[Variant]


def draw(result: Result) -> Mapping[str, Figure]:
    """The paper's six panels, and ours below them."""
    return panels(result["outcomes"], result["levels"], result["threshold"], PAPER_SPLIT)


def text(result: Result) -> str:
    """What to see, the checks, the bills, the variants, and the paper's claims."""
    repeats = len(result["outcomes"][0]["stops"])
    return "\n\n".join(
        [
            prose(_seen(result)),
            prose(f"""Where {repeats} repeats stopped. The last rung is not checked, so repeats that came to it are
            apart. An output is truly above if its accuracy on the held-out records, without noise, reaches
            {result["threshold"]:g}; the column "drawn again" takes {result["draws"]} draws of the check's noise for
            every repeat. Intervals are of 95 %."""),
            _checks(result),
            f"Accuracy where they stopped, and the ε of (ε, {result['delta']:g}) that is billed:",
            _accuracies(result),
            prose(_exact(result)),
            f"The bill by rung, at δ = {result['delta']:g}, the selection of queries included:",
            _bills(result),
            prose("""What the paper leaves open, one thing changed at a time, as a range and not to match it (fewer
            repeats, check noise drawn as often as above):"""),
            variants(result["variants"]),
            prose(differences(result["outcomes"], result["claims"], result["levels"])),
            prose(caveats(result["exact_validation"])),
        ]
    )


def _seen(result: Result) -> str:
    gaussian, sparse, same, ours = result["outcomes"]
    return f"""Of what they accept, {in_percent(gaussian["above_drawn"])} is truly above the threshold with the paper's
    plain Gaussian check, {in_percent(sparse["above_drawn"])} with its sparse vector and
    {in_percent(same["above_drawn"])} with balanced checks of the same candidates, for a Rényi bill that is the same at
    every rung. With a coin for each record, the centred sum and planned stops, which make the statement hold, it is
    {in_percent(ours["above_drawn"])}, and the ε stated at δ = {result["delta"]:g} is
    {plus_minus(ours["billed_planned"], 3)} on average instead of {plus_minus(gaussian["billed_lemma_7"], 3)} by the
    paper's conversion."""


def _checks(result: Result) -> str:
    rows = [
        (
            each["check"],
            each["split"],
            of(each["accepted"]["above"]),
            in_percent(each["above_drawn"]),
            PRINTED.get(each["check"], "") if each["split"] == PAPER_SPLIT else "",
            of(each["together"]["above"]),
            f"{each['unchecked']['above']['of']} of {len(each['stops'])}; {in_percent(each['unchecked_drawn'])}",
            ", ".join(f"{level:.2g}" for level in each["level_quartiles"]) or "none",
            plus_minus(each["accepted"]["level"], 3),
        )
        for each in result["outcomes"]
    ]
    names = ("check", "split", "truly above, of accepted", "drawn again", "paper", "truly above, of all repeats")
    return table((*names, "never accepted; drawn again", "quartiles of accepted ε", "its mean"), rows)


def _accuracies(result: Result) -> str:
    rows = [
        (
            f"{each['check']}, {each['split']}",
            *(plus_minus(each["accepted"][part]) for part in ("validation", "test")),
            *(plus_minus(each["unchecked"][part]) for part in ("validation", "test")),
            plus_minus(each["billed_lemma_7"], 3),
            plus_minus(each["billed_planned"], 3),
        )
        for each in result["outcomes"]
    ]
    names = ("check, split", "validation, accepted", "test, accepted", "validation, last rung", "test, last rung")
    return table((*names, "mean ε, Lemma 7", "mean ε, planned stops"), rows)


def _exact(result: Result) -> str:
    found = result["exact_validation"]
    return f"""Without noise in the marginals, so not private, {found["count"]} runs have a validation accuracy of
    {_deviation(found)} and a test accuracy of {_deviation(result["exact_test"])} (mean and deviation); the paper prints
    0.829 ± 0.0014 and 0.829 ± 0.0011 for ten."""


def _deviation(found: Mean) -> str:
    return f"{found['mean']:.4f}" + ("" if found["std"] is None else f" ± {found['std']:.4f}")


def _bills(result: Result) -> str:
    """Checks whose bills read alike share a row."""
    named: dict[tuple[str, ...], list[str]] = {}
    for each in result["outcomes"]:
        for rule, epsilons in (("Lemma 7", each["lemma_7"]), ("planned stops", each["planned"])):
            names = named.setdefault((rule, *(f"{epsilon:.4f}" for epsilon in epsilons)), [])
            names.extend({each["check"]} - set(names))
    rows = [(", ".join(names), *cells) for cells, names in sorted(named.items(), key=lambda row: row[0][0])]
    return table(("checks", "rule", *(f"{level:.4g}" for level in result["levels"])), rows)
