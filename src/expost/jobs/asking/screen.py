"""What is shown of an answer: a table with small bars, and of a plan what it would cost and what it would leave out."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from expost.jobs.asking.contribution import bounds_declared
from expost.jobs.asking.facts import JUMP, Pledged
from expost.jobs.asking.figures import figure, half_figure, scale_of
from expost.jobs.asking.needs import sizes_left
from expost.jobs.asking.report import groups_shown
from expost.jobs.asking.tallies import read_under
from expost.jobs.asking.told import OPEN, GroupLine, QuestionTold
from expost.jobs.asking.worded import announced, group_name
from expost.report.digits import price, small
from expost.terminal.screen import paragraph
from expost.terminal.steady import spelled
from expost.text import printable

MOST_LINES = 40
"""Groups of a question on the screen; all of them are in the file."""
MANY = 8
"""Rows of a person, in an example."""
BAR = 16
"""Letters of the longest bar."""
FULL, ASCII = "█", "#"
PARTS = " ▏▎▍▌▋▊▉"


def answer_tables(told: Sequence[QuestionTold], encoding: str) -> RenderableType:
    """A table for each question, with the sentence that some groups are not shown where that is so."""
    shown: list[RenderableType] = []
    for each in told:
        lines = groups_shown(each.lines, MOST_LINES)
        shown += [Text(""), Text(spelled(printable(str(each.question)), encoding), style="bold")]
        shown.append(_table(each, lines, encoding))
        if len(lines) < len(each.lines):
            left = f"The {len(lines)} largest of {len(each.lines):,} groups are shown; the file has them all."
            shown.append(Text(left))
    return Group(*shown)


def _table(told: QuestionTold, lines: Sequence[GroupLine], encoding: str) -> Table:
    query = told.question.query
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(spelled(printable(" × ".join(query.by) or "group"), encoding), overflow="fold")
    table.add_column("estimate", justify="right")
    table.add_column(spelled("± noise", encoding), justify="right")
    table.add_column("")
    table.add_column("settled")
    reach = max((abs(line.estimate) for line in lines if not line.few), default=0.0)
    for line in lines:
        table.add_row(*(Text(spelled(printable(cell), encoding)) for cell in _cells(told, line, reach, encoding)))
    return table


def _cells(told: QuestionTold, line: GroupLine, reach: float, encoding: str) -> tuple[str, ...]:
    times, sign = scale_of(told.question.query.measure)
    half = times * line.half
    if line.few:
        return group_name(line), line.settled, "", "", "too small"
    estimate, settled = f"{figure(times * line.estimate, half)}{sign}", line.settled
    bar = small_bar(max(line.estimate, 0.0) / reach if reach else 0.0, encoding)
    return group_name(line), estimate, half_figure(half), bar, "NOT SETTLED" if settled == OPEN else settled


def small_bar(share: float, encoding: str) -> str:
    """A bar of this share of the longest one, in letters that the terminal has.

    >>> small_bar(0.5, "utf-8"), small_bar(0.5, "ascii")
    ('████████', '########')
    """
    try:
        PARTS.encode(encoding)
    except UnicodeEncodeError:
        return ASCII * round(share * BAR)
    eighths = round(share * BAR * 8)
    return (FULL * (eighths // 8) + PARTS[eighths % 8]).strip()


def answer_plan(pledged: Pledged) -> None:
    """What the answers would cost, which groups would be out of reach and which columns would be read: no data."""
    console, recipe, plan = Console(highlight=False), pledged.recipe, pledged.plan
    needed = read_under(recipe.schema, recipe.tallies)
    unit = () if recipe.schema.unit is None else (recipe.schema.unit,)
    for each in recipe.questions:
        console.print(printable(str(each)), markup=False, style="bold")
    console.print()
    paragraph(console, announced(pledged))
    paragraph(console, printable(f"Columns that are read: {', '.join((*unit, *needed.names))}."))
    if pledged.price is not None:
        return
    console.print()
    bounds = bounds_declared(recipe)
    sizes = [max(sizes_left(recipe, bounds, each)) for each in plan.levels] if pledged.kind == JUMP else []
    sized = any(sizes)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in (f"ε at δ = {small(recipe.delta)}", *(["told only as"] if sized else [])):
        table.add_column(spelled(head, console.encoding), justify="right")
    for place in _some(len(plan.levels)):
        table.add_row(price(plan.epsilons[place]), *([f"fewer than {sizes[place]:,}"] if sized else []))
    console.print(table)
    console.print()
    paragraph(console, _explained(pledged, sized=sized))


def _some(levels: int, most: int = 12) -> list[int]:
    """Places of a few levels, the first and the last among them."""
    if levels <= most:
        return [*range(levels)]
    return sorted({round(place * (levels - 1) / (most - 1)) for place in range(most)})


def _explained(pledged: Pledged, *, sized: bool) -> str:
    if pledged.kind != JUMP:
        return (
            "Finer and finer measurements are looked at until error bars decide it; stopping costs one of these prices."
        )
    told = [
        "Coarse looks, for at most a tenth of the price, tell how much is needed; the answers are then measured once, "
        "at one of these prices or between two of them."
    ]
    if sized:
        told.append(
            "Groups that are too small to be told as precisely as asked at a price are told only as fewer than the "
            "number beside it."
        )
    if not pledged.recipe.bounded:
        told.append(_unbounded(sized=sized))
    return " ".join(told)


def _unbounded(*, sized: bool) -> str:
    """What a plan leaves open where how many rows of a person count in full is found by the run."""
    found = "How many rows of a person count in full is found first"
    if sized:
        return (
            f"{found}, and the numbers are those for one row. If as many as {MANY} count in full, each number is "
            f"{MANY} times as large."
        )
    return f"{found}, and the price depends on it. Say --rows-per-person, and it has one price."
