"""What a receipt says, taken apart into values of ours: nothing is believed here, but everything has its type."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from expost.accounting.claim import Budget, Spent
from expost.accounting.curve import Curve
from expost.bill import Item
from expost.checks.confidence import Confidence
from expost.errors import Unreadable
from expost.ladder import Rung
from expost.patience import Patience
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.receipts.costs import BUDGET, MU, budget_in, curve_in, item_in
from expost.receipts.notation import MOST_ENTRY, facts_in, fraction, items, number, record, table, text, truth, whole
from expost.receipts.untrusted import require_modest
from expost.recorded import CheckOnRecord
from expost.search import Ended
from expost.text import Json

T = TypeVar("T")

MOST_ENTRIES = 1000
"""Lines of a bill, and columns of a schema: pairs of columns are listed, and each line is added up."""
MOST_STOPS = 100
"""Planned stops: stating a table of costs takes ten milliseconds for each, and δ is divided by their number."""
MOST_AIMS = 20
"""Things that a table may be asked for at once."""
COMMON = (
    "format", "title", "statement", "seeded", "floating", "made", "neighbours", "asked", "cap", "pledge", "plan",
    "pledged", "ended", "held", "history", "bill", "split", "ledger", "versions",
)  # fmt: skip
"""The parts of every receipt; each kind of run has some of its own, and one with seeded noise begins with a warning."""
STATEMENT = ("epsilon", "delta", "notion", "probabilistic epsilon", "neighbours", "curve")
ASKED = ("target", "measure", "threshold", "aims", "confidence", "looks", "check", "patience")
PATIENCE = ("looks", "min gain")
STOP = ("curve", "epsilon", "rung", "guard")
TAKEN = ("budget", "times", "curve", "epsilon", "passed", "margin", "std", "guard", "accuracy", "error")
HASH = re.compile("[0-9a-f]{64}")
SUREST = 1 - Fraction(1, 10**12)
"""The largest confidence whose guard is computed: nearer to 1 the tails of the noise end below the floats."""


@final
@dataclass(frozen=True, slots=True)
class StopClaimed:
    """A planned stop: what it costs, the rung that leads there if it is told, and the least margin that passes."""

    curve: Curve
    epsilon: float
    rung: Rung | None
    guard: float | None


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """A rung that was taken: its budget and how often it was spent, the total after it, and what the check said."""

    budget: Budget
    times: int
    spent: Spent
    epsilon: float
    verdict: Verdict | None
    accuracy: float | None
    error: float | None


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of a candidate, and of whom; without a threshold the caller's own rule decided, or nothing did.

    ``aims`` are for the job to read.
    """

    target: str
    measure: str
    threshold: Fraction | None
    aims: Sequence[Json]
    confidence: Confidence | None
    check: CheckOnRecord | None
    patience: Patience | None


@final
@dataclass(frozen=True, slots=True)
class OnLedger:
    """Where a receipt says that its run is on a lasting ledger: the number and the hash of the run's latest entry."""

    dataset: str
    run: str
    entry: int
    head: str

    @classmethod
    def of(cls, found: Json) -> "OnLedger":
        """From the part of a receipt; refused unless it is a number and a hash."""
        fields = record(found, ("dataset", "run", "entry", "head"))
        entry = whole(fields["entry"], most=MOST_ENTRY)
        told = cls(text(fields["dataset"]), text(fields["run"]), entry, text(fields["head"]))
        if not HASH.fullmatch(told.head):
            raise Unreadable("the receipt names an entry of a ledger that cannot be one; it was changed.")
        return told


@final
@dataclass(frozen=True, slots=True)
class Testimony:
    """A receipt without its statement and its pledge; ``found`` is all of it, for what only one job has."""

    found: Mapping[str, Json]
    made: str
    neighbours: Neighbours
    seeded: bool
    floating: bool
    asked: Asked
    cap: float | None
    stops: tuple[StopClaimed, ...]
    ended: Ended
    reached: bool
    because: str
    held: float | None
    history: tuple[Taken, ...]
    bill: tuple[Item, ...]
    ledger: OnLedger | None

    @classmethod
    def of(cls, found: Mapping[str, Json]) -> "Testimony":
        """The testimony of a receipt; refused if a part of it is missing, malformed or too large."""
        ended = record(found["ended"], ("reached", "how", "because"))
        statement = table(found["statement"])
        record(statement, (*STATEMENT, *([MU] if MU in statement else ())))
        for name in ("title", "split"):
            text(found[name])
        for version in table(found["versions"]).values():
            text(version)
        return cls(
            found=found,
            made=text(found["made"]),
            neighbours=Neighbours(text(found["neighbours"])),
            seeded=truth(found["seeded"]),
            floating=truth(found["floating"]),
            asked=_asked(record(found["asked"], ASKED)),
            cap=_maybe(number, found["cap"]),
            stops=tuple(map(_stop, bounded(_plan(found["plan"])["stops"], MOST_STOPS, least=0))),
            ended=Ended[text(ended["how"]).upper()],
            reached=truth(ended["reached"]),
            because=text(ended["because"]),
            held=_maybe(number, found["held"]),
            history=tuple(map(_taken, bounded(found["history"], MOST_STOPS))),
            bill=require_modest([item_in(each) for each in bounded(found["bill"], MOST_ENTRIES)]),
            ledger=_maybe(OnLedger.of, found["ledger"]),
        )


def bounded(found: Json, most: int, *, least: int = 1) -> Sequence[Json]:
    """The value, refused unless it is a list with as many entries as there may be, by default at least one."""
    listed = items(found)
    if not least <= len(listed) <= most:
        raise Unreadable(f"a list of the receipt does not have between {least} and {most} entries; it was changed.")
    return listed


def _asked(fields: Mapping[str, Json]) -> Asked:
    level, looks, check = (fields[name] for name in ("confidence", "looks", "check"))
    confidence = None if level is None else Confidence(fraction(level), whole(looks))
    if (confidence is None and looks is not None) or (confidence is not None and confidence.level > SUREST):
        raise Unreadable("the receipt has looks without a confidence, or a confidence that cannot be asked for.")
    named = None if check is None else _check(record(check, ("name", "facts")))
    threshold = _maybe(fraction, fields["threshold"])
    aims, patience = bounded(fields["aims"], MOST_AIMS, least=0), _maybe(_patience, fields["patience"])
    return Asked(text(fields["target"]), text(fields["measure"]), threshold, aims, confidence, named, patience)


def _patience(found: Json) -> Patience:
    fields = record(found, PATIENCE)
    return Patience(whole(fields["looks"]), fraction(fields["min gain"]))


def _check(fields: Mapping[str, Json]) -> CheckOnRecord:
    return CheckOnRecord(text(fields["name"]), facts_in(fields["facts"]))


def _plan(found: Json) -> Mapping[str, Json]:
    fields = record(found, ("reason", "stops"))
    text(fields["reason"])
    return fields


def _stop(found: Json) -> StopClaimed:
    fields = record(found, STOP)
    rung = None if fields["rung"] is None else _rung(record(fields["rung"], (*BUDGET, "times", "asked")))
    return StopClaimed(curve_in(fields["curve"]), number(fields["epsilon"]), rung, _maybe(number, fields["guard"]))


def _rung(fields: Mapping[str, Json]) -> Rung:
    return Rung(budget_in(fields), truth(fields["asked"]), whole(fields["times"]))


def _taken(found: Json) -> Taken:
    fields = record(found, TAKEN)
    passed = _maybe(truth, fields["passed"])
    margin, std, guard, accuracy, error = (
        _maybe(number, fields[name]) for name in ("margin", "std", "guard", "accuracy", "error")
    )
    if passed is None and (margin, std, guard) != (None, None, None):
        raise Unreadable("a rung of the receipt has an answer and no verdict; it was changed.")
    verdict = None if passed is None else Verdict(passed, margin, std, guard)
    spent = Spent(curve_in(fields["curve"]))
    budget, times = budget_in(record(fields["budget"], BUDGET)), whole(fields["times"])
    return Taken(budget, times, spent, number(fields["epsilon"]), verdict, accuracy, error)


def _maybe(read: Callable[[Json], T], found: Json) -> T | None:
    return None if found is None else read(found)
