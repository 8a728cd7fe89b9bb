"""Teaching: what a learner makes of a synthetic table, of which it is shown a bounded number of rows."""

import numpy as np

from expost.noise import Noise
from expost.tabular.model.graphical import Model
from expost.tabular.score import Learner, Lesson, Predictor, Ranker
from expost.tabular.table import Table

MOST_TAUGHT = 200_000
"""Synthetic rows that are learnt from: more take longer and teach nothing more."""


def learn(learner: Learner, table: Table, model: Model, lesson: Lesson, noise: Noise) -> Predictor:
    """What the learner learns of one lesson, from ``MOST_TAUGHT`` rows at most."""
    table = taught(table)
    if lesson.positive is None:
        return learner(table, model, lesson.target, noise)
    assert isinstance(learner, Ranker)  # a recipe with such a lesson has one
    return learner.ranks(table, model, lesson.target, lesson.positive, noise)


def taught(table: Table) -> Table:
    """The rows that are learnt from: all of them, or as many as that takes at even distances."""
    if len(table) <= MOST_TAUGHT:
        return table
    places = np.arange(MOST_TAUGHT, dtype=np.int64) * len(table) // MOST_TAUGHT
    return Table(table.schema, {name: codes[places] for name, codes in table.columns.items()}, table.native)
