"""Scores of one record: what counts as right, on which grid, and that a record is scored by itself."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import one_hot

from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.training.torch.scores import (
    Accuracy,
    BalancedAccuracy,
    MultiLabel,
    OneLogit,
    OwnScore,
    PerToken,
    Score,
    Within,
    on_grid,
)
from tests.unit.examples import ADD, one_sentence

HALF = Fraction(1, 2)
NAN = float("nan")


def tensor(*rows: Any) -> Tensor:
    return torch.tensor(rows)


EXAMPLES: dict[str, tuple[Score, Tensor, Tensor, list[int]]] = {
    "the largest output": (Accuracy(), tensor([2.0, 1.0], [0.0, 3.0], [1.0, 0.0]), tensor(0, 1, 1), [1, 1, 0]),
    "one logit": (OneLogit(), tensor(-1.0, 2.0, 0.5, NAN), tensor(0.0, 1.0, 0.0, 1.0), [1, 1, 0, 0]),
    "one logit in a column": (OneLogit(), tensor([-1.0], [2.0]), tensor(1, 1), [0, 1]),
    "within a tolerance": (Within(0.5), tensor([1.0], [1.0], [NAN]), tensor(1.5, 1.75, 0.0), [1, 0, 0]),
    "every one of several": (Within(0.5), tensor([1.0, 2.0], [1.0, 2.0]), tensor([1.0, 2.0], [1.0, 3.0]), [1, 0]),
    "the share of labels": (
        MultiLabel(), tensor([1.0, -1.0, 1.0], [1.0, 1.0, 1.0]), tensor([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]), [666, 1000],
    ),
    "the share of tokens, paddings apart": (
        PerToken(),
        tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]),
        tensor([0, 0, -100], [-100, -100, -100]),
        [500, 0],
    ),
    "a number of one's own": (
        OwnScore(lambda output, label: float(output[0])), tensor([0.25], [1.5], [-1.0], [NAN]), tensor(0, 0, 0, 0),
        [250, 1000, 0, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("score", "outputs", "labels", "steps"), EXAMPLES.values(), ids=EXAMPLES)
def test_what_a_record_scores(score: Score, outputs: Tensor, labels: Tensor, steps: list[int]) -> None:
    assert score.steps(outputs, labels, HALF).tolist() == steps
    alone = [score.steps(outputs[[place]], labels[[place]], HALF).tolist() for place in range(len(labels))]
    assert alone == [[each] for each in steps]


UNSUITED: list[tuple[Score, Tensor, Tensor]] = [
    (Accuracy(), torch.ones(3, 1), torch.ones(3).long()),
    (Accuracy(), torch.ones(3, 2), torch.ones(3)),
    (Accuracy(), torch.ones(3, 2), torch.ones(3, 2).long()),
    (BalancedAccuracy.of([0.5, 0.5]), torch.ones(3, 3), torch.ones(3).long()),
    (OneLogit(), torch.ones(3, 2), torch.ones(3)),
    (OneLogit(), torch.ones(3, 2), torch.ones(3, 2)),
    (Within(1.0), torch.ones(3, 3), torch.ones(3)),
    (MultiLabel(), torch.ones(3, 2), torch.ones(3, 3)),
    (PerToken(), torch.ones(3, 2, 4), torch.ones(3, 4).long()),
]


@pytest.mark.parametrize(("score", "outputs", "labels"), UNSUITED)
def test_outputs_and_labels_that_do_not_suit_a_score_are_refused_by_their_shape(
    score: Score, outputs: Tensor, labels: Tensor
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        score.steps(outputs, labels, HALF)


@given(steps=st.lists(st.integers(0, 1000), min_size=1, max_size=20))
def test_a_question_counts_just_the_steps_that_were_scored(steps: list[int]) -> None:
    scores = on_grid(np.array(steps), 1000)
    question: CentredSum[Any, Any] = CentredSum(lambda candidate, held: scores, HALF, ADD, 1000)

    assert question.ask(None, steps) == 2 * sum(steps) - 1000 * len(steps)


@given(
    right=st.lists(st.tuples(st.integers(0, 1), st.booleans()), min_size=1, max_size=60),
    threshold=st.sampled_from([Fraction(1, 2), Fraction(4, 5), Fraction(9, 10)]),
)
def test_balanced_scores_reach_the_threshold_just_when_the_weighted_accuracy_does(
    right: list[tuple[int, bool]], threshold: Fraction
) -> None:
    labels = torch.tensor([label for label, _ in right])
    predicted = torch.tensor([label if hit else 1 - label for label, hit in right])
    outputs = one_hot(predicted, 2).float()
    score = BalancedAccuracy.of([0.8, 0.2])

    steps = score.steps(outputs, labels, threshold).tolist()
    margin = sum((each - threshold * score.resolution for each in steps), Fraction(0))
    weights = [Fraction(1, 4) if label == 0 else Fraction(1) for label, _ in right]
    pairs = zip(weights, right, strict=True)
    weighted = sum((weight * (hit - threshold) for weight, (_, hit) in pairs), Fraction(0))

    assert abs(margin - weighted * score.resolution) <= len(right)


def test_a_class_without_a_share_scores_nothing() -> None:
    score = BalancedAccuracy.of([0.5, 0.5])

    assert score.steps(tensor([0.0, 1.0], [0.0, 1.0]), tensor(2, -1), HALF).tolist() == [0, 0]


@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.2], [0.0, 1.0], [1.5, -0.5]])
def test_shares_that_are_none_are_refused(shares: list[float]) -> None:
    with pytest.raises(InvalidValue, match="the shares are not those of at least two classes") as refused:
        BalancedAccuracy.of(shares)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, NAN, float("inf")])
def test_a_tolerance_is_a_number_above_zero(tolerance: float) -> None:
    with pytest.raises(InvalidValue, match="tolerance is") as refused:
        Within(tolerance)

    assert one_sentence(refused.value)
