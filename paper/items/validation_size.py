"""How many records to hold out: the search on the Adult table with validation parts of every size."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from expost import SeededNoise
from paper.engine.job import Job
from paper.show.validation_size import FIGURES, TITLE, Result, draw, text
from paper.summaries.summary import share
from paper.tables.candidates import Making, by_index, records, select
from paper.tables.climb import climb
from paper.tables.points import point, size_claims
from paper.tables.search import BALANCED, GAUSSIAN, SEARCH, Search
from paper.tables.stops import Run, checked

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
PRINTED = {"0.01": 7, "0.05": 13, "0.1": 16, "0.2": 17, "0.3": 19, "0.4": 21, "0.5": 14}
PRINTED_OF = 30
"""The paper's repeats whose first release above the threshold was accepted, by the share held out."""


@final
@dataclass(frozen=True)
class Settings:
    """The paper's sizes and repeats; every repeat has a split of its own."""

    search: Search = SEARCH
    records: int | None = None
    sizes: tuple[str, ...] = tuple(PRINTED)
    test: str = "1/5"
    repeats: int = 30
    draws: int = 200


FULL = Settings()
QUICK = Settings(search=Search(rungs=3, threshold="0.79"), records=6000, sizes=("0.05", "0.4"), repeats=2, draws=20)


def run(job: Job[Settings]) -> Result:
    """Every size with both checks on the same candidates."""
    chosen = job.settings
    search, found = chosen.search, {size: job.repeats(repeat, chosen.repeats, size) for size in chosen.sizes}
    return Result(
        threshold=float(search.threshold),
        alpha=search.alpha,
        draws=chosen.draws,
        repeats=chosen.repeats,
        sizes=[float(size) for size in chosen.sizes],
        printed=[share([place < PRINTED[size] for place in range(PRINTED_OF)]) for size in chosen.sizes],
        claims=size_claims(search, found),
        points={check: [point(search, check, runs) for runs in found.values()] for check in (GAUSSIAN, BALANCED)},
    )


def repeat(settings: Settings, seed: int, size: str) -> Run:
    """A new split, selection and climb; both checks are asked about the same candidates."""
    making, noise, search = Making(), SeededNoise(seed), settings.search
    parts = by_index(records(settings.records), Fraction(size), Fraction(settings.test), noise)
    selected = select(parts.train, search.budget(search.query), making, noise)
    found = climb(parts, selected, search.ladder, making, noise)
    return checked(search, found, making, noise, names=(GAUSSIAN, BALANCED), draws=settings.draws)
