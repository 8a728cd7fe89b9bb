"""What fine-tuning shows, in a paragraph."""

from paper.show.finetuning_result import Result
from paper.show.markdown import percent
from paper.show.spread import of, plus_minus
from paper.summaries.confidence import confident

BALANCED, CALIBRATED = "private, balanced", "private, calibrated"
PLAIN = {"public": "public", BALANCED: "private, balanced checks", CALIBRATED: "private, the paper's checks"}
"""Kinds of validation without a confidence, and how the page calls them."""


def seen(result: Result) -> str:
    """At one threshold the rules and the test records, over all of them what a confidence gives and costs."""
    thresholds = sorted({case["threshold"] for case in result["cases"]})
    middle = thresholds[len(thresholds) // 2]
    found = {case["kind"]: case for case in result["cases"] if case["threshold"] == middle}
    public, balanced, calibrated = (found[kind] for kind in PLAIN)
    return f"""At the threshold {middle:g} public validation makes {plus_minus(public["releases"], 1)} releases and ends
    at ε = {plus_minus(public["stops"], 2)} by planned stops, where a fixed order says {plus_minus(public["fixed"], 2)}
    and the paper's rule, the best order at the stop, {plus_minus(public["paper"], 2)}, which is smaller and not valid.
    {_sure(result)} Passing on the validation records, however surely, is not
    reaching the threshold on new ones: on test records {of(public["truly"])} accepted heads do with public validation,
    {of(balanced["truly"])} with private balanced checks, {of(found[confident(BALANCED)]["truly"])} if these are
    confident, and {of(calibrated["truly"])} with the paper's."""


def _sure(result: Result) -> str:
    """What a confidence gives, and what it costs, over all thresholds."""
    sure = [confident(kind) for kind in (BALANCED, CALIBRATED)]
    held = [_held(result, kind) for kind in (BALANCED, CALIBRATED, *sure)]
    prices = [_prices(result, kind) for kind in sure]
    return f"""Over all thresholds {held[0]} heads that private balanced checks accept reach the threshold on the
    validation records, and {held[1]} with the paper's; with {percent(result["confidence"], 0)} confidence, which also
    asks about the last release, {held[2]} and {held[3]}. The confidence multiplies the mean ε by {prices[0]} with
    balanced checks and by {prices[1]} with the paper's, depending on the threshold."""


def _prices(result: Result, kind: str) -> str:
    """The range over thresholds of what a confidence costs."""
    found = [price["mean"] or 0.0 for case in result["cases"] if case["kind"] == kind and (price := case["price"])]
    return f"{min(found):.2f} to {max(found):.2f}"


def _held(result: Result, kind: str) -> str:
    """How many of the accepted heads reach their threshold on the validation records."""
    truly = [case["truly_validation"] for case in result["cases"] if case["kind"] == kind]
    return f"{sum(each['count'] for each in truly)} of {sum(each['of'] for each in truly)}"
