"""The arrangement in words: whom the bound compares, how the records were divided, and how candidates were judged."""

from expost.report.facts import Facts
from expost.report.flat import patience_words

RELATIONS = {
    "add or remove one record": "the bound compares the data with the same data plus or minus any one record",
    "replace one record": "the bound compares the data with the same data in which any one record is another",
}


def part(label: str) -> str:
    """The body of records that a label names."""
    sides = {"train": "the training part", "held": "the held-out part"}
    return sides.get(label.rpartition("/")[2], "all records")


def parts(facts: Facts) -> tuple[str, str]:
    """Whom the bound compares, and how the records were divided."""
    neighbours = f"Neighbours: {RELATIONS.get(facts.neighbours, facts.neighbours)}."
    if facts.divided:
        return (
            neighbours,
            f"The records were split into two parts, one to learn from and one to check on ({facts.because}).",
        )
    if facts.on_public:
        return (
            neighbours,
            "All records were used to learn from; none was held out, because the check has its own records.",
        )
    return neighbours, "All records were used to learn from; none was held out."


def checked(facts: Facts) -> str:
    """How candidates were judged."""
    early = "" if facts.patience is None else f" {patience_words(facts.patience)}"
    ended = f"The first {facts.job.rung} to pass ends a run.{early}"
    if facts.divided:
        return f"What was learnt was checked on the part held out, and only the noisy answer was seen. {ended}"
    return f"What was learnt was checked on records that anybody may see. {ended}"
