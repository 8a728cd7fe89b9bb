"""Commands for questions: ask and its plan."""

import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import click

from expost.checks.confidence import confidence_level
from expost.errors import InvalidValue
from expost.jobs.asking.answer import Answer
from expost.jobs.asking.facts import Pledged
from expost.jobs.asking.planning import plan_answer
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.receipt import answer_digest
from expost.jobs.asking.run import ask, one_target, questions_of
from expost.jobs.asking.screen import answer_plan, answer_tables
from expost.jobs.asking.targets import precision_typed
from expost.jobs.asking.worded import announced
from expost.noise import Noise
from expost.numerics import Real
from expost.recorded import ReadableLedger
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import Format
from expost.tabular.source.reading import files_of
from expost.terminal.ending import plainly, release
from expost.terminal.kept import foretold
from expost.terminal.options import KEEPING, LASTING, MEMORY, Option, claimed, config, options
from expost.terminal.screen import Screen
from expost.text import number_typed

FOLDER = "expost-answer"
"""Where a release goes that no folder is named for; with a number if there is one."""
ASKING: list[Option] = [
    click.option("--within", default=None, metavar="DISTANCE|SHARE%",
                 help="How far an answer may be from the truth: 50, or 5% of it."),
    click.option("--of-total", is_flag=True, help="Take the share of --within of the sum over all groups."),
    click.option("--top", type=int, default=None, metavar="K", help="Decide which groups are the K largest."),
    click.option("--above", default=None, metavar="NUMBER", help="Decide which groups are above a number."),
    click.option("--compare", nargs=2, default=None, metavar="A B", help="Decide which of two groups is larger."),
    click.option("--confidence", default="0.95", metavar="LEVEL", help="How sure each error bar is."),
    click.option("--together", is_flag=True, help="Make all error bars hold at once, and not each by itself."),
    click.option("--delta", default=1e-5, help="The δ of the (ε, δ) statement."),
    click.option("--max-epsilon", default=1.0, help="The most that may be spent."),
    click.option("--fewer-than", type=int, default=None, metavar="ROWS",
                 help="The size of groups that are too small for a precise answer; by default what --max-epsilon "
                 "leaves out of reach."),
    click.option("--rows-per-person", type=int, default=None, metavar="ROWS",
                 help="How many rows of a person in one group count in full, if that is public; by default it is "
                 "found first, where the schema names a unit."),
    config(("ask", "plan ask")),
]  # fmt: skip
SAVING: list[Option] = [
    click.option("--out", type=click.Path(path_type=Path), default=None,
                 help=f"A new folder for the release; by default {FOLDER} in the current one, with a number if that "
                 "is taken."),
    click.option("--format", "format_", type=click.Choice([each.value for each in Format]), default="csv",
                 help="What the answers are written as."),
    click.option("--title", default=None, help="The title of the report."),
    MEMORY,
    click.option("--afresh", is_flag=True,
                 help="Measure afresh, because the data has changed since earlier questions on the ledger."),
]  # fmt: skip


@click.command(name="ask", short_help="Answer questions, in plain English or in SQL.")
@click.argument("source")
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option("--schema", "schema_path", required=True, help="The reviewed schema, in TOML.")
@options(ASKING, SAVING, LASTING, KEEPING)
@plainly
def ask_table(source: str, questions: tuple[str, ...], schema_path: str, out: Path | None, **settings: Any) -> None:
    """Answer a QUESTION about SOURCE, in plain English or in SQL, as precisely as it must be."""
    schema = Schema.load(Path(schema_path))
    asked = asked_typed(settings)
    recipe_typed(schema, questions, settings)  # which is refused, if it is, before anything is claimed
    place = free_folder(Path()) if out is None else out
    claim = claimed(place, settings, *files_of(source), Path(schema_path))
    screen = Screen((), doing="reading the table", quiet=settings["as_json"])

    def run(noise: Noise, ledger: ReadableLedger) -> Answer:
        answer = ask(
            source,
            *questions,
            schema=schema,
            **asked,
            title=settings["title"],
            memory=settings["memory"],
            afresh=settings["afresh"],
            noise=noise,
            ledger=ledger,
            on_pledge=lambda fixed: screen.announce(answer_digest(fixed), announced(fixed), *foretold(ledger, "level")),
            on_progress=screen.tell,
        )
        screen.keep(answer_tables(answer.told, screen.encoding))
        return answer

    release(run, claim, screen, settings)


@click.command(name="ask", short_help="Show what answers would cost.")
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option("--schema", "schema_path", required=True, help="The schema, in TOML.")
@options(ASKING)
@plainly
def plan_ask(questions: tuple[str, ...], schema_path: str, **settings: Any) -> None:
    """Show what answers would cost and which groups would be out of reach, before any data is touched."""
    if len(questions) > 1 and Path(questions[0]).is_file():
        raise InvalidValue(f"a plan reads no table; leave out {questions[0]}.")
    recipe = recipe_typed(Schema.load(Path(schema_path)), questions, settings)
    answer_plan(Pledged(recipe, plan_answer(recipe)))


def asked_typed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say of the question, as Python has it."""
    within, of_total = settings["within"], settings["of_total"]
    if of_total and within is None:
        raise InvalidValue("--of-total is about --within, which is not given; say, for example, --within 5%.")
    return {
        "within": None if within is None else precision_typed(within, of_total=of_total),
        "top": settings["top"],
        "above": None if settings["above"] is None else _number(settings["above"], "above", "1000"),
        "compare": settings["compare"] or None,
        "confidence": confidence_level(_number(settings["confidence"], "confidence", "0.95")),
        "together": settings["together"],
        "delta": settings["delta"],
        "max_epsilon": settings["max_epsilon"],
        "fewer_than": settings["fewer_than"],
        "rows_per_person": settings["rows_per_person"],
    }


def recipe_typed(schema: Schema, questions: tuple[str, ...], settings: Mapping[str, Any]) -> AskRecipe:
    """All that is fixed by the options, without any data."""
    asked = asked_typed(settings)
    target = one_target(**{name: asked.pop(name) for name in ("within", "top", "above", "compare")})
    return AskRecipe(schema=schema, questions=questions_of(questions, target, schema=schema), **asked)


def free_folder(here: Path) -> Path:
    """The first folder of the usual name that neither a release nor a run has taken."""
    names = (FOLDER if number == 1 else f"{FOLDER}-{number}" for number in count(1))
    return next(
        here / name
        for name in names
        if not os.path.lexists(here / name) and not os.path.lexists(here / f"{name}.journal")
    )


def _number(text: str, name: str, example: str) -> Real:
    try:
        return number_typed(text)
    except (ValueError, ZeroDivisionError):
        raise InvalidValue(f"{name} is {text}, which is not a number; write, for example, {example}.") from None


COMMANDS = (ask_table,)
PLANS = (plan_ask,)
