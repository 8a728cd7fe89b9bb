"""Persons: what is told of them where the bound is about persons, each with any number of rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from expost.errors import Unreadable
from expost.jobs.synthesis.counted import NORMAL_95
from expost.numerics import up
from expost.patience import EXTREME
from expost.receipts.notation import fraction, items, number, record, truth, whole
from expost.receipts.procedures import Step
from expost.receipts.testimony import Testimony
from expost.report.answers import ratio_half
from expost.report.digits import plain
from expost.report.markup import html_table, prose, row, section
from expost.tabular.allowance import mean_rows
from expost.tabular.persons import NUMBERS
from expost.text import Json

PERSONS = ("rows", "std", "weight", "allowance", "declared")
FIRST_COUNTED = "All persons were counted with noise first, by how many rows they have. The counts are on the bill."
READ = "A person may have any number of rows. All of them are read, and weighted by how many there are."
ONE_IN_FULL = (
    "The person moves all counts together no farther than one row might: of m rows that differ each counts for 1/√m, "
    "of m that are alike for 1/m."
)
SEVERAL_IN_FULL = (
    "The person moves all counts together no farther than {0} rows that are alike might: of m rows that are alike each "
    "counts for {0}/m, of m that differ for {0}/√m, and none for more than 1."
)
CHOSEN = "The run chose this from how many persons have how many rows, weighing what is lost against noise."
BETWEEN = (
    "What the table says is therefore between an average over persons and one over all rows. Where this page speaks of "
    "rows of the real table, they are weighted so, and counts are scaled to the number of persons."
)
COUNTED = (
    "These numbers were released with noise, which is on the bill. A count that noise made negative is shown as 0, and "
    "one that is smaller than its noise may be of nobody."
)
ROWS = (
    "Rows per person are not modelled. Every synthetic row stands for itself: none belongs with others as the rows of "
    "one person do, and there are about as many rows as persons. How many rows a person has, sequences such as one "
    "visit after another, and statistics per person, such as the share of those who came back, cannot be had from this "
    "table."
)


@final
@dataclass(frozen=True, slots=True)
class PersonsCounted:
    """How many persons have how many rows, as released, and what all rows of one weigh on average.

    ``allowance`` rows that are alike count in full; it is ``declared``, or else follows from the other numbers.
    """

    rows: tuple[float, ...]
    std: float
    weight: float
    allowance: int = 1
    declared: bool = False

    def out(self) -> dict[str, Json]:
        """As a receipt has it."""
        return {
            "rows": [*self.rows],
            "std": self.std,
            "weight": self.weight,
            "allowance": self.allowance,
            "declared": self.declared,
        }

    @property
    def words(self) -> str:
        """How many have several rows, and what these weigh: what the bound cuts."""
        several, persons = sum(self.rows[1:]), max(1.0, sum(self.rows))
        many, all_of_them = (self.std * len(each) ** 0.5 for each in (self.rows[1:], self.rows))
        half = ratio_half(several, many, persons, all_of_them, width=NORMAL_95)
        share = min(max(several / persons, 0.0), 1.0)
        told = f"About {plain(round(share, 3))} of the persons (± {plain(round(half, 3))}) have more than one row. "
        return told + self.weighed

    @property
    def weighed(self) -> str:
        """What all rows of a person weigh, and how many they are."""
        weight = "one" if self.weight == 1 else f"{self.weight:.2f}"
        if self.is_cut:
            return (
                f"As far as noise lets that be told, a person has at least about {self.many:.1f} rows, on average, and "
                f"together they weigh as much as {weight}."
            )
        if self.weight == 1:
            return "All rows of a person together weigh as much as one row, as far as noise lets that be told."
        return f"All rows of a person together weigh as much as {weight} rows, on average over persons."

    @property
    def many(self) -> float:
        """How many rows a person has at least, roughly: the few with most of them do not stand out from noise."""
        return mean_rows(self.rows, self.std)

    @property
    def is_cut(self) -> bool:
        """Whether rows are known to count for less than 1."""
        return round(self.many, 1) > round(self.weight, 2)  # as they are shown

    @property
    def cut(self) -> str:
        """What is said of it at the end of a run; nothing where no row is known to count for less."""
        return f"Rows of a person who has several count for less. {self.weighed}" if self.is_cut else ""


def persons_section(counted: PersonsCounted | None) -> str:
    """How rows count, how many rows persons have where that was counted, and what the table cannot answer."""
    told = "" if counted is None else f"<p>{prose(counted.words)} {prose(COUNTED)}</p>{_numbers(counted)}"
    return section("Rows and persons", f"<p>{prose(how_weighed(counted))}</p>", told, f"<p>{prose(ROWS)}</p>")


def how_weighed(counted: PersonsCounted | None) -> str:
    """How rows count."""
    if counted is None or counted.allowance == 1:
        return f"{READ} {ONE_IN_FULL} {BETWEEN}"
    whose = "This was declared." if counted.declared else CHOSEN
    return f"{READ} {SEVERAL_IN_FULL.format(counted.allowance)} {whose} {BETWEEN}"


def _numbers(counted: PersonsCounted) -> str:
    last = len(NUMBERS) - 1
    ends = [*(after - 1 for _, after in pairwise(NUMBERS)), None]
    labels = [
        str(least) if least == end else f"more than {least - 1}" if place == last else f"{least} to {end}"
        for place, (least, end) in enumerate(zip(NUMBERS, ends, strict=True))
    ]
    half = f"± {NORMAL_95 * counted.std:,.0f}"
    lines = [row(label, f"{max(0.0, each):,.0f}", half) for label, each in zip(labels, counted.rows, strict=True)]
    return html_table(("rows", "persons, about", "noise, 95 %"), lines)


def counted_told(told: Testimony, counting: Sequence[Step]) -> PersonsCounted | None:
    """What a receipt of persons says of how many have how many rows; refused if it does not, or one of records does.

    The noise must be that of the step that counted them, and what it was added to were whole numbers.
    """
    found = told.found["persons"]
    if (found is None) is (told.neighbours.unit == "person"):
        raise Unreadable("the receipt counts persons where its bound is about records, or does not where it is not.")
    if found is None:
        return None
    fields = record(found, PERSONS)
    counts = tuple(number(each) for each in items(fields["rows"]))
    stds = [math.sqrt(up(fraction(step.facts["variance"]))) for step in counting]
    known = len(counts) == len(NUMBERS) and all(each.is_integer() and abs(each) < EXTREME for each in counts)
    if not known or [number(fields["std"])] != stds or number(fields["weight"]) <= 0:
        raise Unreadable("the receipt does not count persons by their rows as a run does; it was changed.")
    return PersonsCounted(
        counts, stds[0], number(fields["weight"]), whole(fields["allowance"]), truth(fields["declared"])
    )
