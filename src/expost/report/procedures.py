"""Procedures: a run put together again from the settings of its receipt, without its data.

Mechanisms and checks say themselves what they cost and what goes on record of them, so that nothing about them is
written down twice: a receipt is compared with what its own settings lead to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum, PublicCount, Question
from expost.checks.sparse_vector import SparseVectorCheck
from expost.errors import SchemaMismatch
from expost.mechanisms.brownian import Brownian
from expost.mechanisms.gaussian import Gaussian
from expost.private import Neighbours
from expost.record import Fact
from expost.report.modules import ModuleJob
from expost.report.notation import budget_in, fraction, items, table, text, whole
from expost.report.on_record import PUBLIC_CHECK, CheckOnRecord
from expost.report.tables import TableJob
from expost.report.testimony import MOST_ENTRIES, Testimony, bounded
from expost.report.training import HeadJob
from expost.step import Check, Mechanism
from expost.tabular.marginals import Clique, Marginals
from expost.tabular.selection import SpanningTree, affordable, queries
from expost.tabular.synthesis import THOUSANDTHS
from expost.training.gradient import Exact, Floating
from expost.training.head import Head
from expost.training.steps import ModuleSteps

Judge = Check[Any, Any] | PublicCheck[Any]

MODULE = "ModuleDescent"
"""The name that the steps of a torch module go on record with; the class itself needs torch."""
RESOLUTIONS = {"accuracy": 1, "mean score": THOUSANDTHS}
"""Steps to 1 of a record's score, by what is measured of a table or a head; a module has a score of its own."""


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One step as it goes on record."""

    what: str
    facts: Mapping[str, Fact]
    floating: bool
    promise: Promise


@final
@dataclass(frozen=True, slots=True)
class Procedure:
    """What is measured before the rungs, what measures on each of them and its name, and how candidates are judged.

    ``earlier`` rungs were climbed by earlier processes of the run, whose answers the receipt does not have.
    """

    before: tuple[Step, ...]
    mechanism: Mechanism[Any, Any]
    what: str
    check: Judge
    earlier: int


def procedure_of(told: Testimony) -> Procedure | None:
    """The procedure that the settings describe; None for a kind of run, or a check, that is not one of ours."""
    if told.made not in JOBS or told.asked.check is None or told.asked.check.name not in CHECKS:
        return None
    if told.asked.threshold is None and (told.made, told.asked.check.name) != (ModuleJob.kind, PUBLIC_CHECK):
        return None
    before, mechanism = JOBS[told.made](told)
    if mechanism.relation is not told.relation:
        raise SchemaMismatch("such a run is not about these neighbours; the receipt was changed.")
    if not isinstance(mechanism, Unread):
        return Procedure(before, mechanism, type(mechanism).__name__, check_of(told), 0)
    earlier = table(told.found["training"])["earlier"]
    return Procedure(before, mechanism, MODULE, check_of(told), 0 if earlier == 0 else whole(earlier))


def check_of(told: Testimony) -> Judge:
    """The check, refused unless its facts are those of what was asked: sensitivity, unit, confidence and looks."""
    asked = told.asked
    assert asked.check is not None  # asked for where there is one
    if asked.threshold is None:
        return PublicCheck(lambda candidate: False)
    question = CentredSum(_without_data, asked.threshold, told.relation, _resolution(told))
    return _judge(asked.check, question, asked.confidence)


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
    threshold, unit, relation = told.asked.threshold, whole(facts["unit"]), told.relation
    if threshold is None:
        return Claimed(relation, whole(facts["sensitivity"]), unit, facts.get("monotone") is True)
    if told.held is not None:
        return PublicCount(_without_data, threshold, int(told.held), relation, unit)
    return CentredSum(_without_data, threshold, relation, unit // threshold.denominator)


@final
@dataclass(frozen=True, slots=True)
class Claimed:
    """A question of the caller's own, as it went on record."""

    relation: Neighbours
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
        raise SchemaMismatch("the facts of the check are not those of what was asked; the receipt was changed.")
    return made


def _resolution(told: Testimony) -> int:
    if told.made == ModuleJob.kind:
        return whole(table(told.found["training"])["resolution"])
    return RESOLUTIONS[told.asked.measure]


def _table(told: Testimony) -> tuple[tuple[Step, ...], Mechanism[Any, Any]]:
    """Each column alone and a tree of pairs, then the pairs ever finer; all from the schema and the target."""
    schema = table(told.found["schema"])
    names = [text(name) for name in bounded(schema["columns"], MOST_ENTRIES)]
    domain = dict(zip(names, map(whole, items(schema["sizes"])), strict=True))
    half, relation = budget_in(told.found["selection"]), told.relation
    if len(domain) < len(names):
        raise SchemaMismatch("the receipt names a column twice; it was changed.")
    edges = affordable(domain, told.asked.target)
    alone = Gaussian(Marginals(domain, tuple((name,) for name in names), relation).statistic)
    tree = SpanningTree({}, edges, relation)
    pairs = Gaussian(Marginals(domain, _pairs(told, domain, edges), relation).statistic)
    before = tuple(
        Step(type(each).__name__, each.facts(half), each.floating, each.promise(half)) for each in (alone, tree)
    )
    return before, Brownian(pairs)


def _pairs(told: Testimony, domain: Mapping[str, int], edges: tuple[tuple[str, str], ...]) -> tuple[Clique, ...]:
    """The pairs that were measured: the target with each other column, and a tree of affordable pairs."""
    found = bounded(told.found["measured"], 2 * MOST_ENTRIES)
    cliques = tuple(tuple(text(name) for name in bounded(clique, 2)) for clique in found)
    tree = tuple((clique[0], clique[-1]) for clique in cliques if told.asked.target not in clique)
    if cliques != queries(domain, told.asked.target, tree) or not set(tree) <= set(edges) or not _spans(tree, edges):
        raise SchemaMismatch("the pairs that were measured are not those that a selection makes.")
    return cliques


def _spans(tree: tuple[tuple[str, str], ...], edges: tuple[tuple[str, str], ...]) -> bool:
    """Whether the tree joins all that the edges can, without a circle."""
    component = {name: name for edge in edges for name in edge}

    def root(name: str) -> str:
        while component[name] != name:
            name = component[name]
        return name

    for one, other in tree:
        if root(one) == root(other):
            return False
        component[root(one)] = root(other)
    joined = {name: root(name) for name in component}
    return all(joined[one] == joined[other] for one, other in edges)


def _head(told: Testimony) -> tuple[tuple[Step, ...], Mechanism[Any, Any]]:
    """Gradient steps at one rate and noise."""
    settings = table(told.found["training"])
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    width, classes = whole(settings["features"]), whole(settings["classes"])
    summation = Floating() if told.floating else Exact()
    return (), Head(width=width, classes=classes, descent=descent, summation=summation)


@final
@dataclass(frozen=True, slots=True)
class Unread:
    """The steps of a torch module, of which an audit has neither the module nor the records."""

    steps: ModuleSteps
    relation: ClassVar[Neighbours] = ModuleSteps.relation
    floating: ClassVar[bool] = ModuleSteps.floating

    def promise(self, budget: Budget) -> Promise:
        """The steps'."""
        return self.steps.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """The steps'."""
        return self.steps.facts(budget)

    def sample(self, data: object, budget: Budget, past: object, noise: object) -> NoReturn:
        """Never: there are no records."""
        raise AssertionError("an audit has no records to train on")


def _module(told: Testimony) -> tuple[tuple[Step, ...], Mechanism[Any, Any]]:
    """Gradient steps at the rate that the expected batch and the public number of records lead to."""
    settings = table(told.found["training"])
    batch, records = whole(settings["batch"]), whole(settings["public number of records"])
    rate = fraction(settings["rate"])
    if rate * records != batch:
        raise SchemaMismatch("the rate is not the expected batch over the public number of records.")
    descent = Descent(rate, fraction(settings["noise multiplier"]))
    return (), Unread(ModuleSteps(descent, fraction(settings["clip"]), records))


def _without_data(candidate: object, held: object) -> NoReturn:
    raise AssertionError("an audit has no records to score")


def _gaussian(question: Question[Any, Any], sure: Confidence | None, facts: Mapping[str, Fact]) -> Judge:
    return GaussianCheck(question, budget_in(facts), whole(facts["questions"]), sure)


def _sparse(question: Question[Any, Any], sure: Confidence | None, facts: Mapping[str, Fact]) -> Judge:
    return SparseVectorCheck(question, fraction(facts["variance"]), fraction(facts["scale"]), sure)


JOBS: Mapping[str, Callable[[Testimony], tuple[tuple[Step, ...], Mechanism[Any, Any]]]] = {
    TableJob.kind: _table,
    HeadJob.kind: _head,
    ModuleJob.kind: _module,
}
CHECKS: Mapping[str, Callable[[Question[Any, Any], Confidence | None, Mapping[str, Fact]], Judge]] = {
    BalancedCheck.name: lambda question, sure, facts: BalancedCheck(question, sure),
    GaussianCheck.name: _gaussian,
    SparseVectorCheck.name: _sparse,
    PUBLIC_CHECK: lambda question, sure, facts: PublicCheck(lambda candidate: False),
}
