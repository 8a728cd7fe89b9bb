"""Settings as a person types them: ladders by what is stated, public records for a check, and the recipe they make."""

import filecmp
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar, final

from expost.accounting.claim import Budget, Promise, best_statement
from expost.accounting.curve import Linear
from expost.checks.confidence import Confidence, confidence_level
from expost.checks.question import PublicCheck, Question, accuracy_threshold
from expost.errors import InvalidValue, NotDisjoint, SchemaMismatch
from expost.jobs.synthesis.choice import PairSelection
from expost.jobs.synthesis.recipe import CONFIDENCE, LADDER, QUERY, TableRecipe, plan_synthesis
from expost.judge import BALANCED, Judge, OnPublic, share_held
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.numerics import Real, positive, probability, up
from expost.patience import Patience
from expost.tabular.aims import Aim, targets_of
from expost.tabular.measures import MeanScore
from expost.tabular.persons import Grouped
from expost.tabular.pieced import AnyPieces, PiecedRows
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Learner, Score, Sklearn
from expost.tabular.source.reading import files_of, read_records

D = TypeVar("D")
U = TypeVar("U")

SELECTING = Fraction(2, 5)
"""The share of the first rung that choosing what to measure takes at most, where a ladder is by what is stated."""
HELD_SHARE, LEAST_SHARE = Fraction(1, 5), Fraction(1, 20)
FEW_HELD, ENOUGH_HELD = 8_000, 50_000
"""The share of records that is held out where nothing is said of it, and numbers of them that are few and enough: an
accuracy on 8,000 is known to half a point, on 50,000 to a quarter, and what is not held out brings the table closer."""
SAME = "a check on the private records themselves is not free; give other records, or choose a private check."


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OnPublicTable:
    """A check on public records that were read under the schema, which costs nothing."""

    table: Any
    files: tuple[Path, ...]
    public: ClassVar[bool] = True

    def check(
        self, question: Question[D, U], first: Budget, looks: int, confidence: Confidence | None
    ) -> PublicCheck[U]:
        """The check, for which the number of records is public."""

        def passes(candidate: U) -> bool:
            if isinstance(candidate, Candidate):
                candidate = replace(candidate, held=float(len(self.table)))
            return question.ask(candidate, self.table) >= 0

        return PublicCheck(passes)

    def refuse_files(self, private: Iterable[Path]) -> None:
        """Refuse public records that come from a private file, by whatever path, or from a copy of it."""
        for path in private:
            for mine in self.files:
                if same_file(mine, path):
                    raise NotDisjoint(f"the public records are read from the same file as the private ones: {SAME}")

    def refuse_records(self, private: AnyPieces) -> None:
        """Refuse public records that are the private ones, in whatever order, format or compression they came."""
        pieced = isinstance(private, PiecedRows)
        if private.same_records(self.table) if pieced else self.table.same_records(private):
            raise NotDisjoint(f"the public records are the same as the private ones: {SAME}")


def on_public_table(given: OnPublic, schema: Schema) -> OnPublicTable:
    """The check on these public records, which are read at once.

    A run refuses them where they come from a private file or equal the private records. It cannot notice a part of
    the private records, which is as little public. Which row stands for a person among them is public too, and the
    same in every run.
    """
    try:
        records = read_records(given.records, schema)
    except SchemaMismatch as refusal:
        raise SchemaMismatch(f"the public records of the check cannot be read: {refusal}") from None
    files = files_of(given.records)
    return OnPublicTable(records.drawn(SeededNoise(0)) if isinstance(records, Grouped) else records, files)


def same_file(left: Path, right: Path) -> bool:
    """Whether two paths are one file, by a link or another spelling, or files of equal bytes."""
    try:
        return left.samefile(right) or filecmp.cmp(left, right, shallow=False)
    except (OSError, ValueError):
        return False


@final
@dataclass(frozen=True, slots=True)
class StatedLadder:
    """A ladder by what stopping at each rung is stated as, ε at the run's δ, from low to high in equal ratios."""

    low: Real
    high: Real
    rungs: int

    def affords(self, query: Budget, delta: float) -> Budget:
        """What selection may spend: the query, or the share ``SELECTING`` of the first rung where that is less."""
        end, low, high = self._ends(query.alpha)[0], Fraction(0), query.rho / SELECTING
        if self._stated(high, delta) <= end:
            return query
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self._stated(middle, delta) <= end else (low, middle)
        if not low:
            raise InvalidValue(f"ε = {end:g} leaves nothing to spend at this δ; start the ladder higher.")
        return Budget(SELECTING * low * query.alpha, query.alpha)

    def _ends(self, alpha: Fraction) -> list[float]:
        low, high = positive(self.low, "the first rung"), positive(self.high, "the last rung")
        return [up(level) for level in Ladder.geometric(low, high, self.rungs, alpha=alpha).levels]

    def _stated(self, rho: Fraction, delta: float) -> float:
        return best_statement(Promise(Linear(Fraction(0), rho, rho)), delta / self.rungs)[0]

    def solve(self, made: Callable[[Ladder], TableRecipe], selection: PairSelection, delta: float) -> TableRecipe:
        """What is ``made`` on the dearest ladder whose statements do not pass these."""
        alpha = selection.query.alpha
        ends = self._ends(alpha)
        levels = _levels(ends, selection, delta / self.rungs)
        for _ in range(40):  # lowered where the check's own price would lift a statement above its end
            recipe = made(Ladder.of(levels, alpha=alpha))
            plan = plan_synthesis(recipe)
            stated = [plan.pledge.epsilon(stop) for stop in plan.stops]
            if all(epsilon <= end for epsilon, end in zip(stated, ends, strict=True)):
                return recipe
            pairs = zip(levels, stated, ends, strict=True)
            levels = [level if epsilon <= end else level * _lowering(epsilon, end) for level, epsilon, end in pairs]
        raise InvalidValue("the check alone would be stated above this ladder; give it a smaller ε.")


def usual_share(records: int | None) -> Fraction:
    """The share of records to hold out, by their public number alone: what is not needed there is better counted.

    A fifth of them or, of more than 40,000, 8,000; a twentieth where that is more, and 50,000 at most.
    """
    if records is None:
        return HELD_SHARE
    few, enough = (Fraction(held, max(1, records)) for held in (FEW_HELD, ENOUGH_HELD))
    return min(HELD_SHARE, max(few, LEAST_SHARE), enough)


def table_recipe(
    *,
    schema: Schema,
    target: str | None = None,
    accuracy: Real | None = None,
    aims: Iterable[Aim] = (),
    confidence: Real | None = CONFIDENCE,
    records: int | None = None,
    ladder: Ladder | StatedLadder = LADDER,
    query: Budget = QUERY,
    delta: float = 1e-5,
    validation: Real | None = None,
    check: Judge = BALANCED,
    learner: Learner | None = None,
    score: Score | None = None,
    rows: int | None = None,
    rows_per_person: int | None = None,
    patience: int = 2,
    min_gain: Real = 0.005,
) -> TableRecipe:
    """All that is public about the job, refused where it makes no sense; a public table to check on is read at once."""
    wanted = (*_simple_aim(schema, target, accuracy, score), *aims)
    fixed = partial(
        TableRecipe,
        schema=schema,
        aims=wanted,
        confidence=None if confidence is None else confidence_level(confidence),
        records=records,
        delta=delta,
        validation=usual_share(records) if validation is None else share_held(validation),
        sized=validation is None and records is None,
        check=on_public_table(check, schema) if isinstance(check, OnPublic) else check,
        learner=Sklearn() if learner is None else learner,
        rows=rows,
        rows_per_person=rows_per_person,
        patience=Patience.of(patience, min_gain),
    )
    if isinstance(ladder, Ladder):
        return fixed(ladder=ladder, query=query)
    less = ladder.affords(query, probability(delta, "delta"))
    sized = validation is None and records is None and not check.public
    selection = PairSelection(schema, targets_of(wanted), less, sized)
    return ladder.solve(lambda each: fixed(ladder=each, query=less), selection, delta)


def _simple_aim(schema: Schema, target: str | None, accuracy: Real | None, score: Score | None) -> tuple[Aim, ...]:
    """The aim of most tables: an accuracy, or a mean score, of one target, which may be the schema's own."""
    if accuracy is None:
        if target is not None or score is not None:
            raise InvalidValue("no accuracy is asked for; say which, or give aims that have their targets.")
        return ()
    named = target or schema.target
    if named is None:
        raise InvalidValue("no target is named; name the column to be predicted, or set one in the schema.")
    least = accuracy_threshold(accuracy)
    return (Aim.accuracy(named, least) if score is None else Aim(MeanScore(score), named, least),)


def _levels(ends: Iterable[float], selection: PairSelection, delta: float) -> list[Fraction]:
    """The highest levels that are stated as at most these ε at δ, the selection included, one after another."""
    alpha, mechanism, levels = selection.query.alpha, selection.refined(), [Fraction(0)]
    spent = selection.whole + selection.cost
    for end in ends:
        low, high = Fraction(0), Fraction(end)
        for _ in range(40):
            middle = (low + high) / 2
            stated = best_statement(spent + mechanism.promise(Budget(alpha * middle, alpha)), delta)[0]
            low, high = (middle, high) if stated <= end else (low, middle)
        if not low:
            raise InvalidValue(f"ε = {end:g} is not above what selection costs; start the ladder higher.")
        spent = spent + mechanism.promise(Budget(alpha * low, alpha))
        levels.append(levels[-1] + alpha * low)
    return levels[1:]


def _lowering(epsilon: float, end: float) -> Fraction:
    """By what to lower a level that is stated as ε: a little more than it takes where ε grows with the root of it."""
    return Fraction(end / epsilon) ** 2 * Fraction(999, 1000)
