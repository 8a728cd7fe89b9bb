"""Shortfalls in words: how persons with many rows are cut, and what answers lack for it."""

from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.facts import AnswerFacts
from expost.jobs.asking.query import Count, Persons
from expost.jobs.asking.tallies import Tally
from expost.report.digits import plain

LISTED = 3
"""Questions that a sentence names."""
UNTOLD = 0.5
"""The noise in a share beyond which it is not told."""


def cut_words(facts: AnswerFacts) -> tuple[str, ...]:
    """How persons with many rows are cut, a paragraph for each tally; none where nobody can be."""
    return tuple(
        f"In {_about(facts, tally)} a person counts for no more than {most:,} {'row' if most == 1 else 'rows'} of one "
        f"group would. {_cut_share(facts.cuts.get(tally))}, so these answers may be {_lacking(facts, tally)}."
        for tally, most in facts.bounds.items()
        if not tally.cuts_nobody(facts.recipe.schema, most)
    )


def _about(facts: AnswerFacts, tally: Tally) -> str:
    """The questions that a tally answers."""
    asked = [str(each.query) for each in facts.recipe.questions if Tally.of(each.query) == tally] or [tally.name]
    more = f" and {len(asked) - LISTED:,} more" if len(asked) > LISTED else ""
    return ", ".join(f"“{each}”" for each in asked[:LISTED]) + more


def _lacking(facts: AnswerFacts, tally: Tally) -> str:
    """What answers are whose persons with many rows count for less, and how far, if that was counted."""
    measures = [each.query.measure for each in facts.recipe.questions if Tally.of(each.query) == tally]
    bias = "too low" if all(isinstance(each, Count | Persons) for each in measures) else "off"
    cut = facts.cuts.get(tally)
    if cut is None:
        return f"{bias}; the error bars do not show that"
    if cut.lost > UNTOLD:
        return f"far {bias}. Noise hides how far, and the error bars leave it out"
    about = f"{plain(_two_digits(cut.lost))} over all groups"
    return f"{bias} by up to about {about}; the error bars do not show that"


def _cut_share(cut: Cut | None) -> str:
    """About which share of all persons is cut, where that was counted; at most which, where noise hides more."""
    if cut is None:
        return "Persons who have more count for less"
    if 2 * cut.std > UNTOLD:
        return "Persons who have more count for less, and noise hides how many there are"
    if cut.share < 2 * cut.std:
        share = f"Fewer than about {plain(_two_digits(min(cut.share + 2 * cut.std, 1.0)))}"
    else:
        share = f"About {plain(_two_digits(cut.share))}, give or take {plain(_two_digits(2 * cut.std))},"
    return f"{share} of the persons have more and count for less"


def _two_digits(share: float) -> float:
    return float(f"{share:.2g}")
