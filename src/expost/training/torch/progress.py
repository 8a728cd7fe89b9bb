"""How far a training run has come, as a checkpoint stores it: its bill, its weights, and the answer it has paid for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from math import isfinite
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor, strided

from expost.accounting.claim import NOTHING, Promise
from expost.accounting.curve import Curve, Highest, Linear, Tabulated
from expost.accounting.descent import Descent
from expost.accounting.kinds import Kinds
from expost.ledger import Fact
from expost.numerics import positive
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.training.torch.resumption import Prospect, Standing
from expost.training.torch.weights import Weights

Facts: TypeAlias = Mapping[str, Fact]

FORMAT = 5
"""The version of the file's layout."""

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


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Progress:
    """Where a run stands: ``settings`` of its trainer, ``plan``, and what was billed, released and answered.

    ``planned`` has the steps and the ε of each release, ``weights`` are the newest ones whose steps are all billed, and
    ``judged`` the steps in those last judged. ``verdict`` is what was answered about the newest weights: None where
    nobody was asked, or the answer was lost.
    """

    settings: Facts
    weights: Weights
    plan: Facts = field(default_factory=dict)
    planned: tuple[tuple[int, float], ...] = ()
    bills: tuple[Paid, ...] = ()
    judged: int = 0
    verdict: Verdict | None = None
    over: bool = False

    @property
    def standing(self) -> Standing:
        """How many steps are billed and kept, and how many questions were asked."""
        billed = sum(paid.steps * paid.times for paid in self.bills)
        looks = sum(paid.times for paid in self.bills if not paid.steps)
        return Standing(billed, self.weights.steps, self.judged, looks)

    @property
    def prospect(self) -> Prospect:
        """What can still be stated of the run."""
        over = self.over or (self.verdict is not None and self.verdict.passed)
        return Prospect.of(self.standing, self.planned, str(self.plan.get("delta")), over=over)

    def carried(self, part: str) -> Promise:
        """What is on the bill for a part, added up as an odometer does, to the last bit."""
        steps = [paid.promise for paid in self.bills if paid.part == part for _ in range(paid.times)]
        return reduce(Promise.__add__, steps, NOTHING)

    def billed(self, paid: Paid) -> "Progress":
        """With one more line, or the last one once more; an answer is about the weights before these steps, or lost."""
        before = self.bills
        if before and before[-1].again(paid):
            before, paid = before[:-1], replace(paid, times=before[-1].times + 1)
        judged = self.judged if paid.steps else self.weights.steps
        return replace(self, bills=(*before, paid), verdict=None, judged=judged)

    def encoded(self) -> dict[str, Any]:
        """In what a file of weights may hold."""
        return {
            "format": FORMAT,
            "settings": dict(self.settings),
            "plan": dict(self.plan),
            "planned": [list(each) for each in self.planned],
            "bills": [paid.encoded() for paid in self.bills],
            "parameters": dict(self.weights.parameters),
            "optimizer": dict(self.weights.optimizer),
            "steps": self.weights.steps,
            "judged": self.judged,
            "verdict": _encoded_verdict(self.verdict),
            "over": self.over,
        }

    @classmethod
    def decoded(cls, stored: Mapping[str, Any]) -> "Progress":
        """What ``encoded`` gave; ValueError, TypeError or KeyError for what it never gives."""
        weights = Weights(stored["parameters"], stored["optimizer"], count(stored["steps"], 0))
        found = cls(
            settings=_settings(stored["settings"]),
            weights=weights,
            plan=stored["plan"],
            planned=tuple((count(steps, 1), float(epsilon)) for steps, epsilon in stored["planned"]),
            bills=tuple(Paid.decoded(each) for each in stored["bills"]),
            judged=count(stored["judged"], 0, weights.steps),
            verdict=_decoded_verdict(stored["verdict"]),
            over=stored["over"],
        )
        if type(stored["plan"]) is not dict or type(stored["over"]) is not bool or found.standing.lost < 0:
            raise ValueError("weights are never ahead of their bill.")
        if found.verdict is not None and found.judged < weights.steps:
            raise ValueError("an answer is about the newest weights.")
        if sum(paid.times for paid in found.bills) > MOST:
            raise ValueError("no run has as many lines.")
        groups = [len(each["params"]) for each in weights.optimizer["param_groups"]]
        tensors: list[Any] = [*dict(weights.parameters).values()]
        if not groups or not all(isinstance(each, Tensor) and each.layout is strided for each in tensors):
            raise ValueError("weights are tensors, and an optimiser has groups of them.")
        return found


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


def _settings(stored: Any) -> Facts:
    """The settings of a trainer, or ValueError, TypeError or KeyError."""
    batch, records = (count(stored[name], 1) for name in ("batch", "records"))
    clip, noise = (stored_fraction(stored[name]) for name in ("clip", "noise_multiplier"))
    positive(clip, "clip")
    Descent(Fraction(batch, records), noise)
    if type(stored["seeded"]) is not bool or not isinstance(stored["optimizer"], str):
        raise ValueError("settings say the kind of noise and of optimiser.")
    Neighbours(stored["neighbours"])
    return dict(stored)


def _encoded_verdict(verdict: Verdict | None) -> Any:
    return None if verdict is None else [verdict.passed, verdict.margin, verdict.std, verdict.guard]


def _decoded_verdict(stored: Any) -> Verdict | None:
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
