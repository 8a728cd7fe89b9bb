"""The recipe of a synthetic table: everything that is public and fixed before data is touched, and its plan."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, final

from expost.accounting.claim import Budget
from expost.accounting.curve import largest_rho
from expost.accounting.plan import Plan
from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence, confidence_level
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.question import Question
from expost.errors import InvalidValue
from expost.jobs.synthesis.choice import PairSelection
from expost.judge import BALANCED, AnyCheck, Judge, asked_rungs, planned_looks_of
from expost.ladder import Ladder
from expost.looks import planned_looks
from expost.numerics import probability
from expost.patience import Patience
from expost.protocols import Look
from expost.search import planned_stops
from expost.tabular.aims import Aim, targets_of, together
from expost.tabular.allowance import require_allowed
from expost.tabular.edges import require_declared
from expost.tabular.model.ruled import require_possible
from expost.tabular.one_row import OneRowEach
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Learner, Lesson, Ranker, Score, Sklearn

LADDER = Ladder.geometric(0.01, 1, 7, alpha=20)
QUERY = Budget.of(Fraction(1, 100), alpha=20)
CONFIDENCE = Fraction(95, 100)
PATIENCE = Patience()
MOST_AIMS = 20
"""Of one table; more are a workload, which an overlap asks about at once."""
MOST_ROWS = 10**6
"""Rows of a synthetic table for which no other number was asked for."""


@final
@dataclass(frozen=True, kw_only=True)
class TableRecipe:
    """Everything about the job that is public and fixed before data is touched.

    ``confidence`` is how sure a pass must be, None for the paper's check, which promises nothing. ``records`` is about
    how many records there are, if that is public: rungs whose look would be too noisy are then not asked about.
    All ``aims`` must be reached by the same table. ``sized`` says that ``validation`` is to follow from a noisy number
    of all records, and stands for it until that was released. ``patience`` ends a run whose answers no longer rise;
    without it every rung is climbed. ``rows_per_person`` is how many rows of a person count in full if they are alike;
    without it that follows from a release.
    """

    schema: Schema
    aims: tuple[Aim, ...]
    sized: bool = False
    confidence: Fraction | None = CONFIDENCE
    records: int | None = None
    ladder: Ladder = LADDER
    query: Budget = QUERY
    delta: float = 1e-5
    validation: Fraction = Fraction(1, 5)
    check: Judge = BALANCED
    learner: Learner = field(default_factory=Sklearn)
    rows: int | None = None
    patience: Patience | None = PATIENCE
    rows_per_person: int | None = None

    def __post_init__(self) -> None:
        if not self.aims:
            raise InvalidValue(
                "nothing is asked of the table; ask for an accuracy of a target, or how close all pairs must be."
            )
        if len(self.aims) > MOST_AIMS:
            raise InvalidValue(f"there are {len(self.aims)} aims; give a table at most {MOST_AIMS}.")
        self.selection  # noqa: B018  refuses a target that is not there, and columns that are too wide
        object.__setattr__(self, "aims", tuple(aim.settled(self.schema) for aim in self.aims))
        require_possible(self.schema)
        require_declared(self.schema, self.targets, public=self.check.public)
        probability(self.delta, "delta")
        if self.query.alpha != self.ladder.alpha:
            raise InvalidValue("the selection's budget and the ladder are at different orders; use one.")
        if not 0 < self.validation < 1:
            raise InvalidValue(f"validation is {float(self.validation):g}; hold out a share strictly between 0 and 1.")
        if self.rows is not None and self.rows < 1:
            raise InvalidValue(f"rows is {self.rows}; a synthetic table has at least one.")
        if self.records is not None and self.records < 1:
            raise InvalidValue(f"records is {self.records}; say about how many there are, or leave it out.")
        require_allowed(self.rows_per_person, self.schema.neighbours)
        if self.confidence is not None:
            confidence_level(self.confidence)
        self.question()
        if any(lesson.positive is not None for lesson in self.lessons) and not isinstance(self.learner, Ranker):
            raise InvalidValue("the learner has no ranks, which an AUC needs; give one that has, or ask for another.")

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The columns to be predicted, each once."""
        return targets_of(self.aims)

    @property
    def only(self) -> Aim | None:
        """The aim, where there is one only: its answers can be told in its own measure."""
        return self.aims[0] if len(self.aims) == 1 else None

    @cached_property
    def lessons(self) -> tuple[Lesson, ...]:
        """What must be learnt from each table, each once."""
        found = (aim.lesson(self.schema) for aim in self.aims)
        return tuple(dict.fromkeys(lesson for lesson in found if lesson is not None))

    @property
    def scores(self) -> tuple[Score, ...]:
        """What is computed of each held-out record alone."""
        found = (aim.alone(self.schema) for aim in self.aims)
        return tuple(score for score in found if score is not None)

    @property
    def selection(self) -> PairSelection:
        """How the pairs to measure are chosen."""
        return PairSelection(self.schema, self.targets, self.query, self.sized and not self.check.public)

    def question(self) -> Question[Any, Candidate]:
        """What is asked of the held-out records; of persons, of one row of each."""
        asked = together([aim.question(self.schema) for aim in self.aims])
        return asked if self.schema.unit is None else OneRowEach(asked)

    def judge(self) -> AnyCheck[Any, Candidate]:
        """The check of that question."""
        return self._check_of(self.assurance)

    def _check_of(self, confidence: Confidence | None) -> AnyCheck[Any, Candidate]:
        looks = planned_looks_of(len(self.ladder.levels), confidence)
        return self.check.check(self.question(), self.ladder.budgets[0], looks, confidence)

    @property
    def assurance(self) -> Confidence | None:
        """The confidence, over all looks that are planned."""
        return None if self.asked is None or self.confidence is None else Confidence(self.confidence, len(self.asked))

    @cached_property
    def asked(self) -> tuple[int, ...] | None:
        """The rungs that a check is asked about, from 0; None for all but the last, as the paper's check has it."""
        held = None if self.records is None else self.records * float(self.validation)
        return asked_rungs(
            self.check,
            self.question(),
            level=self.confidence,
            trained=self._trained,
            rungs=len(self.ladder.levels),
            held=held,
        )

    def _trained(self) -> list[Fraction]:
        """The ρ by each rung."""
        mechanism = self.selection.refined()
        steps = accumulate((mechanism.promise(each) for each in self.ladder.budgets), initial=self.selection.cost)
        return [largest_rho(promise.curve) for promise in steps][1:]

    @property
    def rungs(self) -> Ladder:
        """The ladder, with the rungs that the check is asked about."""
        return replace(self.ladder, asked=self.asked)

    @property
    def held(self) -> Fraction:
        """The share of records held out: none for a check on public records."""
        return Fraction(0) if self.check.public else self.validation

    @property
    def waits(self) -> Patience | None:
        """Its patience; none where the check releases no answer that could be seen to rise."""
        return self.patience if isinstance(self.judge(), BalancedCheck | GaussianCheck) else None

    def looks(self) -> tuple[Look | None, ...]:
        """How noisy the check will be on each rung, and what passes there."""
        return planned_looks(self.selection.refined(), self.rungs, self.judge(), prior=self.selection.cost)


def plan_synthesis(recipe: TableRecipe) -> Plan:
    """The pledge for the whole procedure, selection included; touches no data."""
    selection = recipe.selection
    stops = planned_stops(
        selection.refined(), recipe.rungs, recipe.judge(), prior=selection.cost, whole=selection.whole
    )
    several = f"planned stops: δ is split evenly over the {len(stops)} of them"
    return Plan(stops, PlannedStops(stops, recipe.delta), several if len(stops) > 1 else "one stop is planned")
