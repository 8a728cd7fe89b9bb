"""Persons: how many of them have how many rows, where the unit of a table is one."""

from dataclasses import dataclass
from typing import final

from expost.errors import Unreadable
from expost.mechanisms.gaussian import Measurement
from expost.receipts.notation import items, number, record
from expost.receipts.testimony import Testimony
from expost.tabular.persons import NUMBERS
from expost.text import Json

PERSONS = ("rows", "std", "weight")


@final
@dataclass(frozen=True, slots=True)
class PersonsCounted:
    """How many persons have how many rows, as released, and what all rows of one weigh on average."""

    rows: tuple[float, ...]
    std: float
    weight: float

    @classmethod
    def of(cls, counted: Measurement | None, scale: float) -> "PersonsCounted | None":
        """From what was counted first, if it was persons."""
        return None if counted is None else cls(tuple(counted.values.tolist()), counted.std, 1 / scale)

    def out(self) -> dict[str, Json]:
        """As a receipt has it."""
        return {"rows": [*self.rows], "std": self.std, "weight": self.weight}


def require_counted(told: Testimony) -> None:
    """Refuse a receipt of persons that does not say how many have how many rows, and one of records that does."""
    found = told.found["persons"]
    if (found is None) is (told.neighbours.unit == "person"):
        raise Unreadable("the receipt counts persons where its bound is about records, or does not where it is not.")
    if found is not None:
        fields = record(found, PERSONS)
        counts = [number(each) for each in items(fields["rows"])]
        if len(counts) != len(NUMBERS) or number(fields["std"]) <= 0 or number(fields["weight"]) <= 0:
            raise Unreadable("the receipt does not count persons by their rows as a run does; it was changed.")
