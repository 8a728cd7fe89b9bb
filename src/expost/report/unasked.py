"""Words for runs in which no score was asked for: the check was the caller's own rule, or there was none."""

from expost.report.digits import price
from expost.report.facts import Facts


def unasked_headline(facts: Facts) -> str:
    """The result in one sentence."""
    spent = f"ε = {price(facts.epsilon)}"
    if facts.judged is None:
        return f"No check was asked; {spent} was spent."
    if facts.reached:
        return f"A candidate passed the check, for {spent}."
    return f"No candidate passed the check; {spent} was spent."


def unasked_result(facts: Facts, ending: str, last: str) -> str:
    """What a pass says: what the caller's rule says, which a report does not know."""
    product, rung = facts.job.product, facts.job.terms.rung
    if facts.judged is None:
        return f"{product} is {rung} {len(facts.rungs)}, which whoever ran the procedure chose to keep."
    if not facts.reached:
        return f"No candidate passed the check: {ending}. {last}"
    on = "held-out records" if facts.looked else "what had been released before"
    return (
        f"{product} passed the check, a rule on {on} that was given to the search. What passing it is worth, only "
        "whoever wrote the rule can say."
    )


def figure(facts: Facts, last: str) -> tuple[str, str, str]:
    """The verdict as a figure: a title, a value, a remark."""
    if facts.judged is None:
        return "check", "none", "nothing was asked for"
    on = "held-out records" if facts.looked else "releases only"
    return "check", last, f"a rule of the caller's that read {on}"
