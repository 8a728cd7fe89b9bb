"""How the Adult search is shown: panels, the table of checks, bills, and the range of what the paper leaves open."""

from collections.abc import Mapping
from typing import TypedDict

from matplotlib.figure import Figure

from paper.show.adult_claims import caveats, differences, variants, without_noise
from paper.show.adult_panels import panels
from paper.show.markdown import percent, prose, table
from paper.show.spread import in_percent, of, plus_minus
from paper.summaries.confidence import confident
from paper.summaries.summary import Mean
from paper.tables.claims import Claims, Variant
from paper.tables.outcomes import Outcome
from paper.tables.search import BALANCED, GAUSSIAN, PLAIN, SPARSE

TITLE = "Synthetic Adult tables: when to stop"
FIGURES = {
    "adult": "Three rows of panels, for the paper's plain Gaussian and sparse vector checks and for ours, which are "
    "balanced and confident: validation and test accuracy of every repeat against the Rényi ε until it stopped, with "
    "the mean of those that stopped at each level and the threshold, and a histogram of the levels where they stopped."
}
PAPER_SPLIT, COINS = "the paper's", "a coin for each record"
PRINTED = {GAUSSIAN: "about 60 %", SPARSE: "about 40 %"}
"""The paper's shares of repeats whose accepted validation accuracy is truly above the threshold."""


class Result(TypedDict):
    """Everything about the checks, how sure some of them are, the accuracy without noise, and the variants."""

    alpha: int
    delta: float
    threshold: float
    draws: int
    confidence: float
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
            prose(f"""Where {repeats} repeats stopped. Checks without a confidence are not asked about the last rung, as
            in the paper; those with one are. Repeats in which nothing was accepted ended on the last rung and are
            counted apart. An output is truly above if its accuracy on the held-out records, without noise, reaches
            {result["threshold"]:g}; the columns "drawn again" take {result["draws"]} draws of the check's noise for
            every repeat. "Accepted below" is the share of all searches, drawn again, that accepted an output that is
            not truly above: what a confidence keeps at or below {percent(1 - result["confidence"], 0)}. It
            promises nothing of the accepted alone: where a check accepts little, a few errors are a large share of it.
            Intervals are of 95 %."""),
            _checks(result),
            prose(f"""Accuracy where they stopped, and the ε of (ε, {result["delta"]:g}) that is billed. The last column
            is the price of the confidence: the mean ε, drawn again, over that of the same check without it."""),
            _accuracies(result),
            prose(without_noise(result["exact_validation"], result["exact_test"])),
            prose(f"""The bill by rung, at δ = {result["delta"]:g}, the selection of queries included, which a
            confidence does not change:"""),
            _bills(result),
            prose("""What the paper leaves open, one thing changed at a time, as a range and not to match it (fewer
            repeats, check noise drawn as often as above):"""),
            variants(result["variants"]),
            prose(differences(result["outcomes"], result["claims"], result["levels"])),
            prose(caveats(result["exact_validation"])),
        ]
    )


def _seen(result: Result) -> str:
    found = {(each["check"], each["split"]): each for each in result["outcomes"]}
    gaussian, sparse, same = (found[check, PAPER_SPLIT] for check in (GAUSSIAN, SPARSE, BALANCED))
    unsure, ours = found[BALANCED, COINS], found[confident(BALANCED), COINS]
    noisy = [found[confident(check), PAPER_SPLIT]["never_drawn"] for check in (GAUSSIAN, SPARSE)]
    return f"""Of what they accept, {in_percent(gaussian["above_drawn"])} is truly above the threshold with the paper's
    plain Gaussian check, {in_percent(sparse["above_drawn"])} with its sparse vector and
    {in_percent(same["above_drawn"])} with balanced checks of the same candidates, for a Rényi bill that is the same at
    every rung; these checks promise nothing about it. With {percent(result["confidence"], 0)} confidence, and with a
    coin for each record, the centred sum and planned stops, which make the privacy statement hold,
    {in_percent(ours["above_drawn"])} of what balanced checks accept is truly above, and
    {in_percent(ours["below_drawn"])} of searches accept anything below. The price is a mean ε of
    {plus_minus(ours["billed_drawn"], 3)} at δ = {result["delta"]:g}, instead of
    {plus_minus(unsure["billed_drawn"], 3)} without a confidence. The paper's checks are too noisy for this: at the same
    confidence the plain Gaussian check accepts nothing in {in_percent(noisy[0])} of searches, and the sparse vector in
    {in_percent(noisy[1])}."""


def _checks(result: Result) -> str:
    rows = [
        (
            each["check"],
            each["split"],
            of(each["accepted"]["above"]),
            in_percent(each["above_drawn"]),
            PRINTED.get(each["check"], "") if each["split"] == PAPER_SPLIT else "",
            of(each["together"]["above"]),
            in_percent(each["below_drawn"]),
            f"{each['never']['above']['of']} of {len(each['stops'])}; {in_percent(each['never_drawn'])}",
            ", ".join(f"{level:.2g}" for level in each["level_quartiles"]) or "none",
            plus_minus(each["accepted"]["level"], 3),
        )
        for each in result["outcomes"]
    ]
    names = ("check", "split", "truly above, of accepted", "drawn again", "paper", "truly above, of all repeats")
    more = ("accepted below", "never accepted; drawn again", "quartiles of accepted ε", "its mean")
    return table((*names, *more), rows)


def _accuracies(result: Result) -> str:
    rows = [
        (
            f"{each['check']}, {each['split']}",
            *(plus_minus(each["accepted"][part]) for part in ("validation", "test")),
            *(plus_minus(each["never"][part]) for part in ("validation", "test")),
            *(plus_minus(each[bill], 3) for bill in ("billed_lemma_7", "billed_planned", "billed_drawn")),
            "" if each["price_drawn"] is None else plus_minus(each["price_drawn"], 2),
        )
        for each in result["outcomes"]
    ]
    names = ("check, split", "validation, accepted", "test, accepted", "validation, otherwise", "test, otherwise")
    return table((*names, "mean ε, Lemma 7", "mean ε, planned stops", "drawn again", "price of confidence"), rows)


def _bills(result: Result) -> str:
    """Checks whose bills read alike share a row."""
    named: dict[tuple[str, ...], list[str]] = {}
    for each in result["outcomes"]:
        for rule, epsilons in (("Lemma 7", each["lemma_7"]), ("planned stops", each["planned"])):
            names = named.setdefault((rule, *(f"{epsilon:.4f}" for epsilon in epsilons)), [])
            names.extend({PLAIN.get(each["check"], each["check"])} - set(names))
    rows = [(", ".join(names), *cells) for cells, names in sorted(named.items(), key=lambda row: row[0][0])]
    return table(("checks", "rule", *(f"{level:.4g}" for level in result["levels"])), rows)
