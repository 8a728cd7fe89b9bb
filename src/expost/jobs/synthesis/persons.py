"""Persons: what the report of a table says where the bound is about persons, each with any number of rows."""

from expost.jobs.synthesis.counted import NORMAL_95
from expost.report.digits import plain
from expost.report.markup import prose, section

SIZED = "All persons were counted with noise first, by how many rows they have. The counts are on the bill."
WEIGHED = (
    "A person may have any number of rows. All of them are read, and weighted such that the person moves all counts "
    "together no farther than one row might: of m rows that differ each counts for 1/√m, of m that are alike for 1/m. "
    "What the table says is therefore between an average over persons and one over all rows. Where this page speaks of "
    "rows of the real table, they are weighted so, and counts are scaled to the number of persons."
)
ROWS = (
    "Rows per person are not modelled. Every synthetic row stands for itself: no two of them belong to the same "
    "person, and there are about as many rows as persons. How many rows a person has, sequences such as one visit "
    "after another, and statistics per person, such as the share of those who came back, cannot be had from this table."
)


def persons_section(cut: str) -> str:
    """How rows count, what was ``cut`` by that where it was released, and what the table cannot answer."""
    told = (WEIGHED, *([cut] if cut else []), ROWS)
    return section("Rows and persons", *(f"<p>{prose(each)}</p>" for each in told))


def cut_words(persons: float, std: float, share: float) -> str:
    """Of how many persons the rows count less than one each, by a release with noise of this standard deviation.

    ``share`` is what part of all persons these are.
    """
    half = NORMAL_95 * std
    if persons <= half:
        return (
            "The number of persons whose rows count less than one each was released: with its noise of "
            f"± {half:,.0f}, it cannot be told from none."
        )
    return (
        f"The rows of about {persons:,.0f} persons (± {half:,.0f}; {plain(round(share, 3))} of all persons) count less "
        "than one each, because they have several."
    )
