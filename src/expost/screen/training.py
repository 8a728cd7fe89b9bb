"""What fine-tuning shows in the terminal: a release a line, and the plan of the releases."""

from rich.console import Console
from rich.table import Table

from expost.numerics import up
from expost.report.digits import margin, price, small
from expost.report.facts import Rung
from expost.screen.live import NORMAL_95, VERDICTS, paragraph
from expost.training.finetune import Recipe, check_noise, planned
from expost.training.schedule import epoch


def columns(*, shares: bool) -> tuple[str, ...]:
    """The heads; the number of records must be public for the margin to be told as an accuracy."""
    return "release", "steps", "ε so far", "noisy accuracy" if shares else "noisy margin", "verdict"


def cells(steps: int, rung: Rung) -> tuple[str, str, str, str]:
    """A release that is done: its steps, its price, its noisy margin and its verdict."""
    verdict, answer = rung.line.verdict, "—"
    if rung.accuracy is not None and rung.error is not None:
        answer = f"{rung.accuracy:.3f} ± {NORMAL_95 * rung.error:.3f}"
    elif verdict is not None and verdict.margin is not None and verdict.std is not None:
        answer = f"{margin(verdict.margin, verdict.std)} records"
    return f"{steps:,}", price(rung.epsilon), answer, VERDICTS[rung.passed]


def plan_table(recipe: Recipe, *, records: int | None) -> None:
    """What every release would cost, and how noisy training and check would be: all known without the data."""
    console, steps = Console(highlight=False), epoch(recipe.rate)
    console.print(
        f"A record joins a step by chance {recipe.rate}; an epoch is {steps:,} step{'s' if steps > 1 else ''}.\n"
        f"Each step adds noise of {up(recipe.descent.noise_multiplier):.4g} times the clipping norm to the sum of "
        "gradients.\n",
        markup=False,
        soft_wrap=True,
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    heads = ["release", "steps", f"ε at\nδ = {small(recipe.delta)}", "noise of\nthe check"]
    for name in [*heads, *(["± in the\naccuracy"] if records and recipe.held else [])]:
        table.add_column(name, justify="right", min_width=8)
    plan, noises = planned(recipe), check_noise(recipe)
    for place, (taken, epsilon, noise) in enumerate(zip(recipe.schedule.steps, plan.epsilons, noises, strict=True), 1):
        unasked = "not asked" if recipe.held else "none"
        asked = [unasked if noise is None else f"{noise:.1f}"]
        if records and recipe.held:
            asked.append("—" if noise is None else f"{NORMAL_95 * noise / (records * float(recipe.held)):.4f}")
        table.add_row(str(place), f"{taken:,}", price(epsilon), *asked)
    console.print(table)
    console.print()
    paragraph(console, f"{_noises(recipe, records)} {plan.reason[0].upper()}{plan.reason[1:]}.")


def _noises(recipe: Recipe, records: int | None) -> str:
    """What the columns of noise mean."""
    asked = f"{float(recipe.target.threshold):g}"
    if not recipe.held:
        return f"Accuracy to reach: {asked}. The check is on public records, without noise."
    said = f"The noise of the check is a standard deviation, in records; accuracy to reach: {asked}."
    share = f"{float(recipe.held):g}"
    if records is None:
        return f"{said} A share of {share} is held out for it: with --records its noise is told as accuracy."
    return f"{said} ± is its 95 % range where a share of {share} of about {records:,} records is held out for it."
