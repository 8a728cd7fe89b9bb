"""An answer in words: what is known how precisely, what it cost, and what else a reader must know."""

import math

from expost.jobs.asking.facts import AnswerFacts, Pledged
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.query import Persons
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.shortfall import cut_words
from expost.jobs.asking.targets import Above, Compare, Top, WithinDistance
from expost.jobs.asking.told import ASIDE, OPEN, GroupLine, QuestionTold
from expost.report.booked import held_and_returned
from expost.report.digits import plain, price, small
from expost.report.units import OF_PERSONS, by_unit
from expost.report.words import FLOATING, NOT_PRIVATE, ONE_PERSON, ONE_RECORD

LISTED = 5
"""Groups that a sentence names."""
COVERED = "The bound covers everything that was measured for the answers, coarse looks included."

UNPAID = (
    "This cost nothing: what earlier answers on the ledger released was precise enough, and nothing was measured anew. "
    "Their receipts state its price."
)
REPEATED = (
    "This cost nothing: the same question was asked before, and its answer is the same. The receipt of that answer "
    "states its price."
)

EARLIER = (
    "It does not cover the numbers of earlier answers on the ledger that went into these; their receipts state "
    "what those cost."
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
    apart = "" if nothing or not cut_words(facts) else ", apart from what is cut from persons with many rows"
    return f"{_settled(facts)}{apart}"


def _settled(facts: AnswerFacts) -> str:
    if facts.recipe.decision is not None:
        return decided_words(facts)
    asked, first = facts.told[0].question.target, facts.told[0]
    if not facts.reached:
        return _known_some(facts)
    if facts.few:
        return _known_few(facts)
    if facts.groups == 1:
        return f"The {measure_words(first)} is known to {asked}, {sure_words(facts)}"
    return f"{_all(facts)} is known to {asked}, {sure_words(facts)}"


def _known_some(facts: AnswerFacts) -> str:
    """What is known where the run ended before all of it was."""
    asked = facts.told[0].question.target
    if facts.groups == 1:
        return f"The {measure_words(facts.told[0])} is not known to {asked}"
    few = "" if not facts.few else ", and 1 is of a group" if facts.few == 1 else f", and {facts.few:,} are of groups"
    some = f"{facts.settled:,} of {facts.groups:,} answers {'is' if facts.settled == 1 else 'are'}"
    told = some if facts.settled else f"None of the {facts.groups:,} answers is"
    return f"{told} known to {asked}, {sure_words(facts)}{few}{' too small for it' if few else ''}"


def _known_few(facts: AnswerFacts) -> str:
    """What is known where some groups are too small for what was asked."""
    asked, first = facts.told[0].question.target, facts.told[0]
    counted = "persons" if isinstance(first.question.query.measure, Persons) else "rows"
    if len(facts.told) > 1:
        rest = "one is about a smaller one" if facts.few == 1 else f"{facts.few:,} are about smaller ones"
        return f"Every answer about a large enough group is known to {asked}, {sure_words(facts)}, and {rest}"
    if facts.few == facts.groups:
        named = "There are" if facts.groups == 1 else f"All {facts.groups:,} groups have"
        return f"{named} fewer than {first.size:,} {counted}, too few to be known to {asked}, {sure_words(facts)}"
    rest = "one group has" if facts.few == 1 else f"{facts.few:,} groups have"
    large = f"{_all(facts)} with at least {first.size:,} {counted}"
    return f"{large} is known to {asked}, {sure_words(facts)}, and {rest} fewer"


def _all(facts: AnswerFacts) -> str:
    """What every answer is about."""
    by = facts.told[0].question.query.by
    if len({each.question.query.by for each in facts.told}) > 1 or not by:
        return "Every answer"
    named = len(by) == 1 and facts.recipe.schema[by[0]].settings["kind"] == "categorical"
    return f"Every {by[0]}" if named else "Every group"  # an age that is known to within 60 would be one in years


def decided_words(facts: AnswerFacts) -> str:
    """What was decided, as far as it was."""
    if facts.reached:
        return f"{sure_words(facts).capitalize()}, {_decided(facts.told[0])}"
    target = facts.told[0].question.target
    if isinstance(target, Compare):
        return f"Whether {target.first} or {target.second} is larger by {measure_words(facts.told[0])} was not decided"
    return f"It was decided for {facts.settled:,} of {facts.groups:,} groups, {sure_words(facts)}"


def _decided(told: QuestionTold) -> str:
    target, lines = told.question.target, told.lines
    largest = sorted(lines, key=lambda line: -line.estimate)
    if isinstance(target, Top):
        return f"the top {target.number} by {measure_words(told)} {_listed(largest[: target.number])}"
    if isinstance(target, Above):
        above = [line for line in largest if line.settled == "above"]
        named = f": {', '.join(map(group_name, above))}" if 0 < len(above) <= LISTED else ""
        are = "are" if len(above) > 1 else "is"
        number = f"{len(above):,}" if above else "none"
        return f"{number} of {len(lines):,} groups {are} above {float(target.threshold):,.10g}{named}"
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
    earlier = f" {EARLIER}" if facts.recalled and facts.width == LASTING else ""
    return f"This cost ε = {price(facts.epsilon)} at δ = {small(facts.delta)}, {per}. {COVERED}{earlier} {about}"


def missed_words(facts: AnswerFacts) -> str:
    """What is not settled; empty where everything is."""
    if facts.reached:
        return ""
    beyond = "" if facts.booking is None else " or than the ledger had room for"
    stopped = f"the run stopped before it would have cost more than ε = {facts.recipe.max_epsilon:g}{beyond}."
    if isinstance(facts.told[0].question.target, Compare):
        return f"This is not decided: {stopped}"
    if facts.groups == 1:
        return f"This answer is less precise than was asked for: {stopped}"
    if facts.recipe.decision is not None:
        return f"{facts.open:,} of {facts.groups:,} groups {'is' if facts.open == 1 else 'are'} not decided: {stopped}"
    than = "is less precise" if facts.open == 1 else "are less precise"
    return f"{facts.open:,} of {facts.groups:,} answers {than} than was asked for: {stopped}"


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
        "say, so that next to nothing is measured for it; ask for a shorter distance to learn more."
        for each in recipe.questions
        if isinstance(each.target, WithinDistance) and recipe.is_idle(each)
    )


def largest_error(told: QuestionTold) -> float:
    """The longest half of an error bar among the groups that are settled; not a number where none is."""
    halves = [line.half for line in told.lines if not line.few and line.settled not in (OPEN, ASIDE)]
    return max(halves, default=math.nan)
