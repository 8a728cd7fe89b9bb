"""What every job has: a kind, by which commands and audit find it, an odometer under a cap, and a result to keep."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, final

from expost.accounting.claim import Promise
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge
from expost.errors import BudgetExceeded, InvalidValue
from expost.filters import PledgedFilter
from expost.folders.claim import Claim, deliver
from expost.noise import Noise
from expost.odometer import Odometer
from expost.private import Neighbours
from expost.receipts.audit import Audit, Recompute
from expost.receipts.procedures import Rebuild
from expost.receipts.receipt import Commitment, receipt, receipt_text
from expost.recorded import Asking, Booked, ReadableLedger, reserve_plan
from expost.release import Release
from expost.report.answers import Reading
from expost.report.booked import held_and_returned
from expost.report.digits import at_most
from expost.report.facts import Facts
from expost.report.page import fragment, render
from expost.report.words import conclusion, forewords
from expost.search import Ended
from expost.text import Json

if TYPE_CHECKING:
    import click

ASKING: Mapping[str, Asking] = {
    "rung": lambda most, stops: (
        f"ask for a ladder such as {at_most(most / 5)}:{at_most(most)}:{max(2, stops)}, or less"
    ),
    "release": lambda most, stops: f"ask for one that starts at ε = {at_most(most)}, or less",
}
"""What to ask for on a ledger that has no room for the first of them."""


@final
@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job: how its receipts are worked out again, by what they say was made, and its commands.

    ``formats`` are receipts that are not of the common format. ``files`` tell, by what was made, the digest that a
    receipt has of each file beside it, and ``witnesses`` what these files let an audit work out besides. ``command``
    names the module whose ``COMMANDS`` the command line takes, and whose ``PLANS`` go below ``expost plan``; it is
    loaded when a command line is made.
    """

    procedures: Mapping[str, Rebuild] = field(default_factory=dict)
    formats: Mapping[str, Recompute] = field(default_factory=dict)
    files: Mapping[str, Callable[[Json], Mapping[str, str]]] = field(default_factory=dict)
    witnesses: Mapping[str, Callable[[Json, Path, Audit], Audit]] = field(default_factory=dict)
    command: str | None = None

    def add_to(self, main: "click.Group", plan: "click.Group") -> None:
        """Put the commands of the job on the command line."""
        if self.command is None:
            return
        module = importlib.import_module(self.command)
        for each in module.COMMANDS:
            main.add_command(each)
        for each in module.PLANS:
            plan.add_command(each)


def capped(
    pledge: Pledge,
    stops: Sequence[Promise],
    *,
    max_epsilon: float | None,
    neighbours: Neighbours,
    ledger: ReadableLedger,
    noise: Noise,
    rung: str,
) -> tuple[Odometer, AdpEpsilon | None]:
    """An odometer that keeps the stated ε within the cap, and that cap; one that leaves no room to begin is refused.

    On a lasting ledger the plan is held before any data is read, and the cap is what there is room for. A job divides
    the records by fresh coins, so that it is on no split that another run could be on.
    """
    if isinstance(ledger, Booked) and ledger.split is not None:
        raise InvalidValue(
            f"this job divides the records by coins of its own, not by the split {ledger.split!r}; begin its run "
            "without a split."
        )
    first, cap = pledge.epsilon(stops[0]), None if max_epsilon is None else AdpEpsilon(max_epsilon)
    if cap is not None and cap < first:
        raise BudgetExceeded(
            f"the first {rung} is stated as ε = {first:.4g}, above the cap {cap:g}; raise the cap, or start lower."
        )
    cap = reserve_plan(ledger, pledge, stops, neighbours=neighbours, cap=cap, seeded=noise.seeded, ask=ASKING[rung])
    limit = None if cap is None else PledgedFilter(pledge, cap)
    return Odometer(pledge=pledge, cap=limit, ledger=ledger, rehearsal=noise.seeded), cap


T = TypeVar("T")


def save_facts(facts: Facts, put: Callable[[Path], None], folder: Path | Claim, *, overwrite: bool) -> None:
    """Write the receipt, the report and what ``put`` writes into a new folder, all or nothing."""
    report = render(facts, pledged=Commitment.of(facts).digest)
    deliver(folder, put, receipt=receipt_text(receipt(facts)), report=report, overwrite=overwrite)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Result(Generic[T]):
    """A finished job: what was released, what it cost and how it ended.

    ``collect`` gathers what a report tells, from releases only, when somebody asks for it; ``writers`` put the release
    into a folder, by the name of the format, the usual one first.
    """

    release: Release[T]
    ended: Ended
    collect: Callable[[], Facts]
    writers: Mapping[str, Callable[[Path], None]]

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for the whole procedure."""
        return self.release.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self.facts.delta

    @property
    def passed(self) -> bool:
        """Whether a candidate passed the check."""
        return self.ended is Ended.HALTED

    @property
    def history(self) -> tuple[Reading, ...]:
        """One line per rung: ε added, (ε, δ) so far, noisy answer, verdict."""
        return self.facts.rungs

    @cached_property
    def facts(self) -> Facts:
        """What a report tells."""
        return self.collect()

    @property
    def receipt(self) -> str:
        """The receipt, as the text of its file."""
        return receipt_text(receipt(self.facts))

    @property
    def closing(self) -> tuple[str, ...]:
        """How it ended and what was spent, a paragraph each."""
        booking = self.facts.booking
        booked = () if booking is None else (held_and_returned(booking),)
        return (*forewords(self.facts), conclusion(self.facts), *booked)

    def save(self, folder: str | Path | Claim, *, format: str | None = None, overwrite: bool = False) -> None:  # noqa: A002
        """Write the receipt, the report and the release into a new folder, all or nothing."""
        chosen = next(iter(self.writers)) if format is None else format
        if chosen not in self.writers:
            raise InvalidValue(f"format is {chosen}; this release is written as {' or '.join(self.writers)}.")
        where = Path(folder) if isinstance(folder, str) else folder
        save_facts(self.facts, self.writers[chosen], where, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"Result({self.release.brief}, {self.ended.name.lower()})"

    def _repr_html_(self) -> str:
        return fragment(self.facts, pledged=Commitment.of(self.facts).digest)


def say_nothing(doing: str) -> None:
    """Say nothing."""
