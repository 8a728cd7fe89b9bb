"""Replays: the plan, the bill and the history that a procedure leads to, beside those that a receipt has.

Which rungs were taken and what the check answered is the receipt's word; everything else of a run follows from its
settings and those answers. Of what earlier processes of a run were answered nothing is known but that they went on, or
that the last of them was ended before it knew.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import final

from expost.accounting.claim import NOTHING, Promise, Spent
from expost.bill import bill_total, billed, by_part
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import PublicCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.ladder import Rung
from expost.ledger import Entry, Fact, MemoryLedger
from expost.looks import planned_looks
from expost.protocols import Look, Price, Verdict
from expost.receipts.lines import alike, same_number
from expost.receipts.procedures import Judge, Procedure, Step
from expost.receipts.testimony import Taken, Testimony
from expost.receipts.untrusted import quoted
from expost.report.answers import as_share
from expost.search import Ended, planned_stops

NONE = NOTHING.as_spent()


@final
@dataclass(frozen=True, slots=True)
class Rungs:
    """A ladder as a receipt has it."""

    rungs: tuple[Rung, ...]


@final
@dataclass(slots=True)
class Replay:
    """A run over again, step by step, on record as the first time."""

    told: Testimony
    procedure: Procedure
    check: Judge
    rungs: tuple[Rung, ...]
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    looks: int = 0

    @property
    def public(self) -> bool:
        """Whether candidates are judged on public records, so that none are held out."""
        return isinstance(self.check, PublicCheck)

    @property
    def spent(self) -> Spent:
        """The running total."""
        return bill_total(billed(self.ledger))

    @property
    def reached(self) -> int:
        """The rungs that were climbed, by whichever process."""
        return self.procedure.earlier + len(self.told.history)

    def faults(self) -> Iterator[str]:
        """Where plan, bill, history and ending are not what the settings and the answers lead to."""
        yield from self._plan()
        for step in self.procedure.before:
            self._put(step, "" if step.whole else "train")
        earlier = self.procedure.earlier
        for rung in self.rungs[:earlier]:
            self._earlier(rung)
        taken = zip(self.rungs[earlier:], self.told.history, strict=False)
        for place, (rung, told) in enumerate(taken, start=earlier + 1):
            yield from self._rung(place, rung, told)
        yield from self._bill()
        yield from self._ending()

    def refused(self) -> Spent | None:
        """The total that a cap must have refused, for a run that ended so; None if none was left to refuse.

        For after the faults: the record is then complete.
        """
        last, rung = self.told.history[-1], self.rungs[self.reached - 1]
        if rung.asked and last.verdict is None and not self.public:
            price = self._price()
            self._put(self._look(price.passed.beside(price.failed)), "held")
        elif self.reached < len(self.rungs):
            self._put(self._measure(self.rungs[self.reached]), "train")
        else:
            return None
        return self.spent

    def _plan(self) -> Iterator[str]:
        before, mechanism, check = self.procedure.before, self.procedure.mechanism, self.check
        sure, whole = self.told.asked.confidence, _together(step for step in before if step.whole)
        prior = _together(step for step in before if not step.whole)
        stops = planned_stops(mechanism, Rungs(self.rungs), check, prior=prior, whole=whole)
        looks = planned_looks(mechanism, Rungs(self.rungs), check, prior=prior)
        for place, (told, stop, look) in enumerate(zip(self.told.stops, stops, looks, strict=True), start=1):
            if not alike(told.curve, stop.curve):
                yield f"stop {place} of the plan does not cost what its rungs and its looks lead to."
            if told.guard != (None if look is None else look.guard):
                yield f"stop {place} of the plan has another guard than the confidence and the noise lead to."
        if sure is not None and not self.public and sum(rung.asked for rung in self.rungs) != sure.looks:
            yield "the plan asks about another number of rungs than the confidence is for."

    def _earlier(self, rung: Rung) -> None:
        """A rung that an earlier process climbed; a release of it, and so its look, may have been lost."""
        for _ in range(rung.times):
            self._put(self._measure(rung), "train")
        self._unanswered(rung)

    def _unanswered(self, rung: Rung) -> None:
        """A look whose answer nobody has, if the bill has one."""
        lines, bill = self.ledger.lines, self.told.bill
        counted = len(lines) < len(bill) and bill[len(lines) - 1].count == lines[-1][2]
        if rung.asked and not self.public and counted and bill[len(lines)].entry.part == "data/held":
            self._put(self._look(self._price().failed), "held")
            self.looks += 1

    def _rung(self, place: int, rung: Rung, taken: Taken) -> Iterator[str]:
        """One rung: measured, asked about as planned, and added up."""
        verdict = taken.verdict
        if (taken.budget, taken.times) != (rung.budget, rung.times):
            yield f"rung {place} has another budget than was planned."
        for _ in range(rung.times):
            self._put(self._measure(rung), "train")
        if self.told.asked.threshold is None:
            yield from [f"rung {place} has a verdict, and nothing was asked."] if verdict is not None else []
        elif self.public or (rung.asked and verdict is not None):
            yield from self._answered(place, verdict)
        elif self._lost():
            self._unanswered(rung)
        elif (rung.asked and not self._cut_short(place)) or verdict is not None:
            yield f"rung {place} was asked about where the plan does not, or was not where it does."
        if not alike(taken.spent.curve, self.spent.curve):
            yield f"the lines of the bill up to rung {place} do not add up to what the history says was spent."
        held, threshold = self.told.held, self.told.asked.threshold
        share = as_share(verdict, threshold, held) or (None, None)
        if not close((taken.accuracy, taken.error), share):
            yield f"the accuracy of rung {place} is not what its margin leads to."

    def _cut_short(self, place: int) -> bool:
        return place == self.reached and self.told.ended is Ended.CAPPED

    def _lost(self) -> bool:
        """Whether the run was resumed with no rung left to climb, so that its last answer, or its weights, are lost."""
        (last, *others), resumed = self.told.history, self.procedure.resumed
        return resumed and not others and last.verdict is None and self.told.ended is Ended.EXHAUSTED

    def _answered(self, place: int, verdict: Verdict | None) -> Iterator[str]:
        """An answer, billed at its price, with the noise and the guard of that price."""
        if verdict is None or (verdict.passed and place < self.reached):
            yield f"rung {place} has no verdict, or passed and was not the last."
        if verdict is None:
            return
        look = None
        if not self.public:
            price = self._price()
            self._put(self._look(price.passed if verdict.passed else price.failed), "held")
            self.looks, look = self.looks + 1, self._known(price)
        if not fits(verdict, look, reveals=isinstance(self.check, BalancedCheck | GaussianCheck)):
            yield f"the answer on rung {place} does not have the noise, the guard or the sign that its price leads to."

    def _bill(self) -> Iterator[str]:
        bill, again = self.told.bill, billed(self.ledger)
        if len(bill) != len(again) or self.reached > len(self.rungs):
            yield f"the bill has {len(bill)} lines; {self.reached} rungs lead to {len(again)}."
        for place, (item, known) in enumerate(zip(bill, again, strict=False), start=1):
            if (item.entry, item.count, item.finished) != (known.entry, known.count, known.finished):
                yield f"line {place}, {quoted(item.entry.what)}, is not what the settings lead to."
            elif not alike(item.spent.curve, known.spent.curve):
                yield f"the cost of line {place}, {known.entry.what}, is not what the settings lead to."

    def _ending(self) -> Iterator[str]:
        ended, passed = self.told.ended, self._passed(self.told.history[-1])
        if (ended is Ended.HALTED) is not passed or self.told.reached is not passed:
            yield "the receipt and its last rung disagree on whether the target was reached."
        by_hand = self.told.asked.threshold is None  # whoever ran it may stop anywhere
        if ended is Ended.EXHAUSTED and not by_hand and self.reached != len(self.rungs):
            yield "the run is said to have taken every rung, and did not."
        yield from self._patience()

    @staticmethod
    def _passed(taken: Taken) -> bool:
        return taken.verdict is not None and taken.verdict.passed

    def _patience(self) -> Iterator[str]:
        """Whether the run ended where its answers no longer rose, and not before or after."""
        plateau, history = self.procedure.plateau, self.told.history
        if (plateau is None) is not (self.told.asked.patience is None):
            yield "the receipt says that the run had a patience which a run of its kind does not have."
        before_the_top = history[: max(0, len(self.rungs) - 1)]
        verdicts = tuple(each.verdict for each in before_the_top if not self._passed(each))
        flat = [place for place in range(1, len(verdicts) + 1) if plateau is not None and plateau(verdicts[:place])]
        if flat[:1] != ([len(history)] if self.told.ended is Ended.FLAT else []):
            yield "the run did not end where its answers no longer rose, or is said to have ended so and did not."

    def _measure(self, rung: Rung) -> Step:
        mechanism, budget = self.procedure.mechanism, rung.budget
        return Step(mechanism.name, mechanism.facts(budget), mechanism.floating, mechanism.promise(budget))

    def _look(self, promise: Promise) -> Step:
        check = self.check
        assert not isinstance(check, PublicCheck)  # one that reads nothing has no price
        facts: dict[str, Fact] = dict(check.facts())
        return Step(check.name, facts, False, promise)

    def _price(self) -> Price:
        check, parts = self.check, by_part(billed(self.ledger))
        assert not isinstance(check, PublicCheck)
        return check.price(self.looks, parts.get("data/train", NONE), parts.get("data/held", NONE))

    def _known(self, price: Price) -> Look:
        check = self.check
        assert isinstance(check, BalancedCheck | GaussianCheck | SparseVectorCheck)  # there are no others of ours
        return check.look(price)

    def _put(self, step: Step, side: str) -> None:
        part = "data" if self.public or not side else f"data/{side}"
        entry = Entry(step.what, part, self.told.neighbours.value, self.told.seeded, step.floating, step.facts)
        self.ledger.capture(self.ledger.hold(entry, step.promise), step.promise.as_spent())


def _together(steps: Iterable[Step]) -> Promise:
    return reduce(Promise.__add__, (step.promise for step in steps), NOTHING)


def fits(verdict: Verdict, look: Look | None, *, reveals: bool) -> bool:
    """Whether a verdict says what its look reveals: nothing on public records, a yes or no, or a margin."""
    if look is None:
        return (verdict.margin, verdict.std, verdict.guard) == (None, None, None)
    if not reveals:
        return (verdict.margin, verdict.std, verdict.guard) == (None, None, look.guard)
    margin, std, guard = verdict.margin, verdict.std, verdict.guard
    if margin is None or std is None or guard != look.guard:
        return False
    return same_number(std, look.std) and verdict.passed is (margin >= guard)


def close(one: tuple[float | None, float | None], other: tuple[float | None, float | None]) -> bool:
    """Whether an accuracy and its error are those of another computation, or neither is stated."""
    return all(
        ours is theirs if ours is None or theirs is None else same_number(ours, theirs)
        for ours, theirs in zip(one, other, strict=True)
    )
