"""An answer in words: what is known how precisely, what it cost, and what else a reader must know."""

import math

from expost.jobs.asking.contribution import Cut
from expost.jobs.asking.facts import AnswerFacts, Pledged
from expost.jobs.asking.query import Count, Persons
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import Above, Compare, Top, WithinDistance
from expost.jobs.asking.told import OPEN, GroupLine, QuestionTold
from expost.report.booked import held_and_returned
from expost.report.digits import plain, price, small
from expost.report.units import OF_PERSONS, by_unit
from expost.report.words import FLOATING, NOT_PRIVATE, ONE_PERSON, ONE_RECORD

LISTED = 5
"""Groups that a sentence names."""
UNTOLD = 0.5
"""The noise in a share beyond which it is not told."""
COVERED = "The bound covers everything that was measured for the answers, coarse looks included."

UNPAID = (
    "This cost nothing: what earlier answers on the ledger released was precise enough, and nothing was measured anew. "
    "Their receipts state its price."
)
REPEATED = (
    "This cost nothing: the same question was asked before, and its answer is the same. The receipt of that answer "
    "states its price."
)


def group_name(line: GroupLine) -> str:
    """A group by its labels; all rows where there is one."""
    return " × ".join(line.group) or "all rows"


def answer_headline(facts: AnswerFacts) -> str:
    """The result in one sentence."""
    enough = "earlier answers were enough for it" if facts.reached else "the same question was answered before"
    cost = f"this cost ε = {price(facts.epsilon)}" if facts.spending.bill else enough
    return f"{_known(facts)}; {cost}."


def _known(facts: AnswerFacts) -> str:
    """What is known, and that it is so of rows that count where some may not."""
    nothing = facts.recipe.decision is not None and not facts.reached
    apart = "" if nothing or not cut_words(facts) else ", apart from what is cut of persons with many rows"
    return f"{_settled(facts)}{apart}"


def _settled(facts: AnswerFacts) -> str:
    if facts.recipe.decision is not None:
        return decided_words(facts)
    asked, first = facts.told[0].question.target, facts.told[0]
    if not facts.reached:
        few = f", and {facts.few:,} {'is' if facts.few == 1 else 'are'} of groups too small for it" if facts.few else ""
        return f"{facts.settled:,} of {facts.groups:,} answers are known to {asked}, {sure_words(facts)}{few}"
    if facts.few:
        return _known_few(facts)
    if facts.groups == 1:
        return f"The {measure_words(first)} is known to {asked}, {sure_words(facts)}"
    return f"{_all(facts)} is known to {asked}, {sure_words(facts)}"


def _known_few(facts: AnswerFacts) -> str:
    """What is known where some groups are too small for what was asked."""
    asked, first = facts.told[0].question.target, facts.told[0]
    counted = "persons" if isinstance(first.question.query.measure, Persons) else "rows"
    if len(facts.told) > 1:
        rest = "one is" if facts.few == 1 else f"{facts.few:,} are"
        return (
            f"Every answer of a large enough group is known to {asked}, {sure_words(facts)}, and {rest} of smaller ones"
        )
    if facts.few == facts.groups:
        named = "There are" if facts.groups == 1 else f"All {facts.groups:,} groups have"
        return f"{named} fewer than {first.size:,} {counted}, too few to be known to {asked}, {sure_words(facts)}"
    rest = "one group has" if facts.few == 1 else f"{facts.few:,} groups have"
    large = f"{_all(facts)} with at least {first.size:,} {counted}"
    return f"{large} is known to {asked}, {sure_words(facts)}, and {rest} fewer"


def _all(facts: AnswerFacts) -> str:
    """What every answer is about."""
    first = facts.told[0]
    if len({each.question.query.by for each in facts.told}) > 1 or not first.question.query.by:
        return "Every answer"
    return f"Every {' × '.join(first.question.query.by)}"


def decided_words(facts: AnswerFacts) -> str:
    """What was decided, as far as it was."""
    if facts.reached:
        return f"{sure_words(facts).capitalize()}, {_decided(facts.told[0])}"
    if isinstance(facts.told[0].question.target, Compare):
        return "Which of the two groups is larger was not decided"
    return f"It was decided for {facts.settled:,} of {facts.groups:,} groups, {sure_words(facts)}"


def _decided(told: QuestionTold) -> str:
    target, lines = told.question.target, told.lines
    largest = sorted(lines, key=lambda line: -line.estimate)
    if isinstance(target, Top):
        return f"the top {target.number} by {measure_words(told)} {_listed(largest[: target.number])}"
    if isinstance(target, Above):
        above = [line for line in largest if line.settled == "above"]
        named = f": {', '.join(map(group_name, above))}" if 0 < len(above) <= LISTED else ""
        are = "is" if len(above) == 1 else "are"
        return f"{len(above):,} of {len(lines):,} groups {are} above {float(target.threshold):,.10g}{named}"
    assert isinstance(target, Compare)  # there is no other decision
    first, second = (group_name(line) for line in largest if group_name(line) in (target.first, target.second))
    return f"{first} is larger than {second} by {measure_words(told)}"


def measure_words(told: QuestionTold) -> str:
    """What the estimates are of, as a sentence says it."""
    return "number of persons" if isinstance(told.question.query.measure, Persons) else told.measure


def _listed(lines: list[GroupLine]) -> str:
    names = [group_name(line) for line in lines]
    if len(names) == 1:
        return f"is {names[0]}"
    if len(names) > LISTED:
        return f"are {', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return f"are {', '.join(names[:-1])} and {names[-1]}"


def sure_words(facts: AnswerFacts) -> str:
    """How sure the answers are; of a decision, how sure all of it is."""
    if facts.recipe.decision is not None and not facts.recipe.together:
        return f"with {plain(float(facts.recipe.confidence))} confidence"
    return bars_words(facts)


def bars_words(facts: AnswerFacts) -> str:
    """How sure the error bars are, each of them or all."""
    level = plain(float(facts.recipe.confidence))
    if facts.groups == 1:
        return f"with {level} confidence"
    together = f"with {level} confidence for all of them together"
    return together if facts.recipe.together else f"each with {level} confidence"


def cost_words(facts: AnswerFacts) -> str:
    """What it cost, and what that covers."""
    if not facts.spending.bill:
        return UNPAID if facts.reached else REPEATED
    about = ONE_PERSON if facts.neighbours in OF_PERSONS else ONE_RECORD
    per = by_unit("per record", facts.neighbours)
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}, {per}. {COVERED} {about}"


def missed_words(facts: AnswerFacts) -> str:
    """What is not settled; empty where everything is."""
    if facts.reached:
        return ""
    stopped = f"the run stopped before it would have cost more than ε = {facts.recipe.max_epsilon:g}."
    if facts.recipe.decision is not None:
        return f"{facts.open:,} of {facts.groups:,} groups {'is' if facts.open == 1 else 'are'} not decided: {stopped}"
    than = "is less precise" if facts.open == 1 else "are less precise"
    return f"{facts.open:,} of {facts.groups:,} answers {than} than was asked for: {stopped}"


def cut_words(facts: AnswerFacts) -> tuple[str, ...]:
    """How persons with many rows are cut, a paragraph for each tally; none where nobody can be."""
    return tuple(
        f"To “{tally.name}” a person adds no more than {most:,} {'row' if most == 1 else 'rows'} in one group would. "
        f"{_cut_share(facts.cuts.get(tally))}; these answers may be {_lacking(facts, tally)}."
        for tally, most in facts.bounds.items()
        if not tally.cuts_nobody(facts.recipe.schema, most)
    )


def _lacking(facts: AnswerFacts, tally: Tally) -> str:
    """What answers are whose persons with many rows count for less, and how far, if that was counted."""
    measures = [each.query.measure for each in facts.recipe.questions if Tally.of(each.query) == tally]
    bias = "too low" if all(isinstance(each, Count | Persons) for each in measures) else "off"
    cut = facts.cuts.get(tally)
    if cut is None:
        return f"{bias} for that, which the error bars do not tell"
    if cut.lost > UNTOLD:
        return f"far {bias} for that. How far cannot be told from noise, and the error bars leave it out"
    about = f"{plain(_two_digits(cut.lost))} over all groups"
    return f"{bias} for that, by up to about {about}, which the error bars do not tell"


def _cut_share(cut: Cut | None) -> str:
    """About which share of all persons is cut, where that was counted; at most which, where noise hides more."""
    if cut is None:
        return "Persons who have more count for less"
    if 2 * cut.std > UNTOLD:
        return "How many persons have more, and count for less, cannot be told from noise"
    if cut.share < 2 * cut.std:
        share = f"Fewer than about {plain(_two_digits(min(cut.share + 2 * cut.std, 1.0)))}"
    else:
        share = f"About {plain(_two_digits(cut.share))}, give or take {plain(_two_digits(2 * cut.std))},"
    return f"{share} of the persons have more, and count for less"


def _two_digits(share: float) -> float:
    return float(f"{share:.2g}")


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
    told = f"This costs at most ε = {recipe.max_epsilon:g} {at}, and less where less is enough."
    return " ".join((told, *_idle_words(recipe)))


def _idle_words(recipe: AskRecipe) -> tuple[str, ...]:
    """Which questions ask for so little that nothing is learnt of them."""
    return tuple(
        f"“{each.query}” is within {float(each.target.distance):,.10g} of the middle of its range whatever the data "
        "say, so that next to nothing is measured for it; ask for less to learn more."
        for each in recipe.questions
        if isinstance(each.target, WithinDistance) and recipe.is_idle(each)
    )


def largest_error(told: QuestionTold) -> float:
    """The longest half of an error bar among the groups that are settled; not a number where none is."""
    halves = [line.half for line in told.lines if not line.few and line.settled != OPEN]
    return max(halves, default=math.nan)
