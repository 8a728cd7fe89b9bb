"""One climb of the ladder on the Adult table: a candidate for each rung, and what it predicts rightly."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from expost import Brownian, Gaussian, Ladder, Odometer, Past, Private
from expost.mechanisms import Estimate
from expost.noise import Floats, Noise
from expost.numerics import up
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.graphical import Measured, Model, fit
from expost.tabular.model.junction import Junction
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Lesson, Sklearn, correct
from expost.tabular.table import Table
from paper.tables.candidates import TARGET, Alone, Making, Parts, Selected, singles


class Climb(TypedDict):
    """How many held-out and test records the candidate of each rung predicts rightly, and how many there are."""

    held: int
    right: list[int]
    test: int
    right_test: list[int]


def climb(parts: Parts, selected: Selected, ladder: Ladder, making: Making, noise: Noise) -> Climb:
    """All rungs, none of them checked: what a check would say does not change what it is asked about."""
    train, asked = parts.train, measured_together(parts.train.schema, selected, making)
    known = _known(train.schema, selected) if making.alone is Alone.KEPT else []
    data, odometer, past = Private(train, asked.neighbours), Odometer(rehearsal=True), Past[Estimate]()
    candidates = list[Candidate]()
    for budget in ladder.budgets:
        past = past.then(odometer.spend(Brownian(Gaussian(asked.statistic)), data, budget, past, noise))
        newest = past.steps[-1].value
        fresh = _measured(train.schema, asked, newest.values, up(1 / newest.precision))
        candidates.append(learn(fitted(train.schema, [*known, *fresh]), train, making, noise))
    return judged(parts, candidates)


def without_noise(train: Table, selected: Selected, making: Making) -> Model:
    """The model of exact marginals: what the ladder can reach at best, and not private."""
    asked = measured_together(train.schema, selected, making)
    exact = asked.statistic.evaluate(train).astype(np.float64)
    return fitted(train.schema, _measured(train.schema, asked, exact, 1.0))


def learn(model: Model, train: Table, making: Making, noise: Noise) -> Candidate:
    """Draw as many rows as there are to train on, and learn from them."""
    schema = train.schema
    rows = Table(schema, dict(zip(schema.names, model.round(len(train), noise), strict=True)))
    predict = Sklearn(making.classifier)(rows, model, TARGET, noise)
    return Candidate(rows, model, {Lesson(TARGET): predict})


def judged(parts: Parts, candidates: Sequence[Candidate]) -> Climb:
    """What each candidate predicts rightly."""
    score = correct(TARGET)
    right, right_test = (
        [int(score(candidate, part).sum()) for candidate in candidates] for part in (parts.held, parts.test)
    )
    return Climb(held=len(parts.held), right=right, test=len(parts.test), right_test=right_test)


def measured_together(schema: Schema, selected: Selected, making: Making) -> Marginals:
    """What the ladder measures: the pairs, and every column alone if it climbs with them."""
    again: tuple[Clique, ...] = singles(schema).cliques if making.alone is Alone.AGAIN else ()
    return Marginals(schema.domain, (*again, *selected.pairs), schema.neighbours)


def fitted(schema: Schema, measured: Sequence[Measured]) -> Model:
    """The model nearest to the marginals."""
    return fit(Junction.of(tuple(schema.domain.values()), [each.clique for each in measured]), measured)


def _known(schema: Schema, selected: Selected) -> list[Measured]:
    return _measured(schema, singles(schema), selected.alone.values, up(selected.alone.variance))


def _measured(schema: Schema, asked: Marginals, values: Floats, variance: float) -> list[Measured]:
    """Noisy marginals as the model takes them: by the places of their columns."""
    place = {name: index for index, name in enumerate(schema.names)}
    apart = asked.apart(values).items()
    return [Measured(tuple(place[name] for name in clique), counts, variance) for clique, counts in apart]
