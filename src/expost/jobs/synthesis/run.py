"""Synthetic tables: from any table to one that may be published, with its bill."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, final

from expost.accounting.claim import Budget
from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan
from expost.checks.confidence import confidence_level
from expost.checks.gaussian import BalancedCheck
from expost.checks.question import accuracy_threshold
from expost.errors import SchemaMismatch
from expost.folders.claim import Claim
from expost.folders.delivery import deliver
from expost.jobs.budget import capped
from expost.jobs.synthesis.public import OnPublicTable
from expost.jobs.synthesis.recipe import (
    CONFIDENCE,
    LADDER,
    QUERY,
    CheckMaker,
    Progress,
    Score,
    Synthesis,
    TableRecipe,
    plan_synthesis,
    synthesise,
)
from expost.jobs.synthesis.report import table_commitment, table_facts
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise
from expost.numerics import Real, exact
from expost.private import Private, Split, split
from expost.receipts.receipt import receipt, receipt_text
from expost.recorded import ReadableLedger
from expost.release import Release
from expost.report.facts import Facts, Reading
from expost.report.page import fragment, render
from expost.search import Ended, Line
from expost.tabular.apart import rehearse
from expost.tabular.model.footprint import require_room
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Learner, Sklearn
from expost.tabular.source.frames import Format, frame, write_table
from expost.tabular.source.reading import files_of, read_table
from expost.tabular.table import Table


@final
class _Hidden:
    """A table on its way to be read, of which nothing shows."""

    __slots__ = ("_table",)

    def __init__(self, table: object) -> None:
        self._table = table

    def __repr__(self) -> str:
        return "a table"

    @property
    def files(self) -> tuple[Path, ...]:
        """The files it will be read from."""
        return files_of(self._table)

    def coded(self, schema: Schema) -> Table:
        """The table under the schema, unless it is coded already."""
        return self._table if isinstance(self._table, Table) else read_table(self._table, schema)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Synthesized:
    """A finished run: the synthetic table with its bill, and everything a report tells."""

    release: Release[Any]
    synthesis: Synthesis
    ledger: ReadableLedger
    title: str
    because: str
    cap: AdpEpsilon | None = None

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for the whole procedure."""
        return self.synthesis.outcome.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self.synthesis.recipe.delta

    @property
    def passed(self) -> bool:
        """Whether a candidate passed the check."""
        return self.synthesis.outcome.ended is Ended.HALTED

    @property
    def history(self) -> tuple[Reading, ...]:
        """One line per rung: ε added, (ε, δ) so far, noisy accuracy, verdict."""
        return self.facts.rungs

    @cached_property
    def facts(self) -> Facts:
        """What a report tells, from releases only."""
        return table_facts(self.synthesis, self.ledger, title=self.title, because=self.because, cap=self.cap)

    def save(self, folder: Path | Claim, *, format: Format = Format.CSV, overwrite: bool = False) -> None:  # noqa: A002
        """Write the receipt, the report and the table into a new folder, all or nothing."""

        def put(fresh: Path) -> None:
            write_table(fresh / f"synthetic.{format.value}", self.release.value, format)

        deliver(
            folder,
            put,
            receipt=receipt_text(receipt(self.facts)),
            report=render(self.facts),
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        return f"Synthesized({self.release.brief}, {self.synthesis.outcome.ended.name.lower()})"

    def _repr_html_(self) -> str:
        return fragment(self.facts)


def synthesize(
    table: object,
    *,
    schema: Schema,
    target: str,
    accuracy: Real,
    confidence: Real | None = CONFIDENCE,
    records: int | None = None,
    ladder: Ladder = LADDER,
    query: Budget = QUERY,
    delta: float = 1e-5,
    validation: Real = Fraction(1, 5),
    check: CheckMaker = BalancedCheck,
    max_epsilon: float | None = None,
    rows: int | None = None,
    learner: Learner | None = None,
    score: Score | None = None,
    noise: Noise | None = None,
    ledger: ReadableLedger | None = None,
    title: str = "table",
    on_pledge: Callable[[str], None] | None = None,
    on_step: Callable[[Line, float, Plan], None] | None = None,
    on_progress: Progress | None = None,
) -> Synthesized:
    """A synthetic table that reaches the accuracy on private held-out records, at the least privacy that reached it.

    ``confidence`` is how sure a pass is: with this probability no candidate passes in the whole run that is below the
    accuracy on the held-out records. None is the paper's check, which promises nothing. ``records`` is about how many
    records there are, if that is public: looks that would be too noisy are then left out.

    ``table`` is anything ``expost.tabular.source.reading.read_table`` takes; the synthetic table comes back as the
    same kind of frame. ``score`` takes a candidate and records and gives each record a number from 0 to 1, rounded
    down to a thousandth; their mean has then to reach ``accuracy``. Seeded ``noise`` makes a rehearsal, and
    everything then says NOT PRIVATE. ``ledger`` lets a caller that is interrupted know what was spent.
    ``on_pledge`` is told, before the table is read, the digest of all that is fixed by then; the receipt holds it
    too.
    """
    hidden = _Hidden(table)
    del table  # a traceback that shows variables would show its rows
    recipe = TableRecipe(
        schema=schema,
        target=target,
        accuracy=accuracy_threshold(accuracy),
        confidence=None if confidence is None else confidence_level(confidence),
        records=records,
        ladder=ladder,
        query=query,
        delta=delta,
        validation=exact(validation, "validation"),
        check=check,
        learner=Sklearn() if learner is None else learner,
        score=score,
        rows=rows,
    )
    return synthesize_recipe(
        hidden,
        recipe,
        noise=SystemNoise() if noise is None else noise,
        ledger=ledger,
        max_epsilon=max_epsilon,
        title=title,
        on_pledge=on_pledge,
        on_step=on_step,
        on_progress=on_progress,
    )


def synthesize_recipe(
    table: object,
    recipe: TableRecipe,
    *,
    noise: Noise,
    ledger: ReadableLedger | None = None,
    max_epsilon: float | None = None,
    title: str = "table",
    on_pledge: Callable[[str], None] | None = None,
    on_step: Callable[[Line, float, Plan], None] | None = None,
    on_progress: Progress | None = None,
) -> Synthesized:
    """The same from a recipe that is ready."""
    hidden = table if isinstance(table, _Hidden) else _Hidden(table)
    del table  # a traceback that shows variables would show its rows
    chosen, schema, check = plan_synthesis(recipe), recipe.schema, recipe.check
    require_room(schema.domain, recipe.target)
    if isinstance(check, OnPublicTable):
        check.refuse_files(hidden.files)
    first = chosen.pledge.epsilon(chosen.stops[0])
    kept = MemoryLedger() if ledger is None else ledger
    odometer = capped(chosen.pledge, first, max_epsilon=max_epsilon, ledger=kept, noise=noise, rung="rung")
    if recipe.held:
        rehearse(schema, recipe.target, recipe.learner, recipe.question().score)
    cap = None if max_epsilon is None else AdpEpsilon(max_epsilon)
    if on_pledge is not None:
        on_pledge(table_commitment(recipe, chosen, cap=cap).digest)
    coded = hidden.coded(schema)
    if coded.schema != schema or not schema.reviewed:
        raise SchemaMismatch("the table was coded under another schema or a draft; read it under the reviewed one.")
    if isinstance(check, OnPublicTable):
        check.refuse_records(coded)
    sealed = Private(coded, schema.neighbours)
    parts = split(sealed, recipe.held, noise) if recipe.held else Split.whole(sealed)
    done = synthesise(
        parts,
        recipe,
        chosen,
        odometer=odometer,
        noise=noise,
        on_step=None if on_step is None else lambda line, held: on_step(line, held, chosen),
        on_progress=on_progress,
    )
    native = done.outcome.release.map(lambda candidate: frame(coded.native, candidate.table.decode(noise)))
    return Synthesized(native, done, kept, title, parts.because, cap)
