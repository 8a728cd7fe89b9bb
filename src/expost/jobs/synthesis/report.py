"""The facts of a synthetic table: what was asked, what was released and what follows from it."""

from fractions import Fraction

from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.errors import LedgerConflict
from expost.jobs.synthesis.comparison import alone, joint, unmeasured
from expost.jobs.synthesis.counted import counts_text
from expost.jobs.synthesis.declared import field_of, schema_digest, text_digest
from expost.jobs.synthesis.described import TableJob
from expost.jobs.synthesis.foreword import baseline_words, commonest_warnings, crowded_warnings, gain_warnings
from expost.jobs.synthesis.found import edges_out, overlooked_records
from expost.jobs.synthesis.goals import LEAST, asked_words, purpose
from expost.jobs.synthesis.judged import judged_words
from expost.jobs.synthesis.kept import KeptTable
from expost.jobs.synthesis.persons import PersonsCounted
from expost.jobs.synthesis.procedure import Synthesis
from expost.jobs.synthesis.recipe import MOST_ROWS, TableRecipe
from expost.receipts.receipt import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report.digits import plain, small
from expost.report.facts import Facts, PlannedStop
from expost.report.flat import patience_option
from expost.report.outcomes import outcome_facts
from expost.report.units import by_unit
from expost.tabular.selection import why_unpaired
from expost.tabular.teaching import MOST_TAUGHT


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
    held, held_std = told_of(synthesis)
    if ledger.pledged is not outcome.pledge:
        raise LedgerConflict("the record was pledged otherwise than the run; give the ledger of the same odometer.")
    job = _job(synthesis, checked)
    return outcome_facts(
        outcome,
        ledger,
        job=job,
        title=title,
        measure=measure(recipe),
        asked=asked(recipe),
        held=held,
        held_std=held_std,
        check=recipe.judge(),
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        stops=table_stops(recipe, synthesis.plan),
        reason=synthesis.plan.reason,
        neighbours=recipe.schema.neighbours.value,
        because=because,
        cap=cap,
        date=date,
        goals=tuple(map(purpose, recipe.aims)),
        baseline=" ".join(filter(None, (baseline_words(counted, recipe.schema, recipe.aims), job.cut))),
        warnings=(
            *commonest_warnings(counted, recipe.aims),
            *gain_warnings(counted, recipe.aims, recipe.schema.neighbours.value),
            *crowded_warnings(synthesis.released, counted.records, recipe.schema),
        ),
        options=table_options(recipe, cap),
        digests=(
            ("The schema, as in schema.toml", job.schema_digest),
            ("The released counts, as in counts.csv", job.counts_digest),
        ),
        patience=recipe.waits,
    )


def table_options(recipe: TableRecipe, cap: AdpEpsilon | None) -> tuple[tuple[str, str], ...]:
    """Everything that was chosen and is public, as it was typed."""
    about = recipe.schema.neighbours.value
    public, rows = by_unit("records, if public", about), by_unit("about as many as records", about)
    levels = ", ".join(f"{float(level):.4g}" for level in recipe.ladder.levels)
    return (
        *(("asked for", aim.words) for aim in recipe.aims),
        ("confidence", "none" if recipe.confidence is None else plain(float(recipe.confidence))),
        (public, "not said" if recipe.records is None else f"{recipe.records:,}"),
        ("patience", patience_option(recipe.waits)),
        ("held out", plain(float(recipe.held)) if recipe.held else "none"),
        ("δ", small(recipe.delta)),
        (f"ladder, Rényi ε at α = {float(recipe.ladder.alpha):g}", levels),
        ("selection, Rényi ε", f"{float(recipe.query.epsilon):.4g}"),
        ("most ε", "not limited" if cap is None else f"{cap:g}"),
        ("synthetic rows", f"{rows}, {MOST_ROWS:,} at most" if recipe.rows is None else f"{recipe.rows:,}"),
        *((("rows of a person in full", _in_full(recipe)),) if recipe.schema.unit is not None else ()),
        *((("rows that are learnt from", f"{MOST_TAUGHT:,} at most"),) if recipe.targets else ()),
    )


def _in_full(recipe: TableRecipe) -> str:
    return "not said" if recipe.rows_per_person is None else f"{recipe.rows_per_person}"


def table_stops(recipe: TableRecipe, plan: Plan) -> tuple[PlannedStop, ...]:
    """What stopping at each rung costs, and what the rung spends."""
    rungs = zip(plan.stops, recipe.rungs.rungs, strict=True)
    return tuple(PlannedStop(stop, plan.pledge.epsilon(stop), rung) for stop, rung in rungs)


def measure(recipe: TableRecipe) -> str:
    """What the check measures."""
    return LEAST if recipe.only is None else recipe.only.measure.name


def asked(recipe: TableRecipe) -> Fraction:
    """The least that passes: of several aims a margin of 0."""
    return Fraction(0) if recipe.only is None else recipe.only.at_least


def told_of(synthesis: Synthesis) -> tuple[float | None, float]:
    """Of about how many held-out records an answer is a share, if it is one, and the standard error of that."""
    recipe = synthesis.recipe
    return (None, 0.0) if recipe.only is None else synthesis.counted.scale(recipe.only, recipe.schema)


def table_commitment(recipe: TableRecipe, plan: Plan, *, cap: AdpEpsilon | None) -> Commitment:
    """What a run fixes before it reads the table."""
    return Commitment(
        kind=TableJob.kind,
        target=asked_words(recipe.aims)[0],
        measure=measure(recipe),
        asked=asked(recipe),
        goals=tuple(map(purpose, recipe.aims)),
        confidence=recipe.assurance if recipe.held else None,
        check=CheckOnRecord.of(recipe.judge()),
        neighbours=recipe.schema.neighbours.value,
        cap=cap,
        pledge=plan.pledge,
        reason=plan.reason,
        stops=table_stops(recipe, plan),
        looks=recipe.looks(),
        patience=recipe.waits,
    )


def _job(synthesis: Synthesis, checked: bool) -> TableJob:
    schema, synthetic, counted = synthesis.recipe.schema, synthesis.outcome.release.value.table, synthesis.counted
    together = synthesis.released[len(schema.names) :]
    kept = KeptTable(
        tuple(alone(synthesis.released, counted.records, synthetic, name) for name in schema.names),
        tuple(joint(each, counted.records, synthetic) for each in together),
        counted.records,
        counted.records + counted.held,
        unmeasured(synthesis.scored, [each.clique for each in together], counted.records),
        schema.neighbours.value,
    )
    return TableJob(
        target=asked_words(synthesis.recipe.aims)[0],
        unpaired=why_unpaired(schema.domain, synthesis.recipe.targets),
        targets=synthesis.recipe.targets,
        rows=len(synthetic),
        kept=kept,
        schema=tuple(map(field_of, schema.columns)),
        rules=schema.rules,
        unit=schema.unit,
        reviewed=schema.reviewed,
        checked=checked,
        schema_digest=schema_digest(schema),
        counts_digest=text_digest(counts_text(synthesis.released, schema)),
        selection=synthesis.recipe.selection.half,
        measured=synthesis.measured,
        grown=synthesis.grown,
        alone=synthesis.alone,
        edges=edges_out(synthesis.recipe),
        overlooked=overlooked_records(synthesis.recipe),
        sizing=synthesis.recipe.selection.sizing,
        persons=_persons(synthesis),
        judged=judged_words(synthesis.recipe.aims, schema, counted, synthesis.outcome.release.value),
    )


def _persons(synthesis: Synthesis) -> PersonsCounted | None:
    """How many persons have how many rows, if they were counted."""
    counted, declared = synthesis.persons, synthesis.recipe.rows_per_person is not None
    if counted is None:
        return None
    rows = tuple(counted.values.tolist())
    return PersonsCounted(rows, counted.std, 1 / synthesis.scale, synthesis.allowance, declared)
