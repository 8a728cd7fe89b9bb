"""Reading: how the ladder of a report is to be read."""

from expost.report.digits import plain, points
from expost.report.facts import Facts
from expost.report.words import sure


def reading(facts: Facts) -> str:
    """How to read the ladder."""
    if not facts.measured:
        return f"{_verdicts(facts)}{passing_rule(facts)}{_ahead(facts, 'The prices of', 'were')}"
    margin = _margin(facts) if facts.held is None else ""
    about = "" if facts.held is None else f", nor of how many (about {round(facts.held, -1):,.0f})"
    return (
        f"{margin}{passing_rule(facts)}{_ranges(facts)} of the noise that the check adds for privacy, not that of "
        f"which records were held out{about}. A filled mark passed, an empty one did not"
        f"{_ahead(facts, '; marks on the axis are the prices of', ', which were') or '.'}"
    )


def _verdicts(facts: Facts) -> str:
    """What a check that tells no margin tells."""
    if facts.unchecked:
        return "No check was asked. "
    noise = "" if facts.blur is None else f", with a standard error of {points(facts.blur)}"
    return f"This check says whether a candidate passes{noise}, and does not reveal how high the {facts.measure} is. "


def _ahead(facts: Facts, opening: str, closing: str) -> str:
    """That the prices ahead were known, where they were planned."""
    terms = facts.job.terms
    told = f"{opening} {terms.rung}s that were not {terms.taken}{'' if closing[0] == ',' else ' '}{closing}"
    return f"{told} known beforehand." if facts.stops else ""


def _margin(facts: Facts) -> str:
    """What the margin counts."""
    if facts.asked is None:
        return "The margin is how far the candidate lies above or below what the check asks for, in records. "
    asked = plain(float(facts.asked))
    if facts.measure != "accuracy":
        return (
            f"The margin is by how many records' worth the scores of those held out, whose number stays private, add "
            f"up to more, or less, than {asked} of the most they could. "
        )
    return (
        f"The margin is how many more, or fewer, held-out records the candidate gets right than {asked} of them; their "
        "number stays private. "
    )


def passing_rule(facts: Facts) -> str:
    """What it takes to pass."""
    if facts.confidence is None:
        return ""
    looks = (
        "at the one look" if facts.confidence.looks == 1 else f"at any of the {facts.confidence.looks} looks planned"
    )
    return (
        "A candidate passes when its noisy margin over the target is at least the guard. The guard was fixed "
        f"beforehand: with {sure(facts)} no candidate below the target passes {looks}. "
    )


def _ranges(facts: Facts) -> str:
    if facts.confidence is None:
        return "± is one standard error"
    return f"± is the range, at {sure(facts)} for all looks together,"
