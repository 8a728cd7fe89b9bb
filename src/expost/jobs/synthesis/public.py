"""Public records for a free check: refused where they are the private ones under another name."""

import filecmp
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from expost.checks.confidence import Confidence
from expost.checks.public import PublicCheck
from expost.checks.question import CentredSum
from expost.errors import NotDisjoint
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate
from expost.tabular.source.reading import files_of, read_table
from expost.tabular.table import Table

SAME = "a check on the private records themselves is not free; give other records, or choose a private check."


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OnPublicTable:
    """A check on public records, which costs nothing; ``public_check`` makes it."""

    table: Table
    files: tuple[Path, ...]

    def __call__(self, question: CentredSum[Table, Candidate], confidence: Confidence | None) -> PublicCheck[Candidate]:
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


def public_check(table: object, schema: Schema) -> OnPublicTable:
    """A check on public records, which costs nothing; the records are read at once.

    A run refuses them where they come from a private file or equal the private records. It cannot notice a part of
    the private records, which is as little public.
    """
    return OnPublicTable(read_table(table, schema), files_of(table))


def same_file(left: Path, right: Path) -> bool:
    """Whether two paths are one file, by a link or another spelling, or files of equal bytes."""
    try:
        return left.samefile(right) or filecmp.cmp(left, right, shallow=False)
    except (OSError, ValueError):
        return False
