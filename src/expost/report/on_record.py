"""What goes on record of a check, whether or not it was ever asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, final

from expost.checks.public import PublicCheck
from expost.record import Fact
from expost.step import Check

D = TypeVar("D")
U = TypeVar("U")

PUBLIC_CHECK = "public check"


@final
@dataclass(frozen=True, slots=True)
class CheckOnRecord:
    """How candidates are judged: the name of the check, and the facts that each of its looks goes on record with."""

    name: str
    facts: Mapping[str, Fact]

    @classmethod
    def of(cls, judge: Check[D, U] | PublicCheck[U]) -> "CheckOnRecord":
        """What goes on record of the check; one on public records reads nothing that would."""
        return cls(PUBLIC_CHECK, {}) if isinstance(judge, PublicCheck) else cls(judge.name, judge.facts())
