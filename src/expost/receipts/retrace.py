"""Retracing: a run of the caller's own, rung by rung along its bill.

Its sensitivities, the budgets of its rungs and when to stop are the caller's word. The rest follows from them and from
the answers of the check: what each step costs, the price and the noise of each look, the sign of each margin, and every
running total.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, final

from expost.accounting.claim import NOTHING, Spent
from expost.bill import Item, joined
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import Unreadable
from expost.receipts.lines import RULES, alike, within
from expost.receipts.procedures import Judge, check_claimed
from expost.receipts.replay import close, fits
from expost.receipts.testimony import Taken, Testimony
from expost.receipts.untrusted import quoted
from expost.report.answers import as_share
from expost.search import Ended

NONE = NOTHING.as_spent()
SEARCH = "An accuracy-first search"
"""What a receipt says was made by a search of the caller's own."""
Placed: TypeAlias = tuple[int, Item]
"""A step, and the number of its line."""


@final
@dataclass(frozen=True, slots=True)
class Climbed:
    """A rung that was taken, the steps that measured on it, and the look at what was made of them."""

    taken: Taken
    measured: tuple[Placed, ...]
    look: Placed | None


@final
@dataclass(slots=True)
class Retrace:
    """The steps of a bill, those before the first rung and those on each; ``check`` is None if it is not ours."""

    told: Testimony
    check: Judge | None
    before: tuple[Placed, ...]
    rungs: tuple[Climbed, ...]
    parts: dict[str, Spent] = field(default_factory=dict)
    looks: int = 0

    @classmethod
    def of(cls, told: Testimony) -> "Retrace":
        """The last steps are those of the rungs, as often as each spent its budget, with a look where one answered."""
        placed = tuple(enumerate(told.bill, start=1))
        steps = [each for each in placed if each[1].finished for _ in range(each[1].count)]
        rungs: list[Climbed] = []
        for taken in reversed(told.history):
            looked = taken.verdict is not None and steps and _held(steps[-1][1])
            look = steps.pop() if looked else None
            if len(steps) < taken.times:
                raise Unreadable("the bill has fewer steps than the rungs of the history; it was changed.")
            rungs.append(Climbed(taken, tuple(steps[-taken.times :]), look))
            del steps[-taken.times :]
        failed = (each for each in placed if not each[1].finished)
        check = check_claimed(told) if told.made == SEARCH else None
        return cls(told, check, (*steps, *failed), tuple(reversed(rungs)))

    def at_their_word(self) -> Iterator[str]:
        """The lines before the first rung whose noise nothing in the receipt calls for."""
        for place, item in dict(self.before).items():
            if item.entry.what in RULES:
                yield f"line {place}, {quoted(item.entry.what)}, came before the first rung and is taken at its word."

    def faults(self) -> Iterator[str]:
        """Where bill, history and ending are not what the budgets and the answers lead to."""
        for _, item in self.before:
            self._add(item)
        for place, rung in enumerate(self.rungs, start=1):
            yield from self._measured(place, rung)
            yield from self._looked(place, rung)
            yield from self._told(place, rung.taken)
        verdict = self.told.history[-1].verdict
        passed = verdict is not None and verdict.passed
        if (self.told.ended is Ended.HALTED) is not passed or self.told.reached is not passed:
            yield "the receipt and its last rung disagree on whether the target was reached."
        if self.told.made == SEARCH and self.told.asked.patience is not None:
            yield "a search of the caller's own ends by a rule of its own; the receipt names a patience."

    @property
    def _train(self) -> str:
        return self.rungs[0].measured[0][1].entry.part

    def _measured(self, place: int, rung: Climbed) -> Iterator[str]:
        for line, item in rung.measured:
            if not within(item, rung.taken.budget):
                yield f"line {line}, {quoted(item.entry.what)}, does not cost what the budget of its rung calls for."
            if item.entry.part != self._train or _held(item):
                yield f"line {line}, {quoted(item.entry.what)}, does not read the part that the first rung read."
            self._add(item)

    def _looked(self, place: int, rung: Climbed) -> Iterator[str]:
        """The look of a rung: by the check that was named, at its price, and with the noise of that price."""
        verdict, asked = rung.taken.verdict, self.told.asked.check
        if verdict is not None and verdict.passed and place < len(self.rungs):
            yield f"rung {place} passed and was not the last."
        if rung.look is None:
            free = verdict is None or (isinstance(self.check, PublicCheck) and fits(verdict, None, reveals=False))
            if not free:
                yield f"rung {place} has a verdict, and no line of the bill that paid for it."
            return
        line, item = rung.look
        held = f"{self._train.rpartition('/')[0]}/held"
        if (item.entry.part, item.entry.what) != (held, None if asked is None else asked.name):
            yield f"line {line}, {quoted(item.entry.what)}, is not a look of the check that was named."
        elif isinstance(self.check, BalancedCheck | GaussianCheck | SparseVectorCheck):
            yield from self._priced(place, rung, item, held)
        self._add(item)

    def _priced(self, place: int, rung: Climbed, item: Item, held: str) -> Iterator[str]:
        check, verdict = self.check, rung.taken.verdict
        assert isinstance(check, BalancedCheck | GaussianCheck | SparseVectorCheck)  # there are no others of ours
        assert verdict is not None  # a look answers
        price = check.price(self.looks, self.parts.get(self._train, NONE), self.parts.get(held, NONE))
        self.looks += 1
        paid = price.passed if verdict.passed else price.failed
        if item.entry.facts != check.facts() or not alike(item.spent.curve, paid.curve):
            yield f"the look on rung {place} does not cost what the check and the steps before it lead to."
        if not fits(verdict, check.look(price), reveals=not isinstance(check, SparseVectorCheck)):
            yield f"the answer on rung {place} does not have the noise, the guard or the sign that its price leads to."

    def _told(self, place: int, taken: Taken) -> Iterator[str]:
        if not alike(taken.spent.curve, joined(self.parts).curve):
            yield f"the lines of the bill do not add up to what the history says was spent by rung {place}."
        held, threshold = self.told.held, self.told.asked.threshold
        share = as_share(taken.verdict, threshold, held) or (None, None)
        if not close((taken.accuracy, taken.error), share):
            yield f"the accuracy of rung {place} is not what its margin leads to."

    def _add(self, item: Item) -> None:
        self.parts[item.entry.part] = self.parts.get(item.entry.part, NONE) + item.spent


def _held(item: Item) -> bool:
    return item.entry.part.rpartition("/")[2] == "held"
