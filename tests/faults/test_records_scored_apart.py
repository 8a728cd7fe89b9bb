"""Estimators and scores that mix records: one record would move the margin by many times what it is billed for.

Each is refused on made-up records, before the table is opened; the same without the mixing is taken.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from expost import Aim
from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.jobs.synthesis.run import synthesize
from expost.ladder import Ladder
from expost.noise import Floats, Integers, Noise, SeededNoise
from expost.tabular.apart import invented, require_apart
from expost.tabular.model.graphical import Model
from expost.tabular.questions import GuessingGain
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Conditional, Lesson, Predictor, Sklearn, correct
from expost.tabular.table import Table
from tests.unit.examples import ADD, one_sentence
from tests.unit.report.examples import customers, run, schema

SCHEMA = schema()
LADDER = Ladder.geometric(0.02, 2, 3, alpha=20)


class Sorts(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Predicts from the age of a record alone."""

    def fit(self, features: Integers, labels: Integers) -> "Sorts":
        self.classes_ = np.unique(labels)
        return self

    def predict(self, features: Integers) -> Integers:
        return np.asarray(features[:, 1] >= 2, dtype=np.int64)


class Centres(Sorts):
    """Predicts from the age of a record less the mean of those asked about."""

    def predict(self, features: Integers) -> Integers:
        return np.asarray(features[:, 1] >= features[:, 1].mean(), dtype=np.int64)


class Follows(Sorts):
    """Predicts for everybody what it predicts for the first."""

    def predict(self, features: Integers) -> Integers:
        return np.full(len(features), super().predict(features[:1])[0])


class Recalls(Sorts):
    """Predicts for everybody what the last record of the last question was, which the class itself remembers."""

    last = 0

    def predict(self, features: Integers) -> Integers:
        told = np.full(len(features), type(self).last)
        type(self).last = int(super().predict(features[-1:])[0])
        return told


class Tires(Sorts):
    """Predicts the contrary from the second question on, which the fitted object itself remembers."""

    asked = 0

    def predict(self, features: Integers) -> Integers:
        self.asked += 1
        return np.asarray(super().predict(features) ^ (self.asked > 1), dtype=np.int64)


def named(kind: type) -> Sklearn:
    return Sklearn(f"{__name__}.{kind.__name__}")


def counting(table: Table, model: Model, target: str, noise: Noise) -> Predictor:
    """A learner whose predictions change with how often they were asked for."""
    asked: list[int] = []

    def predict(records: Table) -> Integers:
        asked.append(len(records))
        return np.full(len(records), len(asked) % 2)

    return predict


def ranks(candidate: Candidate, records: Table) -> Floats:
    """1 for the half of the records with the higher age."""
    ages = records.codes("age").astype(np.float64)
    return (ages >= np.median(ages)).astype(np.float64) if len(ages) else ages


def dilutes(candidate: Candidate, records: Table) -> Floats:
    """A score that falls with the number of records."""
    return np.full(len(records), 1 / max(1, len(records)))


def draws(candidate: Candidate, records: Table) -> Floats:
    """A score by lot."""
    return np.random.default_rng().random(len(records))


def alone(candidate: Candidate, records: Table) -> Floats:
    """A score of the record's own age."""
    return records.codes("age") / 4


def fails(candidate: Candidate, records: Table) -> Floats:
    raise ValueError(f"no idea what {records.codes('age')} means")


MIXING: dict[str, dict[str, Any]] = {
    "an estimator that centres": {"learner": named(Centres)},
    "an estimator that follows the first": {"learner": named(Follows)},
    "an estimator whose class remembers": {"learner": named(Recalls)},
    "a learner that counts": {"learner": counting},
    "a score that ranks": {"score": ranks},
    "a score that dilutes": {"score": dilutes},
    "a score by lot": {"score": draws},
}
APART: dict[str, dict[str, Any]] = {
    "an estimator of one record": {"learner": named(Sorts)},
    "an estimator that would remember": {"learner": named(Tires)},
    "the model": {"learner": Conditional()},
    "the usual estimator": {"learner": None},
    "a score of one record": {"score": alone},
}


def synthesized(table: object, **changes: Any) -> object:
    usual: dict[str, Any] = {"learner": Conditional(), "ladder": LADDER, "noise": SeededNoise(1), "accuracy": 0.5}
    return synthesize(table, schema=SCHEMA, target="renewed", **(usual | changes))


@pytest.mark.parametrize("how", MIXING)
def test_what_mixes_records_is_refused_before_the_table_is_opened(how: str) -> None:
    """No table is given: opening it would be refused as well, in other words."""
    with pytest.raises(InvalidValue, match="changes with the records scored beside it or before it") as refusal:
        synthesized(None, **MIXING[how])

    assert one_sentence(refusal.value)


WIDE = Schema(
    (Integer("age", tuple(range(40)), Missing.CATEGORY), Boolean("renewed", Missing.FALLBACK)),
    reviewed=True,
    neighbours=ADD,
)


def filled(candidate: Candidate, records: Table) -> Floats:
    """Predicts after the age, where it is missing, was set to the commonest of those asked about."""
    ages = records.codes("age")
    known = ages[ages < 40]
    commonest = np.bincount(known).argmax() if len(known) else 0
    columns = {**records.columns, "age": np.where(ages < 40, ages, commonest)}
    return correct("renewed")(candidate, Table(records.schema, columns))


def old(table: Table, model: Model, target: str, noise: Noise) -> Predictor:
    return lambda records: (records.codes("age") >= 20).astype(np.int64)


def test_a_score_that_fills_gaps_by_what_is_common_is_refused_although_few_records_have_a_gap() -> None:
    """A handful of records has no gap, or no other commonest age; halves of many have both."""
    with pytest.raises(InvalidValue, match="changes with the records scored beside it"):
        synthesize(None, schema=WIDE, target="renewed", accuracy=0.5, ladder=LADDER, learner=old, score=filled)


@pytest.mark.parametrize("how", APART)
def test_what_judges_each_record_by_itself_is_taken(how: str) -> None:
    synthesized(customers(SCHEMA, 600), **APART[how])


def candidate(kind: type) -> Candidate:
    """A released candidate whose predictions are made by an estimator of ours."""
    released = run()[0].outcome.release.value
    predict = named(kind)(released.table, released.model, "renewed", SeededNoise(2))
    return Candidate(released.table, released.model, {Lesson("renewed"): predict})


def of_ages(ages: Integers) -> Table:
    """Records of these ages who all renew."""
    nothing = np.zeros(len(ages), dtype=np.uint8)
    return Table(SCHEMA, {"region": nothing, "age": ages.astype(np.uint8), "plan": nothing, "renewed": nothing + 1})


@pytest.mark.parametrize(("kind", "moved"), [(Follows, 100), (Centres, 100), (Sorts, 1)])
def test_one_record_moves_the_margin_of_a_mixing_estimator_by_a_hundred(kind: type, moved: int) -> None:
    """Why it is refused: the margin is billed for the half record by which one that is added may move it."""
    question = CentredSum.accuracy(correct("renewed"), 0.5, ADD)
    others, judge = np.full(100, 1 if kind is Centres else 2), candidate(kind)

    margins = [
        question.ask(judge, of_ages(np.concatenate([first, others]).astype(np.int64)))
        for first in (np.array([3 if kind is Centres else 0]), np.array([], dtype=np.int64))
    ]

    least = (moved - 1) * question.unit
    assert abs(margins[0] - margins[1]) >= least
    assert (abs(margins[0] - margins[1]) > question.sensitivity) is (kind is not Sorts)


@pytest.mark.parametrize("kind", [Centres, Follows])
def test_a_released_candidate_is_tried_again_with_what_it_learnt(kind: type) -> None:
    with pytest.raises(InvalidValue):
        require_apart(correct("renewed"), candidate(kind))


def test_an_estimator_keeps_nothing_of_what_it_judged() -> None:
    judge, records = candidate(Tires), invented(SCHEMA, 40)

    first, second = judge.predict(records), judge.predict(records)

    assert first.tolist() == second.tolist()


def test_a_score_that_fails_on_made_up_records_is_refused_without_quoting_them() -> None:
    with pytest.raises(InvalidValue, match="fails on made-up records") as refusal:
        synthesized(None, score=fails)

    assert one_sentence(refusal.value)
    assert refusal.value.__cause__ is None


class Uncopied(Sorts):
    """An estimator that cannot be copied."""

    def __deepcopy__(self, memo: object) -> "Uncopied":
        raise TypeError("no copies")


def test_an_estimator_that_cannot_be_copied_is_refused() -> None:
    with pytest.raises(InvalidValue, match="cannot be copied") as refusal:
        synthesized(None, learner=named(Uncopied))

    assert one_sentence(refusal.value)


@pytest.mark.parametrize("count", [1, 12, 240])
def test_made_up_records_fit_the_schema(count: int) -> None:
    made = invented(SCHEMA, count)

    assert len(made) == count
    assert all(len(np.unique(made.codes(name))) == min(count, size) for name, size in SCHEMA.domain.items())


class ColumnOfCodes:
    """A learner whose predictions are a column, as those of some libraries are, and not a row."""

    def __call__(self, table: Table, model: Model, target: str, noise: Noise) -> Predictor:
        return lambda records: np.zeros((len(records), 1), dtype=np.int64)

    def ranks(self, table: Table, model: Model, target: str, positive: int, noise: Noise) -> Predictor:
        return self(table, model, target, noise)


@pytest.mark.parametrize(
    "aim",
    [
        Aim.above_guessing("renewed", 0.1),
        Aim.balanced_accuracy("renewed", 0.6),
        Aim.auc("renewed", 0.6),
        Aim.accuracy("renewed", 0.8),
    ],
    ids=lambda aim: aim.measure.name,
)
def test_predictions_in_a_column_are_refused_before_the_table_is_opened(aim: Aim) -> None:
    """Compared with a row they are a square, so that each record counted as often as there are records."""
    with pytest.raises(InvalidValue, match="one number for each"):
        synthesize("nowhere.csv", schema=SCHEMA, aims=[aim], learner=ColumnOfCodes(), noise=SeededNoise(1))


def test_a_column_that_comes_too_late_for_that_counts_no_record_twice() -> None:
    records, made = invented(SCHEMA, 30), candidate(Sorts)
    learnt = {Lesson("renewed"): ColumnOfCodes()(records, made.model, "renewed", SeededNoise(1))}
    counts = {"renewed": (np.array([20.0, 10.0]), 1.0)}

    with pytest.raises(InvalidValue, match="one number for each"):
        GuessingGain("renewed", Fraction(1, 10), ADD).ask(replace(made, learnt=learnt, counts=counts), records)
