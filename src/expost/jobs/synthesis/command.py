"""Commands for synthetic tables: demo, synth and its plan, with what they show, beside those for the owner."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from expost.accounting.claim import Budget
from expost.checks.question import accuracy_threshold
from expost.datasets import adult
from expost.errors import InvalidValue
from expost.folders.claim import Claim
from expost.jobs.job import Result
from expost.jobs.synthesis.declared import CHECKED
from expost.jobs.synthesis.marks import was_checked
from expost.jobs.synthesis.owner import OWNERS
from expost.jobs.synthesis.prices import StatedLadder, table_recipe
from expost.jobs.synthesis.recipe import MOST_ROWS, plan_synthesis
from expost.jobs.synthesis.run import synthesize
from expost.jobs.synthesis.screen import run_heads, rung_cells, synthesis_plan
from expost.jobs.synthesis.typed import AIMING, aims_typed, asking
from expost.ladder import Ladder
from expost.noise import Noise
from expost.recorded import ReadableLedger
from expost.tabular.aims import Aim
from expost.tabular.model.footprint import require_room
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Sklearn
from expost.tabular.source.frames import Format
from expost.tabular.source.reading import files_of
from expost.terminal.ending import plainly, release
from expost.terminal.kept import foretold
from expost.terminal.options import (
    MEMORY,
    RELEASING,
    Option,
    checking,
    claimed,
    confidence_typed,
    config,
    judge_typed,
    options,
    public_file,
)
from expost.terminal.screen import Screen
from expost.text import number_typed

MOST_RUNGS = 100
"""Of a ladder that is typed: as many as an audit of its receipt goes through."""
RENYI = "renyi:"
"""Before a ladder of Rényi ε; one without it is of what is stated."""
PRICING: list[Option] = [
    click.option("--ladder", default="renyi:0.01:1:7", metavar="[renyi:]LOW:HIGH:RUNGS",
                 help="The ε that is stated at --delta, or with renyi: the Rényi ε at --alpha."),
    click.option("--alpha", default=20.0, help="The Rényi order of the ladder."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--query-epsilon", default=0.01,
                 help="Rényi ε for choosing what to measure; less where the first rung of a stated ladder is small."),
    click.option("--rows-per-person", type=int, default=None, metavar="ROWS",
                 help="How many rows of a person count in full if they are alike, a power of 2; by default the run "
                 "finds out."),
    *checking(validation=None, usual="; by default 0.2, and less of more than 40,000 records"),
    click.option("--patience", default=2, metavar="LOOKS",
                 help="End the run when as many looks together bring less than --min-gain; 0 climbs every rung. "
                      "`expost plan synth --records` names the first rung on which noise lets that be told."),
    click.option("--min-gain", default=0.005, help="The least gain in accuracy that is worth further looks."),
    config(("demo", "synth", "plan synth")),
]  # fmt: skip
RUNNING: list[Option] = [
    click.option("--rows", type=int, default=None,
                 help=f"Synthetic rows; by default about as many as the table has, and {MOST_ROWS:,} at most."),
    MEMORY,
    click.option("--estimator", default="sklearn.ensemble.HistGradientBoostingClassifier",
                 help="A scikit-learn classifier by its path, or `model`."),
    click.option("--title", default=None, help="The title of the report; by default it names the target."),
    click.option("--format", "format_", type=click.Choice([each.value for each in Format]), default="csv",
                 help="What the synthetic table is written as."),
    *RELEASING,
]  # fmt: skip


@click.command(short_help="Make a synthetic table of the embedded Adult census.")
@click.option("--accuracy", default=0.825, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("expost-demo"), help="The folder for the release.")
@options(PRICING, RUNNING)
@plainly
def demo(accuracy: float, out: Path, **settings: Any) -> None:
    """Synthesize the embedded Adult census table, with income as the target."""
    claim = claimed(out, settings, *public_file(settings))
    release_table(
        adult.load, adult.adult_schema(), claim, settings, aims=(Aim.accuracy("income", accuracy_threshold(accuracy)),),
        title="Adult census", checked=True,
    )  # fmt: skip


@click.command(short_help="Make a synthetic table.")
@click.argument("source")
@click.option("--schema", "schema_path", required=True, help="The reviewed schema, in TOML.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the release.")
@options(AIMING, PRICING, RUNNING)
@plainly
def synth(source: str, schema_path: str, out: Path, **settings: Any) -> None:
    """Make a synthetic table from SOURCE: a CSV or Parquet file, a pattern, duckdb:QUERY or duckdb:FILE/TABLE."""
    declared = Schema.load(Path(schema_path))
    aims = aims_typed(declared, settings)
    claim = claimed(out, settings, *files_of(source), Path(schema_path), *public_file(settings))
    release_table(
        lambda: source, declared, claim, settings, aims=aims, checked=was_checked(source, declared, Path(schema_path))
    )


@click.command(name="synth", short_help="Show what every rung of a synthesis would cost.")
@click.option("--schema", "schema_path", required=True, help="The schema, in TOML.")
@options(AIMING, PRICING)
@plainly
def plan_table(schema_path: str, **settings: Any) -> None:
    """Show what every rung of a synthesis would cost and how noisy it would be, before any data is touched."""
    declared = Schema.load(Path(schema_path))
    aims = aims_typed(declared, asking(settings))
    recipe = table_recipe(aims=aims, **table_settings(declared, settings))
    require_room(recipe.schema.domain, recipe.targets, recipe.schema.tied)
    synthesis_plan(recipe, plan_synthesis(recipe))


def table_settings(schema: Schema, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of the recipe, as Python has it."""
    query = Budget.of(settings["query_epsilon"], alpha=settings["alpha"])
    return {
        "schema": schema,
        "confidence": confidence_typed(settings["confidence"]),
        "records": settings["records"],
        "ladder": ladder_typed(settings["ladder"], query.alpha),
        "query": query,
        "delta": settings["delta"],
        "validation": settings["validation"],
        "check": judge_typed(settings["check_name"], settings["check_epsilon"]),
        "patience": settings["patience"],
        "min_gain": settings["min_gain"],
        "rows_per_person": settings["rows_per_person"],
    }


def ladder_typed(text: str, alpha: Fraction) -> Ladder | StatedLadder:
    """A ladder as typed: LOW:HIGH:RUNGS in the ε that is stated, with renyi: before it in Rényi ε."""
    if text.startswith("eps:"):
        plain = text.removeprefix("eps:")
        raise InvalidValue(f"the ladder {text} begins with eps:, which it no longer needs; write {plain} instead.")
    try:
        first, last, number = text.removeprefix(RENYI).split(":")
        low, high, rungs = number_typed(first), number_typed(last), int(number)
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"the ladder {text} is not LOW:HIGH:RUNGS; write for example 0.2:2:6.") from None
    if rungs > MOST_RUNGS:
        raise InvalidValue(f"the ladder has {rungs} rungs; give it at most {MOST_RUNGS}.")
    if text.startswith(RENYI):
        return Ladder.geometric(low, high, rungs, alpha=alpha)
    return StatedLadder(low, high, rungs)


def release_table(
    load: Callable[[], object],
    schema: Schema,
    claim: Claim,
    settings: Mapping[str, Any],
    *,
    aims: tuple[Aim, ...],
    checked: bool,
    title: str | None = None,
) -> NoReturn:
    """A release of the table that ``load`` gives."""
    screen = Screen(run_heads(aims), doing="reading the table", quiet=settings["as_json"])
    path = settings["estimator"]

    def run(noise: Noise, ledger: ReadableLedger) -> Result[Any]:
        return synthesize(
            load(),
            aims=aims,
            **table_settings(schema, settings),
            learner=Conditional() if path == "model" else Sklearn(path),
            rows=settings["rows"],
            memory=settings["memory"],
            noise=noise,
            ledger=ledger,
            max_epsilon=settings["max_epsilon"],
            title=settings["title"] or title,
            checked=checked,
            on_pledge=lambda fixed: screen.pledge(fixed, CHECKED[checked], *foretold(ledger, "rung")),
            on_step=lambda rung: screen.add(
                *rung_cells(rung, screen.width, screen.asked, screen.neighbours), keep=claim.journal.show
            ),
            on_progress=screen.tell,
        )

    release(run, claim, screen, settings)


COMMANDS = (demo, synth, *OWNERS)
PLANS = (plan_table,)
