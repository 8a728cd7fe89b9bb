"""What is shown of a synthesis: its plan, and a line per rung while it runs."""

import math
from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from expost.accounting.plan import Plan
from expost.jobs.synthesis.foreword import guessing_plan, is_guessable
from expost.jobs.synthesis.found import finding_words
from expost.jobs.synthesis.goals import LEAST, listed
from expost.jobs.synthesis.granted import is_held_to_one_row
from expost.jobs.synthesis.recipe import TableRecipe
from expost.jobs.synthesis.report import asked, measure
from expost.jobs.synthesis.waiting import deciding_words
from expost.report.answers import Reading
from expost.report.digits import price, small
from expost.report.flat import NOT_PATIENT, patience_words
from expost.report.units import RECORDS
from expost.tabular.aims import Aim
from expost.tabular.measures import TargetAccuracy
from expost.tabular.model.footprint import Footprint, in_words
from expost.tabular.selection import queries, star, why_unpaired
from expost.terminal.screen import VERDICTS, answer_cell, look_cells, look_heads, look_words, paragraph, reach_words
from expost.terminal.steady import spelled

COUNTED_FIRST = (
    "All records are counted with noise first, for a fiftieth of what selection costs; of more than 40,000 a smaller "
    "share is held out."
)
PERSONS_FIRST = (
    "All persons are counted with noise first, by how many rows they have, for a fiftieth of what selection costs."
)
MORE_IN_FULL = (
    "Where there are many of them, several rows of each may then count in full, at as many times the noise of a count."
)


WORTH_SAYING = 10
"""Seconds from which a plan says how long a run may take."""


def run_heads(aims: Sequence[Aim]) -> tuple[str, ...]:
    """The heads of what is shown of a run."""
    told = f"noisy {aims[0].measure.name}" if len(aims) == 1 else f"noisy {LEAST}"
    return "rung", "ε so far", *(["by guessing"] if is_guessable(aims) else []), told, "verdict"


def rung_cells(rung: Reading, width: float, asked: Fraction | None, neighbours: str = RECORDS) -> tuple[str, ...]:
    """A rung that is done: its price, what guessing reaches where it may, its noisy answer, and its verdict."""
    guess = () if rung.guess is None else (f"{rung.guess:.3f}",)
    return price(rung.epsilon), *guess, answer_cell(rung, width, asked, neighbours), VERDICTS[rung.passed]


def in_minutes(seconds: float) -> str:
    """A line of the plan: how long all rungs take, roughly; nothing where nobody would wait for long."""
    if seconds < WORTH_SAYING:
        return ""
    told = f"{math.ceil(seconds / 10) * 10} seconds" if seconds < 90 else f"{math.ceil(seconds / 60):,} minutes"
    return f"All rungs take roughly {told} of one core, more where records are many or rungs add pairs.\n"


def synthesis_plan(recipe: TableRecipe, plan: Plan) -> None:
    """What every rung would cost, and how noisy counts and check would be: all known without the data."""
    console, domain = Console(highlight=False), recipe.schema.domain
    measured = queries(domain, recipe.targets, star(domain, recipe.targets))
    counts = recipe.selection.marginals(measured).statistic
    pairs, reach = len(measured), counts.l2_squared * counts.spacing**2
    needed = Footprint.of(domain, recipe.targets, recipe.schema.tied)
    alone = why_unpaired(domain, recipe.targets)
    lasting = in_minutes(needed.choice + len(recipe.ladder.levels) * needed.rung)
    console.print(
        f"{len(domain)} columns, at most {pairs} pair{'s' * (pairs != 1)} at first; rungs with little noise add more.\n"
        f"Fitting the model takes at most {in_words(needed.bytes + needed.growth)} of memory.\n{lasting}"
        f"Selection costs Rényi ε = {float(recipe.query.epsilon):.4g}, every rung below includes it.\n"
        f"{finding_words(recipe)}", markup=False
    )  # fmt: skip
    if rules := len(recipe.schema.rules):
        paragraph(console, f"Every synthetic row keeps the {'rule' if rules == 1 else f'{rules} rules'} of the schema.")
        console.print()
    if alone:
        paragraph(console, alone)
        console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    heads = ["rung", f"Rényi ε\nat α = {float(recipe.ladder.alpha):g}", f"ε at\nδ = {small(recipe.delta)}"]
    told = recipe.only is not None and recipe.only.of_all and recipe.records is not None
    held = float(recipe.records * recipe.validation) if told and recipe.records is not None else None
    for name in [*heads, "noise of\na count", *look_heads(held, measure(recipe))]:
        table.add_column(spelled(name, console.encoding), justify="right", min_width=8)
    for index, (level, stop, look) in enumerate(zip(recipe.ladder.levels, plan.stops, recipe.looks(), strict=True), 1):
        count = float(recipe.ladder.alpha * reach / (2 * level)) ** 0.5 * (recipe.rows_per_person or 1)
        cells = [f"{float(level):.4g}", price(plan.pledge.epsilon(stop)), f"{count:.1f}"]
        table.add_row(str(index), *cells, *look_cells(look, asked(recipe), held, public=not recipe.held))
    console.print(table)
    console.print()
    if hopeless := reach_words(recipe.looks(), asked(recipe), held, recipe.schema.neighbours.value):
        paragraph(console, hopeless)
        console.print()
    if guessed := guessing_plan(recipe.aims):
        paragraph(console, guessed)
        console.print()
    explained = look_words(
        listed(recipe.aims),
        recipe.assurance,
        share=recipe.held,
        records=recipe.records,
        rung="rung",
        neighbours=recipe.schema.neighbours.value,
        told=measure(recipe) == TargetAccuracy.name,
    )
    paragraph(console, f"{explained} {plan.reason[0].upper()}{plan.reason[1:]}.")
    if recipe.selection.sizing is not None:
        paragraph(console, _counted_first(recipe))
    console.print()
    paragraph(console, NOT_PATIENT if recipe.waits is None else patience_words(recipe.waits, recipe.looks()))
    if deciding := deciding_words(recipe):
        paragraph(console, deciding)


def _counted_first(recipe: TableRecipe) -> str:
    """What is counted before all else, and what follows from it."""
    if recipe.schema.unit is None:
        return COUNTED_FIRST
    told = recipe.rows_per_person is not None or is_held_to_one_row(recipe.aims)
    return PERSONS_FIRST if told else f"{PERSONS_FIRST} {MORE_IN_FULL}"
