"""Replay: what the entries of a data set lead to, worked out again from the first one and from the curves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

from expost.accounting.claim import NOTHING, Spent
from expost.errors import Unreadable
from expost.ledgers.amounts import Amount, amount_out, minus, plus
from expost.ledgers.chain import Entered
from expost.ledgers.moving import sha256, totals_told
from expost.ledgers.sharing import Sharing
from expost.ledgers.slots import (
    OWN,
    Slots,
    are_within,
    larger_slots,
    nothing_in_slots,
    run_cost,
    shifted,
    slots_of,
)
from expost.ledgers.terms import Terms, terms_in
from expost.receipts.costs import curve_in
from expost.receipts.notation import record, table, text, truth
from expost.text import Json

Line: TypeAlias = tuple[str | int | None, ...]
"""A row of a table, as it has to be."""
TOTALS, VIEW = ("spent", "committed"), ("release", "level")
FIELDS = {
    "init": ("dataset", "unit", "terms", "secret"),
    "analyst": ("id", "name", "token", "terms"),
    "begin": ("what", "analyst", "split", "because", "key", "request", "pledge", "host", "process"),
    "reserve": ("reserve", "neighbours", *TOTALS),
    "hold": ("what", "part", "neighbours", "curve", *TOTALS),
    "capture": ("what", "part", "neighbours", "floating", "facts", "curve", "finished", "stored", *TOTALS),
    "refine": ("what", "part", "neighbours", "floating", "facts", "curve", "finished", "stored", *VIEW, *TOTALS),
    "close": TOTALS,
    "settle": ("statement", "in full", *TOTALS),
    "release": ("id", "name", "request", "digest"),
    "view": (*VIEW, "stored"),
    "grant": (*VIEW, "analyst", "amount"),
}
"""What entries of each kind say; a reserve is a hold, and to refine is a capture that stores a view."""
VARIANTS = {"hold": ("reserve", "reserve"), "capture": ("release", "refine")}
"""What an entry of a kind is that also says this."""


@final
@dataclass(slots=True)
class _Account:
    """What a data set or an analyst has spent and holds."""

    terms: Terms
    spent: Amount
    committed: Amount

    def move(self, spent: Amount, committed: Amount) -> None:
        self.spent, self.committed = plus(self.spent, spent), plus(self.committed, committed)
        if any(each > 0 for each in committed):
            _require(self.terms.room(self.committed) >= 0, "passes a cap")

    @property
    def cells(self) -> Line:
        return amount_out(self.spent), amount_out(self.committed), str(self.terms.room(self.committed))


@final
@dataclass(slots=True)
class _Run:
    """A run that is open."""

    begun: Line
    analyst: str | None
    split: str | None
    spent: Slots
    committed: Slots
    parts: dict[str, Spent] = field(default_factory=dict)
    payload: str | None = None

    def line(self, state: str) -> Line:
        return (*self.begun, state, self.payload)


@final
class ChainReplay:
    """A data set as its entries make it; ``take`` raises Unreadable at one that cannot follow those before it."""

    def __init__(self) -> None:
        self.name, self.unit, self.secret = "", "", ""
        self.neighbours: str | None = None
        self.account: _Account | None = None
        self.analysts: dict[str, tuple[Line, _Account]] = {}
        self.splits: dict[str, tuple[str, tuple[Amount, ...]]] = {}
        self.sharing = Sharing()
        self._open: dict[str, _Run] = {}
        self._ended: dict[str, str] = {}

    def take(self, entry: Entered) -> None:
        """Follow one more entry."""
        body = table(json.loads(entry.body))
        name, variant = VARIANTS.get(entry.kind, ("", ""))
        kind = variant if name in body else entry.kind
        _require(kind in FIELDS and entry.kind not in ("reserve", "refine"), "is of a kind that is not known")
        record(body, FIELDS[kind])
        _require((kind == "init") == (self.account is None), "puts the data set on the ledger once more, or not first")
        match kind:
            case "init":
                self._begin_chain(body)
            case "analyst":
                self._add_analyst(body)
            case "begin":
                self._begin(entry, text(entry.run), body)
            case "release":
                self.sharing.begin(body)
            case "view":
                self.sharing.store(body, finest=False)
            case "grant":
                analyst, change = self.sharing.grant(body, self.standing.terms)
                _require(analyst in self.analysts, "is of an analyst that nobody added")
                self.analysts[analyst][1].move(change, change)
            case _:
                _require(entry.run in self._open, "is of a run that is not open")
                self._move(str(entry.run), kind, body)

    def is_open(self, run: str) -> bool:
        """Whether a run has not ended."""
        return run in self._open

    def runs(self) -> dict[str, str]:
        """The digest of the row of each run."""
        return {**self._ended, **{name: line_digest(run.line("open")) for name, run in self._open.items()}}

    @property
    def standing(self) -> _Account:
        """The data set's own account."""
        if self.account is None:
            raise Unreadable("the data set was never put on the ledger.")
        return self.account

    def _begin_chain(self, body: Mapping[str, Json]) -> None:
        terms = terms_in(json.dumps(body["terms"], separators=(",", ":")))
        self.name, self.unit, self.secret = (text(body[name]) for name in ("dataset", "unit", "secret"))
        self.account = _Account(terms, terms.nothing, terms.nothing)

    def _add_analyst(self, body: Mapping[str, Json]) -> None:
        terms, ours = terms_in(json.dumps(body["terms"], separators=(",", ":"))), self.standing.terms
        smaller = (terms.measures, terms.delta) == (ours.measures, ours.delta) and terms.cap <= ours.cap
        _require(smaller, "allows an analyst more than the data set has")
        identity, name, token = (text(body[each]) for each in ("id", "name", "token"))
        _require(identity not in self.analysts, "adds an analyst once more")
        self.analysts[identity] = (name, token), _Account(terms, terms.nothing, terms.nothing)

    def _begin(self, entry: Entered, run: str, body: Mapping[str, Json]) -> None:
        _require(run not in self._open and run not in self._ended, "begins a run once more")
        analyst, split, key, request = (
            None if body[name] is None else text(body[name]) for name in ("analyst", "split", "key", "request")
        )
        _require(analyst is None or analyst in self.analysts, "is of an analyst that nobody added")
        nothing = self.standing.terms.nothing
        if split is not None and split not in self.splits:
            self.splits[split] = text(body["because"]), (nothing,) * 4
        slots = nothing_in_slots(self.standing.terms, named=split is not None)
        self._open[run] = _Run(
            (run, analyst, text(body["what"]), split, key, request, entry.at, entry.number),
            analyst,
            split,
            slots,
            slots,
        )

    def _move(self, name: str, kind: str, body: Mapping[str, Json]) -> None:
        run, terms = self._open[name], self.standing.terms
        spent, committed = totals_told(body, terms, named=run.split is not None)
        if body.get("neighbours") is not None:
            self._stay_with(text(body["neighbours"]))
        match kind:
            case "hold" | "reserve":
                due = run.spent
                _require(are_within(self._held(run, kind, body), committed), "holds less than what it is for")
            case "capture" | "refine":
                due = self._paid(run, body)
                _require(are_within(spent, run.committed), "captures more than was held")
            case _:
                full = kind == "settle" and truth(body["in full"])
                _require(kind == "close" or (body["statement"] is None) == full, "settles without a statement")
                due = run.committed if full else run.spent
                _require(committed == spent, "ends a run that still holds something")
        _require(spent == due, "does not say what the run has spent")
        _require(are_within(spent, committed), "has more spent than held")
        self._post(run, spent, committed)
        if kind in ("close", "settle"):
            self._ended[name] = line_digest(self._open.pop(name).line("closed" if kind == "close" else "settled"))

    def _stay_with(self, neighbours: str) -> None:
        _require(self.neighbours in (None, neighbours), "is billed for other neighbours")
        self.neighbours = neighbours

    def _held(self, run: _Run, kind: str, body: Mapping[str, Json]) -> Slots:
        """The least that a hold has to count: what was held, and the step on top of what was spent."""
        terms = self.standing.terms
        if kind == "reserve":
            wanted: Slots = dict.fromkeys(run.spent, terms.amount(Spent(curve_in(body["reserve"]))))
        else:
            wanted, _ = self._slots(run, body)
        return larger_slots(run.committed, wanted)

    def _paid(self, run: _Run, body: Mapping[str, Json]) -> Slots:
        """What the run has spent after a capture, from all its curves."""
        paid, run.parts = self._slots(run, body)
        if "release" in body:
            self.sharing.store(body, finest=True)
        elif body["stored"] is not None:
            run.payload = text(body["stored"])
        return paid

    def _slots(self, run: _Run, body: Mapping[str, Json]) -> tuple[Slots, dict[str, Spent]]:
        """What a step brings the run to, in slots and by part."""
        part, spent = text(body["part"]), Spent(curve_in(body["curve"]))
        after = {**run.parts, part: run.parts.get(part, NOTHING.as_spent()) + spent}
        return slots_of(after, self.standing.terms, named=run.split is not None), after

    def _post(self, run: _Run, spent: Slots, committed: Slots) -> None:
        """Count what changed in every account that the run is counted in."""
        pairs = (run.spent, spent), (run.committed, committed)
        own = [minus(after[OWN], before[OWN]) for before, after in pairs]
        if run.split is not None:
            because, old = self.splits[run.split]
            new, dearer = shifted(old, spent=pairs[0], committed=pairs[1])
            self.splits[run.split] = because, new
            own = [plus(one, other) for one, other in zip(own, dearer, strict=True)]
        self.standing.move(own[0], own[1])
        if run.analyst is not None:
            by_itself = [minus(run_cost(after), run_cost(before)) for before, after in pairs]
            self.analysts[run.analyst][1].move(by_itself[0], by_itself[1])
        run.spent, run.committed = spent, committed


def line_digest(line: Sequence[object]) -> str:
    """A row by its digest, since there may be many."""
    return sha256(json.dumps([*line], default=repr))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Unreadable(otherwise)
