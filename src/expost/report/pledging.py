"""What each job fixes before it reads any data."""

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.report import tables, training
from expost.report.commitment import Commitment
from expost.report.on_record import CheckOnRecord
from expost.tabular import synthesis
from expost.training import finetune


def table_commitment(recipe: synthesis.Recipe, plan: Plan, *, cap: AdpEpsilon | None) -> Commitment:
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
        stops=tables.stops(recipe, plan),
        looks=recipe.looks(),
    )


def head_commitment(recipe: finetune.Recipe, plan: finetune.TrainingPlan, *, cap: AdpEpsilon | None) -> Commitment:
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
        stops=training.stops(recipe, plan),
        looks=recipe.looks(),
    )
