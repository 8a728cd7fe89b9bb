"""Fine-tuning in words and tables."""

from paper.show.finetuning_result import Case, Plan, Result
from paper.show.finetuning_seen import BALANCED, CALIBRATED, PLAIN, seen
from paper.show.markdown import percent, prose, table
from paper.show.spread import in_percent, of, plus_minus
from paper.summaries.confidence import confident

TITLE = "Fine-tuning until accurate enough"
KINDS = PLAIN | {confident(kind): confident(PLAIN[kind]) for kind in (BALANCED, CALIBRATED)}


def text(result: Result) -> str:
    """What to see, how searches ended, what releases cost, and how this differs from the paper."""
    return "\n\n".join(
        [
            prose(seen(result)),
            prose(_setting(result)),
            _cases(result),
            prose("""The ε of every release by each rule. The paper takes the order that suits the stop best, once it is
            known; a fixed order is the best one for the first release, planned stops divide δ over the releases."""),
            *_plans(result["plans"]),
            prose(_differences(result)),
        ]
    )


def _setting(result: Result) -> str:
    data = f"""Data: {result["data"]}; {result["width"]} features. Each repeat draws {result["records"]} records to
    train on and as many to validate on from {result["pool"]}, classes alike; {result["test"]} others are for
    testing."""
    shares = ", ".join(percent(each, 0) for each in result["shares"])
    return f"""{data} The thresholds are {shares} of {result["probe"]:.3f}, the mean test accuracy of logistic
    regression without privacy. Learning rate {result["learning_rate"]:.3g} and clipping norm
    {result["clip"]:.3g} were searched on scikit-learn's digits, at the price of the first release; the noise
    multiplier {result["multiplier"]:.3f} makes that ε = {result["start"]:g} at δ = {result["delta"]:g} by the best
    order. Means and shares have intervals of 95 %; means are over all repeats, shares of accepted heads over those
    that passed a check. The price of confidence is the mean ε by planned stops over that of the same checks without
    it."""


def _cases(result: Result) -> str:
    head = (
        "validation",
        "threshold",
        "accepted",
        "of these truly, on test",
        "on validation",
        "releases",
        "ε, paper's rule (not valid)",
        "ε, fixed order",
        "ε, planned stops",
        "validation accuracy",
        "test accuracy",
        "price of confidence",
    )
    return table(head, [_cells(case) for case in result["cases"]])


def _cells(case: Case) -> list[str]:
    return [
        KINDS[case["kind"]],
        f"{case['threshold']:g}",
        of(case["accepted"]),
        of(case["truly"]),
        of(case["truly_validation"]),
        plus_minus(case["releases"], 1),
        *(plus_minus(each, 2) for each in (case["paper"], case["fixed"], case["stops"])),
        *(in_percent(each) for each in (case["validation"], case["test"])),
        "" if case["price"] is None else plus_minus(case["price"], 2),
    ]


def _plans(plans: list[Plan]) -> list[str]:
    """Each kind with its table, or a word where it is the one before."""
    parts: list[str] = []
    for plan in plans:
        shown = _plan(plan)
        parts += [f"{_about(plan)} The ε are the same." if shown in parts else _about(plan)]
        parts += [] if shown in parts else [shown]
    return parts


def _about(plan: Plan) -> str:
    noise = ", ".join(f"{spread:.1f}" for spread in plan["check"])
    check = f"; noise of its checks, in records: {noise}" if noise else ""
    if any(plan["guard"]):
        check += f"; the least margins that pass: {', '.join(f'{guard:.1f}' for guard in plan['guard'])}"
    return f"Validation {KINDS[plan['kind']]}; the fixed order is {plan['order']:g}{check}."


def _plan(plan: Plan) -> str:
    columns = zip(plan["steps"], plan["paper"], plan["orders"], plan["fixed"], plan["stops"], strict=True)
    rows = [
        (f"{place}", f"{steps}", f"{paper:.3f}", f"{order:g}", f"{fixed:.3f}", f"{stops:.3f}")
        for place, (steps, paper, order, fixed, stops) in enumerate(columns, start=1)
    ]
    return table(("release", "steps", "paper's rule (not valid)", "best order", "fixed order", "planned stops"), rows)


def _differences(result: Result) -> str:
    images = (
        """the images are digits, not CIFAR-10, and their pixels are the features"""
        if result["digits"]
        else f"""the features are those named above, of another network than the paper's ViT-B/16, and repeats draw
        their records from {result["pool"]} images only, so that they share some"""
    )
    return f"""Differences from the paper: {images}; the head starts from zero, is trained by the library's own Adam
    with exact integer noise, and scales features to length 1. The paper does not print its threshold, its
    hyperparameters, the number of questions its checks are calibrated for, or its results as numbers, so that nothing
    here can be compared digit by digit. Our shares of the probe's accuracy were chosen after a pilot of four draws, so
    that one threshold is soon met and one hardly ever; our checks are calibrated for all releases but the last, which
    is returned unchecked; with a confidence they are for all releases. All searches of a repeat judge the releases of
    one training run. Thresholds from a probe without privacy and, on digits, hyperparameters from the same images would
    cost privacy in use; as in the paper this is not billed. The check asks for a margin and not for an accuracy, so
    that the number of records stays private, and δ = {result["delta"]:g}, one over the number of records to train on,
    is the paper's and weak. On features from a file this is run by `make paper FEATURES=FILE NAMED=TEXT`, on digits by
    `make paper`."""
