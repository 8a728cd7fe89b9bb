"""What a bound means for somebody who guesses: posterior probabilities and the power of an attack."""

import math

from scipy.special import ndtr, ndtri

from expost.accounting.convert import raised
from expost.errors import InvalidValue
from expost.numerics import Real, non_negative, probability


def posterior(prior: float, epsilon: Real) -> float:
    """The largest posterior probability of a guess held with ``prior``, if the privacy loss is within ε.

    The posterior odds are the prior odds times e^L. A pure claim has L ≤ ε always; under a probabilistic claim
    the posterior exceeds this with probability at most δ. An approximate claim does not bound it: see `loss_bound`.

    >>> round(posterior(0.5, 1), 4)
    0.7311

    Implements: Bayesian reading.
    """
    held, loss = probability(prior, "prior"), float(non_negative(epsilon, "epsilon"))
    return min(1.0, raised(1 / (1 + (1 - held) / held * math.exp(-loss))))


def loss_bound(epsilon: Real, times: float) -> float:
    """ε − ln(1 − 1/times): what the privacy loss exceeds with probability ``times``·δ at most, given (ε, δ) alone.

    An approximate claim bounds no loss at ε itself. With S = {L > ε + t} it says P(S) ≤ e^ε P'(S) + δ, and
    e^ε P'(S) ≤ e^{−t} P(S) there, so that P(S) ≤ δ/(1 − e^{−t}).

    >>> round(loss_bound(1, times=10), 4)
    1.1054

    Implements: loss under an approximate claim.
    """
    if not times > 1:
        raise InvalidValue(
            f"times is {times}; the loss is bounded with a probability above δ only, so give more than 1."
        )
    return raised(float(non_negative(epsilon, "epsilon")) - math.log1p(-1 / times))


def true_positive_rate(false_positive_rate: float, epsilon: Real, delta: float) -> float:
    """The best true positive rate of any membership attack at this false positive rate, under (ε, δ)-DP.

    min(e^ε·FPR + δ, 1 − e^{−ε}(1−δ−FPR)), at most 1 (Kairouz, Oh, Viswanath 2015). δ may be 0.

    >>> round(true_positive_rate(0.01, 1, 1e-5), 4)
    0.0272
    """
    loss = float(non_negative(epsilon, "epsilon"))
    alarm, slack = _rate(false_positive_rate, "false_positive_rate"), _rate(delta, "delta")
    low_end = math.exp(min(loss, 700.0)) * alarm + slack
    high_end = 1 - math.exp(-loss) * (1 - slack - alarm)
    return min(1.0, raised(min(low_end, high_end)))


def gaussian_power(false_positive_rate: float, mu: float) -> float:
    """The best true positive rate of an attack that accuses only on outputs with at most this μ: Φ(Φ⁻¹(FPR) + μ).

    >>> round(gaussian_power(0.01, 0.5), 4)
    0.0339

    Uses: Definition of ex-post Gaussian privacy.
    """
    alarm, distance = _rate(false_positive_rate, "false_positive_rate"), float(non_negative(mu, "mu"))
    return min(1.0, raised(float(ndtr(ndtri(alarm) + distance))))


def _rate(value: float, name: str) -> float:
    """The same number, refused unless it lies between 0 and 1."""
    if not 0 <= value <= 1:
        raise InvalidValue(f"{name} is {value}; it must lie between 0 and 1.")
    return float(value)
