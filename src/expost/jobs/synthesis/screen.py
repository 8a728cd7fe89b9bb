"""What a synthetic table shows in the terminal: one line per rung, and the plan of the ladder."""

from rich.console import Console
from rich.table import Table

from expost.accounting.plan import Plan
from expost.jobs.synthesis.recipe import TableRecipe
from expost.report.digits import price, small
from expost.report.facts import Reading
from expost.tabular.model.footprint import Footprint, in_words
from expost.tabular.selection import queries, why_unpaired
from expost.terminal.screen import VERDICTS, look_cells, look_heads, look_words, paragraph
from expost.terminal.steady import spelled

COLUMNS = ("rung", "ε so far", "noisy accuracy", "verdict")


def rung_cells(rung: Reading, width: float) -> tuple[str, str, str]:
    """A rung that is done: its price, its noisy accuracy with ``width`` standard errors, and its verdict."""
    answer = "—"
    if rung.accuracy is not None and rung.error is not None:
        answer = f"{rung.accuracy:.3f} ± {width * rung.error:.3f}"
    return price(rung.epsilon), answer, VERDICTS[rung.passed]


def synthesis_plan(recipe: TableRecipe, plan: Plan) -> None:
    """What every rung would cost, and how noisy counts and check would be: all known without the data."""
    console, domain = Console(highlight=False), recipe.schema.domain
    star = queries(domain, recipe.target, ())
    pairs = len(star) + max(0, len(domain) - 2)
    reach = recipe.selection.marginals(star).statistic.l2_squared * pairs / len(star)
    needed, alone = Footprint.of(domain, recipe.target), why_unpaired(domain, recipe.target)
    console.print(
        f"{len(domain)} columns, at most {pairs} pairs measured together, a model of at most {needed.cells:,} cells.\n"
        f"Fitting it takes at most {in_words(needed.bytes)} of memory.\n"
        f"PairSelection costs Rényi ε = {float(recipe.query.epsilon):g}, every rung below includes it.\n", markup=False
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
