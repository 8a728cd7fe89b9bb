"""The facts of a synthetic table: what was asked, what was released and what follows from it."""

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.errors import LedgerConflict
from expost.jobs.synthesis.comparison import alone, joint
from expost.jobs.synthesis.declared import field_of, schema_digest
from expost.jobs.synthesis.described import TableJob
from expost.jobs.synthesis.foreword import baseline_words, commonest_warnings, crowded_warnings
from expost.jobs.synthesis.kept import KeptTable
from expost.jobs.synthesis.procedure import Synthesis
from expost.jobs.synthesis.recipe import TableRecipe
from expost.receipts.receipt import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report.digits import plain, small
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import outcome_facts
from expost.tabular.selection import why_unpaired


def table_facts(
    synthesis: Synthesis,
    ledger: ReadableLedger,
    *,
    title: str,
    because: str,
    checked: bool = False,
    cap: AdpEpsilon | None = None,
    date: str = "",
) -> Facts:
    """The facts of a finished run; ``because`` is the split's own reason why no record is in both parts."""
    recipe, outcome, counted = synthesis.recipe, synthesis.outcome, synthesis.counted
    by_accuracy = recipe.score is None
    common = commonest_warnings(counted, recipe.target, recipe.accuracy) if by_accuracy else ()
    if ledger.pledged is not outcome.pledge:
        raise LedgerConflict("the record was pledged otherwise than the run; give the ledger of the same odometer.")
    return outcome_facts(
        outcome,
        ledger,
        job=_job(synthesis, checked),
        title=title,
        measure=measure(recipe),
        asked=recipe.accuracy,
        held=counted.held,
        held_std=counted.held_std,
        check=recipe.judge(),
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        stops=table_stops(recipe, synthesis.plan),
        reason=synthesis.plan.reason,
        neighbours=recipe.schema.neighbours.value,
        because=because,
        cap=cap,
        date=date,
        baseline=baseline_words(counted, recipe.target) if by_accuracy else "",
        warnings=(*common, *crowded_warnings(synthesis.released, counted.records, recipe.schema)),
        options=table_options(recipe, cap),
        digests=(("The schema, as in schema.toml", schema_digest(recipe.schema)),),
    )


def table_options(recipe: TableRecipe, cap: AdpEpsilon | None) -> tuple[tuple[str, str], ...]:
    """Everything that was chosen and is public, as it was typed."""
    levels = ", ".join(f"{float(level):.4g}" for level in recipe.ladder.levels)
    return (
        ("target", recipe.target),
        (measure(recipe), plain(float(recipe.accuracy))),
        ("confidence", "none" if recipe.confidence is None else plain(float(recipe.confidence))),
        ("records, if public", "not said" if recipe.records is None else f"{recipe.records:,}"),
        ("held out", plain(float(recipe.held)) if recipe.held else "none"),
        ("δ", small(recipe.delta)),
        (f"ladder, Rényi ε at α = {float(recipe.ladder.alpha):g}", levels),
        ("selection, Rényi ε", f"{float(recipe.query.epsilon):.4g}"),
        ("most ε", "not limited" if cap is None else f"{cap:g}"),
        ("synthetic rows", "about as many as records" if recipe.rows is None else f"{recipe.rows:,}"),
    )


def table_stops(recipe: TableRecipe, plan: Plan) -> tuple[PlannedStop, ...]:
    """What stopping at each rung costs, and what the rung spends."""
    rungs = zip(plan.stops, recipe.rungs.rungs, strict=True)
    return tuple(PlannedStop(stop, plan.pledge.epsilon(stop), rung) for stop, rung in rungs)


def measure(recipe: TableRecipe) -> str:
    """What the check measures: a score of the caller's own is not an accuracy."""
    return "accuracy" if recipe.score is None else "mean score"


def table_commitment(recipe: TableRecipe, plan: Plan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the table."""
    return Commitment(
        kind=TableJob.kind,
        target=recipe.target,
        measure=measure(recipe),
        asked=recipe.accuracy,
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        neighbours=recipe.schema.neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=table_stops(recipe, plan),
        looks=recipe.looks(),
    )


def _job(synthesis: Synthesis, checked: bool) -> TableJob:
    schema, synthetic, counted = synthesis.recipe.schema, synthesis.outcome.release.value.table, synthesis.counted
    together = synthesis.released[len(schema.names) :]
    kept = KeptTable(
        tuple(alone(synthesis.released, counted.records, synthetic, name) for name in schema.names),
        tuple(joint(each, counted.records, synthetic) for each in together),
        counted.records,
        counted.records + counted.held,
    )
    return TableJob(
        target=synthesis.recipe.target,
        unpaired=why_unpaired(schema.domain, synthesis.recipe.target),
        rows=len(synthetic),
        kept=kept,
        schema=tuple(map(field_of, schema.columns)),
        rules=schema.rules,
        reviewed=schema.reviewed,
        checked=checked,
        schema_digest=schema_digest(schema),
        selection=synthesis.recipe.selection.half,
        measured=synthesis.measured,
        grown=synthesis.grown,
    )
