"""A recipe on a short ladder, and a synthesis by it."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from expost.jobs.synthesis.procedure import Synthesis, synthesise
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.noise import SeededNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.tabular.aims import Aim
from expost.tabular.measures import MeanScore
from expost.tabular.score import Conditional, Score
from expost.tabular.table import Table
from tests.unit.report.examples import customers, schema

LADDER = Ladder.geometric(0.02, 2, 3, alpha=20)
RECIPE = TableRecipe(
    schema=schema(), aims=(Aim.accuracy("renewed", Fraction(4, 5)),), ladder=LADDER, learner=Conditional(), rows=500
)


def hard(recipe: TableRecipe = RECIPE) -> TableRecipe:
    """The recipe, with an accuracy that no table reaches."""
    return replace(recipe, aims=(Aim.accuracy("renewed", Fraction(99, 100)),))


def scored(score: Score, recipe: TableRecipe = RECIPE) -> TableRecipe:
    """The recipe, with a score of its own."""
    return replace(recipe, aims=(Aim(MeanScore(score), "renewed", Fraction(4, 5)),))


GROWING = replace(hard(), ladder=Ladder.of([1, 20], alpha=20))
"""A recipe that ends with so little noise that another pair is worth measuring."""


def parts(recipe: TableRecipe, seed: int = 1) -> Split[Table]:
    """Customers, divided by coins."""
    form = recipe.schema
    return split(Private(customers(form), form.neighbours), recipe.validation, SeededNoise(seed))


def done(recipe: TableRecipe = RECIPE, ledger: MemoryLedger | None = None, seed: int = 1, **extra: Any) -> Synthesis:
    """A rehearsal of the recipe."""
    chosen, noise = plan_synthesis(recipe), SeededNoise(seed)
    odometer = Odometer(pledge=chosen.pledge, ledger=ledger, rehearsal=True)
    return synthesise(parts(recipe, seed), recipe, chosen, odometer=odometer, noise=noise, **extra)
