"""The facts of a finished run of fine-tuning, and what it fixes before it reads the records."""

from expost.accounting.curve import AdpEpsilon
from expost.jobs.finetuning.centred import CentredRecipe
from expost.jobs.finetuning.described import CentredJob, ClassifierJob, HeadJob
from expost.jobs.finetuning.recipe import HeadRecipe, TrainingPlan
from expost.jobs.finetuning.wanted import Shape, Wanted
from expost.receipts.receipt import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import outcome_facts
from expost.search import Outcome
from expost.training.head.arrays import InNumpy
from expost.training.head.score import Classifier


def head_facts(
    outcome: Outcome[Classifier],
    recipe: Wanted,
    shape: Shape,
    plan: TrainingPlan,
    ledger: ReadableLedger,
    *,
    title: str,
    because: str,
    held: float | None,
    counted: bool,
    held_std: float = 0.0,
    cap: AdpEpsilon | None = None,
    date: str = "",
) -> Facts:
    """The facts of a finished run; ``held`` is about how many records were held out, if that is public."""
    return outcome_facts(
        outcome,
        ledger,
        job=_job(recipe, shape, counted=counted),
        title=title,
        measure="accuracy",
        asked=recipe.target.threshold,
        held=held,
        held_std=held_std,
        check=recipe.judge(),
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        stops=head_stops(recipe, plan),
        reason=plan.reason,
        neighbours=recipe.neighbours.value,
        because=because,
        cap=cap,
        date=date,
        packages=() if isinstance(recipe.arrays, InNumpy) else ("torch",),
    )


def head_stops(recipe: Wanted, plan: TrainingPlan) -> tuple[PlannedStop, ...]:
    """What stopping at each release costs, and what is spent up to it."""
    rungs = zip(plan.pledge.table, recipe.releases.rungs, strict=True)
    return tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in rungs)


def head_commitment(recipe: Wanted, plan: TrainingPlan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the records."""
    return Commitment(
        kind=ClassifierJob.kind,
        target=ClassifierJob.target,
        measure="accuracy",
        asked=recipe.target.threshold,
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        neighbours=recipe.neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=head_stops(recipe, plan),
        looks=recipe.looks(),
    )


def _job(recipe: Wanted, shape: Shape, *, counted: bool) -> ClassifierJob:
    if isinstance(recipe, CentredRecipe):
        return CentredJob(
            classes=shape.classes,
            counted=counted,
            width=shape.width,
            steps=recipe.taken,
            device=recipe.arrays.name,
            method=recipe.method.name,
            centre=recipe.centre,
            per_release=recipe.method.per_release,
        )
    assert isinstance(recipe, HeadRecipe)  # there are no others
    return HeadJob(
        classes=shape.classes,
        counted=counted,
        width=shape.width,
        steps=recipe.taken,
        device=recipe.arrays.name,
        rate=recipe.descent.rate,
        noise_multiplier=recipe.descent.noise_multiplier,
        clip=recipe.clip,
        batch=recipe.batch,
        optimizer=type(recipe.optimizer).__name__,
        learning_rate=recipe.optimizer.learning_rate,
        drop=recipe.drop,
    )
