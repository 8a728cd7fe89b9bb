"""What each job fixes before it reads any data."""

from typing import TYPE_CHECKING

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.accounting.pledge import PlannedStops, Pledge
from expost.looks import planned_looks
from expost.private import Neighbours
from expost.report import tables, training
from expost.report.commitment import Commitment
from expost.report.facts import PlannedStop
from expost.report.modules import ModuleJob
from expost.report.on_record import CheckOnRecord
from expost.report.searching import OURS, OWN_RULE, REASONS, AnyCheck, SearchJob, target_of
from expost.search import planned_stops
from expost.tabular import synthesis
from expost.training import finetune

if TYPE_CHECKING:
    from expost.training.course import Announced


def table_commitment(recipe: synthesis.TableRecipe, plan: Plan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the table."""
    return Commitment(
        kind=tables.TableJob.kind,
        target=recipe.target,
        measure=tables.measure(recipe),
        asked=recipe.accuracy,
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        relation=recipe.schema.neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=tables.table_stops(recipe, plan),
        looks=recipe.looks(),
    )


def head_commitment(recipe: finetune.HeadRecipe, plan: finetune.TrainingPlan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the records."""
    return Commitment(
        kind=training.HeadJob.kind,
        target=training.HeadJob.target,
        measure="accuracy",
        asked=recipe.target.threshold,
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        relation=recipe.head().relation.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=training.head_stops(recipe, plan),
        looks=recipe.looks(),
    )


def search_commitment(
    pledge: Pledge | None,
    check: AnyCheck,
    *,
    relation: Neighbours = Neighbours.ADD_REMOVE,
    cap: AdpEpsilon | None = None,
) -> Commitment:
    """What a search fixes before it opens the data: the pledge of its odometer, and how candidates are judged.

    ``relation`` is that of the data, ``cap`` the one that the report will be told of.
    """
    asked, _ = target_of(check)
    stops = pledge.table if isinstance(pledge, PlannedStops) else ()
    return Commitment(
        kind=SearchJob.kind,
        target=SearchJob.target,
        measure="score" if asked is None else "mean score",
        asked=asked,
        confidence=check.confidence if isinstance(check, OURS) else None,
        check=CheckOnRecord.of(check),
        relation=relation.value,
        cap=cap,
        pledge=pledge,
        reason=REASONS.get(type(pledge), OWN_RULE),
        stops=tuple(PlannedStop(stop.promise, stop.epsilon) for stop in stops),
        looks=(None,) * len(stops),
    )


def module_commitment(announced: "Announced") -> Commitment:
    """What a trainer's run fixes before it opens the records, as the trainer announces it."""
    course, judge, goal = announced.course, announced.judge, announced.goal
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    stops = zip(pledge.table, course.releases.rungs, strict=True)
    return Commitment(
        kind=ModuleJob.kind,
        target=ModuleJob.target,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        confidence=judge.confidence if isinstance(judge, OURS) else None,
        check=CheckOnRecord.of(judge),
        relation=course.descent.relation.value,
        cap=announced.cap,
        pledge=pledge,
        reason=REASONS[PlannedStops],
        stops=tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in stops),
        looks=planned_looks(course.descent, course.releases, judge),
    )
