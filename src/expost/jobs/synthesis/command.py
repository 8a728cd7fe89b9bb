"""Commands for synthetic tables: demo, synth, its plan, and schema."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from expost.accounting.claim import Budget
from expost.datasets import adult
from expost.errors import InvalidValue
from expost.folders.claim import Claim
from expost.folders.journal import Journal
from expost.jobs.job import Result
from expost.jobs.synthesis.prices import StatedLadder, table_recipe
from expost.jobs.synthesis.recipe import plan_synthesis
from expost.jobs.synthesis.run import synthesize
from expost.jobs.synthesis.screen import COLUMNS, rung_cells, synthesis_plan
from expost.ladder import Ladder
from expost.noise import Noise
from expost.tabular.draft import draft
from expost.tabular.model.footprint import require_room
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Sklearn
from expost.tabular.source.frames import Format
from expost.tabular.source.reading import files_of
from expost.terminal.ending import plainly, release
from expost.terminal.options import (
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
PRICING: list[Option] = [
    click.option("--ladder", default="0.01:1:7", metavar="[eps:]LOW:HIGH:RUNGS",
                 help="Rényi ε at --alpha, or with eps: the ε that is stated at --delta."),
    click.option("--alpha", default=20.0, help="The Rényi order of the ladder."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--query-epsilon", default=0.01, help="Rényi ε for choosing what to measure."),
    *checking(validation=0.2),
    config(("demo", "synth", "plan synth")),
]  # fmt: skip
RUNNING: list[Option] = [
    click.option("--rows", type=int, default=None, help="Synthetic rows; by default about as many as the table has."),
    click.option("--estimator", default="sklearn.ensemble.HistGradientBoostingClassifier",
                 help="A scikit-learn classifier by its path, or `model`."),
    click.option("--format", "format_", type=click.Choice([each.value for each in Format]), default="csv",
                 help="What the synthetic table is written as."),
    *RELEASING,
]  # fmt: skip


@click.command()
@click.option("--accuracy", default=0.825, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("expost-demo"), help="The folder for the release.")
@options(PRICING, RUNNING)
@plainly
def demo(accuracy: float, out: Path, **settings: Any) -> None:
    """Synthesize the embedded Adult census table, with income as the target."""
    claim = claimed(out, settings, *public_file(settings))
    release_table(
        adult.load, adult.adult_schema(), claim, settings, target="income", accuracy=accuracy, title="Adult census"
    )


@click.command()
@click.argument("source")
@click.option("--schema", "schema_path", required=True, help="The reviewed schema, in TOML.")
@click.option("--target", default=None, help="The column to be predicted; by default the schema's.")
@click.option("--accuracy", type=float, required=True, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the release.")
@options(PRICING, RUNNING)
@plainly
def synth(source: str, schema_path: str, target: str | None, accuracy: float, out: Path, **settings: Any) -> None:
    """Make a synthetic table from SOURCE: a CSV or Parquet file, or duckdb:QUERY."""
    declared = Schema.load(Path(schema_path))
    title = Path(source).name if not source.startswith("duckdb:") else "query"
    claim = claimed(out, settings, *files_of(source), Path(schema_path), *public_file(settings))
    release_table(lambda: source, declared, claim, settings, target=target, accuracy=accuracy, title=title)


@click.command(name="synth")
@click.option("--schema", "schema_path", required=True, help="The schema, in TOML.")
@click.option("--target", default=None, help="The column to be predicted; by default the schema's.")
@click.option("--accuracy", default=0.8, help="The accuracy to reach.")
@options(PRICING)
@plainly
def plan_table(schema_path: str, target: str | None, accuracy: float, **settings: Any) -> None:
    """Show what every rung of a synthesis would cost and how noisy it would be, before any data is touched."""
    recipe = table_recipe(target=target, accuracy=accuracy, **table_settings(Schema.load(Path(schema_path)), settings))
    require_room(recipe.schema.domain, recipe.target)
    synthesis_plan(recipe, plan_synthesis(recipe))


@click.command()
@click.argument("source")
@click.option("--missing", multiple=True, help="A text that stands for a missing value, such as ?; may be repeated.")
@plainly
def schema(source: str, missing: tuple[str, ...]) -> None:
    """Draft a schema for SOURCE, for the data's owner to review."""
    click.echo(draft(source, missing_marks=missing), nl=False)


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
    }


def ladder_typed(text: str, alpha: Fraction) -> Ladder | StatedLadder:
    """A ladder as typed: LOW:HIGH:RUNGS in Rényi ε, with eps: before it in the ε that is stated."""
    try:
        first, last, number = text.removeprefix("eps:").split(":")
        low, high, rungs = number_typed(first), number_typed(last), int(number)
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"the ladder {text} is not LOW:HIGH:RUNGS; write for example 0.01:1:7.") from None
    if rungs > MOST_RUNGS:
        raise InvalidValue(f"the ladder has {rungs} rungs; give it at most {MOST_RUNGS}.")
    if text.startswith("eps:"):
        return StatedLadder(low, high, rungs)
    return Ladder.geometric(low, high, rungs, alpha=alpha)


def release_table(
    load: Callable[[], object],
    schema: Schema,
    claim: Claim,
    settings: Mapping[str, Any],
    *,
    target: str | None,
    accuracy: float,
    title: str,
) -> NoReturn:
    """A release of the table that ``load`` gives."""
    screen = Screen(COLUMNS, doing="reading the table", quiet=settings["as_json"])
    path = settings["estimator"]

    def run(noise: Noise, journal: Journal) -> Result[Any]:
        return synthesize(
            load(),
            target=target,
            accuracy=accuracy,
            **table_settings(schema, settings),
            learner=Conditional() if path == "model" else Sklearn(path),
            rows=settings["rows"],
            noise=noise,
            ledger=journal,
            max_epsilon=settings["max_epsilon"],
            title=title,
            on_pledge=screen.pledge,
            on_step=lambda rung: screen.add(*rung_cells(rung, screen.width), keep=journal.show),
            on_progress=screen.tell,
        )

    release(run, claim, screen, settings)


COMMANDS = (demo, synth, schema)
PLANS = (plan_table,)
