"""Scores: what was learnt from a synthetic table judges any records, few or none, and never fails because of them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from expost.errors import InvalidValue
from expost.noise import Floats, Integers, SeededNoise
from expost.tabular.model.graphical import Measured, Model, fit
from expost.tabular.model.junction import Junction
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Conditional, Learner, Lesson, Predictor, Sklearn, correct
from expost.tabular.table import Table
from tests.unit.examples import ADD, one_sentence

SCHEMA = Schema(
    (Integer("a", (0, 1, 2), Missing.FALLBACK), Boolean("y", Missing.FALLBACK), Boolean("b", Missing.FALLBACK)),
    True,
    ADD,
)
COUNTS: Floats = np.array([[30.0, 2.0], [5.0, 40.0], [10.0, 9.0]])
TREE = "sklearn.tree.DecisionTreeClassifier"
LEARNERS: dict[str, Learner] = {"model": Conditional(), "tree": Sklearn(TREE), "usual": Sklearn()}


def table(a: Integers, y: Integers) -> Table:
    """Records of these codes; the third column follows the first."""
    columns = {"a": a, "y": y, "b": a % 2}
    return Table(SCHEMA, {name: codes.astype(np.uint8) for name, codes in columns.items()})


def rows(count: int = 60) -> Table:
    """Records whose target is 1 just where the first column is 1."""
    place = np.arange(count)
    return table(place % 3, (place % 3 == 1).astype(np.int64))


def model() -> Model:
    """A model in which the target follows the first column."""
    junction = Junction.of((3, 2, 2), [(0, 1), (0, 2)])
    return fit(junction, [Measured((0, 1), COUNTS, 1.0)])


def learnt(learner: Learner, source: Table | None = None) -> Predictor:
    """What a learner makes of the records."""
    return learner(rows() if source is None else source, model(), "y", SeededNoise(3))


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_pattern_is_learnt(learner: Learner) -> None:
    new = table(np.array([0, 1]), np.array([0, 0]))

    assert learnt(learner)(new).tolist() == [0, 1]


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_the_records_own_target_is_not_looked_at(learner: Learner) -> None:
    predict, place = learnt(learner), np.arange(9) % 3

    first, second = (predict(table(place, np.full(9, code))).tolist() for code in (0, 1))

    assert first == second


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_the_prediction_for_a_record_does_not_depend_on_the_others(learner: Learner) -> None:
    predict = learnt(learner)

    together = predict(rows(6))
    alone = [int(predict(rows(6)[np.arange(6) == place])[0]) for place in range(6)]

    assert together.tolist() == alone


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_no_records_have_no_predictions(learner: Learner) -> None:
    """A part of the split may be empty, and a failure would tell."""
    assert learnt(learner)(rows(0)).shape == (0,)


BAYES = Sklearn("sklearn.naive_bayes.CategoricalNB")


def test_a_classifier_that_fails_on_a_code_no_synthetic_row_has_is_refused_before_a_record_is_seen() -> None:
    lacking = table(np.arange(60) % 2, np.arange(60) // 2 % 2)

    with pytest.raises(InvalidValue) as refusal:
        learnt(BAYES, lacking)

    assert one_sentence(refusal.value)
    assert "CategoricalNB" in str(refusal.value)


def test_the_same_classifier_is_taken_where_every_code_is_among_the_synthetic_rows() -> None:
    assert learnt(BAYES)(table(np.array([0, 1]), np.array([0, 0]))).tolist() == [0, 1]


class Picky(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Predicts 1 for everybody, but fails as a whole where both columns are 1, which no invented record has."""

    def fit(self, features: Integers, labels: Integers) -> "Picky":
        return self

    def predict(self, features: Integers) -> Integers:
        if (features == 1).all(axis=1).any():
            raise ValueError(f"cannot predict for {features.tolist()}")
        return np.ones(len(features), dtype=np.int64)


class Short(Picky):
    """The same, but leaves those records out of its answer."""

    def predict(self, features: Integers) -> Integers:
        return np.ones(np.count_nonzero(~(features == 1).all(axis=1)), dtype=np.int64)


@pytest.mark.parametrize("kind", [Picky, Short])
def test_a_record_that_a_classifier_fails_on_is_wrong_and_the_others_are_scored_as_ever(kind: type) -> None:
    """In every third record both columns are 1."""
    predict = learnt(Sklearn(f"{__name__}.{kind.__name__}"))
    records = table(np.arange(9) % 3, np.ones(9, dtype=np.int64))

    scores = correct("y", tolerance=1000)(Candidate(rows(), model(), {Lesson("y"): predict}), records)

    assert scores.tolist() == [1, 0, 1] * 3


@pytest.mark.parametrize("count", [1, 2, 30])
def test_a_single_class_is_predicted_as_itself(count: int) -> None:
    only = table(np.arange(count) % 3, np.ones(count, dtype=np.int64))

    assert learnt(Sklearn(), only)(rows(4)).tolist() == [1, 1, 1, 1]


def test_a_class_with_a_single_row_among_very_many_is_learnt_from() -> None:
    """From 10,001 rows on the usual classifier stops early, and would divide each class in two."""
    place = np.arange(10_001)

    predict = learnt(Sklearn(), table(place % 3, (place == 0).astype(np.int64)))

    assert predict(rows(3)).tolist() == [0, 0, 0]


def test_a_seed_repeats_what_is_learnt() -> None:
    forest = Sklearn("sklearn.ensemble.ExtraTreesClassifier")
    noisy = table(np.arange(90) % 3, np.arange(90) * 7 // 5 % 2)

    assert learnt(forest, noisy)(rows()).tolist() == learnt(forest, noisy)(rows()).tolist()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "nothing",
        "no.such.module",
        "sklearn.tree.NoSuchTree",
        "sklearn.preprocessing.StandardScaler",
        "os.path.join",
        "..relative.Classifier",
        "sklearn.ensemble.VotingClassifier",
    ],
)
def test_what_is_no_classifier_that_can_be_made_is_refused_beforehand(path: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        Sklearn(path)

    assert one_sentence(refusal.value)


def always(code: int) -> Candidate:
    """A candidate that predicts one code of the first column for everybody."""
    return Candidate(rows(), model(), {Lesson("a"): lambda records: np.full(len(records), code, dtype=np.int64)})


def test_a_record_that_is_predicted_scores_one_and_another_zero() -> None:
    assert correct("a")(always(1), rows(6)).tolist() == [0, 1, 0, 0, 1, 0]


def test_a_tolerance_forgives_near_misses() -> None:
    assert correct("a", tolerance=1)(always(0), rows(6)).tolist() == [1, 1, 0, 1, 1, 0]


def test_codes_below_the_prediction_do_not_wrap_around() -> None:
    assert correct("a")(always(2), rows(3)).tolist() == [0, 0, 1]


def test_no_records_score_nothing() -> None:
    assert correct("a")(always(1), rows(0)).shape == (0,)


def test_a_tolerance_below_zero_is_refused() -> None:
    with pytest.raises(InvalidValue) as refusal:
        correct("a", tolerance=-1)

    assert one_sentence(refusal.value)


def test_the_models_conditional_is_the_likeliest_code() -> None:
    new = table(np.array([0, 1, 2]), np.array([1, 0, 1]))

    assert learnt(Conditional())(new).tolist() == COUNTS.argmax(axis=1).tolist()
