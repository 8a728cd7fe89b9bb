"""What a synthetic table shows in the terminal: a rung a line, and the plan of the ladder."""

from rich.console import Console
from rich.table import Table

from expost.accounting.plan import Plan
from expost.report.digits import price, small
from expost.screen.live import NORMAL_95, VERDICTS, paragraph
from expost.search import Line
from expost.tabular.footprint import Footprint, in_words
from expost.tabular.prices import check_noise
from expost.tabular.selection import queries, why_unpaired
from expost.tabular.synthesis import Recipe

COLUMNS = ("rung", "ε so far", "noisy accuracy", "verdict")


def cells(recipe: Recipe, line: Line, held: float, plan: Plan) -> tuple[str, str, str]:
    """A rung that is done: its price, its noisy accuracy and its verdict."""
    verdict, accuracy = line.verdict, "—"
    if verdict is not None and verdict.margin is not None and verdict.std is not None:
        share = float(recipe.accuracy) + verdict.margin / held
        accuracy = f"{share:.3f} ± {NORMAL_95 * verdict.std / held:.3f}"
    passed = None if verdict is None else verdict.passed
    return price(line.spent.approx(plan.pledge)), accuracy, VERDICTS[passed]


def plan_table(recipe: Recipe, plan: Plan, *, records: int | None) -> None:
    """What every rung would cost, and how noisy counts and check would be: all known without the data."""
    console, domain = Console(highlight=False), recipe.schema.domain
    star = queries(domain, recipe.target, ())
    pairs = len(star) + max(0, len(domain) - 2)
    reach = recipe.marginals(star).statistic.l2_squared * pairs / len(star)
    needed, alone = Footprint.of(domain, recipe.target), why_unpaired(domain, recipe.target)
    console.print(
        f"{len(domain)} columns, at most {pairs} pairs measured together, a model of at most {needed.cells:,} cells.\n"
        f"Fitting it takes at most {in_words(needed.bytes)} of memory.\n"
        f"Selection costs Rényi ε = {float(recipe.query.epsilon):g}, every rung below includes it.\n", markup=False
    )  # fmt: skip
    if alone:
        paragraph(console, alone)
        console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    heads = ["rung", f"Rényi ε\nat α = {float(recipe.ladder.alpha):g}", f"ε at\nδ = {small(recipe.delta)}"]
    for name in [*heads, "noise of\na count", "noise of\nthe check", *(["± in the\naccuracy"] if records else [])]:
        table.add_column(name, justify="right", min_width=8)
    rows = zip(recipe.ladder.levels, plan.stops, check_noise(recipe), strict=True)
    for index, (level, stop, asked) in enumerate(rows, start=1):
        count = float(recipe.ladder.alpha * reach / (2 * level)) ** 0.5
        cells = [f"{float(level):.4g}", price(plan.pledge.epsilon(stop.as_spent())), f"{count:.1f}"]
        unasked = "not asked" if recipe.held else "none"
        cells.append(unasked if asked is None else f"{asked:.1f}")
        if records is not None:
            cells.append("—" if asked is None else f"{NORMAL_95 * asked / float(records * recipe.validation):.4f}")
        table.add_row(str(index), *cells)
    console.print(table)
    console.print()
    paragraph(console, f"{_noises(recipe, records)} {plan.reason[0].upper()}{plan.reason[1:]}.")


def _noises(recipe: Recipe, records: int | None) -> str:
    """What the columns of noise mean."""
    said = f"Noise is a standard deviation, in records; accuracy to reach: {float(recipe.accuracy):g}."
    if not recipe.held:
        return f"{said} The check is on public records, without noise."
    share = f"{float(recipe.validation):g}"
    if records is None:
        return f"{said} A share of {share} is held out for the check: with --records its noise is told as accuracy."
    return (
        f"{said} ± is its 95 % range where a share of {share} of about {records:,} records is held out for the check."
    )
