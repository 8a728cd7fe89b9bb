"""Facts: everything a report says, as plain values taken from releases and the record of what they cost."""

import hashlib
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from importlib import metadata
from typing import TYPE_CHECKING, final

from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict
from expost.record import Entry, Memory
from expost.report.comparison import Comparison, alone, joint
from expost.search import Ended, Line
from expost.tabular.column import Column, Missing
from expost.tabular.schema import Schema

if TYPE_CHECKING:
    from expost.tabular.synthesis import Synthesis

PACKAGES = ("expost", "numpy", "scipy")


@final
@dataclass(frozen=True, slots=True)
class Rung:
    """One rung of the history, its bill as ε, and the noisy accuracy where the check reveals one.

    ``error`` is the standard error of the noise alone, as a share of the held-out records.
    """

    line: Line
    epsilon: AdpEpsilon
    accuracy: float | None
    error: float | None

    @property
    def passed(self) -> bool | None:
        """The verdict; None where the candidate was not checked."""
        return None if self.line.verdict is None else self.line.verdict.passed


@final
@dataclass(frozen=True, slots=True)
class PlannedStop:
    """What stopping at one rung costs, known before any data was touched."""

    promise: Promise
    epsilon: AdpEpsilon


@final
@dataclass(frozen=True, slots=True)
class Item:
    """One line of the bill: what read which part, what one such step cost, and how many there were.

    ``finished`` is false for a step that failed, which is billed in full.
    """

    entry: Entry
    spent: Spent
    count: int = 1
    finished: bool = True


@final
@dataclass(frozen=True, slots=True)
class Field:
    """A column of the schema, in words."""

    name: str
    kind: str
    size: int
    labels: tuple[str, ...]
    missing: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run reached, what it cost and how that is known; nothing in it was computed from private data."""

    title: str
    target: str
    measure: str
    asked: Fraction
    ended: Ended
    cap: AdpEpsilon | None
    seeded: bool
    floating: bool
    epsilon: AdpEpsilon
    delta: float
    spent: Spent
    pledge: Pledge | None
    reason: str
    relation: str
    because: str
    rows: int
    held: float
    rungs: tuple[Rung, ...]
    stops: tuple[PlannedStop, ...]
    bill: tuple[Item, ...]
    alone: tuple[Comparison, ...]
    worst: Comparison | None
    schema: tuple[Field, ...]
    reviewed: bool
    schema_digest: str
    versions: tuple[tuple[str, str], ...]

    @property
    def reached(self) -> bool:
        """Whether a candidate passed the check."""
        return self.ended is Ended.HALTED

    @property
    def divided(self) -> bool:
        """Whether private records were held out; a check on public ones needs none."""
        return any("/" in item.entry.part for item in self.bill)

    @property
    def judged(self) -> int | None:
        """The number of the last rung that was checked, from 1; None where none was."""
        return max((place for place, rung in enumerate(self.rungs, start=1) if rung.passed is not None), default=None)

    @property
    def measured(self) -> bool:
        """Whether the check reveals an accuracy, and not only yes or no."""
        return any(rung.accuracy is not None for rung in self.rungs)

    @property
    def blur(self) -> float | None:
        """The standard error of a noisy yes or no, as a share of the held-out records; None for other checks."""
        for known in (item.entry.facts for item in self.bill if item.entry.what == "sparse vector check"):
            spread = math.sqrt(Fraction(known["variance"]) + 2 * Fraction(known["scale"]) ** 2)
            return spread * float(Fraction(known["sensitivity"]) / Fraction(known["unit"])) / max(1.0, self.held)
        return None

    def allowed(self, epsilon: AdpEpsilon) -> bool:
        """Whether the cap, if there is one, leaves room for this statement."""
        return self.cap is None or epsilon <= self.cap


def collect(
    synthesis: "Synthesis", record: Memory, *, title: str, because: str, cap: AdpEpsilon | None = None
) -> Facts:
    """The facts of a finished run; ``because`` is the split's own reason why no record is in both parts."""
    recipe, outcome = synthesis.recipe, synthesis.outcome
    if record.pledged is not outcome.pledge:
        raise LedgerConflict("the record was pledged otherwise than the run; give the recorder of the same odometer.")
    stops = tuple(PlannedStop(stop, _stated(stop.as_spent(), outcome.pledge)) for stop in synthesis.plan.stops)
    table = outcome.release.value.table
    pairs = [joint(synthesis.measured, synthesis.std, table, each) for each in synthesis.measured if len(each) > 1]
    return Facts(
        title=title,
        target=recipe.target,
        measure="accuracy" if recipe.score is None else "mean score",
        asked=recipe.accuracy,
        ended=outcome.ended,
        cap=cap,
        seeded=outcome.release.seeded,
        floating=outcome.release.floating,
        epsilon=outcome.epsilon,
        delta=recipe.delta,
        spent=outcome.release.spent,
        pledge=outcome.pledge,
        reason=synthesis.plan.reason,
        relation=recipe.schema.neighbours.value,
        because=because,
        rows=len(table),
        held=synthesis.held,
        rungs=tuple(_rung(line, outcome.pledge, recipe.accuracy, synthesis.held) for line in outcome.history),
        stops=stops,
        bill=billed(record),
        alone=tuple(alone(synthesis.measured, synthesis.std, table, name) for name in recipe.schema.names),
        worst=max(pairs, key=lambda pair: pair.distance - pair.noise, default=None),
        schema=tuple(map(field_of, recipe.schema.columns)),
        reviewed=recipe.schema.reviewed,
        schema_digest=digest(recipe.schema),
        versions=(("python", platform.python_version()), *((name, metadata.version(name)) for name in PACKAGES)),
    )


def billed(record: Memory) -> tuple[Item, ...]:
    """Everything on record, steps that never finished in full."""
    finished = (Item(entry, spent, count) for entry, spent, count in record.lines)
    failed = (Item(hold.entry, hold.promise.as_spent(), finished=False) for hold in record.held)
    return (*finished, *failed)


def by_part(bill: Sequence[Item]) -> dict[str, Spent]:
    """What was spent on each part by itself, by its label."""
    parts: dict[str, Spent] = {}
    for item in bill:
        part = item.entry.part
        parts[part] = parts.get(part, NOTHING.as_spent()) + item.spent.times(item.count)
    return parts


def total(bill: Sequence[Item]) -> Spent:
    """The bill as one: what read a body of records, plus the dearer of the two parts it was split into.

    Uses: parallel odometer.
    """
    parts = by_part(bill)
    paths = {tuple(label.split("/")): spent for label, spent in parts.items()}

    def subtotal(above: tuple[str, ...]) -> Spent:
        depth = len(above)
        sides = {path[: depth + 1] for path in paths if path[:depth] == above and len(path) > depth}
        dearest = reduce(Spent.beside, map(subtotal, sorted(sides)), NOTHING.as_spent())
        return paths.get(above, NOTHING.as_spent()) + dearest

    roots = sorted({path[:1] for path in paths})
    return reduce(Spent.__add__, map(subtotal, roots), NOTHING.as_spent())


def digest(schema: Schema) -> str:
    """The SHA-256 of the schema's canonical text."""
    return hashlib.sha256(schema.dumps().encode()).hexdigest()


def _stated(spent: Spent, pledge: Pledge | None) -> AdpEpsilon:
    return AdpEpsilon(math.inf) if pledge is None else pledge.epsilon(spent)


def _rung(line: Line, pledge: Pledge | None, asked: Fraction, held: float) -> Rung:
    verdict, records = line.verdict, max(1.0, held)
    if verdict is None or verdict.margin is None or verdict.std is None:
        return Rung(line, _stated(line.spent, pledge), None, None)
    accuracy = float(asked) + verdict.margin / records
    return Rung(line, _stated(line.spent, pledge), accuracy, verdict.std / records)


def field_of(column: Column) -> Field:
    """The column in words."""
    return Field(column.name, str(column.settings["kind"]), column.size, column.labels, _missing(column))


def _missing(column: Column) -> str:
    """What becomes of a missing value; a fallback is named, whether declared or by rule."""
    if column.missing is not Missing.FALLBACK:
        return str(column.missing.value)
    return f"counted as {column.labels[int(column.encode([None])[0])]}"
