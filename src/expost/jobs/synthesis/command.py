"""Commands for synthetic tables: demo, synth, its plan, and schema."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from expost.accounting.claim import Budget
from expost.checks.question import accuracy_threshold, as_typed
from expost.datasets import adult
from expost.errors import InvalidValue
from expost.folders.claim import Claim
from expost.folders.journal import Journal
from expost.jobs.synthesis import screen as tables
from expost.jobs.synthesis.prices import Ends, check_named, with_prices
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.jobs.synthesis.run import Synthesized, synthesize_recipe
from expost.ladder import Ladder
from expost.noise import Noise
from expost.tabular.draft import draft
from expost.tabular.model.footprint import require_room
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Learner, Sklearn
from expost.tabular.source.frames import Format
from expost.tabular.source.reading import files_of
from expost.terminal.ending import plainly, release
from expost.terminal.live import Screen
from expost.terminal.options import CHECKING, RELEASING, Option, claimed, confidence_typed, config, options

PRICING: list[Option] = [
    click.option("--ladder", default="0.01:1:7", metavar="[eps:]LOW:HIGH:RUNGS",
                 help="Rényi ε at --alpha, or with eps: the ε that is stated at --delta."),
    click.option("--alpha", default=20.0, help="The Rényi order of the ladder."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--query-epsilon", default=0.01, help="Rényi ε for choosing what to measure."),
    click.option("--check", "check_name", default="balanced", metavar="balanced|gaussian|svt|public:FILE",
                 help="How a candidate is judged on held-out records."),
    click.option("--check-epsilon", default=0.01, help="Rényi ε of a gaussian or svt check, over all its questions."),
    *CHECKING,
    config(("demo", "synth", "plan synth")),
]  # fmt: skip
RUNNING: list[Option] = [
    click.option("--validation", default=0.2, help="The share of records held out for the check."),
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
    recipe = table_recipe(adult.adult_schema(), "income", accuracy, settings)
    release_table(adult.load, recipe, "Adult census", claimed(out, settings, *public_table(settings)), settings)


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
    recipe = table_recipe(Schema.load(Path(schema_path)), target, accuracy, settings)
    title = Path(source).name if not source.startswith("duckdb:") else "query"
    reads = (*files_of(source), Path(schema_path), *public_table(settings))
    release_table(lambda: source, recipe, title, claimed(out, settings, *reads), settings)


@click.command(name="synth")
@click.option("--schema", "schema_path", required=True, help="The schema, in TOML.")
@click.option("--target", default=None, help="The column to be predicted; by default the schema's.")
@click.option("--accuracy", default=0.8, help="The accuracy to reach.")
@options(PRICING, RUNNING[:1])
@plainly
def plan_table(schema_path: str, target: str | None, accuracy: float, **settings: Any) -> None:
    """Show what every rung of a synthesis would cost and how noisy it would be, before any data is touched."""
    recipe = table_recipe(Schema.load(Path(schema_path)), target, accuracy, settings)
    require_room(recipe.schema.domain, recipe.target)
    tables.synthesis_plan(recipe, plan_synthesis(recipe))


@click.command()
@click.argument("source")
@click.option("--missing", multiple=True, help="A text that stands for a missing value, such as ?; may be repeated.")
@plainly
def schema(source: str, missing: tuple[str, ...]) -> None:
    """Draft a schema for SOURCE, for the data's owner to review."""
    click.echo(draft(source, missing_marks=missing), nl=False)


def table_recipe(schema: Schema, named: str | None, accuracy: float, settings: dict[str, Any]) -> TableRecipe:
    """The public description of the job that the options make up; refused before any data is opened."""
    target = named or schema.target
    if target is None:
        raise InvalidValue("no target is named; say --target, or set one in the schema.")
    alpha, delta = settings["alpha"], settings["delta"]
    query = Budget.of(settings["query_epsilon"], alpha=alpha)
    learner: Learner = Conditional()
    if (path := settings.get("estimator", "model")) != "model":
        learner = Sklearn(path)
    base = TableRecipe(
        schema=schema,
        target=target,
        accuracy=accuracy_threshold(accuracy),
        confidence=confidence_typed(settings["confidence"]),
        records=settings["records"],
        query=query,
        ladder=Ladder.of([query.epsilon], alpha=alpha),
        delta=delta,
        validation=as_typed(settings["validation"]),
        learner=learner,
        rows=settings.get("rows"),
    )
    check = check_named(settings["check_name"], Budget.of(settings["check_epsilon"], alpha=alpha), schema)
    return with_prices(base, Ends.typed(settings["ladder"]), check)


def public_table(settings: dict[str, Any]) -> tuple[Path, ...]:
    """The public table that a check reads, if it does."""
    kind, _, path = settings["check_name"].partition(":")
    return (Path(path),) if kind == "public" else ()


def release_table(
    load: Callable[[], object], recipe: TableRecipe, title: str, claim: Claim, settings: dict[str, Any]
) -> None:
    """A release of the table that ``load`` gives."""
    screen = Screen(tables.COLUMNS, doing="reading the table", quiet=settings["as_json"])

    def run(noise: Noise, ledger: Journal) -> Synthesized:
        return synthesize_recipe(
            load(),
            recipe,
            noise=noise,
            ledger=ledger,
            max_epsilon=settings["max_epsilon"],
            title=title,
            on_pledge=screen.pledge,
            on_step=lambda line, held, plan: screen.add(*tables.rung_cells(recipe, line, held), keep=ledger.show),
            on_progress=screen.tell,
        )

    def save(done: Synthesized, folder: Path | Claim) -> None:
        done.save(folder, format=Format(settings["format_"]))

    release(run, save, claim, screen, settings)


COMMANDS = (demo, synth, schema)
PLANS = (plan_table,)
