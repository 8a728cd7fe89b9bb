"""The arrangement in words: whom the bound compares, how the records were divided, and how candidates were judged."""

from expost.report.facts import Facts
from expost.report.flat import patience_words
from expost.report.units import by_unit

RELATIONS = {
    "add or remove one record": "the bound compares the data with the same data plus or minus any one record",
    "replace one record": "the bound compares the data with the same data in which any one record is replaced by "
    "another",
    "add or remove one person": "the bound compares the data with the same data plus or minus all rows of any one "
    "person",
    "replace one person": "the bound compares the data with the same data in which all rows of any one person are "
    "replaced by others, any number of them",
}


def part(label: str, neighbours: str) -> str:
    """The body of records that a label names."""
    sides = {"train": "the training part", "held": "the held-out part"}
    return sides.get(label.rpartition("/")[2], by_unit("all records", neighbours))


def parts(facts: Facts) -> tuple[str, str]:
    """Whom the bound compares, and how the records were divided."""
    neighbours, about = f"Neighbours: {RELATIONS.get(facts.neighbours, facts.neighbours)}.", facts.neighbours
    if facts.divided:
        split = by_unit("The records were split into two parts, one to learn from and one to check on", about)
        return neighbours, f"{split} ({facts.because})."
    learnt = by_unit("All records were used to learn from; none was held out", about)
    if facts.on_public:
        return neighbours, f"{learnt}, because the check has its own records."
    return neighbours, f"{learnt}."


def checked(facts: Facts) -> str:
    """How candidates were judged."""
    early = "" if facts.patience is None else f" {patience_words(facts.patience, facts.looks)}"
    ended = f"The first {facts.job.rung} to pass ends a run.{early}"
    if facts.divided:
        return f"What was learnt was checked on the part held out, and only the noisy answer was seen. {ended}"
    return f"What was learnt was checked on records that anybody may see. {ended}"
