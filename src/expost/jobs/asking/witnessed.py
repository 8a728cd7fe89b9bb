"""What the schema beside a receipt bears witness to: groups, prices and error bars, worked out again with it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from expost.errors import ExpostError
from expost.folders.place import SCHEMA
from expost.jobs.asking.deciding import decision_width
from expost.jobs.asking.facts import LOOKS, ONE
from expost.jobs.asking.lasting import LASTING
from expost.jobs.asking.moved import cell_faults
from expost.jobs.asking.needs import sizes_left
from expost.jobs.asking.planning import FIRST, REFINED, AnswerPlan, plan_answer, stop_at
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.recomputed import UNSEEN
from expost.jobs.asking.retold import MOST_REFINED, AnswerTestimony
from expost.jobs.asking.tallies import Tally
from expost.jobs.synthesis.declared import schema_digest
from expost.receipts.audit import Audit
from expost.receipts.costs import curve_in
from expost.receipts.lines import alike, same_number
from expost.receipts.notation import items, table
from expost.tabular.schema.schema import Schema
from expost.text import Json

MOST_LOOKS = MOST_REFINED
"""Looks after the first; each halves what may still be missed."""


def witness_answer(receipt: Json, folder: Path, found: Audit) -> Audit:
    """The audit of a sound receipt, with the schema that lies in the folder; without one it stays as it was."""
    told = AnswerTestimony.of(table(receipt))
    schema = _schema(folder)
    if schema is None or schema_digest(schema) != told.schema:
        return found
    believed = tuple(each for each in found.believed if each != UNSEEN)
    return replace(found, differences=(*found.differences, *_faults(told, schema)), believed=believed)


def _schema(folder: Path) -> Schema | None:
    try:
        return Schema.load(folder / SCHEMA)
    except (ExpostError, OSError):
        return None


def _faults(told: AnswerTestimony, schema: Schema) -> Iterator[str]:
    if schema.neighbours is not told.neighbours:
        yield "the schema is about other neighbours than the receipt."
        return
    try:
        recipe = _recipe(told, schema, told.questions)
        plan = plan_answer(recipe)
    except ExpostError as refused:
        yield f"the questions cannot be asked under the schema: {refused}"
        return
    first = items(table(table(told.found)["pledge"])["stops"])[0]
    if told.kind == ONE and not alike(curve_in(first), stop_at(plan.levels[0]).curve):
        yield "the release has another price than the questions have under the schema."
    if [each.groups for each in told.answers] != [_groups(each, schema) for each in recipe.questions]:
        yield "the answers have another number of groups than the schema."
    if not _known_width(recipe, plan, told):
        yield "the error bars have another width than the confidence and the number of looks lead to."
    if not _known_sizes(recipe, plan, told):
        yield "groups are told to be fewer than a size that no level of the plan leads to."
    yield from cell_faults(told, schema)


def _recipe(told: AnswerTestimony, schema: Schema, questions: tuple[Targeted, ...]) -> AskRecipe:
    return AskRecipe(
        schema=schema,
        questions=questions,
        confidence=told.confidence,
        together=told.together,
        delta=told.pledge.delta,
        max_epsilon=told.max_epsilon,
        fewer_than=told.fewer_than,
        rows_per_person=told.rows_per_person,
    )


def _groups(question: Targeted, schema: Schema) -> int:
    return replace(Tally.of(question.query), by=question.query.by).groups(schema)


def _known_sizes(recipe: AskRecipe, plan: AnswerPlan, told: AnswerTestimony) -> bool:
    """Whether the sizes of groups that are too small are those that some level of the plan leaves out of reach."""
    if told.kind == LOOKS or (told.kind == ONE and not told.refined):
        return True
    asked = recipe.questions
    if told.refined:
        asked = tuple(replace(each, target=told.refined[-1]) for each in asked)
    last = replace(recipe, questions=asked)
    bounds = {tally: told.bounds.get(tally.name, 1) for tally in last.tallies}
    sizes = [each.size for each in told.answers]
    return any(sizes_left(last, bounds, level) == sizes for level in reversed(plan.levels))


def _known_width(recipe: AskRecipe, plan: AnswerPlan, told: AnswerTestimony) -> bool:
    """Whether error bars are as wide as at the first look, which a release is, or at one of those after it.

    Those of a decision hold at every look, and those of answers that went on from others however these came about: a
    decision never goes on, but earlier answers may settle it.
    """
    if told.recalled and told.width == LASTING and not (told.kind == LOOKS and told.bill):
        return True
    if told.kind == LOOKS:
        return same_number(told.width, decision_width(plan, recipe))
    later = 0 if told.kind == ONE and not told.refined else MOST_LOOKS
    shares = (FIRST, *(REFINED / 2**place for place in range(later)))
    return any(same_number(told.width, recipe.width(share)) for share in shares)
