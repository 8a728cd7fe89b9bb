"""Lines of a bill as a checkpoint stores them: what was about to be spent, how often, and for how many steps.

With them go the answers of a check, which a bill has paid for.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, final

import numpy as np
import torch

from expost.accounting.claim import Promise
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.accounting.kinds import Kinds
from expost.protocols import Verdict

FRACTION = re.compile(r"[0-9]{1,400}(/0*[1-9][0-9]{0,399})?", re.ASCII)
"""Fractions as Python writes them; an exponent, as in 1e99999999, would take for ever to read."""

MOST = 10**5
"""Equal lines, lines, or numbers in one of them: far more than any run writes, and added up within a second."""

MOST_STEPS = 2**53
NONE = str(None)


@final
@dataclass(frozen=True, slots=True)
class Paid:
    """A number of equal stretches of training steps on one part, or of questions, which take no step."""

    part: str
    promise: Promise
    steps: int
    times: int

    def again(self, other: "Paid") -> bool:
        """Whether the other is the same once more."""
        same = _same(self.promise.curve, other.promise.curve)
        return same and (self.part, self.steps) == (other.part, other.steps)

    def encoded(self) -> list[Any]:
        """In what a file of weights may hold."""
        return [self.part, _encoded(self.promise.curve), self.steps, self.times]

    @classmethod
    def decoded(cls, stored: Any) -> "Paid":
        """What ``encoded`` gave, or ValueError or TypeError: a count below 1, for one, would lower the bill."""
        part, curve, steps, times = stored
        if not isinstance(part, str):
            raise TypeError("a part has a name.")
        return cls(part, Promise(_decoded(curve)), count(steps, 0, MOST_STEPS), count(times, 1, MOST))


def count(value: Any, least: int, most: int = MOST_STEPS) -> int:
    """A stored number that counts something, or ValueError."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError("this is not a count.")
    return value


def stored_fraction(text: Any) -> Fraction:
    """A stored fraction, or ValueError."""
    if not isinstance(text, str) or not FRACTION.fullmatch(text):
        raise ValueError("this is not a fraction.")
    return Fraction(text)


def stored_verdict(verdict: Verdict | None) -> Any:
    """An answer in what a file of weights may hold."""
    return None if verdict is None else [verdict.passed, verdict.margin, verdict.std, verdict.guard]


def verdict_in(stored: Any) -> Verdict | None:
    """What ``stored_verdict`` gave, or ValueError or TypeError."""
    if stored is None:
        return None
    passed, *known = stored
    if type(passed) is not bool or not all(each is None or (type(each) is float and isfinite(each)) for each in known):
        raise ValueError("this is not an answer of a check.")
    return Verdict(passed, *known)


def _same(one: Curve, other: Curve) -> bool:
    if isinstance(one, Tabulated) and isinstance(other, Tabulated):
        same = one.orders == other.orders and one.kinds == other.kinds
        return same and np.array_equal(one.values, other.values)
    return one == other


def _encoded(curve: Curve) -> Any:
    """Fractions as text, which is exact."""
    if isinstance(curve, Tabulated):
        return [torch.tensor([curve.orders, curve.values.tolist()], dtype=torch.float64), _kinds_out(curve.kinds)]
    return [[str(line.xi), str(line.rho), str(line.gaussian)] for line in curve.lines]


def _decoded(stored: Any) -> Curve:
    if not isinstance(stored, list) or not 1 <= len(stored) <= MOST:
        raise ValueError("a curve has a line, or a table and its kinds of steps.")
    if isinstance(stored[0], torch.Tensor):
        table, kinds = stored
        if table.dtype != torch.float64 or table.dim() != 2 or not 1 <= table.shape[1] <= MOST:
            raise ValueError("this is not a table of orders and values.")
        orders, values = table.tolist()
        return Tabulated.of(orders, values, _kinds_in(kinds))
    lines = tuple(
        Linear(stored_fraction(xi), stored_fraction(rho), None if gaussian == NONE else stored_fraction(gaussian))
        for xi, rho, gaussian in stored
    )
    return lines[0] if len(lines) == 1 else Highest(lines)


def _kinds_out(known: object) -> Any:
    """The kinds of the steps of a line, which reads one part: each by its rate and noise, with a number of steps."""
    if not isinstance(known, Kinds):
        return None
    return [[[str(rate), str(noise), steps] for (rate, noise), steps in known.sampled], str(known.rho)]


def _kinds_in(stored: Any) -> Kinds | None:
    if stored is None:
        return None
    sampled, rho = stored
    return Kinds(
        tuple(
            ((stored_fraction(rate), stored_fraction(noise)), count(steps, 1, MOST_STEPS))
            for rate, noise, steps in sampled
        ),
        stored_fraction(rho),
    )
