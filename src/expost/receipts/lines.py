"""Lines of a bill: what the cost of one step must be, worked out again from its own facts by the rule of its mechanism.

The rules stand beside the mechanisms and checks that they are of; they are collected here, and compared. What the facts
themselves must be follows from the settings of the run, and is the matter of a procedure.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost.accounting.claim import NOTHING, Budget, Spent
from expost.accounting.curve import Curve, Linear, Tabulated, largest_rho
from expost.bill import Item, by_part
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import Unreadable
from expost.ledger import Fact
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.exponential import Exponential
from expost.mechanisms.gaussian import FloatGaussian, Gaussian
from expost.mechanisms.laplace import FloatLaplace, Laplace
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.numerics import up
from expost.receipts.notation import fraction, whole
from expost.receipts.untrusted import quoted
from expost.rules import Due, Rule
from expost.tabular.growth import Growing
from expost.tabular.selection import SpanningTree
from expost.training.head.full_batch import FullBatch
from expost.training.head.mechanism import Head
from expost.training.schedule import ModuleSteps

SAME = 1e-9
"""Relative difference up to which two computations agree: other machines round logarithms in another way."""
MOST_DESCENTS = 4
"""Kinds of gradient steps on one bill: working one out takes a tenth of a second, and a run of ours has one."""
MOST_PURE = 100
"""Kinds of Laplace noise on one bill: working one out takes ten milliseconds, and a rung of ours has one."""
SIDES = {"train", "held"}

RULES: Mapping[str, Rule] = {
    kind.name: kind.rule
    for kind in (
        Gaussian,
        FloatGaussian,
        Brownian,
        Laplace,
        FloatLaplace,
        NoiseReduction,
        SpanningTree,
        Growing,
        Exponential,
        Head,
        FullBatch,
        ModuleSteps,
        SparseVectorCheck,
        BalancedCheck,
        GaussianCheck,
    )
}
"""By the name that a step goes on record with."""


@final
@dataclass(frozen=True, slots=True)
class Unvouched:
    """A line as its rule reads it: every number in it is refused unless it is well formed and short enough."""

    facts: Mapping[str, Fact]
    curve: Curve

    @property
    def xi(self) -> Fraction:
        """The ξ that it says was spent."""
        return largest_xi(self.curve)

    @property
    def rho(self) -> Fraction:
        """The ρ that it says was spent."""
        return largest_rho(self.curve)

    def fraction(self, fact: str) -> Fraction:
        """The exact number that a fact spells."""
        return fraction(self.facts[fact])

    def whole(self, fact: str) -> int:
        """The count that a fact is."""
        return whole(self.facts[fact])


def faults(bill: Sequence[Item]) -> Iterator[str]:
    """What is wrong with single lines, and with what a balanced check spends."""
    sampled = [item for item in bill if item.entry.facts.get("rate") != "1"]  # what everyone joins is a line
    _require_few(sampled, ("rate", "noise multiplier"), MOST_DESCENTS)
    _require_few(bill, ("l1", "scale"), MOST_PURE)
    for place, item in enumerate(bill, start=1):
        if not set(item.entry.part.split("/")[1:]) <= SIDES:
            yield f"line {place} reads {quoted(item.entry.part)}, which is not a part that a split makes."
        due = _due(item)
        if due is not None and not _follows(item, due):
            yield f"the cost of line {place}, {item.entry.what}, does not follow from its facts."
    yield from _unbalanced(bill)
    yield from _unreduced(bill)


def _require_few(bill: Sequence[Item], names: tuple[str, str], most: int) -> None:
    if len({tuple(map(item.entry.facts.get, names)) for item in bill}) > most:
        raise Unreadable(f"the receipt has more than {most} kinds of steps that take long to work out.")


def at_their_word(bill: Sequence[Item]) -> Iterator[str]:
    """The lines that no rule of ours works out again."""
    for place, item in enumerate(bill, start=1):
        if item.entry.what not in RULES:
            yield f"line {place}, {quoted(item.entry.what)}, is taken at its word: it is not a step that expost knows."


def _unbalanced(bill: Sequence[Item]) -> Iterator[str]:
    """Each balanced check spends on the held-out part what the training part had spent beyond it, so a gap shows.

    Uses: balanced checks.
    """
    before: dict[str, Spent] = {}
    for place, item in enumerate(bill, start=1):
        part = item.entry.part
        if item.entry.what == BalancedCheck.name:
            trained, asked = (before.get(side, NOTHING.as_spent()) for side in (_sibling(part), part))
            if not same_number(
                up(largest_rho(trained.curve) - largest_rho(asked.curve)), up(largest_rho(item.spent.curve))
            ):
                yield f"line {place}, {item.entry.what}, does not balance what the lines before it spent."
        before[part] = before.get(part, NOTHING.as_spent()) + by_part([item])[part]


def _unreduced(bill: Sequence[Item]) -> Iterator[str]:
    """Each step of a noise reduction pays for what its level rises by, from nothing or from the level of another.

    Uses: Laplace noise reduction, pure ex post.
    """
    levels = {Fraction(0)}
    for place, item in enumerate(bill, start=1):
        if item.entry.what == NoiseReduction.name:
            level = fraction(item.entry.facts["level"])
            if level - largest_xi(item.spent.curve) not in levels:
                yield f"line {place}, {item.entry.what}, does not pay for the level that it reached."
            levels.add(level)


def largest_xi(curve: Curve) -> Fraction:
    """What a line costs at every order alike; infinite, and so refused, for a table."""
    if isinstance(curve, Tabulated):
        raise Unreadable("the receipt has a table where a line belongs; it was changed.")
    return max(line.xi for line in curve.lines)


def _sibling(held: str) -> str:
    return f"{held.rpartition('/')[0]}/train"


def same_number(one: float, other: float) -> bool:
    """Whether two numbers agree."""
    return math.isclose(one, other, rel_tol=SAME)


def alike(one: Curve, other: Curve) -> bool:
    """Whether two curves agree, line by line or order by order, and in what is known beyond them.

    A table may say less: without the kinds of its steps, as older receipts have it, one order speaks for it.
    """
    if isinstance(one, Tabulated) or isinstance(other, Tabulated):
        return (
            isinstance(one, Tabulated)
            and isinstance(other, Tabulated)
            and (one.kinds is None or one.kinds == other.kinds)
            and one.orders == other.orders
            and all(map(same_number, one.values.tolist(), other.values.tolist()))
        )
    pairs = zip(one.lines, other.lines, strict=False)
    return len(one.lines) == len(other.lines) and all(_alike_lines(ours, theirs) for ours, theirs in pairs)


def _alike_lines(one: Linear, other: Linear) -> bool:
    if (one.gaussian is None) is not (other.gaussian is None):
        return False
    numbers = ((line.xi, line.rho, line.gaussian or Fraction(0)) for line in (one, other))
    return all(same_number(up(ours), up(theirs)) for ours, theirs in zip(*numbers, strict=True))


def _due(item: Item) -> Due | None:
    """What the facts of a line lead to; None where no rule of ours says it."""
    rule = RULES.get(item.entry.what)
    return None if rule is None else rule(Unvouched(item.entry.facts, item.spent.curve))


def _follows(item: Item, due: Due) -> bool:
    """Whether a line has the curve and the noise that are due: exactly, where they are not tabulated."""
    curve = item.spent.curve
    same = alike(curve, due.curve) if isinstance(due.curve, Tabulated) else curve == due.curve
    return same and due.floating in (None, item.entry.floating)


def within(item: Item, budget: Budget) -> bool:
    """Whether a step that measures has the noise that its budget calls for; true where no rule of ours says it."""
    due = _due(item)
    return due is None or due.pays(budget)
