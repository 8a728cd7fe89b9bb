"""Answers: a rung with its noisy answer as a share of the held-out records, and how far that may be from the truth.

A share is asked + M/R: a margin M, whose noise has a known standard deviation s, over R, about how many records there
are, whose error has the standard deviation t. With the true ratio b, M − bR is noise alone, of variance s² + b²t² at
most, because a count and a total that contains it err in the same direction. So the true ratio is one of those b for
which |M − bR| ≤ w·√(s² + b²t²), with the confidence of w standard errors (Fieller 1940). Its ends are the roots of

    b²(R² − w²t²) − 2bMR + M² − w²s² = 0,

and no b is ruled out where R ≤ wt. The noise of R is thus on both sides of the answer, and one pair of ends holds as
Gaussian noise does, however large the margin.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated
from expost.protocols import Verdict
from expost.search import Line

SAMPLED = {"accuracy", "balanced accuracy", "AUC", "mean score"}
"""Measures whose variance is at most that of a yes or no, over the records that they are a share of."""
GAIN = "gain over guessing"
"""The measure that is a difference of two shares: told in points, and negative where a table is worse than guessing."""


def lowest(measure: str) -> float:
    """The least that this measure can be, where 1 is the most."""
    return -1.0 if measure == GAIN else 0.0


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """One rung of the history, its bill as ε, and the noisy accuracy where the check reveals one.

    ``error`` is the standard error of the check's noise alone, as a share of the held-out records. Both are None where
    about how many were held out is not known; the verdict's margin is then all there is. ``held_std`` is the standard
    error of that number. ``times`` is how often the budget was spent. ``guess`` is the noisy rate at which guessing the
    commonest value of the target is right, where something that was released tells it.
    ``least`` is the least that the accuracy can be.
    """

    line: Line
    epsilon: AdpEpsilon
    accuracy: float | None
    error: float | None
    times: int = 1
    held_std: float = 0.0
    guess: float | None = None
    least: float = 0.0

    @property
    def passed(self) -> bool | None:
        """The verdict; None where the candidate was not checked."""
        return None if self.line.verdict is None else self.line.verdict.passed

    def half(self, width: float) -> float | None:
        """Half the range of the accuracy, ``width`` standard errors wide; None where there is no accuracy."""
        found = None if self.line.verdict is None else self.line.verdict.answer
        if found is None or self.error is None:
            return None
        return ratio_half(*found, found[1] / self.error, self.held_std, width=width, most=1.0 - self.least)

    @classmethod
    def of(
        cls,
        line: Line,
        pledge: Pledge | None,
        *,
        asked: Fraction | None,
        held: float | None,
        held_std: float = 0.0,
        guess: float | None = None,
        measure: str = "",
    ) -> "Reading":
        """A line of the history, stated by the pledge."""
        accuracy, error = as_share(line.verdict, asked, held) or (None, None)
        return cls(line, stated(line.spent, pledge), accuracy, error, line.times, held_std, guess, lowest(measure))


def as_share(verdict: Verdict | None, asked: Fraction | None, held: float | None) -> tuple[float, float] | None:
    """The noisy answer as a share of about how many records were held out, and its standard error."""
    found = None if verdict is None else verdict.answer
    if found is None or asked is None or held is None:
        return None
    records = max(1.0, held)
    return float(asked) + found[0] / records, found[1] / records


def ratio_half(
    number: float, std: float, records: float, records_std: float, *, width: float, most: float = 1.0
) -> float:
    """How far the true ratio may be from ``number / records``, to the farther side; ``most`` is 1 of shares.

    >>> round(ratio_half(0, 10, 1000, 50, width=2), 4), ratio_half(200, 10, 1000, 0, width=2)
    (0.0201, 0.02)
    """
    spread = width * records_std
    if records <= spread:
        return most
    left = records**2 - spread**2
    middle, inside = number * records / left, std**2 * left + records_std**2 * number**2
    return min(most, abs(middle - number / records) + width * math.sqrt(inside) / left)


def sampling_half(share: float, records: float, *, width: float, half: float = 0.0) -> float:
    """How far a share of other records, drawn from where these were, may be from it: ``width`` standard errors.

    The variance of a number from 0 to 1 is at most p(1 − p) at a mean of p, which is that of a yes or no. Where the
    share is known up to a ``half`` of its range, that of the mean in it which is nearest to a half is the largest.
    """
    mean = min(max(min(max(0.5, share - half), share + half), 0.0), 1.0)
    return min(1.0, width * math.sqrt(mean * (1 - mean) / max(1.0, records)))
