"""Synthetic tables: from any table to one that may be published, with its bill."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from expost.accounting.claim import Budget
from expost.errors import SchemaMismatch
from expost.folders.disk import write_through
from expost.folders.place import COUNTS, SCHEMA
from expost.jobs.job import Result, capped, say_nothing
from expost.jobs.synthesis.counted import Counted, counts_text
from expost.jobs.synthesis.foreword import rate_by_guessing
from expost.jobs.synthesis.found import sized
from expost.jobs.synthesis.prices import OnPublicTable, StatedLadder, table_recipe
from expost.jobs.synthesis.procedure import Progress, Synthesis, synthesise
from expost.jobs.synthesis.recipe import CONFIDENCE, LADDER, QUERY, TableRecipe, plan_synthesis
from expost.jobs.synthesis.report import asked, measure, table_commitment, table_facts
from expost.judge import BALANCED, Judge
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real
from expost.private import Private, Split, split
from expost.receipts.receipt import Commitment
from expost.recorded import ReadableLedger
from expost.report.answers import Reading
from expost.report.outcomes import day
from expost.search import Line
from expost.tabular.aims import Aim
from expost.tabular.apart import rehearse
from expost.tabular.hidden import HiddenTable
from expost.tabular.model.footprint import require_room
from expost.tabular.native import native_frame
from expost.tabular.persons import Grouped
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.column import Decoded, Listed
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Learner, Score
from expost.tabular.source.frames import Format, write_table
from expost.tabular.source.room import Memory, Room
from expost.tabular.table import Table


def synthesize(
    table: object,
    *,
    schema: Schema,
    target: str | None = None,
    accuracy: Real | None = None,
    aims: Sequence[Aim] = (),
    confidence: Real | None = CONFIDENCE,
    records: int | None = None,
    ladder: Ladder | StatedLadder = LADDER,
    query: Budget = QUERY,
    delta: float = 1e-5,
    validation: Real | None = None,
    check: Judge = BALANCED,
    learner: Learner | None = None,
    score: Score | None = None,
    rows: int | None = None,
    rows_per_person: int | None = None,
    memory: Memory = None,
    patience: int = 2,
    min_gain: Real = 0.005,
    max_epsilon: float | None = None,
    noise: Noise | None = None,
    random_state: None = None,
    ledger: ReadableLedger | None = None,
    title: str | None = None,
    checked: bool = False,
    on_pledge: Callable[[Commitment], None] | None = None,
    on_step: Callable[[Reading], None] | None = None,
    on_progress: Progress | None = None,
) -> Result[Any]:
    """A synthetic table that reaches the accuracy on private held-out records, at the least privacy that reached it.

    ``accuracy`` is that of predicting ``target``. ``aims`` are other things that the table must reach, besides or
    instead: other targets, an AUC, a balanced accuracy, or pairs of columns within a distance. One answer judges them
    all, at the price of one.

    ``confidence`` is how sure a pass is: with this probability no candidate passes in the whole run that is below the
    accuracy on the held-out records. None is the paper's check, which promises nothing. ``records`` is about how many
    records there are, if that is public: looks that would be too noisy are then left out. ``validation`` is the share
    of records held out for the check, by default a fifth, and less of more than 40,000; without ``records``
    their number is counted first, with noise, for a fiftieth of ``query``. A run ends early
    when ``patience`` looks at held-out records bring less than ``min_gain`` together, as far as that can be told from
    noise; a patience of 0 climbs every rung.

    ``rows_per_person`` is how many rows of a person count in full if they are alike, 1, 2, 4 and so on up to 128, where
    the schema names a unit; by default that follows from how many persons have how many rows, as released.

    A table of more rows than fit into memory is kept in pieces; ``memory``, such as ``"4GB"``, is how much of it a run
    may take to read the table, to keep its codes and to fit the model. By default reading and keeping take up to half
    of what the machine has, and the model what there is.
    ``table`` is anything ``expost.tabular.source.reading.read_records`` takes, or a DataFrame of Spark, whose rows stay
    where they are; the synthetic table comes back as the same kind of frame. ``score`` takes a candidate and records
    and gives each record a number from 0 to 1, rounded down to a thousandth; their mean has then to reach ``accuracy``.
    Seeded ``noise`` makes a rehearsal, and everything then says NOT PRIVATE; a ``random_state`` is refused. ``ledger``
    lets a caller that is interrupted know what was spent. ``title`` is that of the report; by default it names the
    target. ``checked`` is your word that the table went through ``check_table`` beforehand; report and receipt repeat
    it. ``on_pledge`` is told, before the table is read, all that is fixed by then, whose digest the receipt has too.
    """
    hidden = HiddenTable(table)
    del table  # a traceback that shows variables would show its rows
    refuse_random_state(random_state)
    recipe = table_recipe(
        schema=schema,
        target=target,
        accuracy=accuracy,
        aims=aims,
        confidence=confidence,
        records=records,
        ladder=ladder,
        query=query,
        delta=delta,
        validation=validation,
        check=check,
        learner=learner,
        score=score,
        rows=rows,
        rows_per_person=rows_per_person,
        patience=patience,
        min_gain=min_gain,
    )
    plan, noise = plan_synthesis(recipe), SystemNoise() if noise is None else noise
    room, tell = Room.of(memory), say_nothing if on_progress is None else on_progress
    kept, date = MemoryLedger() if ledger is None else ledger, day(noise)
    named = _title(recipe) if title is None else title
    _require_fit(recipe, hidden, None if memory is None else room.model)
    odometer, cap = capped(
        plan.pledge, plan.stops, max_epsilon=max_epsilon, neighbours=schema.neighbours, ledger=kept, noise=noise,
        rung="rung",
    )  # fmt: skip
    if on_pledge is not None:
        on_pledge(table_commitment(recipe, plan, cap=cap))

    def climbed(line: Line, counted: Counted) -> None:
        if on_step is not None:
            held, std = (None, 0.0) if recipe.only is None else counted.scale(recipe.only, schema)
            guess = None if recipe.only is None else rate_by_guessing(recipe.only, counted)
            least, of = asked(recipe), measure(recipe)
            on_step(Reading.of(line, plan.pledge, asked=least, held=held, held_std=std, guess=guess, measure=of))

    with hidden.read(schema, room, noise, tell) as coded:
        _require_coded(recipe, coded)
        parted = hidden.parted_by or (";" if schema.has_commas else ",")
        sealed: Private[Any] = Private(coded, schema.neighbours)
        recipe, counted = sized(sealed, recipe, odometer, noise)
        persons = None if schema.unit is None else counted
        parts = split(sealed, recipe.held, noise) if recipe.held else Split.whole(sealed)
        if persons is not None:
            parts = parts.map(partial(_drawn, noise=noise))
        done = synthesise(
            parts, recipe, plan, persons=persons, odometer=odometer, noise=noise, on_step=climbed, on_progress=tell
        )
        kind = coded.native
    decoded = done.outcome.release.map(lambda candidate: candidate.table.decode(noise))
    native = decoded.map(partial(native_frame, kind))
    text = partial(_spelled, done.recipe.schema, decoded.value) if schema.spelled else lambda: native.value
    return Result(
        native,
        done.outcome.ended,
        partial(table_facts, done, kept, title=named, because=parts.because, checked=checked, cap=cap, date=date),
        {
            each.value: partial(_write, text if each is Format.CSV else lambda: native.value, done, each, parted)
            for each in Format
        },
    )


def _title(recipe: TableRecipe) -> str:
    """What the table is for."""
    return f"Synthetic table for {' and '.join(recipe.targets)}" if recipe.targets else "Synthetic table"


def _spelled(schema: Schema, columns: Mapping[str, Decoded]) -> Mapping[str, Decoded]:
    """The columns as the schema has them spelled, so that it reads the synthetic file as it reads the real one."""
    found: dict[str, Decoded] = {}
    for each in schema.columns:
        values = columns[each.name]
        if isinstance(values, Listed):
            found[each.name] = Listed(each.spelled(values.known), values.places)
        else:
            found[each.name] = each.spelled(values)
    return found


def _write(table: Callable[[], object], done: Synthesis, format: Format, parted: str, folder: Path) -> None:  # noqa: A002  the word for it
    """The table, and beside it what its users need: the released counts, and the schema, whose digest is on record."""
    schema = done.recipe.schema
    write_table(folder / f"synthetic.{format.value}", table(), format, delimiter=parted)
    write_through(folder / COUNTS, counts_text(done.released, schema))
    write_through(folder / SCHEMA, schema.dumps())


def _require_fit(recipe: TableRecipe, hidden: HiddenTable, allowed: int | None) -> None:
    """Refuse, before the table is read, what needs too much memory, checks on the table itself or scores unsuitably."""
    require_room(recipe.schema.domain, recipe.targets, recipe.schema.tied, allowed=allowed)
    if isinstance(recipe.check, OnPublicTable):
        recipe.check.refuse_files(hidden.files)
    if recipe.held:
        rehearse(recipe.schema, recipe.lessons, recipe.learner, recipe.scores)


def _drawn(persons: Grouped | PiecedRows, noise: Noise) -> Grouped | PiecedRows:
    """The same persons, with a row of each drawn."""
    return persons.drawn(noise)


def _require_coded(recipe: TableRecipe, coded: AnyPieces) -> None:
    if not isinstance(coded, PiecedRows) and isinstance(coded, Table) is not (recipe.schema.unit is None):
        raise SchemaMismatch("a table with a unit was coded without it, or without one with it; read it anew.")
    if coded.schema != recipe.schema.fine or not recipe.schema.reviewed:
        raise SchemaMismatch("the table was coded under another schema or a draft; read it under the reviewed one.")
    if isinstance(recipe.check, OnPublicTable):
        recipe.check.refuse_records(coded)
