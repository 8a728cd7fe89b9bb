"""An answer in words: what is known how precisely, what it cost, and what else a reader must know."""

import math

from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.facts import LOOKS, AnswerFacts, Pledged
from expost.jobs.asking.figures import figure
from expost.jobs.asking.targets import Above, Compare, Top
from expost.jobs.asking.told import OPEN, GroupLine, QuestionTold
from expost.report.booked import held_and_returned
from expost.report.digits import plain, price, small
from expost.report.units import OF_PERSONS, by_unit
from expost.report.words import FLOATING, NOT_PRIVATE, ONE_PERSON, ONE_RECORD

LISTED = 5
"""Groups that a sentence names."""
UNTOLD = 0.5
"""The noise in a share beyond which it is not told."""
COVERED = "The bound covers everything that was measured for the answers, coarse looks and those thrown away included."

UNPAID = (
    "This cost nothing: what earlier answers on the ledger released was precise enough, and nothing was measured anew. "
    "Their receipts state its price."
)


def group_name(line: GroupLine) -> str:
    """A group by its labels; all rows where there is one."""
    return " × ".join(line.group) or "all rows"


def answer_headline(facts: AnswerFacts) -> str:
    """The result in one sentence."""
    cost = f"this cost ε = {price(facts.epsilon)}" if facts.spending.bill else "earlier answers were enough for it"
    return f"{_known(facts)}; {cost}."


def _known(facts: AnswerFacts) -> str:
    decision = facts.recipe.decision
    if decision is not None:
        return f"{decided_words(facts.told[0])}, {sure_words(facts)}"
    asked, first = facts.told[0].question.target, facts.told[0]
    if not facts.reached:
        return (
            f"{facts.settled:,} of {facts.groups:,} answers are known to {asked}, {sure_words(facts)}, and "
            f"{facts.open:,} {'is' if facts.open == 1 else 'are'} not"
        )
    if facts.few == facts.groups:
        return f"All {facts.groups:,} groups are known to be too small to be told to {asked}, {sure_words(facts)}"
    if facts.few:
        rest = "a smaller one is" if facts.few == 1 else f"{facts.few:,} smaller ones are"
        known = f"{_all(facts)} large enough for it is known to {asked}, {sure_words(facts)}"
        return f"{known}, and {rest} only known to be small"
    if facts.groups == 1:
        return f"The {first.measure} is known to {asked}, {sure_words(facts)}"
    return f"{_all(facts)} is known to {asked}, {sure_words(facts)}"


def _all(facts: AnswerFacts) -> str:
    """What every answer is about."""
    first = facts.told[0]
    if len({each.question.query.by for each in facts.told}) > 1 or not first.question.query.by:
        return "Every answer"
    return f"Every {' × '.join(first.question.query.by)}"


def decided_words(told: QuestionTold) -> str:
    """What was decided, as far as it was."""
    target, lines = told.question.target, told.lines
    if any(line.settled == OPEN for line in lines):
        return "It was not decided for all groups"
    largest = sorted(lines, key=lambda line: -line.estimate)
    if isinstance(target, Top):
        return f"The top {target.number} by {told.measure} {_listed(largest[: target.number])}"
    if isinstance(target, Above):
        above = [line for line in largest if line.settled == "above"]
        named = f": {', '.join(map(group_name, above))}" if 0 < len(above) <= LISTED else ""
        return f"{len(above):,} of {len(lines):,} groups are above {figure(float(target.threshold), 1.0)}{named}"
    assert isinstance(target, Compare)  # there is no other decision
    first, second = (group_name(line) for line in largest if group_name(line) in (target.first, target.second))
    return f"{first} is larger than {second} by {told.measure}"


def _listed(lines: list[GroupLine]) -> str:
    names = [group_name(line) for line in lines]
    if len(names) == 1:
        return f"is {names[0]}"
    if len(names) > LISTED:
        return f"are {', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return f"are {', '.join(names[:-1])} and {names[-1]}"


def sure_words(facts: AnswerFacts) -> str:
    """How sure the answers are."""
    level = plain(float(facts.recipe.confidence))
    if facts.recipe.together and facts.groups > 1:
        return f"with {level} confidence for all of them together"
    if facts.groups > 1 and facts.heading.pledged.kind != LOOKS:
        return f"each with {level} confidence"
    return f"with {level} confidence"


def cost_words(facts: AnswerFacts) -> str:
    """What it cost, and what that covers."""
    if not facts.spending.bill:
        return UNPAID
    about = ONE_PERSON if facts.neighbours in OF_PERSONS else ONE_RECORD
    per = by_unit("per record", facts.neighbours)
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}, {per}. {COVERED} {about}"


def missed_words(facts: AnswerFacts) -> str:
    """What is not settled; empty where everything is."""
    if facts.reached:
        return ""
    return (
        f"{facts.open:,} of {facts.groups:,} answers are less precise, or less decided, than was asked for: the run "
        f"stopped before it would have cost more than ε = {facts.recipe.max_epsilon:g}."
    )


def cut_words(facts: AnswerFacts) -> tuple[str, ...]:
    """How persons with many rows were cut, a paragraph for each tally; none where that was not found out."""
    return tuple(
        f"For the {tally.name}, a person counts with at most the length of {cut.most} "
        f"{'row' if cut.most == 1 else 'rows'} in one group; {_cut_share(cut)}, so that the answers may be too low."
        for tally, cut in facts.cuts.items()
    )


def _cut_share(cut: Cut) -> str:
    if 2 * cut.std > UNTOLD:
        return "how many of them have more, and count for less, cannot be told from noise"
    share, give = (plain(round(each, 4)) for each in (cut.share, 2 * cut.std))
    return f"about {share} of them, give or take {give}, have more and count for less"


def closing_words(facts: AnswerFacts) -> tuple[str, ...]:
    """The paragraphs at the end of a run."""
    marks = [FLOATING] if facts.floating else []
    marks += [NOT_PRIVATE] if facts.seeded else []
    booked = () if facts.booking is None else (held_and_returned(facts.booking),)
    known = f"{_known(facts)}."
    said = [known, missed_words(facts), cost_words(facts), *marks]
    return (*cut_words(facts), " ".join(filter(None, said)), *booked)


def announced(pledged: Pledged) -> str:
    """What the answers will cost, as far as that is known before any data is read."""
    recipe, at = pledged.recipe, f"at δ = {small(pledged.recipe.delta)}"
    if pledged.price is not None:
        return f"This costs ε = {price(pledged.price)} {at}, whatever the data say."
    return f"This costs at most ε = {recipe.max_epsilon:g} {at}, and less if the answers are precise enough before."


def largest_error(told: QuestionTold) -> float:
    """The longest half of an error bar among the groups that are settled; not a number where none is."""
    halves = [line.half for line in told.lines if not line.few and line.settled != OPEN]
    return max(halves, default=math.nan)
