"""Where checks stop a climb, on recorded counts, and what is billed there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypedDict, final

import numpy as np

from expost import Brownian, FixedOrder, Gaussian, Ladder, PlannedStops, Promise, Spent, planned_stops
from expost.accounting.claim import NOTHING
from expost.datasets import adult
from expost.noise import Noise
from expost.tabular.marginals import Marginals
from expost.tabular.selection import queries
from expost.tabular.table import Table
from paper.tables.candidates import TARGET, Making, shares, singles, tree
from paper.tables.climb import Climb
from paper.tables.search import Asked, Search


class Run(TypedDict):
    """One climb, and how many candidates each check failed before one passed, for many draws of the check's noise.

    As many as it was asked about, if none passed.
    """

    climb: Climb
    stops: dict[str, list[int]]


@final
@dataclass(frozen=True)
class Costs:
    """What the selection promises, and a mechanism that costs on every rung what the climb's does."""

    prior: Promise
    mechanism: Brownian[Table]

    @classmethod
    def of(cls, search: Search, making: Making) -> "Costs":
        """From the schema alone, for the fewest pairs that may be selected, whose profile is the widest."""
        schema = adult.adult_schema()
        first, second = shares(search.budget(search.query), making)
        blank = {name: np.zeros(size) for name, size in schema.domain.items()}
        star = Marginals(schema.domain, queries(schema.domain, (TARGET,), ()), schema.neighbours)
        prior = Gaussian(singles(schema).statistic).promise(first) + tree(schema, blank).promise(second)
        return cls(prior, Brownian(Gaussian(star.statistic)))

    def trained(self, ladder: Ladder) -> list[Spent]:
        """What the training part has spent after each rung."""
        steps = (self.mechanism.promise(budget).as_spent() for budget in ladder.budgets)
        return list(accumulate(steps, initial=self.prior.as_spent()))[1:]


def stop(asked: Asked, climb: Climb, trained: Sequence[Spent], noise: Noise) -> int:
    """The rung at which the check passes, from 0; the number of looks if it does not pass at any."""
    answers, spent, held = asked.check.begin(), NOTHING.as_spent(), range(climb["held"])
    for index, right in enumerate(climb["right"][: asked.looks]):
        price = asked.check.price(index, trained[index], spent)
        if answers.answer(index, price, held, right, noise).passed:
            return index
        spent = spent + price.failed.as_spent()
    return asked.looks


def checked(search: Search, climb: Climb, making: Making, noise: Noise, *, names: Sequence[str], draws: int) -> Run:
    """Where the named checks stop the climb, for many draws of their noise; the first is the repeat's own."""
    trained, checks = Costs.of(search, making).trained(search.ladder), search.checks(climb["held"])
    stops = {name: [stop(checks[name], climb, trained, noise) for _ in range(draws)] for name in names}
    return Run(climb=climb, stops=stops)


def bills(search: Search, making: Making, asked: Asked) -> tuple[list[float], list[float]]:
    """The ε of a stop at each rung: by the paper's conversion at its one order, and by our planned stops."""
    costs, ladder = Costs.of(search, making), replace(search.ladder, asked=tuple(range(asked.looks)))
    stops = planned_stops(costs.mechanism, ladder, asked.check, prior=costs.prior)
    fixed, planned = FixedOrder.at(search.alpha, search.delta), PlannedStops(stops, search.delta)
    return [fixed.probabilistic(each) for each in stops], [planned.epsilon(each) for each in stops]
