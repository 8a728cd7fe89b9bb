"""Coverage: what a bound is about besides what its job says, what is taken to be public, and what it leaves out."""

from collections.abc import Iterable

from expost.private import Neighbours
from expost.report.units import OF_PERSONS, by_row, by_unit

SEEDED = "Not covered: anything at all. The noise was seeded, and whoever has the seed can subtract it."
COUNTED = {
    Neighbours.REPLACE_ONE.value: "Taken to be public: how many records there are, because neighbours differ in what "
    "one record says.",
    Neighbours.REPLACE_PERSON.value: "Taken to be public: how many persons there are, because neighbours differ in "
    "what the rows of one person say, and in how many rows these are.",
}
CHECKED_ON = "Taken to be public: the records of the check, about which nothing is promised."
PER_RECORD = (
    "Not covered: one person with several records. The bound is per record, not per person: with k records it is at "
    "least k times ε, and δ grows too.",
    "Not covered: other releases from the same records, discarded runs included. Each adds its ε and its δ.",
)
PER_PERSON = (
    "Covered: all rows of a person at once, however many there are.",
    "Not covered: a household, or any other group of persons. For k persons the bound is at least k times ε, and δ "
    "grows too.",
    "Not covered: the same person under two identifiers, or without one. Each identifier counts as a person, and so "
    "does each row that has none.",
    "Not covered: other releases about the same persons, from this table or another, discarded runs included. Each "
    "adds its ε and its δ.",
)
AT_LARGE = "Not covered: what is true of people at large. It can be learnt with or without any one record."
LEFT_OUT = (
    "Not covered: anyone who can read the records themselves, the memory of the process or its temporary files, and "
    "anyone who can foresee the operating system's random numbers.",
    "Not covered: how long the run and its steps took, how much memory they needed, and that it failed or was refused. "
    "All of these may depend on the records; do not let others watch.",
)


def coverage(own: Iterable[str], *, seeded: bool, neighbours: str, on_public: bool) -> tuple[str, ...]:
    """What a job says that its bound covers, then what it takes to be public and what no bound of ours covers."""
    told = [SEEDED, *own] if seeded else [*own]
    if neighbours in COUNTED:
        told.append(COUNTED[neighbours])
    if on_public:
        told.append(CHECKED_ON)
    told += PER_PERSON if neighbours in OF_PERSONS else PER_RECORD
    return (*told, by_unit(AT_LARGE, neighbours), *(by_row(each, neighbours) for each in LEFT_OUT))
