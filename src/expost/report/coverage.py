"""Coverage: what a bound does not speak of, in sentences that every job shares."""

from typing import Protocol

from expost.report.facts import Facts
from expost.report.page import listed, section

SEVERAL = (
    "Not covered: one person with several records. The bound is per record, not per person: with k records it is at "
    "least k times ε, and δ grows too."
)
AGAIN = "Not covered: other releases from the same records, discarded runs included. Each adds its ε and its δ."
PEOPLE = "Not covered: what is true of people at large. It can be learnt with or without any one record."
SOURCE = (
    "Not covered: whoever reads the records themselves, the memory of the process or its temporary files, and whoever "
    "foresees the operating system's random numbers."
)
TIMING = (
    "Not covered: how long the run and its steps took, how much memory they needed, and that it failed or was refused. "
    "All of these may depend on the records; do not let others watch."
)
SEEDED = "Not covered: anything at all. The noise was seeded, and whoever has the seed can subtract it."
COUNTED = "Taken to be public: how many records there are, because the neighbours differ in what a record says."
CHECKED_ON = "Taken to be public: the records of the check, about which nothing is promised."


class Bounded(Protocol):
    """What the sentences depend on. Implemented by Facts and TuningFacts."""

    @property
    def seeded(self) -> bool:
        """Whether the noise can be repeated."""
        ...

    @property
    def neighbours(self) -> str:
        """The neighbour relation of the bound."""
        ...

    @property
    def on_public(self) -> bool:
        """Whether a check read public records."""
        ...


def coverage(facts: Bounded, *own: str) -> str:
    """The closing section of a report: what the job says of itself, then what no bound of ours covers."""
    told = [*((SEEDED,) if facts.seeded else ()), *own]
    if facts.neighbours == "replace one record":
        told.append(COUNTED)
    if facts.on_public:
        told.append(CHECKED_ON)
    return section(
        "What the bound covers, and what it does not", listed((*told, SEVERAL, AGAIN, PEOPLE, SOURCE, TIMING))
    )


def looks(facts: Facts) -> str:
    """What the check adds to a list of what is covered: nothing where its records are public."""
    return ", every look at held-out records" if facts.divided else ""
