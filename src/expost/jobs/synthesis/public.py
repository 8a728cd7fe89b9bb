"""Public records for a free check: refused where they are the private ones under another name."""

import filecmp
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, final

from expost.accounting.claim import Budget
from expost.checks.confidence import Confidence
from expost.checks.public import PublicCheck
from expost.checks.question import Question
from expost.errors import NotDisjoint
from expost.judge import OnPublic
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import files_of, read_table
from expost.tabular.table import Table

D = TypeVar("D")
U = TypeVar("U")

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
        """The check."""
        return PublicCheck(lambda candidate: question.ask(candidate, self.table) >= 0)

    def refuse_files(self, private: Iterable[Path]) -> None:
        """Refuse public records that come from a private file, by whatever path, or from a copy of it."""
        for path in private:
            for mine in self.files:
                if same_file(mine, path):
                    raise NotDisjoint(f"the public records are read from the same file as the private ones: {SAME}")

    def refuse_records(self, private: Table) -> None:
        """Refuse public records that are the private ones, in whatever order, format or compression they came."""
        if self.table.same_records(private):
            raise NotDisjoint(f"the public records are the same as the private ones: {SAME}")


def on_public_table(given: OnPublic, schema: Schema) -> OnPublicTable:
    """The check on these public records, which are read at once.

    A run refuses them where they come from a private file or equal the private records. It cannot notice a part of
    the private records, which is as little public.
    """
    return OnPublicTable(read_table(given.records, schema), files_of(given.records))


def same_file(left: Path, right: Path) -> bool:
    """Whether two paths are one file, by a link or another spelling, or files of equal bytes."""
    try:
        return left.samefile(right) or filecmp.cmp(left, right, shallow=False)
    except (OSError, ValueError):
        return False
