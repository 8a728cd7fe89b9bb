"""Procedures: a run put together again from the settings of its receipt, without its data.

Mechanisms and checks say themselves what they cost and what goes on record of them, so that nothing about them is
written down twice: a receipt is compared with what its own settings lead to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NoReturn, TypeAlias, final

from expost.accounting.claim import Promise
from expost.accounting.descent import Descent
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import CentredSum, PublicCheck, PublicCount, Question
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import Unreadable
from expost.ledger import Fact
from expost.patience import Plateau
from expost.private import Neighbours
from expost.protocols import Check, Mechanism
from expost.receipts.costs import budget_in
from expost.receipts.notation import fraction, items, whole
from expost.receipts.testimony import Testimony
from expost.recorded import PUBLIC_CHECK, CheckOnRecord
from expost.text import Json

Judge: TypeAlias = Check[Any, Any] | PublicCheck[Any]


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One step as it goes on record; on the training part, or on the ``whole`` before it was divided."""

    what: str
    facts: Mapping[str, Fact]
    floating: bool
    promise: Promise
    whole: bool = False


@final
@dataclass(frozen=True, slots=True)
class Procedure:
    """What is measured before the rungs, what measures on each of them, and what is asked of the held-out records.

    ``own`` are the parts of a receipt that only such a run has, and ``rung`` is what it calls a rung. ``earlier`` rungs
    were climbed by earlier processes of a run that was ``resumed``; the receipt does not have their answers. A run that
    may be ``unasked`` can have been checked by nobody. One with patience has a ``plateau``, which says when it ends.
    """

    before: tuple[Step, ...]
    mechanism: Mechanism[Any, Any]
    question: Question[Any, Any] | None
    own: tuple[str, ...]
    rung: str = "rung"
    earlier: int = 0
    resumed: bool = False
    unasked: bool = False
    plateau: Plateau | None = None


Rebuild: TypeAlias = Callable[[Testimony], Procedure]
"""Puts the procedure of one kind of run together again, refusing settings that such a run does not have."""


def procedure_of(told: Testimony, known: Mapping[str, Rebuild]) -> tuple[Procedure, Judge] | None:
    """The procedure and the check that the settings describe; None for a kind of run, or a check, that is unknown."""
    asked = told.asked
    if told.made not in known or asked.check is None or asked.check.name not in CHECKS:
        return None
    procedure = known[told.made](told)
    if asked.threshold is None and not (procedure.unasked and asked.check.name == PUBLIC_CHECK):
        return None
    if procedure.mechanism.neighbours is not told.neighbours:
        raise Unreadable("a run of this kind does not have these neighbours; the receipt was changed.")
    return procedure, check_of(told, procedure.question)


def check_of(told: Testimony, question: Question[Any, Any] | None) -> Judge:
    """The check, refused unless its facts are those of what was asked: sensitivity, unit, confidence and looks."""
    asked = told.asked
    assert asked.check is not None  # asked for where there is one
    if question is None:
        return PublicCheck(lambda candidate: False)
    return _judge(asked.check, question, asked.confidence)


def score_question(told: Testimony, resolution: int) -> Question[Any, Any] | None:
    """What was asked of the sum of scores that have this many steps to 1; None where no threshold is told."""
    threshold = told.asked.threshold
    if told.asked.aims:
        raise Unreadable("a run of this kind has no aims besides its target; the receipt was changed.")
    return None if threshold is None else CentredSum(_without_data, threshold, told.neighbours, resolution)


def check_claimed(told: Testimony) -> Judge | None:
    """The check of a search of the caller's own, whose sensitivity is the caller's word; None if it is not ours."""
    named = told.asked.check
    if named is None or named.name not in CHECKS:
        return None
    if named.name == PUBLIC_CHECK:
        return PublicCheck(lambda candidate: False)
    return _judge(named, _claimed(told, named.facts), told.asked.confidence)


def _claimed(told: Testimony, facts: Mapping[str, Fact]) -> Question[Any, Any]:
    """One of our questions where a threshold was told, against a public number of records where that was; or another's.

    What one record counts for tells how fine the scores are.
    """
    threshold, unit, neighbours = told.asked.threshold, whole(facts["unit"]), told.neighbours
    if threshold is None:
        return Claimed(neighbours, whole(facts["sensitivity"]), unit, facts.get("monotone") is True)
    if told.held is not None:
        return PublicCount(_without_data, threshold, int(told.held), neighbours, unit)
    return CentredSum(_without_data, threshold, neighbours, unit // threshold.denominator)


@final
@dataclass(frozen=True, slots=True)
class Claimed:
    """A question of the caller's own, as it went on record."""

    neighbours: Neighbours
    sensitivity: int
    unit: int
    monotone: bool

    def ask(self, candidate: object, held: object) -> NoReturn:
        """Never: there are no records."""
        raise AssertionError("an audit has no records to ask about")


def _judge(named: CheckOnRecord, question: Question[Any, Any], sure: Confidence | None) -> Judge:
    """The check, refused unless what went on record of it is what it says of itself."""
    made = CHECKS[named.name](question, sure, named.facts)
    if named.facts != ({} if isinstance(made, PublicCheck) else made.facts()):
        raise Unreadable("the facts of the check do not match what was asked; the receipt was changed.")
    return made


def require_steps(told: Testimony, descent: Descent, found: Json) -> None:
    """Refuse steps by each release that are not those of the plan."""
    rungs = [stop.rung for stop in told.stops if stop.rung is not None]
    taken = accumulate(descent.steps(rung.budget) * rung.times for rung in rungs)
    if [whole(each) for each in items(found)] != [*taken]:
        raise Unreadable("the steps of the training are not those of its plan; the receipt was changed.")


def _without_data(candidate: object, held: object) -> NoReturn:
    raise AssertionError("an audit has no records to score")


def _gaussian(question: Question[Any, Any], sure: Confidence | None, facts: Mapping[str, Fact]) -> Judge:
    return GaussianCheck(question, budget_in(facts), whole(facts["questions"]), sure)


def _sparse(question: Question[Any, Any], sure: Confidence | None, facts: Mapping[str, Fact]) -> Judge:
    return SparseVectorCheck(question, fraction(facts["variance"]), fraction(facts["scale"]), sure)


CHECKS: Mapping[str, Callable[[Question[Any, Any], Confidence | None, Mapping[str, Fact]], Judge]] = {
    BalancedCheck.name: lambda question, sure, facts: BalancedCheck(question, sure),
    GaussianCheck.name: _gaussian,
    SparseVectorCheck.name: _sparse,
    PUBLIC_CHECK: lambda question, sure, facts: PublicCheck(lambda candidate: False),
}
