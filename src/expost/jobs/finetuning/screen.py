"""What fine-tuning shows in the terminal: one line per release, and the plan of the releases."""

from collections.abc import Sequence
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from expost.jobs.finetuning.centred import ALPHA, CentredRecipe
from expost.jobs.finetuning.methods import GradientSteps
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.jobs.finetuning.wanted import Wanted
from expost.numerics import up
from expost.report.answers import Reading
from expost.report.digits import plain, price, small
from expost.report.units import by_unit
from expost.terminal.screen import VERDICTS, answer_cell, look_cells, look_heads, look_words, paragraph, reach_words
from expost.terminal.steady import spelled
from expost.training.head.full_batch import multiplier
from expost.training.schedule import epoch


def columns(*, shares: bool) -> tuple[str, ...]:
    """The heads; the number of records must be public for the margin to be told as an accuracy."""
    return "release", "steps", "ε so far", "noisy accuracy" if shares else "noisy margin", "verdict"


def release_cells(
    rung: Reading, steps: int, width: float, asked: Fraction | None, neighbours: str
) -> tuple[str, str, str, str]:
    """A release that is done: its steps, its price, its noisy answer with ``width`` standard errors, its verdict."""
    return f"{steps:,}", price(rung.epsilon), answer_cell(rung, width, asked, neighbours), VERDICTS[rung.passed]


def training_plan(recipe: Wanted, why: str) -> None:
    """What every release would cost, and how noisy training and check would be: all known without the data."""
    console = Console(highlight=False)
    paragraph(console, f"{by_unit(why, recipe.neighbours.value)} {_noise(recipe)}")
    console.print()
    table = Table(box=None, header_style="bold", pad_edge=False)
    held = None if recipe.records is None else float(recipe.records * recipe.validation)
    for name in ["release", "steps", f"ε at\nδ = {small(recipe.delta)}", *look_heads(held)]:
        table.add_column(spelled(name, console.encoding), justify="right", min_width=8)
    plan, target = plan_training(recipe), recipe.target.threshold
    rows = zip(recipe.taken, plan.epsilons, recipe.looks(), strict=True)
    for place, (taken, epsilon, look) in enumerate(rows, 1):
        asked = look_cells(look, target, held, public=not recipe.held)
        table.add_row(str(place), f"{taken:,}", price(epsilon), *asked)
    console.print(table)
    console.print()
    if hopeless := reach_words(recipe.looks(), target, held, recipe.neighbours.value):
        paragraph(console, hopeless)
        console.print()
    asked_for = f"an accuracy of {plain(float(target))}"
    explained = look_words(
        asked_for,
        recipe.assurance,
        share=recipe.held,
        records=recipe.records,
        rung="release",
        neighbours=recipe.neighbours.value,
    )
    paragraph(console, f"{explained} {plan.reason[0].upper()}{plan.reason[1:]}.")


def _noise(recipe: Wanted) -> str:
    """How noisy the steps are, or the moments."""
    about = recipe.neighbours.value
    if isinstance(recipe, HeadRecipe):
        steps = epoch(recipe.rate)
        return (
            f"{by_unit('A record', about)} joins a step by chance {recipe.rate}; an epoch is {steps:,} "
            f"step{'s' if steps > 1 else ''}. Each step adds noise of {up(recipe.descent.noise_multiplier):.4g} times "
            "the clipping norm to the sum of gradients."
        )
    assert isinstance(recipe, CentredRecipe)  # there are no others
    if isinstance(recipe.method, GradientSteps):
        noise = [multiplier(rung.budget.rho, recipe.method.per_release) for rung in recipe.releases.rungs]
        return f"Each step adds noise of {_falling(noise)} times the clipping norm to the sum of gradients."
    noise = [multiplier(level / ALPHA, 1) for level in recipe.releases.levels]
    one = by_unit("one record", about)
    return f"The moments of a release have noise of {_falling(noise)} times what {one} adds to them at most."


def _falling(noise: Sequence[Fraction]) -> str:
    """The first, and the last where there are others."""
    return f"{up(noise[0]):.4g}" + (f", falling to {up(noise[-1]):.4g}," if len(noise) > 1 else "")
