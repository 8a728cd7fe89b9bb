"""The command line: parse, call one function in runs, print."""

import json
import sys
import tomllib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any

import click

from expost import runs
from expost.accounting.claim import Budget
from expost.checks import BalancedCheck, GaussianCheck, SparseVectorCheck
from expost.checks.question import as_typed
from expost.datasets import adult
from expost.errors import ExpostError, InvalidBound
from expost.ladder import Ladder
from expost.noise import Noise, SeededNoise, SystemNoise
from expost.record import Memory
from expost.report import check
from expost.report import explain as explained
from expost.report.digits import price
from expost.screen import Screen, plan_table
from expost.tabular.draft import draft
from expost.tabular.frames import Format
from expost.tabular.schema import Schema
from expost.tabular.score import Conditional, Learner, Sklearn
from expost.tabular.synthesis import CheckMaker, Recipe, planned, threshold

NOT_REACHED, REFUSED, INTERRUPTED = 3, 2, 130
Command = Callable[..., None]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="expost")
def main() -> None:
    """Accuracy-first differential privacy: say how accurate, pay only for that."""


def configured(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    """Take the options of a TOML file as defaults, so that the command line still wins."""
    if value is None:
        return
    try:
        settings = tomllib.loads(value.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise click.BadParameter(f"{value} is not a readable TOML file.") from None
    known = {word.lstrip("-"): option.name for option in context.command.params for word in option.opts}
    for name in settings:
        if name not in known:
            raise click.BadParameter(f"{value} sets {name}, which is no option of this command.")
    context.default_map = {str(known[name]): setting for name, setting in settings.items()}


PRICING = [
    click.option("--ladder", default="0.01:1:7", metavar="[eps:]LOW:HIGH:RUNGS",
                 help="Rényi ε at --alpha, or with eps: the ε that is stated at --delta."),
    click.option("--alpha", default=20.0, help="The Rényi order of the ladder."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--query-epsilon", default=0.01, help="Rényi ε for choosing what to measure."),
    click.option("--check", "check_name", default="balanced", metavar="balanced|gaussian|svt|public:FILE",
                 help="How a candidate is judged on held-out records."),
    click.option("--check-epsilon", default=0.01, help="Rényi ε of a gaussian or svt check, over all its questions."),
    click.option("--config", type=click.Path(path_type=Path), callback=configured, is_eager=True, expose_value=False,
                 help="A TOML file with any of these options."),
]  # fmt: skip
RUNNING = [
    click.option("--validation", default=0.2, help="The share of records held out for the check."),
    click.option("--max-epsilon", type=float, default=None, help="Never let the stated ε pass this."),
    click.option("--rows", type=int, default=None, help="Synthetic rows; by default about as many as the table has."),
    click.option("--estimator", default="sklearn.ensemble.HistGradientBoostingClassifier",
                 help="A scikit-learn classifier by its path, or `model`."),
    click.option("--format", "format_", type=click.Choice([each.value for each in Format]), default="csv",
                 help="What the synthetic table is written as."),
    click.option("--overwrite", is_flag=True, help="Replace the output folder."),
    click.option("--seed", type=int, default=None, help="Repeat the same noise; everything is then NOT PRIVATE."),
    click.option("--json", "as_json", is_flag=True, help="Print the receipt instead of words."),
]  # fmt: skip


def options(*groups: Sequence[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """All options of the groups on one command."""

    def decorate(command: Command) -> Command:
        for option in reversed([each for group in groups for each in group]):
            command = option(command)
        return command

    return decorate


def plainly(command: Command) -> Command:
    """Refusals in one sentence on the error stream, with their own exit status."""

    @wraps(command)
    def run(**settings: Any) -> None:
        try:
            command(**settings)
        except ExpostError as refusal:
            click.echo(f"expost: {refusal}", err=True)
            sys.exit(REFUSED)
        except KeyboardInterrupt:
            click.echo("\nexpost: interrupted; nothing was written or spent.", err=True)
            sys.exit(INTERRUPTED)

    return run


@main.command()
@click.option("--accuracy", default=0.825, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("expost-demo"), help="The folder for the release.")
@options(PRICING, RUNNING)
@plainly
def demo(accuracy: float, out: Path, **settings: Any) -> None:
    """Synthesize the embedded Adult census table, with income as the target."""
    recipe = recipe_of(adult.schema(), "income", accuracy, settings)
    release(adult.load, recipe, "Adult census", out, settings)


@main.command()
@click.argument("source")
@click.option("--schema", "schema_path", required=True, help="The reviewed schema, in TOML.")
@click.option("--target", default=None, help="The column to be predicted; by default the schema's.")
@click.option("--accuracy", type=float, required=True, help="The accuracy to reach on held-out records.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder for the release.")
@options(PRICING, RUNNING)
@plainly
def synth(source: str, schema_path: str, target: str | None, accuracy: float, out: Path, **settings: Any) -> None:
    """Make a synthetic table from SOURCE: a CSV or Parquet file, or duckdb:QUERY."""
    recipe = recipe_of(Schema.load(Path(schema_path)), target, accuracy, settings)
    release(lambda: source, recipe, Path(source).name if not source.startswith("duckdb:") else "query", out, settings)


@main.command()
@click.option("--schema", "schema_path", required=True, help="The schema, in TOML.")
@click.option("--target", default=None, help="The column to be predicted; by default the schema's.")
@click.option("--accuracy", default=0.8, help="The accuracy to reach.")
@options(PRICING, RUNNING[:1])
@plainly
def plan(schema_path: str, target: str | None, accuracy: float, **settings: Any) -> None:
    """Show what every rung would cost, before any data is touched."""
    recipe = recipe_of(Schema.load(Path(schema_path)), target, accuracy, settings)
    plan_table(recipe, planned(recipe))


@main.command()
@click.argument("source")
@click.option("--missing", multiple=True, help="A text that stands for a missing value, such as ?; may be repeated.")
@plainly
def schema(source: str, missing: tuple[str, ...]) -> None:
    """Draft a schema for SOURCE, for the data's owner to review."""
    click.echo(draft(source, missing_marks=missing), nl=False)


@main.command()
@click.argument("path", type=click.Path(path_type=Path))
@plainly
def audit(path: Path) -> None:
    """Recompute the bill of a receipt and say whether it adds up."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidBound(f"{path} is not a readable receipt; name the receipt.json of a release.") from None
    result = check(found)
    click.echo(str(result))
    sys.exit(0 if result.matches else NOT_REACHED)


@main.command()
@click.option("--epsilon", type=float, required=True, help="The ε of the statement.")
@click.option("--delta", type=float, required=True, help="The δ of the statement.")
@plainly
def explain(epsilon: float, delta: float) -> None:
    """Say what an (ε, δ) statement means, in odds."""
    click.echo(explained(epsilon, delta))


def recipe_of(schema: Schema, named: str | None, accuracy: float, settings: dict[str, Any]) -> Recipe:
    """The public description of the job that the options make up; refused before any data is opened."""
    target = named or schema.target
    if target is None:
        raise InvalidBound("no target is named; say --target, or set one in the schema.")
    alpha, delta = settings["alpha"], settings["delta"]
    query = Budget.of(settings["query_epsilon"], alpha=alpha)
    learner: Learner = Conditional()
    if (path := settings.get("estimator", "model")) != "model":
        learner = Sklearn(path)
    base = Recipe(
        schema=schema,
        target=target,
        accuracy=threshold(accuracy),
        query=query,
        ladder=Ladder.of([query.epsilon], alpha=alpha),
        delta=delta,
        validation=as_typed(settings["validation"]),
        learner=learner,
        rows=settings.get("rows"),
    )
    return runs.with_prices(base, ladder_of(settings["ladder"]), check_of(settings, schema))


def ladder_of(text: str) -> runs.Ends:
    """The ends of a ladder, as typed."""
    stated = text.startswith("eps:")
    try:
        low, high, rungs = text.removeprefix("eps:").split(":")
        return runs.Ends(Fraction(low), Fraction(high), int(rungs), stated)
    except (ValueError, ZeroDivisionError):
        raise InvalidBound(f"the ladder {text} is not LOW:HIGH:RUNGS; write for example 0.01:1:7.") from None


def check_of(settings: dict[str, Any], schema: Schema) -> Callable[[Ladder], CheckMaker]:
    """The check that the options name, for a ladder known later."""
    name, alpha = settings["check_name"], settings["alpha"]
    budget = Budget.of(settings["check_epsilon"], alpha=alpha)
    if name == "balanced":
        return lambda ladder: BalancedCheck
    if name == "gaussian":
        return lambda ladder: lambda question: GaussianCheck(question, budget, max(1, len(ladder.levels) - 1))
    if name == "svt":
        return lambda ladder: lambda question: SparseVectorCheck.calibrated(question, budget)
    if name.startswith("public:"):
        made = runs.public_check(name.removeprefix("public:"), schema)
        return lambda ladder: made
    raise InvalidBound(f"the check {name} is unknown; choose balanced, gaussian, svt or public:FILE.")


def release(load: Callable[[], object], recipe: Recipe, title: str, out: Path, settings: dict[str, Any]) -> None:
    """Run the job with a live table, write its files, and say how it ended."""
    runs.refuse_existing(out, overwrite=settings["overwrite"])
    noise: Noise = SystemNoise() if settings["seed"] is None else SeededNoise(settings["seed"])
    record = Memory()
    screen = Screen(recipe, quiet=settings["as_json"])
    try:
        with screen:
            done = runs.synthesize_recipe(
                load(), recipe, noise=noise, record=record, max_epsilon=settings["max_epsilon"], title=title,
                on_step=screen.step, on_progress=screen.tell,
            )  # fmt: skip
            runs.save(done, out, format=Format(settings["format_"]), overwrite=settings["overwrite"])
    except KeyboardInterrupt:
        spent = price(runs.spent_so_far(record))
        click.echo(f"\nexpost: interrupted; nothing was written, and ε = {spent} is spent.", err=True)
        sys.exit(INTERRUPTED)
    screen.end(done, out)
    sys.exit(0 if done.passed else NOT_REACHED)
