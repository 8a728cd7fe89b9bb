"""Scores: how well a synthetic table teaches to predict the target on records it has never seen."""

import copy
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from expost.errors import InvalidValue
from expost.noise import Floats, Integers, Noise
from expost.tabular.fitted import FAILED, FittedClassifier, features_of, one_thread, told_by
from expost.tabular.model.footprint import TRIED_AT_ONCE
from expost.tabular.model.graphical import Model
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

Predictor: TypeAlias = Callable[[Table], Integers]

STEPS, FARTHEST, LARGEST = 2**20, 64.0, 2.0**32
"""Steps to 1 of a rank, how far log odds count, and what stands for infinite ones."""


@final
class Lesson(NamedTuple):
    """Something to learn from a synthetic table: the codes of a target or, of one of them, how likely it is."""

    target: str
    positive: int | None = None


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """A synthetic table, the model it was drawn from, what was learnt from it, and what else is known by then.

    ``counts`` are those of each target, released, and their standard error; ``held`` is about how many records judge.
    """

    table: Table
    model: Model
    learnt: Mapping[Lesson, Predictor]
    counts: Mapping[str, tuple[Floats, float]] = field(default_factory=dict)
    held: float = 0.0

    def told(self, lesson: Lesson, records: Table) -> Integers:
        """What was learnt of a lesson says of each record, refused unless it is one number for each of them."""
        found = np.asarray(self.learnt[lesson](records))
        if found.shape != (len(records),):  # a column would be compared with every record at once
            raise InvalidValue("what a learner returns must give a table of records one number for each of them.")
        return found

    def predict(self, records: Table) -> Integers:
        """The code that is predicted for each record, of the first target."""
        return next(iter(self.learnt.values()))(records)


Score: TypeAlias = Callable[[Candidate, Table], Floats]
"""A number for each record, from the candidate and that record alone."""


class Learner(Protocol):
    """Learns to predict the target from a synthetic table; sees released values only."""

    def __call__(self, table: Table, model: Model, target: str, noise: Noise) -> Predictor:
        """What predicts the target's code for each record of a table."""
        ...


@runtime_checkable
class Ranker(Protocol):
    """A learner that can also order records by how likely a value of the target is, as an area under a curve needs."""

    def ranks(self, table: Table, model: Model, target: str, positive: int, noise: Noise) -> Predictor:
        """What gives each record of a table an integer, the larger the likelier the positive code."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Sklearn:
    """Any scikit-learn classifier, fitted to the codes of the synthetic rows."""

    path: str = "sklearn.ensemble.HistGradientBoostingClassifier"

    def __post_init__(self) -> None:
        self._made()

    def __call__(self, table: Table, model: Model, target: str, noise: Noise) -> Predictor:
        """Fit the classifier; one class only is predicted as itself."""
        labels = table.codes(target).astype(np.int64)
        if len(np.unique(labels)) < 2:
            only = int(labels[0]) if len(labels) else 0
            return lambda records: np.full(len(records), only, dtype=np.int64)
        return self._learnt(table, target, _codes_of, noise)

    def ranks(self, table: Table, model: Model, target: str, positive: int, noise: Noise) -> Predictor:
        """Fit the classifier; its probability of the value, in integer steps."""
        if not hasattr(self._made(), "predict_proba"):
            raise InvalidValue(f"the estimator {self.path} has no probabilities to rank by; name one that has.")
        present = np.unique(table.codes(target).astype(np.int64))
        if len(present) < 2 or positive not in present:
            return lambda records: np.zeros(len(records), dtype=np.int64)
        place = int(np.searchsorted(present, positive))
        return self._learnt(table, target, partial(_ranks_of, place), noise)

    def _learnt(self, table: Table, target: str, told: Callable[[Any, Integers], Integers], noise: Noise) -> Predictor:
        """Fit the classifier, and what it tells of each record by itself."""
        labels, made = table.codes(target).astype(np.int64), self._made()
        wanted: dict[str, object] = {"random_state": noise.below(2**31)}
        if np.unique(labels, return_counts=True)[1].min() < 10:
            wanted["early_stopping"] = False  # it would hold out rows of each class, of which there may be one only
        made.set_params(**{name: value for name, value in wanted.items() if name in made.get_params()})
        with one_thread():
            fitted = made.fit(features_of(table, target), labels)
            self._tried(fitted, told, _every_code(table.schema, target))
        return FittedClassifier(fitted, told, target)

    def _tried(self, fitted: Any, told: Callable[[Any, Integers], Integers], features: Iterable[Integers]) -> None:
        """Refuse a classifier that fails on a code which the synthetic rows happen to lack, before a record is seen."""
        try:
            copy.deepcopy(fitted)
        except Exception:  # noqa: BLE001  whatever it is, it would happen with private records open
            raise InvalidValue(
                f"the estimator {self.path} cannot be copied once it is fitted, so it might remember records; "
                "name one that copy.deepcopy takes."
            ) from None
        if any((told_by(fitted, told, each) == FAILED).any() for each in features):
            raise InvalidValue(
                f"the estimator {self.path} fails on values that no synthetic row has; name one that takes any "
                "value, such as sklearn.ensemble.HistGradientBoostingClassifier."
            )

    def _made(self) -> Any:
        """A fresh classifier of the named class."""
        module, _, name = self.path.rpartition(".")
        try:
            made = getattr(importlib.import_module(module), name)()
            # imported here because it takes a second, which only those who train need to wait
            classifies = hasattr(made, "get_params") and importlib.import_module("sklearn.base").is_classifier(made)
        except (ImportError, ValueError, AttributeError, TypeError):
            raise InvalidValue(f"the estimator {self.path} cannot be made; give a classifier's path.") from None
        if not classifies:
            raise InvalidValue(f"the estimator {self.path} is not a classifier; name one of scikit-learn's.")
        return made


@final
@dataclass(frozen=True, slots=True)
class Conditional:
    """The fitted graphical model's own conditional of the target: nothing to train."""

    def __call__(self, table: Table, model: Model, target: str, noise: Noise) -> Predictor:
        """The likeliest code given the others."""
        place = table.schema.names.index(target)

        def predict(records: Table) -> Integers:
            codes = [records.codes(name) for name in records.schema.names]
            # Not the probabilities: exponentials and their sums may settle a tie by who else is asked about.
            return np.asarray(model.log_odds(place, codes).argmax(axis=1), dtype=np.int64)

        return predict

    def ranks(self, table: Table, model: Model, target: str, positive: int, noise: Noise) -> Predictor:
        """How far the value's odds lie above those of the likeliest other one, in integer steps."""
        place = table.schema.names.index(target)

        def rank(records: Table) -> Integers:
            odds = np.maximum(model.log_odds(place, [records.codes(name) for name in records.schema.names]), -LARGEST)
            others = np.delete(odds, positive, axis=1).max(axis=1)
            return _steps(np.clip(odds[:, positive] - others, -FARTHEST, FARTHEST))

        return rank


def correct(target: str, tolerance: int = 0) -> Score:
    """The score 1 for a record whose code is predicted, give or take ``tolerance`` codes, and 0 for another."""
    if tolerance < 0:
        raise InvalidValue(f"tolerance is {tolerance}; it must be at least 0.")

    def score(candidate: Candidate, records: Table) -> Floats:
        missed = np.abs(candidate.told(Lesson(target), records) - records.codes(target).astype(np.int64))
        return (missed <= tolerance).astype(np.float64)

    return score


def _codes_of(fitted: Any, features: Integers) -> Integers:
    return np.asarray(fitted.predict(features), dtype=np.int64)


def _ranks_of(place: int, fitted: Any, features: Integers) -> Integers:
    """The probability of one class in steps, coarse enough that rounding in the last digits rarely shows."""
    return _steps(np.asarray(fitted.predict_proba(features), dtype=np.float64)[:, place])


def _steps(values: Floats) -> Integers:
    return np.asarray(np.rint(values * STEPS), dtype=np.int64)


def _every_code(schema: Schema, target: str) -> Iterator[Integers]:
    """Invented records that have each code of each column once, the other columns at their first; some at a time."""
    sizes = [size for name, size in schema.domain.items() if name != target]
    each = np.column_stack([np.repeat(np.arange(len(sizes)), sizes), np.concatenate([*map(np.arange, sizes)])])
    for some in np.array_split(each, -(-len(each) * len(sizes) // TRIED_AT_ONCE)):
        block = np.zeros((len(some), len(sizes)), dtype=np.int64)
        block[np.arange(len(some)), some[:, 0]] = some[:, 1]
        yield block
