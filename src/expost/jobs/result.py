"""What a job returns: the release with its bill, everything a report tells, and a way to keep both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar, final

from expost.accounting.curve import AdpEpsilon
from expost.errors import InvalidValue
from expost.folders.claim import Claim, deliver
from expost.receipts.receipt import receipt, receipt_text
from expost.release import Release
from expost.report.facts import Facts, Reading
from expost.report.page import fragment, render
from expost.search import Ended

T = TypeVar("T")


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

    def save(self, folder: str | Path | Claim, *, format: str | None = None, overwrite: bool = False) -> None:  # noqa: A002
        """Write the receipt, the report and the release into a new folder, all or nothing."""
        chosen = next(iter(self.writers)) if format is None else format
        if chosen not in self.writers:
            raise InvalidValue(f"format is {chosen}; this release is written as {' or '.join(self.writers)}.")
        deliver(
            Path(folder) if isinstance(folder, str) else folder,
            self.writers[chosen],
            receipt=receipt_text(receipt(self.facts)),
            report=render(self.facts),
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        return f"Result({self.release.brief}, {self.ended.name.lower()})"

    def _repr_html_(self) -> str:
        return fragment(self.facts)
