"""Asking: from a table and questions to answers that are as precise as they must be, with their bill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, final

from expost.accounting.curve import AdpEpsilon
from expost.checks.confidence import confidence_level
from expost.errors import InvalidValue, SchemaMismatch
from expost.jobs.asking.answer import Answered, QuestionTold, columns_of, told_of
from expost.jobs.asking.blocks import Block, read_under
from expost.jobs.asking.climb import AnswerLook, climb, next_place, refine, release_exactly
from expost.jobs.asking.contribution import Cut, bounds_declared, cuts_in, lengths_of
from expost.jobs.asking.deciding import decide
from expost.jobs.asking.planning import FIRST, LEAD, AnswerPlan, level, plan_answer, stop_at
from expost.jobs.asking.measuring import Measuring, Progress
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.query import Query
from expost.jobs.asking.question import AskRecipe, Question
from expost.jobs.asking.targets import Above, Compare, Precision, Target, Top, precision_of
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real
from expost.odometer import Odometer
from expost.private import Private
from expost.recorded import Booked, ReadableLedger
from expost.tabular.persons import Grouped, Rows
from expost.tabular.schema.schema import Schema
from expost.tabular.source.frames import frame
from expost.tabular.source.reading import read_records
from expost.tabular.table import Kind, Table

FINDING = Fraction(1, 50)
"""The share of the highest level that finding the bound on a person's rows takes."""


@final
class Answer:
    """Answers with their error bars and their bill, which can be made finer at the price of the increment."""

    __slots__ = ("_chain", "_kind", "_ledger", "_measuring", "_outcome", "_plan")

    def __init__(
        self, outcome: Answered, measuring: Measuring, plan: AnswerPlan, kind: Kind, ledger: ReadableLedger
    ) -> None:
        self._outcome, self._measuring, self._plan, self._kind, self._ledger = outcome, measuring, plan, kind, ledger
        self._chain = 1

    @property
    def table(self) -> Any:
        """Group, estimate, low, high and settled, as the same kind of frame as the input."""
        return frame(self._kind, columns_of(self.told))

    @property
    def told(self) -> tuple[QuestionTold, ...]:
        """The answers, question by question."""
        return self._outcome.release.value

    @property
    def outcome(self) -> Answered:
        """All that is known of the run."""
        return self._outcome

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for everything so far."""
        return self._outcome.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self._outcome.recipe.delta

    @property
    def passed(self) -> bool:
        """Whether every group of every question is settled."""
        return self._outcome.reached

    def price(self, within: Precision | Real | str) -> AdpEpsilon:
        """The ε of all of it after ``refine``; it follows from releases, so that asking is free."""
        self._measuring.recipe = _finer(self._outcome.recipe, within)
        place, _ = next_place(self._plan, self._measuring, self._share)
        return self._plan.pledge.epsilon(stop_at(self._plan.levels[place]))

    def refine(self, within: Precision | Real | str) -> "Answer":
        """The same questions, more precisely; the increment is paid, and earlier error bars stay valid.

        All error bars of an answer hold together: each time one is made finer its own are somewhat wider for that.
        """
        recipe = _finer(self._outcome.recipe, within)
        self._measuring.recipe = recipe
        found = refine(self._plan, self._measuring, self._share, tell=_quiet)
        outcome = _outcome(recipe, self._measuring, found, self._outcome.cuts)
        finer = Answer(outcome, self._measuring, self._plan, self._kind, self._ledger)
        self._chain += 1
        finer._chain = self._chain
        return finer

    @property
    def _share(self) -> float:
        return (1 - FIRST) / 2 ** (self._chain + 1)

    def __repr__(self) -> str:
        return f"Answer({self._outcome.release.brief})"


def ask(
    table: object,
    *questions: str | Query,
    schema: Schema,
    within: Precision | Real | str | None = None,
    top: int | None = None,
    above: Real | None = None,
    compare: tuple[str, str] | None = None,
    confidence: Real = 0.95,
    together: bool = False,
    delta: float = 1e-5,
    max_epsilon: float = 1.0,
    fewer_than: int | None = None,
    rows_per_person: int | None = None,
    noise: Noise | None = None,
    random_state: None = None,
    ledger: ReadableLedger | None = None,
    on_pledge: Callable[[AskRecipe, AnswerPlan], None] | None = None,
    on_progress: Progress | None = None,
) -> Answer:
    """Answers to plain questions or SQL, as precise as they must be, at the least privacy that reached it.

    ``within`` is a distance, or a share of each truth such as ``"5%"``; instead of it ``top``, ``above`` or ``compare``
    ask for a decision. ``confidence`` is that of each error bar, or of all of them ``together``. ``max_epsilon`` is the
    most that may be spent; groups that it leaves out of reach end as fewer than ``fewer_than``. Where the schema names
    a unit, ``rows_per_person`` is how many rows of a person in one group count in full, if that is public.
    """
    refuse_random_state(random_state)
    recipe = AskRecipe(
        schema=schema,
        questions=questions_of(
            questions, target_of(within=within, top=top, above=above, compare=compare), unit=schema.unit
        ),
        confidence=confidence_level(confidence),
        together=together,
        delta=delta,
        max_epsilon=max_epsilon,
        fewer_than=fewer_than,
        rows_per_person=rows_per_person,
    )
    plan, noise = plan_answer(recipe), SystemNoise() if noise is None else noise
    kept = MemoryLedger() if ledger is None else ledger
    room = _room(kept, plan, recipe, noise)
    odometer = Odometer(pledge=plan.pledge, ledger=kept, rehearsal=noise.seeded)
    if on_pledge is not None:
        on_pledge(recipe, plan)
    tell = _quiet if on_progress is None else on_progress
    tell("reading the table")
    coded = _read(table, recipe)
    del table  # a traceback that shows variables would show its rows
    sealed: Private[Any] = Private(coded, schema.neighbours)
    measuring = Measuring(recipe, sealed, odometer, noise, dict(bounds_declared(recipe)))
    cuts = _bounded(measuring, plan, tell)
    found = _found(plan, measuring, room, tell)
    return Answer(_outcome(recipe, measuring, found, cuts), measuring, plan, coded.native, kept)


def questions_of(asked: Sequence[str | Query], target: Target, *, unit: str | None) -> tuple[Question, ...]:
    """The questions that were typed or given, with their target."""
    queries = [
        query for each in asked for query in ((each,) if isinstance(each, Query) else queries_in(each, unit=unit))
    ]
    return tuple(Question(query, target) for query in dict.fromkeys(queries))


def target_of(
    *,
    within: Precision | Real | str | None,
    top: int | None,
    above: Real | None,
    compare: tuple[str, str] | None,
) -> Target:
    """The one target that was given."""
    given: list[Target] = []
    if within is not None:
        given.append(precision_of(within))
    if top is not None:
        given.append(Top(top))
    if above is not None:
        given.append(Above(Fraction(above)))
    if compare is not None:
        given.append(Compare(*compare))
    if len(given) != 1:
        raise InvalidValue("say how precise the answer is to be by one of within, top, above and compare.")
    return given[0]


def _room(ledger: ReadableLedger, plan: AnswerPlan, recipe: AskRecipe, noise: Noise) -> int:
    """How many levels there is room for; on a lasting ledger the last that fits is held before any data is read."""
    allowed = sum(epsilon <= recipe.max_epsilon for epsilon in plan.epsilons)
    if not isinstance(ledger, Booked):
        return allowed
    stops = plan.stops[:1] if plan.exact else plan.stops[:allowed]
    fitting = ledger.reserve(stops, of=recipe.schema.neighbours.value, pledge=plan.pledge)
    return allowed if plan.exact else fitting


def _read(table: object, recipe: AskRecipe) -> Rows:
    """The rows that the questions are about, with the columns that they name."""
    needed = read_under(recipe.schema, recipe.blocks)
    if not recipe.schema.reviewed:
        raise SchemaMismatch("the schema is a draft; have the owner of the data review it, and say reviewed = true.")
    if not isinstance(table, Table | Grouped):
        return read_records(table, needed)
    known = table.schema.unit == needed.unit and table.schema.neighbours is needed.neighbours
    if not known or any(each not in table.schema.columns for each in needed.columns):
        raise SchemaMismatch("the table was coded under another schema, or too coarsely; give the file or the frame.")
    return table


def _bounded(measuring: Measuring, plan: AnswerPlan, tell: Progress) -> dict[Block, Cut]:
    """How much of a person counts, found first where it is neither public nor plain."""
    recipe = measuring.recipe
    if recipe.schema.unit is None or recipe.rows_per_person is not None:
        return {}
    tell("counting rows per person")
    found = measuring.step(lengths_of(recipe.blocks, recipe.schema), to=level(float(FINDING * LEAD * plan.levels[-1])))
    cuts = cuts_in(recipe.blocks, found)
    measuring.most.update({block: cut.most for block, cut in cuts.items()})
    return cuts


def _found(plan: AnswerPlan, measuring: Measuring, room: int, tell: Progress) -> AnswerLook:
    if plan.exact:
        return release_exactly(plan, measuring)
    if measuring.recipe.decision is not None:
        return decide(plan, measuring, top=room, tell=tell)
    return climb(plan, measuring, top=room, tell=tell)


def _outcome(recipe: AskRecipe, measuring: Measuring, found: AnswerLook, cuts: Mapping[Block, Cut]) -> Answered:
    release = measuring.past.joint().map(lambda _: told_of(recipe, found))
    return Answered(recipe, release, found.reached, cuts, found.width)


def _finer(recipe: AskRecipe, within: Precision | Real | str) -> AskRecipe:
    if recipe.decision is not None:
        raise InvalidValue("a decision has no precision to refine; ask for its numbers by within.")
    target = precision_of(within)
    return replace(recipe, questions=tuple(Question(each.query, target) for each in recipe.questions))


def _quiet(doing: str) -> None:
    """Say nothing."""
