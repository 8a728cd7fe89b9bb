"""The audit of an answer: its plan, its lines and its statement worked out again from what was asked.

How far one record or person moves a tally follows from the question alone; how many groups there are follows from the
schema, whose digest the receipt has. Where the schema lies beside the receipt, it is read and compared.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

from expost.accounting.claim import NOTHING, Spent
from expost.accounting.curve import Curve
from expost.accounting.jumps import PlannedJumps
from expost.accounting.pledge import Watching
from expost.accounting.stops import PlannedStops
from expost.errors import BudgetExceeded, Unreadable
from expost.jobs.asking.facts import JUMP, LOOKS, ONE
from expost.jobs.asking.moved import measured_faults
from expost.jobs.asking.planning import AnswerPlan, plan_jumps, plan_looks, plan_release, stop_at
from expost.jobs.asking.query import Sum
from expost.jobs.asking.receipt import FIXED, FORMAT, MADE
from expost.jobs.asking.retold import AnswerTestimony
from expost.jobs.asking.targets import WithinDistance, WithinShare
from expost.mechanisms.gaussian import Gaussian
from expost.receipts import lines
from expost.receipts.audit import Audit, mark_faults, statement_faults
from expost.receipts.costs import MU, curve_in
from expost.receipts.lines import alike, same_number
from expost.receipts.notation import number, table
from expost.receipts.receipt import digest_faults
from expost.report.spending import Spending
from expost.text import Json

UNSEEN = (
    "how many groups there are, and what that makes of prices and error bars, is taken at its word: the schema that "
    "the receipt has the digest of does not lie beside it."
)


def recompute_answer(found: Mapping[str, Json], pledged: str | None = None) -> Audit:
    """The ε that the lines of an answer lead to, where the receipt says otherwise, and what is believed.

    ``pledged`` is the digest that was shown before the run.

    Uses: planned jumps; planned stops.
    """
    told = AnswerTestimony.of(found)
    differences = (
        *digest_faults(found, pledged, FIXED),
        *mark_faults(found, told.bill),
        *lines.faults(told.bill),
        *_asked(told),
        *_steps(told),
        *measured_faults(told),
        *_counts(told),
    )
    if differences:
        return Audit(math.inf, differences, (UNSEEN,))
    spending = Spending(told.bill, told.pledge)
    statement = table(found["statement"])
    stated = _unspent(statement) if not told.bill else statement_faults(statement, spending.spent, told.pledge)
    faults = (*_planned(told), *stated)
    return Audit(spending.epsilon, (*faults, *_kept(told, spending)), (UNSEEN,))


def _unspent(statement: Mapping[str, Json]) -> Iterator[str]:
    """Whether a statement about nothing is that nothing was spent."""
    if (number(statement["epsilon"]), number(statement["probabilistic epsilon"])) != (0, 0):
        yield "nothing is on the bill, and the statement is not ε = 0."
    if MU in statement and number(statement[MU]) != 0:
        yield "nothing is on the bill, and the statement is not μ = 0."


def _asked(told: AnswerTestimony) -> Iterator[str]:
    """Whether the kind of plan is that of the questions."""
    if (told.found["format"], told.found["made"]) != (FORMAT, MADE):
        yield f"the format, or what was made, is not that of {FORMAT}."
    precise = all(isinstance(each.target, WithinDistance | WithinShare) for each in told.questions)
    if not precise and (len(told.questions) > 1 or told.refined):
        yield "a decision stands beside other questions, or was refined."
    if told.kind != _kind(told, precise=precise):
        yield "the plan is not of the kind that such questions have."
    if not all(isinstance(each, WithinDistance | WithinShare) for each in told.refined):
        yield "an answer was refined to something else than a precision."
    if told.rows_per_person is not None and not told.persons:
        yield "rows per person are told, and the bound is not about persons."


def _kind(told: AnswerTestimony, *, precise: bool) -> str:
    if not precise:
        return LOOKS
    bounded = not told.persons or told.rows_per_person is not None or all(each.once for each in told.tallies)
    linear = all(each.linear and isinstance(each.target, WithinDistance) for each in told.questions)
    return ONE if bounded and linear else JUMP


def _steps(told: AnswerTestimony) -> Iterator[str]:
    """Whether every line is a step that such a run takes, and each total one that the pledge lets it reach.

    A total that lies exactly on a planned stop is stated as a jump, so that one step must have led there from little.
    """
    kinds = {(item.entry.what, item.entry.part, item.finished) for item in told.bill}
    if not kinds <= {(Gaussian.name, "data", True)}:
        yield "a line is not a finished measurement of the whole data, and answers are made of nothing else."
        return
    if len({item.entry.seeded for item in told.bill}) > 1:
        yield "some lines have seeded noise and others have not."
    if told.recalled and told.bill and told.found["ledger"] is None:
        yield "earlier answers are said to have been used, and there is no ledger that they could be on."
    totals = [NOTHING.as_spent()]
    for place, spent in enumerate((item.spent for item in told.bill for _ in range(item.count)), start=1):
        after = totals[-1] + spent
        try:
            if isinstance(told.pledge, Watching):
                told.pledge.require_step(totals, after)
        except BudgetExceeded as refused:
            yield f"step {place} is one that the pledge refuses: it {refused}"
        totals.append(after)
    yield from _stops_reached(told, totals)


def _stops_reached(told: AnswerTestimony, totals: Sequence[Spent]) -> Iterator[str]:
    """Whether a run that plans its stops ended on them."""
    planned = [each.gaussian for each in _stops(told)]
    reached = [total.curve.gaussian for total in totals[1 + bool(told.cuts) :]]
    if not reached and not (told.recalled and not told.bill):
        yield "nothing was measured, and no earlier answer was used."
        return
    first = planned.index(reached[0]) if reached and reached[0] in planned else 0
    if told.kind == LOOKS and reached != planned[first : first + len(reached)]:
        yield "the looks of a decision did not end on its planned levels, one after the other."
    if told.kind == ONE and reached[:1] not in ([], planned[:1]):
        yield "the release did not cost what was planned."
    if told.kind == ONE and not told.refined and len(reached) > 1:
        yield "one release was planned, and there are more lines than that."
    if told.kind == JUMP and reached and not any(total in planned for total in reached):
        yield "no step jumped to a planned level, which such a run always does."


def _stops(told: AnswerTestimony) -> list[Curve]:
    if not isinstance(told.pledge, PlannedJumps | PlannedStops):
        raise Unreadable("the receipt of an answer has a pledge without planned stops; it was changed.")
    return [promise.curve for promise in told.pledge.promises]


def _counts(told: AnswerTestimony) -> Iterator[str]:
    """Whether what is told of the groups agrees with itself, and with what was reached."""
    if [each.question for each in told.answers] != [str(each.query) for each in told.questions]:
        yield "the answers are not to the questions that were asked."
    if any(each.groups < 1 or each.groups != each.settled + each.few + each.still_open for each in told.answers):
        yield "the groups of an answer are not those that are settled, few or open."
    if told.reached is any(each.still_open for each in told.answers):
        yield "the receipt disagrees with itself on whether everything was reached."
    priced = told.kind == ONE and not told.refined
    if priced and any(each.few or each.size for each in told.answers):
        yield "a group is few, and one release settles all."
    exact = [not isinstance(each.query.measure, Sum) for each in told.questions]  # which is not rounded besides
    if priced and any(each.still_open for each, known in zip(told.answers, exact, strict=False) if known):
        yield "a group is open, and one release settles all."
    if told.kind == LOOKS and any(each.size for each in told.answers):
        yield "a size is told of groups that are too small, and a decision has none."
    sized = told.kind == JUMP or told.refined
    if sized and told.fewer_than is not None and {each.size for each in told.answers} - {told.fewer_than}:
        yield "groups are told to be fewer than another size than the one that was given."


def _planned(told: AnswerTestimony) -> Iterator[str]:
    """Whether levels and pledge are those that the cap, δ and the kind of question lead to."""
    planned = _plan(told)
    stops = _stops(told)
    if type(told.pledge) is not type(planned.pledge) or len(stops) != len(planned.levels):
        yield "the pledge is not the one that such questions make."
        return
    if not all(alike(stop, stop_at(due).curve) for stop, due in zip(stops, planned.levels, strict=True)):
        yield "the levels of the pledge are not those that the most that may be spent leads to."
    ours, theirs = planned.pledge, told.pledge
    if isinstance(ours, PlannedJumps) and isinstance(theirs, PlannedJumps) and ours.lead != theirs.lead:
        yield "the lead of the pledge is not the one that such questions have."
    stated = theirs.table[0].epsilon if told.kind == ONE and isinstance(theirs, PlannedJumps) else None
    if (stated is None) is not (told.price is None) or (stated and not same_number(stated, told.price or 0.0)):
        yield "the price that was announced is not the one that the pledge states."


def _plan(told: AnswerTestimony) -> AnswerPlan:
    delta, most = told.pledge.delta, told.max_epsilon
    if told.kind == ONE:
        first = _stops(told)[0].gaussian
        if first is None:
            raise Unreadable("the first level of the receipt has no Gaussian profile; it was changed.")
        return plan_release(first, most, delta, {})
    return plan_looks(most, delta) if told.kind == LOOKS else plan_jumps(most, delta)


def _kept(told: AnswerTestimony, spending: Spending) -> Iterator[str]:
    """Whether the most that may be spent was kept to."""
    if not spending.epsilon <= told.max_epsilon * (1 + lines.SAME):
        yield f"the run is stated above the ε = {told.max_epsilon:g} that it might spend."
    if not alike(curve_in(table(told.found["statement"])["curve"]), spending.spent.curve):
        yield "the lines do not add up to the curve of the statement."
