"""What a run shows in the terminal: a live table on a screen, plain lines elsewhere, JSON for machines."""

import json
import textwrap
from pathlib import Path
from types import TracebackType
from typing import Self, final

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from expost.accounting.plan import Plan
from expost.report import conclusion, receipt
from expost.report.digits import price, small, tied
from expost.runs import Synthesized
from expost.search import Line
from expost.tabular.junction import Junction
from expost.tabular.prices import check_noise
from expost.tabular.selection import affordable, queries
from expost.tabular.synthesis import Recipe

NORMAL_95 = 1.96
"""Half the width of a 95 % interval, in standard deviations: what ± means here and in the report."""

WIDEST = 100
"""Characters in a line that is still easily read."""

COLUMNS = ("rung", "ε so far", "noisy accuracy", "verdict")


@final
class Screen:
    """A rung a line, and a word on what is being done inside the rung."""

    def __init__(self, recipe: Recipe, *, quiet: bool) -> None:
        self._recipe, self._quiet = recipe, quiet
        self._console = Console(highlight=False)
        self._rows: list[tuple[str, ...]] = []
        self._doing = "reading the table"
        self._live = Live(console=self._console, refresh_per_second=8, transient=True)

    @property
    def _moving(self) -> bool:
        return self._console.is_terminal and not self._quiet

    def __enter__(self) -> Self:
        if self._moving:
            self._live.start()
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moving:
            self._live.stop()
            self._console.print(self._table())

    def tell(self, text: str) -> None:
        """What is being done now."""
        self._doing = text
        self._show()

    def step(self, line: Line, held: float, plan: Plan) -> None:
        """A rung is done."""
        verdict = line.verdict
        words = "not checked" if verdict is None else "accurate enough" if verdict.passed else "not yet"
        accuracy = "—"
        if verdict is not None and verdict.margin is not None and verdict.std is not None:
            share = float(self._recipe.accuracy) + verdict.margin / held
            accuracy = f"{share:.3f} ± {NORMAL_95 * verdict.std / held:.3f}"
        row = (str(len(self._rows) + 1), price(line.spent.approx(plan.pledge)), accuracy, words)
        self._rows.append(row)
        if not self._moving and not self._quiet:
            cells = (f"{name}: {cell}" for name, cell in zip(COLUMNS, row, strict=True))
            self._console.print("  ".join(cells), markup=False, soft_wrap=True)
        self._show()

    def end(self, run: Synthesized, out: Path) -> None:
        """The closing paragraph, or the receipt."""
        if self._quiet:
            self._console.print_json(json.dumps(receipt(run.facts)))
            return
        self._console.print()
        _paragraph(self._console, conclusion(run.facts))
        self._console.print(f"\nWritten to {out}{'/' if not str(out).endswith('/') else ''}", markup=False)

    def _show(self) -> None:
        if self._moving:
            self._live.update(Group(self._table(), Spinner("dots", Text(f" {self._doing} …"))))

    def _table(self) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in COLUMNS:
            table.add_column(name, justify="left" if name == "verdict" else "right", min_width=8)
        for row in self._rows:
            table.add_row(*row)
        return table


def plan_table(recipe: Recipe, plan: Plan, *, records: int | None) -> None:
    """What every rung would cost, and how noisy counts and check would be: all known without the data."""
    console, domain = Console(highlight=False), recipe.schema.domain
    star = queries(domain, recipe.target, ())
    pairs = len(star) + max(0, len(domain) - 2)
    reach = recipe.marginals(star).statistic.l2_squared * pairs / len(star)
    console.print(
        f"{len(domain)} columns, at most {pairs} pairs measured together, a model of at most "
        f"{_largest_model(recipe):,} cells.\n"
        f"Selection costs Rényi ε = {float(recipe.query.epsilon):g}, every rung below includes it.\n", markup=False
    )  # fmt: skip
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
    _paragraph(console, f"{_noises(recipe, records)} {plan.reason[0].upper()}{plan.reason[1:]}.")


def _paragraph(console: Console, text: str) -> None:
    """The text in lines that end nowhere between a number and its sign."""
    lines = textwrap.fill(tied(text), min(console.width, WIDEST))
    console.print(lines.replace("\N{NO-BREAK SPACE}", " "), markup=False, soft_wrap=True)


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


def _largest_model(recipe: Recipe) -> int:
    """Cells of the largest tree the selection may draw: the maximum spanning tree by size."""
    domain = recipe.schema.domain
    edges = sorted(affordable(domain, recipe.target), key=lambda edge: -domain[edge[0]] * domain[edge[1]])
    component, tree = {name: name for name in domain}, []
    for left, right in edges:
        if component[left] != component[right]:
            tree.append((left, right))
            joined = component[right]
            component = {name: component[left] if part == joined else part for name, part in component.items()}
    place = {name: index for index, name in enumerate(domain)}
    cliques = [tuple(place[name] for name in clique) for clique in queries(domain, recipe.target, tuple(tree))]
    return Junction.of(tuple(domain.values()), cliques).cells
