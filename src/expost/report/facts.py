"""Facts: everything a report says, as plain values taken from releases and the record of what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import AdpEpsilon, Tabulated
from expost.accounting.pledge import Pledge
from expost.accounting.statement import stated_loss
from expost.bill import Item
from expost.checks.confidence import Confidence, population_bound
from expost.ladder import Rung as PlannedRung
from expost.patience import Patience
from expost.protocols import Look
from expost.recorded import Booking, CheckOnRecord
from expost.report.answers import SAMPLED, Reading, as_share, lowest, ratio_half, sampling_half
from expost.report.purpose import Purpose
from expost.search import Ended
from expost.text import Json

ROUNDING = 1e-9
"""Relative difference up to which two statements of one sum agree."""


@final
@dataclass(frozen=True, slots=True)
class PlannedStop:
    """What stopping at one rung costs, and what the rung spends; known before any data was touched.

    Without a ``rung`` nobody can work the promise out again, and an audit takes it at its word.
    """

    promise: Promise
    epsilon: AdpEpsilon
    rung: PlannedRung | None = None


class Job(Protocol):
    """What a report says of one kind of job and of no other, made of plain values.

    Implemented by TableJob, HeadJob, ModuleJob and SearchJob.
    """

    @property
    def kind(self) -> str:
        """What was made."""

    @property
    def target(self) -> str:
        """What is predicted; empty where nobody said."""

    @property
    def rung(self) -> str:
        """What a rung is called: a rung, or a release where training goes on from one to the next."""

    @property
    def lines(self) -> Mapping[str, str]:
        """What its lines of the bill are called, by the names of their mechanisms."""

    @property
    def covered(self) -> str:
        """A sentence: what the bound covers besides the looks of the check."""

    def passed(self, facts: "Facts") -> str:
        """A sentence: what passed the check, and on which records."""

    def name(self, place: int) -> str:
        """The rung with this number, from 1, in a table."""

    def tile(self, facts: "Facts") -> tuple[str, str, str]:
        """How large the result is: a title, a number, a remark."""

    def sections(self, facts: "Facts") -> str:
        """The part of the page after the bill: how the result was made, and what the bound covers."""

    def receipt(self) -> Mapping[str, Json]:
        """What the receipt says of this job alone."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run reached, what it cost and how that is known; nothing in it was computed from private data.

    ``asked`` is the least mean score that was asked for, None where the check is a rule of the caller's or there was
    none. ``held`` is about how many records were held out, where that is public or was released, and ``held_std`` the
    standard error of that number, 0 where it is a word of the caller's. ``confidence`` is that of a pass, None for the
    paper's check or one on public records; ``looks`` are those that were planned. ``check`` is what goes on record of
    it; without it an audit takes its prices at their word.
    ``date`` is the day on which the run was begun, which no record can change; empty for a rehearsal, which repeats
    itself. ``goals`` are what a job names that may be asked for several things: the answers are then the least margin,
    and what is asked for is 0. ``baseline`` is a sentence on what could be had without any of this, ``warnings`` are
    sentences with their titles, ``options`` and ``digests`` what the run is known by besides, ``booking`` where it is
    on a lasting ledger. ``patience`` is what it ended by where its answers no longer rose, None if it climbs all rungs.
    ``one_row`` says that, where the bound is about persons, each of those held out was judged by one row.
    """

    title: str
    job: Job
    measure: str
    asked: Fraction | None
    confidence: Confidence | None
    looks: tuple[Look | None, ...]
    ended: Ended
    cap: AdpEpsilon | None
    seeded: bool
    floating: bool
    epsilon: AdpEpsilon
    delta: float
    spent: Spent
    pledge: Pledge | None
    reason: str
    neighbours: str
    because: str
    held: float | None
    rungs: tuple[Reading, ...]
    stops: tuple[PlannedStop, ...]
    bill: tuple[Item, ...]
    versions: tuple[tuple[str, str], ...]
    check: CheckOnRecord | None = None
    held_std: float = 0.0
    date: str = ""
    baseline: str = ""
    warnings: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    digests: tuple[tuple[str, str], ...] = ()
    goals: tuple[Purpose, ...] = ()
    patience: Patience | None = None
    booking: Booking | None = None
    one_row: bool = True

    @property
    def several(self) -> bool:
        """Whether several things were asked for at once."""
        return len(self.goals) > 1

    @property
    def reached(self) -> bool:
        """Whether a candidate passed the check."""
        return self.ended is Ended.HALTED

    @property
    def flat(self) -> bool:
        """Whether the run ended because its answers no longer rose."""
        return self.ended is Ended.FLAT

    @property
    def probabilistic(self) -> AdpEpsilon:
        """What the privacy loss itself exceeds with probability δ at most, by the same pledge."""
        return stated_loss(self.spent, self.pledge)

    @property
    def divided(self) -> bool:
        """Whether private records were held out; a check on public ones needs none."""
        return any("/" in item.entry.part for item in self.bill)

    @property
    def unchecked(self) -> bool:
        """Whether nothing was asked for and nothing was checked: whoever ran it chose what to keep."""
        return self.asked is None and self.judged is None

    @property
    def on_public(self) -> bool:
        """Whether a check read public records."""
        return not self.divided and not self.unchecked

    @property
    def looked(self) -> bool:
        """Whether something on the bill read held-out records."""
        return any(item.entry.part.endswith("/held") for item in self.bill)

    @property
    def judged(self) -> int | None:
        """The number of the last rung that was checked, from 1; None where none was."""
        return max((place for place, rung in enumerate(self.rungs, start=1) if rung.passed is not None), default=None)

    @property
    def ahead(self) -> tuple[PlannedStop, ...]:
        """The planned stops that were not reached; none where a rung was dearer than the stop of its number.

        Such a run left rungs out, or others before it took them, so that its rungs are not numbered as its stops are.
        """
        pairs = zip(self.rungs, self.stops, strict=False)
        numbered = all(rung.epsilon <= stop.epsilon * (1 + ROUNDING) for rung, stop in pairs)
        return self.stops[len(self.rungs) :] if numbered else ()

    @property
    def shares(self) -> bool:
        """Whether answers are told as shares of the held-out records; they are margins in records otherwise."""
        return self.held is not None and self.asked is not None

    @property
    def scale(self) -> str:
        """What the noisy answers are of."""
        return self.measure if self.shares else "margin"

    def answer(self, rung: Reading) -> tuple[float, float] | None:
        """The noisy value that the check revealed on a rung, and half the range of its noise.

        A share is brought into the range where the true one is, from 0 or -1 to 1, which takes it no farther from that.
        """
        found = None if rung.line.verdict is None else rung.line.verdict.answer
        if found is None or not self.shares:
            return None if found is None else (found[0], self.width * found[1])
        share, records = as_share(rung.line.verdict, self.asked, self.held), max(1.0, self.held or 0.0)
        assert share is not None  # there is a margin, a target and a number of records
        half = ratio_half(*found, records, self.held_std, width=self.width, most=1.0 - lowest(self.measure))
        return min(max(share[0], lowest(self.measure)), 1.0), half

    @property
    def sampling(self) -> float | None:
        """How far the last accuracy might be from that of other records of the same kind, beside its own range."""
        found = None if self.judged is None else self.answer(self.rungs[self.judged - 1])
        if found is None or self.held is None or not self.shares or self.measure not in SAMPLED:
            return None
        return sampling_half(found[0], self.held, width=self.width, half=found[1])

    @property
    def width(self) -> float:
        """Standard errors to either side that are shown as ±: all of a run hold at once, or just one without that."""
        return 1.0 if self.confidence is None else self.confidence.width

    @property
    def elsewhere(self) -> float | None:
        """The least accuracy among those the held-out records were drawn from; None where nothing is known of it."""
        if self.confidence is None or self.asked is None or not self.held:
            return None
        bound = population_bound(self.asked, self.held, self.confidence.share)
        return bound if self.reached and self.measure == "accuracy" else None

    @property
    def measured(self) -> bool:
        """Whether the check reveals how accurate a candidate is, and not only yes or no."""
        return any(self.answer(rung) is not None for rung in self.rungs)

    @property
    def order(self) -> Fraction:
        """The order of the budgets, at which single costs are shown."""
        return self.rungs[0].line.budget.alpha

    @property
    def tabulated(self) -> bool:
        """Whether some cost has no closed form and is known order by order."""
        return any(isinstance(item.spent.curve, Tabulated) for item in self.bill)

    def allowed(self, epsilon: AdpEpsilon) -> bool:
        """Whether the cap, if there is one, leaves room for this statement."""
        return self.cap is None or epsilon <= self.cap
