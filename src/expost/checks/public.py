"""Public checks: a stopping rule that reads released values only and costs nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from expost.protocols import Verdict

U = TypeVar("U")


@final
@dataclass(frozen=True)
class PublicCheck(Generic[U]):
    """Judge a candidate by itself or by public data: accuracy on a public set, width of an error bar.

    Implements: public checks.
    """

    passes: Callable[[U], bool]

    def verdict(self, candidate: U) -> Verdict:
        """The judgement, as a verdict without noise."""
        return Verdict(bool(self.passes(candidate)))
