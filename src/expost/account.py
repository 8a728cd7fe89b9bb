"""The account of one body of records: what was spent on it, running totals kept, so that no step is added up twice."""

from dataclasses import dataclass, field
from functools import reduce
from typing import final

from expost.accounting.claim import NOTHING, Promise, Spent, dearest
from expost.private import Part


@final
@dataclass(slots=True)
class PartAccount:
    """What one body of records has spent itself, what is pending, and the accounts of its parts by division.

    ``sums`` are running totals, one more for each division. Those that a change concerns are forgotten before it is
    made, here and in the accounts ``above``, so that an interrupt in between leaves nothing out.
    """

    above: "tuple[PartAccount, int] | None" = None
    own: Spent = field(default_factory=NOTHING.as_spent)
    pending: dict[object, Promise] = field(default_factory=dict)
    divisions: dict[object, int] = field(default_factory=dict)
    sides: list[dict[Part, "PartAccount"]] = field(default_factory=list)
    sums: list[Spent] = field(default_factory=list)

    def total(self) -> Spent:
        """Own spending, pending steps in full and, for each division, that of its most expensive part."""
        if not self.sums:
            self.sums.append(reduce(Spent.__add__, (each.as_spent() for each in self.pending.values()), self.own))
        for sides in self.sides[len(self.sums) - 1 :]:
            self.sums.append(self.sums[-1] + dearest({part.side: side.total() for part, side in sides.items()}))
        return self.sums[-1]

    def hold(self, key: object, promise: Promise) -> None:
        """A step is pending."""
        self._forget(0)
        self.pending[key] = promise

    def settle(self, key: object, spent: Spent) -> None:
        """It has come to this, or to nothing if it was refused."""
        self._forget(0)
        self.own = self.own + spent
        del self.pending[key]

    def part(self, division: object, part: Part) -> "PartAccount":
        """The account of a part, of which nothing is spent at first."""
        place = self.divisions.get(division)
        if place is None:
            self.sides.append({})  # before it has a name, so that an interrupt leaves no two divisions in one place
            place = self.divisions[division] = len(self.sides) - 1
        return self.sides[place].setdefault(part, PartAccount((self, place)))

    def _forget(self, first: int) -> None:
        """The sums from the first that a change concerns."""
        del self.sums[first:]
        if self.above is not None:
            account, place = self.above
            account._forget(place + 1)
