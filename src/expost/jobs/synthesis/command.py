"""Commands for synthetic tables: demo, synth and its plan, with what they show, beside those for the owner."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.table import Table

from expost.accounting.claim import Budget
from expost.accounting.plan import Plan
from expost.datasets import adult
from expost.errors import InvalidValue
from expost.folders.claim import Claim
from expost.folders.journal import Journal
from expost.jobs.job import Result
from expost.jobs.synthesis.declared import CHECKED
from expost.jobs.synthesis.foreword import guessing_plan
from expost.jobs.synthesis.marks import was_checked
from expost.jobs.synthesis.owner import OWNERS
from expost.jobs.synthesis.prices import StatedLadder, table_recipe
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.jobs.synthesis.run import synthesize
from expost.ladder import Ladder
from expost.noise import Noise
from expost.report.answers import Reading
from expost.report.digits import price, small
from expost.tabular.model.footprint import Footprint, in_words, require_room
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional, Sklearn
from expost.tabular.selection import queries, why_unpaired
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
from expost.terminal.screen import VERDICTS, Screen, accuracy_cell, look_cells, look_heads, look_words, paragraph
from expost.terminal.steady import spelled
from expost.text import number_typed

COLUMNS = ("rung", "ε so far", "by guessing", "noisy accuracy", "verdict")


def rung_cells(rung: Reading, width: float, asked: Fraction | None) -> tuple[str, str, str, str]:
    """A rung that is done: its price, the rate of guessing, its noisy accuracy, and its verdict."""
    guess = "—" if rung.guess is None else f"{rung.guess:.3f}"
    return price(rung.epsilon), guess, accuracy_cell(rung, width, asked) or "—", VERDICTS[rung.passed]


def synthesis_plan(recipe: TableRecipe, plan: Plan) -> None:
    """What every rung would cost, and how noisy counts and check would be: all known without the data."""
    console, domain = Console(highlight=False), recipe.schema.domain
    star = queries(domain, recipe.target, ())
    pairs = len(star) + max(0, len(domain) - 2)
    reach = recipe.selection.marginals(star).statistic.l2_squared * pairs / len(star)
    needed, alone = Footprint.of(domain, recipe.target), why_unpaired(domain, recipe.target)
    console.print(
        f"{len(domain)} columns, at most {pairs} pairs at first; rungs with little noise add more.\n"
        f"Fitting the model takes at most {in_words(needed.bytes + needed.growth)} of memory.\n"
        f"Selection costs Rényi ε = {float(recipe.query.epsilon):.4g}, every rung below includes it.\n", markup=False
    )  # fmt: skip
    if alone:
        paragraph(console, alone)
        console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    heads = ["rung", f"Rényi ε\nat α = {float(recipe.ladder.alpha):g}", f"ε at\nδ = {small(recipe.delta)}"]
    held = None if recipe.records is None else float(recipe.records * recipe.validation)
    for name in [*heads, "noise of\na count", *look_heads(held)]:
        table.add_column(spelled(name, console.encoding), justify="right", min_width=8)
    for index, (level, stop, look) in enumerate(zip(recipe.ladder.levels, plan.stops, recipe.looks(), strict=True), 1):
        count = float(recipe.ladder.alpha * reach / (2 * level)) ** 0.5
        cells = [f"{float(level):.4g}", price(plan.pledge.epsilon(stop)), f"{count:.1f}"]
        table.add_row(str(index), *cells, *look_cells(look, recipe.accuracy, held, public=not recipe.held))
    console.print(table)
    console.print()
    explained = look_words(recipe.accuracy, recipe.assurance, share=recipe.held, records=recipe.records, rung="rung")
    paragraph(console, f"{explained} {plan.reason[0].upper()}{plan.reason[1:]}.")
    console.print()
    paragraph(console, guessing_plan(recipe.target, recipe.accuracy))


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
    *checking(validation=None, usual="; by default 0.2, or 50,000 of the --records where that is less"),
    config(("demo", "synth", "plan synth")),
]  # fmt: skip
RUNNING: list[Option] = [
    click.option("--rows", type=int, default=None, help="Synthetic rows; by default about as many as the table has."),
    click.option("--estimator", default="sklearn.ensemble.HistGradientBoostingClassifier",
                 help="A scikit-learn classifier by its path, or `model`."),
    click.option("--title", default=None, help="The title of the report; by default it names the target."),
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
        adult.load, adult.adult_schema(), claim, settings, target="income", accuracy=accuracy, title="Adult census",
        checked=True,
    )  # fmt: skip


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
    claim = claimed(out, settings, *files_of(source), Path(schema_path), *public_file(settings))
    release_table(
        lambda: source, declared, claim, settings, target=target, accuracy=accuracy,
        checked=was_checked(source, declared, Path(schema_path)),
    )  # fmt: skip


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
    target: str | None,
    accuracy: float,
    checked: bool,
    title: str | None = None,
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
            title=settings["title"] or title,
            checked=checked,
            on_pledge=lambda fixed: screen.pledge(fixed, CHECKED[checked]),
            on_step=lambda rung: screen.add(*rung_cells(rung, screen.width, screen.asked), keep=journal.show),
            on_progress=screen.tell,
        )

    release(run, claim, screen, settings)


COMMANDS = (demo, synth, *OWNERS)
PLANS = (plan_table,)
