"""Asking: from a table and questions to answers that are as precise as they must be, with their bill."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from expost.accounting.curve import AdpEpsilon
from expost.checks.confidence import confidence_level
from expost.errors import InvalidValue, SchemaMismatch
from expost.filters import PledgedFilter
from expost.jobs.asking.answer import Answer, answered
from expost.jobs.asking.climb import AnswerLook, climb, release_exactly
from expost.jobs.asking.contribution import Cut, bounds_declared, cuts_in, lengths_of
from expost.jobs.asking.deciding import decide
from expost.jobs.asking.facts import Heading, Pledged
from expost.jobs.asking.known import answer_known
from expost.jobs.asking.measuring import Measuring, Progress
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import LEAD, AnswerPlan, level, off_levels, plan_answer
from expost.jobs.asking.query import Query
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.recalled import Recollection, Remembering, keeping
from expost.jobs.asking.tallies import Tally, read_under
from expost.jobs.asking.targets import Above, Compare, Precision, Target, Top, precision_of
from expost.jobs.job import say_nothing
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real, exact
from expost.odometer import Odometer
from expost.private import Private
from expost.recorded import Booked, ReadableLedger
from expost.report.outcomes import day
from expost.tabular.hidden import HiddenTable
from expost.tabular.pieced import AnyPieces
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.tabular.source.room import Memory, Room

TITLE = "Answers"
FINDING = Fraction(1, 10)
"""The share of the highest level that finding the bound on a person's rows takes."""


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
    memory: Memory = None,
    noise: Noise | None = None,
    random_state: None = None,
    ledger: ReadableLedger | None = None,
    afresh: bool = False,
    title: str | None = None,
    on_pledge: Callable[[Pledged], None] | None = None,
    on_progress: Progress | None = None,
) -> Answer:
    """Answers to plain questions or SQL, as precise as they must be, at the least privacy that reached it.

    ``table`` is anything ``synthesize`` takes. ``within`` is a distance, or a share of each truth such as ``"5%"``;
    instead of it ``top``, ``above`` or ``compare`` ask for a decision. ``confidence`` is that of each error bar, or of
    all of them ``together``. ``max_epsilon`` is the most that may be spent; groups that it leaves out of reach end as
    fewer than ``fewer_than``. Where the schema names a unit, ``rows_per_person`` is how many rows of a person in one
    group count in full, if that is public.
    ``memory``, such as ``"4GB"``, is how much a run may take to read the table and to keep its codes, by default half
    of what the machine has.
    On a lasting ledger what earlier questions released is used first; ``afresh`` says that the data has changed since.
    ``on_pledge`` is told, before the table is read, all that is fixed by then, whose digest the receipt has too.
    """
    hidden = HiddenTable(table)
    del table  # a traceback that shows variables would show its rows
    refuse_random_state(random_state)
    recipe = AskRecipe(
        schema=schema,
        questions=questions_of(
            questions, one_target(within=within, top=top, above=above, compare=compare), schema=schema
        ),
        confidence=confidence_level(confidence),
        together=together,
        delta=delta,
        max_epsilon=max_epsilon,
        fewer_than=fewer_than,
        rows_per_person=rows_per_person,
    )
    plan, noise, memory_room = plan_answer(recipe), SystemNoise() if noise is None else noise, Room.of(memory)
    kept, tell = MemoryLedger() if ledger is None else ledger, say_nothing if on_progress is None else on_progress
    heading = Heading(title or TITLE, day(noise), Pledged(recipe, plan))
    past = Recollection.of(recipe, kept.recalled(), afresh=afresh) if isinstance(kept, Remembering) else None
    if past is not None and past.memories:
        known = answer_known(heading, past, hidden.kind, kept)
        if known is not None:
            return known
    room = _room(kept, plan, recipe)
    cap = PledgedFilter(plan.pledge, AdpEpsilon(max_epsilon))
    odometer = Odometer(pledge=plan.pledge, cap=cap, ledger=kept, rehearsal=noise.seeded)
    if on_pledge is not None:
        on_pledge(heading.pledged)
    rows = _read(hidden, recipe, memory_room, noise, tell)
    measuring = Measuring(recipe, Private(rows, schema.neighbours), odometer, noise, dict(bounds_declared(recipe)))
    cuts = _bounded(measuring, plan.levels[:room], past, tell)
    if isinstance(kept, Remembering) and past is not None:
        measuring.before = past.estimates({**past.most(), **measuring.most})
        measuring.keep = keeping(kept, past.columns, most=measuring.most, afresh=afresh)
    found = _found(plan, measuring, room, tell)
    return Answer(answered(recipe, measuring, found, cuts), measuring, rows.native, kept, heading)


def questions_of(asked: Sequence[str | Query], target: Target, *, schema: Schema) -> tuple[Targeted, ...]:
    """The questions that were typed or given, with their target."""
    gaps = frozenset(each.name for each in schema.columns if each.missing is Missing.CATEGORY)
    queries = [
        query
        for each in asked
        for query in ((each,) if isinstance(each, Query) else queries_in(each, unit=schema.unit, gaps=gaps))
    ]
    return tuple(Targeted(query, target) for query in dict.fromkeys(queries))


def one_target(
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
        given.append(Above(exact(above, "above")))
    if compare is not None:
        given.append(Compare(*compare))
    if len(given) != 1:
        raise InvalidValue(
            "say how precise the answer must be by exactly one of within, top, above and compare, such as --within 5% "
            '(within="5%").'
        )
    return given[0]


def _room(ledger: ReadableLedger, plan: AnswerPlan, recipe: AskRecipe) -> int:
    """How many levels there is room for; on a lasting ledger the last that fits is held before any data is read."""
    allowed = sum(epsilon <= recipe.max_epsilon for epsilon in plan.epsilons)
    if not isinstance(ledger, Booked):
        return allowed
    stops = plan.stops[:1] if plan.exact else plan.stops[:allowed]
    fitting = ledger.reserve(stops, of=recipe.schema.neighbours.value, pledge=plan.pledge, ask=_coarser)
    return allowed if plan.exact else fitting


def _coarser(most: float, stops: int) -> str:
    """What to ask for instead of a question that a ledger has no room for."""
    return "ask for less precision, whose cost `expost plan ask` shows"


def _read(hidden: HiddenTable, recipe: AskRecipe, memory: Room, noise: Noise, tell: Progress) -> AnyPieces:
    """The rows that the questions are about, with the columns that they name."""
    tell("reading the table")
    needed = read_under(recipe.schema, recipe.tallies)
    if not recipe.schema.reviewed:
        raise SchemaMismatch("the schema is a draft; have the owner of the data review it, and say reviewed = true.")
    table = hidden.coded(needed, memory, noise, tell)
    known = table.schema.unit == needed.unit and table.schema.neighbours is needed.neighbours
    if not known or any(each not in table.schema.columns for each in needed.columns):
        raise SchemaMismatch("the table was coded under another schema, or too coarsely; give the file or the frame.")
    return table


def _bounded(
    measuring: Measuring, levels: tuple[Fraction, ...], past: Recollection | None, tell: Progress
) -> dict[Tally, Cut]:
    """How much of a person counts, found first where it is neither public nor known from earlier answers."""
    recipe, known = measuring.recipe, {} if past is None else past.most()
    if recipe.bounded:
        return {}
    if known.keys() >= {*recipe.tallies}:
        measuring.most.update(known)
        return {}
    tell("counting rows per person")
    first = level(float(FINDING * LEAD * levels[-1]))
    found = measuring.step(lengths_of(recipe.tallies, recipe.schema), to=off_levels(first, levels))
    cuts = cuts_in(recipe.tallies, found)
    measuring.most.update({tally: cut.most for tally, cut in cuts.items()})
    return cuts


def _found(plan: AnswerPlan, measuring: Measuring, room: int, tell: Progress) -> AnswerLook:
    if plan.exact:
        return release_exactly(plan, measuring)
    if measuring.recipe.decision is not None:
        return decide(plan, measuring, top=room, tell=tell)
    return climb(plan, measuring, top=room, tell=tell)
