"""Synthesis: from a private table and an accuracy to a synthetic table that reaches it on held-out records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias, final

import numpy as np

from expost.accounting.claim import Budget, Promise
from expost.accounting.curve import largest_rho
from expost.accounting.plan import Plan
from expost.accounting.pledge import PlannedStops
from expost.checks.confidence import Confidence, confidence_level, worth_asking
from expost.checks.gaussian import BalancedCheck
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum
from expost.errors import InvalidValue
from expost.ladder import Ladder
from expost.looks import planned_looks
from expost.mechanisms.brownian import Brownian, Estimate
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Floats, Noise
from expost.numerics import probability, up
from expost.odometer import Odometer
from expost.private import Private, Split
from expost.protocols import Check, Look
from expost.release import Past
from expost.search import Line, Outcome, planned_stops, search
from expost.tabular.apart import require_apart
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.model.graphical import Measured, fit, record_count
from expost.tabular.model.junction import Junction
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Learner, Sklearn, correct
from expost.tabular.selection import SpanningTree, affordable, queries
from expost.tabular.table import Table

Score: TypeAlias = Callable[[Candidate, Table], Floats]
Judge: TypeAlias = Check[Table, Candidate] | PublicCheck[Candidate]
CheckMaker: TypeAlias = Callable[[CentredSum[Table, Candidate], Confidence | None], Judge]
Progress: TypeAlias = Callable[[str], None]

LADDER = Ladder.geometric(0.01, 1, 7, alpha=20)
QUERY = Budget.of(Fraction(1, 100), alpha=20)
CONFIDENCE = Fraction(95, 100)
THOUSANDTHS = 1000
"""Steps to 1 of a score of the caller's own; each record's is rounded down to one. A target of four decimals fits."""


@final
@dataclass(frozen=True, kw_only=True)
class TableRecipe:
    """Everything about the job that is public and fixed before data is touched.

    ``confidence`` is how sure a pass must be, None for the paper's check, which promises nothing. ``records`` is about
    how many records there are, if that is public: rungs whose look would be too noisy are then not asked about.
    A ``score`` of the caller's own gives each record a number from 0 to 1, rounded down to a thousandth on its own;
    ``accuracy`` is then the mean score to reach. Without one a record scores 1 if its target is predicted, else 0.
    """

    schema: Schema
    target: str
    accuracy: Fraction
    confidence: Fraction | None = CONFIDENCE
    records: int | None = None
    ladder: Ladder = LADDER
    query: Budget = QUERY
    delta: float = 1e-5
    validation: Fraction = Fraction(1, 5)
    check: CheckMaker = BalancedCheck
    learner: Learner = field(default_factory=Sklearn)
    score: Score | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        affordable(self.schema.domain, self.target)
        probability(self.delta, "delta")
        if self.query.alpha != self.ladder.alpha:
            raise InvalidValue("the selection's budget and the ladder are at different orders; use one.")
        if not 0 < self.validation < 1:
            raise InvalidValue(f"validation is {float(self.validation):g}; hold out a share strictly between 0 and 1.")
        if self.rows is not None and self.rows < 1:
            raise InvalidValue(f"rows is {self.rows}; a synthetic table has at least one.")
        if self.records is not None and self.records < 1:
            raise InvalidValue(f"records is {self.records}; say about how many there are, or leave it out.")
        if self.confidence is not None:
            confidence_level(self.confidence)
        self.question()

    def question(self) -> CentredSum[Table, Candidate]:
        """What is asked of the held-out records."""
        if self.score is None:
            return CentredSum(correct(self.target), self.accuracy, self.schema.neighbours)
        return CentredSum(self.score, self.accuracy, self.schema.neighbours, THOUSANDTHS)

    def judge(self) -> Judge:
        """The check of that question."""
        return self.check(self.question(), self.assurance)

    @property
    def assurance(self) -> Confidence | None:
        """The confidence, over all looks that are planned."""
        return None if self.asked is None or self.confidence is None else Confidence(self.confidence, len(self.asked))

    @cached_property
    def asked(self) -> tuple[int, ...] | None:
        """The rungs that a check is asked about, from 0; None for all but the last, as the paper's check has it."""
        if self.confidence is None:
            return None
        everywhere = Confidence(self.confidence, len(self.ladder.levels))
        if not isinstance(self.check(self.question(), everywhere), BalancedCheck):
            return tuple(range(everywhere.looks))
        prior, mechanism = climb(self)
        steps = accumulate((mechanism.promise(each) for each in self.ladder.budgets), initial=prior)
        trained = [largest_rho(promise.curve) for promise in steps][1:]
        held = None if self.records is None else self.records * float(self.validation)
        return worth_asking(trained, self.question(), self.confidence, held)

    @property
    def rungs(self) -> Ladder:
        """The ladder, with the rungs that the check is asked about."""
        return replace(self.ladder, asked=self.asked)

    @property
    def held(self) -> Fraction:
        """The share of records held out: none for a check on public records."""
        return Fraction(0) if isinstance(self.judge(), PublicCheck) else self.validation

    def looks(self) -> tuple[Look | None, ...]:
        """How noisy the check will be on each rung, and what passes there."""
        prior, mechanism = climb(self)
        return planned_looks(mechanism, self.rungs, self.judge(), prior=prior)

    def marginals(self, cliques: tuple[Clique, ...]) -> Marginals:
        """The statistic of these cliques."""
        return Marginals(self.schema.domain, cliques, self.schema.neighbours)

    def alone(self) -> Marginals:
        """Every column by itself."""
        return self.marginals(tuple((name,) for name in self.schema.names))

    def tree(self, measured: dict[str, Floats]) -> SpanningTree:
        """The selection of pairs, given what each column alone looks like."""
        edges = affordable(self.schema.domain, self.target)
        return SpanningTree(measured, edges, self.schema.neighbours)

    @property
    def half(self) -> Budget:
        """What each of the two steps of the selection may spend."""
        return Budget(self.query.epsilon / 2, self.query.alpha)


def climb(recipe: TableRecipe) -> tuple[Promise, Brownian[Table]]:
    """What the selection costs, and a mechanism that costs on every rung what the run's will, whatever is selected."""
    blank = {name: np.zeros(size) for name, size in recipe.schema.domain.items()}
    prior = Gaussian(recipe.alone().statistic).promise(recipe.half) + recipe.tree(blank).promise(recipe.half)
    star = recipe.marginals(queries(recipe.schema.domain, recipe.target, ()))
    return prior, Brownian(Gaussian(star.statistic))


def plan_synthesis(recipe: TableRecipe) -> Plan:
    """The pledge for the whole procedure, selection included; touches no data."""
    prior, mechanism = climb(recipe)
    stops = planned_stops(mechanism, recipe.rungs, recipe.judge(), prior=prior)
    return Plan(
        stops, PlannedStops(stops, recipe.delta), f"planned stops: δ is split evenly over the {len(stops)} of them"
    )


@final
@dataclass(frozen=True, eq=False)
class Synthesis:
    """A finished job: the outcome of the search, and what was released on the way to it."""

    recipe: TableRecipe
    plan: Plan
    outcome: Outcome[Candidate]
    measured: Mapping[Clique, Floats]
    std: float
    held: float
    """About how many records were held out, estimated from released counts."""


class Builder:
    """Turns the estimates so far into a candidate: fit, draw rows, learn. Sees released values only."""

    def __init__(
        self, recipe: TableRecipe, marginals: Marginals, ones: Measurement, noise: Noise, tell: Progress
    ) -> None:
        self._recipe, self._marginals, self._noise, self._tell = recipe, marginals, noise, tell
        place = {name: index for index, name in enumerate(recipe.schema.names)}
        self._cliques = [tuple(place[name] for name in clique) for clique in marginals.cliques]
        self._junction = Junction.of(tuple(recipe.schema.domain.values()), self._cliques)
        singles = recipe.alone().apart(ones.values)
        self._ones = [Measured((place[name],), values, up(ones.variance)) for (name,), values in singles.items()]
        self.newest: Estimate | None = None
        self.records = 1.0

    def __call__(self, estimates: tuple[Estimate, ...]) -> Candidate:
        """The candidate of this rung."""
        recipe, self.newest = self._recipe, estimates[-1]
        values = self._marginals.apart(self.newest.values).values()
        variance = up(1 / self.newest.precision)
        pairs = [Measured(c, v, variance) for c, v in zip(self._cliques, values, strict=True)]
        self._tell("fitting the model")
        model = fit(self._junction, [*self._ones, *pairs])
        self.records = record_count([*self._ones, *pairs])
        self._tell("drawing a synthetic table")
        rows = recipe.rows or max(1, round(self.records / float(1 - recipe.held)))
        codes = dict(zip(recipe.schema.names, model.round(rows, self._noise), strict=True))
        table = Table(recipe.schema, codes)
        self._tell("learning from it")
        candidate = Candidate(table, model, recipe.learner(table, model, recipe.target, self._noise))
        if recipe.held:
            require_apart(recipe.question().score, candidate)
        return candidate


def synthesise(
    parts: Split[Table],
    recipe: TableRecipe,
    chosen: Plan,
    *,
    odometer: Odometer,
    noise: Noise,
    on_step: Callable[[Line, float], None] | None = None,
    on_progress: Progress | None = None,
) -> Synthesis:
    """Select marginals, then refine them until a table drawn from them is accurate enough.

    ``on_step`` is told each rung and about how many records are held out.
    """
    tell: Progress = on_progress or (lambda text: None)
    tell("selecting columns to measure together")
    ones, cliques = _select(parts.train, recipe, odometer, noise)
    marginals = recipe.marginals(cliques)
    builder = Builder(recipe, marginals, ones, noise, tell)
    odds = float(recipe.held / (1 - recipe.held))
    outcome = search(
        parts,
        Brownian(Gaussian(marginals.statistic)),
        recipe.rungs,
        builder,
        recipe.judge(),
        noise=noise,
        odometer=odometer,
        on_step=None if on_step is None else lambda line: on_step(line, builder.records * odds),
    )
    assert builder.newest is not None  # the search has released something
    measured = marginals.apart(builder.newest.values)
    return Synthesis(recipe, chosen, outcome, measured, builder.newest.std, builder.records * odds)


def _select(
    train: Private[Table], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[Measurement, tuple[Clique, ...]]:
    """Each column alone, then the tree; both billed to the training part."""
    alone = recipe.alone()
    ones = odometer.spend(Gaussian(alone.statistic), train, recipe.half, Past(), noise).value
    measured = {clique[0]: values for clique, values in alone.apart(ones.values).items()}
    tree = odometer.spend(recipe.tree(measured), train, recipe.half, Past(), noise).value
    return ones, queries(recipe.schema.domain, recipe.target, tree)
