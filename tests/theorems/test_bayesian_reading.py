"""What ε means for a guesser.

The posterior odds of X against X' are the prior odds times e^L. So a pure claim bounds the posterior outright, and an
ex-post RDP claim bounds it with probability 1−δ after adding ln(1/δ)/(α−1); without the offset it does not. Under
(ε, δ)-DP no attack with false positive rate f has a true positive rate above min(e^ε f + δ, 1 − e^{−ε}(1−δ−f)).
"""

import math
from collections.abc import Callable
from itertools import product

import pytest

from expost.accounting.convert import lemma_7_offset
from expost.accounting.odds import posterior, true_positive_rate
from expost.errors import InvalidValue

TABLE = [(0.1, 0.5, 0.4), (0.2, 0.3, 0.35), (0.1, 0.2, 0.25)]
"""ε, P under X, P under X': 2-ex-post RDP, not pure."""


def bayes(prior: float, p: float, q: float) -> float:
    return prior * p / (prior * p + (1 - prior) * q)


@pytest.mark.parametrize("prior", [1e-9, 0.01, 0.5, 0.99])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 30.0])
def test_randomised_response_attains_the_posterior_bound(prior: float, epsilon: float) -> None:
    yes = math.exp(epsilon) / (1 + math.exp(epsilon))

    attained = bayes(prior, yes, 1 / (1 + math.exp(epsilon)))

    assert attained * (1 - 1e-15) <= posterior(prior, epsilon)
    assert posterior(prior, epsilon) == pytest.approx(attained, rel=1e-12)


def test_the_posterior_exceeds_the_bound_with_probability_delta_at_most() -> None:
    assert math.fsum(p * p / q * math.exp(-e) for e, p, q in TABLE) <= 1
    for delta in (0.05, 0.2, 0.5, 0.8):
        offset = lemma_7_offset(2, delta)
        exceeded = math.fsum(p for e, p, q in TABLE if bayes(0.3, p, q) > posterior(0.3, e + offset))
        assert exceeded <= delta


def test_the_returned_epsilon_alone_does_not_bound_the_posterior() -> None:
    exceeded = math.fsum(p for e, p, q in TABLE if bayes(0.3, p, q) > posterior(0.3, e))

    assert exceeded == 0.5


def test_on_average_the_log_odds_move_by_the_returned_epsilon_at_most() -> None:
    gained = math.fsum(p * math.log(p / q) for _, p, q in TABLE)

    assert gained <= math.fsum(p * e for e, p, _ in TABLE)


def dominating_pair(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """The worst (ε, δ)-DP pair: randomised response that tells all with probability δ."""
    yes = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    no = (1 - delta) / (1 + math.exp(epsilon))
    return [(delta, 0.0), (yes, no), (no, yes), (0.0, delta)]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 1e-5), (0.0, 0.3)])
def test_no_attack_on_the_worst_pair_beats_the_rate_and_the_best_attains_it(epsilon: float, delta: float) -> None:
    pair = dominating_pair(epsilon, delta)

    for accept in product((0, 0.5, 1), repeat=4):
        hit = math.fsum(a * p for a, (p, _) in zip(accept, pair, strict=True))
        alarm = min(1.0, math.fsum(a * q for a, (_, q) in zip(accept, pair, strict=True)))
        assert hit <= true_positive_rate(alarm, epsilon, delta) + 1e-15
    corner = pair[1][1]
    assert true_positive_rate(corner, epsilon, delta) == pytest.approx(delta + pair[1][0], rel=1e-12)


def test_a_rate_without_delta_is_beaten() -> None:
    pair = dominating_pair(1.0, 0.01)

    assert pair[0][0] + pair[1][0] > true_positive_rate(pair[1][1], 1.0, 0.0)


def test_the_rate_is_a_probability() -> None:
    assert true_positive_rate(0.0, 1.0, 0.0) == 0
    assert true_positive_rate(1.0, 1.0, 0.1) == 1
    assert true_positive_rate(1e-3, 1e4, 0.0) == 1
    assert true_positive_rate(0.2, 0.0, 0.0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: posterior(0, 1),
        lambda: posterior(1, 1),
        lambda: posterior(math.nan, 1),
        lambda: posterior(0.5, -1),
        lambda: posterior(0.5, math.inf),
        lambda: true_positive_rate(-0.1, 1, 0.1),
        lambda: true_positive_rate(0.1, math.nan, 0.1),
        lambda: true_positive_rate(0.1, 1, 1.1),
    ],
)
def test_what_is_not_a_bound_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(InvalidValue):
        refused()
