"""The command line: parse, call one function in runs, print."""

import json
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from expost import runs
from expost.accounting.claim import Budget
from expost.checks.question import as_typed
from expost.datasets import adult
from expost.errors import ExpostError, InvalidBound
from expost.ladder import Ladder
from expost.noise import Noise, SeededNoise, SystemNoise
from expost.record import Memory
from expost.report import check as audited
from expost.report import explain as explained
from expost.report.digits import price
from expost.screen import Screen, plan_table
from expost.tabular.draft import draft
from expost.tabular.frames import Format
from expost.tabular.prices import Ends, check_named, with_prices
from expost.tabular.schema import Schema
from expost.tabular.score import Conditional, Learner, Sklearn
from expost.tabular.synthesis import Recipe, planned, threshold

NOT_REACHED, REFUSED, INTERRUPTED = 3, 2, 130
Command = Callable[..., None]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="expost")
def main() -> None:
    """Accuracy-first differential privacy: say how accurate, pay only for that."""


def configured(context: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    """Take the options of a TOML file as defaults, so that the command line still wins.

    One file serves the plan and the run: what only the other knows is left alone.
    """
    if value is None:
        return
    try:
        settings = tomllib.loads(value.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise click.BadParameter(f"{value} is not a readable TOML file.") from None
    words = {job: {word.lstrip("-"): str(each.name) for each in main.commands[job].params for word in each.opts}
             for job in ("demo", "synth", "plan")}  # fmt: skip
    for name in settings:
        if not any(name in known for known in words.values()):
            raise click.BadParameter(f"{value} sets {name}, which is no option of demo, synth or plan.")
    known = words[str(context.command.name)]
    context.default_map = {known[name]: setting for name, setting in settings.items() if name in known}


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


def stopped(sentence: str, status: int) -> NoReturn:
    """End without a release."""
    click.echo(sentence, err=True)
    sys.exit(status)


def plainly(command: Command) -> Command:
    """Refusals in one sentence on the error stream, with their own exit status."""

    @wraps(command)
    def run(**settings: Any) -> None:
        try:
            command(**settings)
        except ExpostError as refusal:
            stopped(f"expost: {refusal}", REFUSED)
        except KeyboardInterrupt:
            stopped("\nexpost: interrupted.", INTERRUPTED)

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
@click.option(
    "--records",
    type=click.IntRange(min=1),
    default=None,
    help="About how many records there are, if that is public: shows the check's noise as accuracy.",
)
@options(PRICING, RUNNING[:1])
@plainly
def plan(schema_path: str, target: str | None, accuracy: float, records: int | None, **settings: Any) -> None:
    """Show what every rung would cost and how noisy it would be, before any data is touched."""
    recipe = recipe_of(Schema.load(Path(schema_path)), target, accuracy, settings)
    plan_table(recipe, planned(recipe), records=records)


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
    result = audited(found)
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
    check = check_named(settings["check_name"], Budget.of(settings["check_epsilon"], alpha=alpha), schema)
    return with_prices(base, Ends.typed(settings["ladder"]), check)


def release(load: Callable[[], object], recipe: Recipe, title: str, out: Path, settings: dict[str, Any]) -> None:
    """Run the job with a live table, write its files, and say how it ended."""
    runs.refuse_existing(out, overwrite=settings["overwrite"])
    noise: Noise = SystemNoise() if settings["seed"] is None else SeededNoise(settings["seed"])
    record = Memory()
    screen = Screen(recipe, quiet=settings["as_json"])
    done: runs.Synthesized | None = None
    try:
        with screen:
            done = runs.synthesize_recipe(
                load(), recipe, noise=noise, record=record, max_epsilon=settings["max_epsilon"], title=title,
                on_step=screen.step, on_progress=screen.tell,
            )  # fmt: skip
            runs.save(done, out, format=Format(settings["format_"]), overwrite=settings["overwrite"])
    except KeyboardInterrupt:
        written = "nothing was written" if done is None else f"see whether {out} was written"
        stopped(f"\nexpost: interrupted; {written}, and ε = {price(runs.spent_so_far(record))} is spent.", INTERRUPTED)
    except ExpostError as refusal:
        spent = runs.spent_so_far(record)
        stopped(f"expost: {refusal}{f' ε = {price(spent)} is spent.' if spent else ''}", REFUSED)
    screen.end(done, out)
    sys.exit(0 if done.passed else NOT_REACHED)
