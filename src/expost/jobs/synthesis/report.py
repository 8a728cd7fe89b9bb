"""Synthetic tables: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from expost.accounting.claim import Budget
from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.errors import LedgerConflict
from expost.jobs.synthesis.comparison import Comparison, alone, comparison_section, joint
from expost.jobs.synthesis.declared import CHECKED, Field, field_of, schema_digest
from expost.jobs.synthesis.procedure import Synthesis
from expost.jobs.synthesis.recipe import TableRecipe
from expost.receipts.costs import budget_out
from expost.receipts.receipt import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import words
from expost.report.charts import safe
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import outcome_facts
from expost.report.page import computed_with, covered_section, html_table, method_section, row, section
from expost.tabular.marginals import Clique
from expost.tabular.selection import why_unpaired
from expost.text import Json

OPEN = "Open to anyone: the synthetic table, and all noisy counts that were released on the way."
TRIED = (
    "Tried, not proved: that each held-out record was scored by itself. Before the run, and again on every rung, "
    "made-up records had to score the same alone, together, in another order and a second time."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TableJob:
    """A synthetic table beside what was released of the real one."""

    target: str
    unpaired: str
    rows: int
    alone: tuple[Comparison, ...]
    worst: Comparison | None
    schema: tuple[Field, ...]
    reviewed: bool
    checked: bool
    schema_digest: str
    selection: Budget
    measured: tuple[Clique, ...]
    kind: ClassVar[str] = "Synthetic data"
    rung: ClassVar[str] = "rung"
    lines: ClassVar[Mapping[str, str]] = {
        "Gaussian": "noisy counts of each column",
        "SpanningTree": "which pairs of columns to count",
        "Brownian": "noisy counts of the pairs, refined",
    }
    covered: ClassVar[str] = (
        "The bound covers the whole procedure: choosing what to measure, every noisy count and the decision to stop."
    )

    def passed(self, facts: Facts) -> str:
        """A classifier of the target stands for the table."""
        asked = words.asked_for(facts)
        if not facts.divided:
            return (
                f"A classifier trained on the {self.rows:,} synthetic rows to predict {self.target} passed the check "
                f"at {asked} on public records."
            )
        return (
            f"A classifier trained on the {self.rows:,} synthetic rows to predict {self.target} passed the check at "
            f"{asked} on held-out records that were not used to make them."
        )

    def name(self, place: int) -> str:
        """Its number."""
        return str(place)

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """Rows and columns."""
        return "synthetic rows", f"{self.rows:,}", f"{len(self.schema)} columns"

    def sections(self, facts: Facts) -> str:
        """Released counts beside the synthetic table, the procedure, what the bound covers, and the schema."""
        public = (
            "Taken to be public: the schema, with the columns it names and every value and edge in it, the target "
            f"{self.target}, the {facts.measure} asked for and every other setting. Choosing any of them by looking at "
            "these records reveals something that is not on the bill."
        )
        return "".join(
            (
                comparison_section(self.alone, self.worst),
                method_section(self._method(facts)),
                covered_section(facts, OPEN, *([TRIED] if facts.divided else []), public),
                self._schema(facts),
            )
        )

    def _method(self, facts: Facts) -> tuple[str, ...]:
        """Select, count, fit, draw, learn, check."""
        return (
            *words.parts(facts),
            "Each column was counted with noise. Pairs of columns that belong together were chosen at random, stronger "
            "pairs more often. Both are on the bill.",
            *([self.unpaired] if self.unpaired else []),
            "On each rung the pairs were counted again with fresh integer noise and averaged with the rungs before. A "
            "model was fitted to the noisy counts, a table was drawn from it, and a classifier that predicts "
            f"{self.target} was trained on that table.",
            words.checked(facts),
            "The synthetic table was drawn from noisy counts alone: it may be published, copied and analysed at no "
            "further cost.",
        )

    def _schema(self, facts: Facts) -> str:
        rows = [row(each.name, each.kind, str(each.size), each.domain, each.missing) for each in self.schema]
        reviewed = "Declared and reviewed by the owner of the data." if self.reviewed else "NOT reviewed by the owner."
        return section(
            "The schema",
            f"<p>{reviewed} Everything in it is public. {CHECKED[self.checked]}</p>",
            html_table(("column", "kind", "values", "domain", "where a value is missing"), rows),
            f'<p class="note">SHA-256 <code>{safe(self.schema_digest)}</code></p>',
            computed_with(facts.versions),
        )

    def receipt(self) -> Mapping[str, Json]:
        """The rows, which schema they follow, what each step of the selection might spend, and what was measured."""
        columns, sizes = [each.name for each in self.schema], [each.size for each in self.schema]
        return {
            "rows": self.rows,
            "schema": {
                "sha256": self.schema_digest,
                "columns": columns,
                "sizes": sizes,
                "checked": self.checked,
            },
            "selection": budget_out(self.selection),
            "measured": [list(clique) for clique in self.measured],
        }


def table_facts(
    synthesis: Synthesis, ledger: ReadableLedger, *, title: str, because: str, checked: bool = False,
    cap: AdpEpsilon | None = None,
) -> Facts:  # fmt: skip
    """The facts of a finished run; ``because`` is the split's own reason why no record is in both parts."""
    recipe, outcome = synthesis.recipe, synthesis.outcome
    if ledger.pledged is not outcome.pledge:
        raise LedgerConflict("the record was pledged otherwise than the run; give the ledger of the same odometer.")
    return outcome_facts(
        outcome,
        ledger,
        job=_job(synthesis, checked),
        title=title,
        measure=measure(recipe),
        asked=recipe.accuracy,
        held=synthesis.held,
        check=recipe.judge(),
        confidence=recipe.assurance if recipe.held else None,
        looks=recipe.looks(),
        stops=table_stops(recipe, synthesis.plan),
        reason=synthesis.plan.reason,
        neighbours=recipe.schema.neighbours.value,
        because=because,
        cap=cap,
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
    schema, synthetic = synthesis.recipe.schema, synthesis.outcome.release.value.table
    pairs = [joint(synthesis.measured, synthesis.std, synthetic, each) for each in synthesis.measured if len(each) > 1]
    return TableJob(
        target=synthesis.recipe.target,
        unpaired=why_unpaired(schema.domain, synthesis.recipe.target),
        rows=len(synthetic),
        alone=tuple(alone(synthesis.measured, synthesis.std, synthetic, name) for name in schema.names),
        worst=max(pairs, key=lambda pair: pair.distance - pair.noise, default=None),
        schema=tuple(map(field_of, schema.columns)),
        reviewed=schema.reviewed,
        checked=checked,
        schema_digest=schema_digest(schema),
        selection=synthesis.recipe.selection.half,
        measured=tuple(synthesis.measured),
    )
