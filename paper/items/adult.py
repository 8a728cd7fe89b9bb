"""The search for a synthetic Adult table: the paper's two checks and ours, with and without a confidence."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import final

from expost import SeededNoise
from expost.tabular.model.graphical import Model
from paper.engine.job import Job
from paper.show.adult import COINS, FIGURES, PAPER_SPLIT, TITLE, Result, draw, text
from paper.summaries.confidence import LEVEL, confident
from paper.summaries.summary import mean
from paper.tables.candidates import Alone, Making, Parts, Selected, by_coin, by_index, joined, records, select
from paper.tables.claims import claims, variant
from paper.tables.climb import Climb, climb, judged, learn, without_noise
from paper.tables.outcomes import outcome
from paper.tables.search import BALANCED, GAUSSIAN, PLAIN, SEARCH, SPARSE, Search
from paper.tables.stops import Run, checked

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 2
VARIANTS = {
    "splits by any set of codes": Making(classifier="paper.tables.classifiers.by_category"),
    "shallow trees, codes as numbers": Making(classifier="sklearn.ensemble.GradientBoostingClassifier"),
    "shallow trees, codes one-hot": Making(classifier="paper.tables.classifiers.one_hot"),
    "a tenth of the selection on single columns": Making(first="1/10"),
    "nine tenths of the selection on single columns": Making(first="9/10"),
    "single columns not used": Making(alone=Alone.DROPPED),
    "single columns measured again": Making(alone=Alone.AGAIN),
    "pairs selected anew in every repeat": Making(redrawn=True),
}
"""What the paper does not say, one thing changed at a time."""

IN_PAPER, BY_COINS = (GAUSSIAN, SPARSE, BALANCED, *PLAIN), (BALANCED, confident(BALANCED))
"""The checks that are asked about candidates of each split."""


@final
@dataclass(frozen=True)
class Settings:
    """The paper's split and repeats; ``split`` and ``selection`` are the seeds of what all repeats share."""

    search: Search = SEARCH
    records: int | None = None
    held: str = "2/5"
    test: str = "1/5"
    split: int = 0
    selection: int = 1000
    repeats: int = 50
    draws: int = 200
    exact_repeats: int = 10
    variants: tuple[str, ...] = tuple(VARIANTS)
    variant_repeats: int = 10


FULL = Settings()
QUICK = Settings(
    search=Search(rungs=4, threshold="0.79"),
    records=6000,
    repeats=2,
    draws=20,
    exact_repeats=1,
    variants=tuple(VARIANTS)[3:4],
    variant_repeats=1,
)


def run(job: Job[Settings]) -> Result:
    """All repeats: the paper's setting, ours, without noise, and with what the paper leaves open changed."""
    chosen = job.settings
    paper, ours = job.repeats(as_in_paper, chosen.repeats), job.repeats(by_coins, chosen.repeats)
    exact = job.repeats(no_noise, chosen.exact_repeats)
    variants = {name: job.repeats(varied, chosen.variant_repeats, name) for name in chosen.variants}
    search = chosen.search
    return Result(
        threshold=float(search.threshold),
        delta=search.delta,
        draws=chosen.draws,
        alpha=search.alpha,
        levels=[float(level) for level in search.ladder.levels],
        exact_validation=mean([each["right"][0] / each["held"] for each in exact]),
        exact_test=mean([each["right_test"][0] / each["test"] for each in exact]),
        confidence=float(LEVEL),
        outcomes=[
            *(outcome(search, check, PAPER_SPLIT, paper) for check in IN_PAPER),
            *(outcome(search, check, COINS, ours) for check in BY_COINS),
        ],
        claims=claims(search, paper),
        variants=[variant(search, name, runs) for name, runs in {"as above": paper, **variants}.items()],
    )


def as_in_paper(settings: Settings, seed: int) -> Run:
    """One split and one selection for all repeats; all checks are asked about the same candidates."""
    making, noise = Making(), SeededNoise(seed)
    found = climb(_parts(settings), _selected(settings, making), settings.search.ladder, making, noise)
    return checked(settings.search, found, making, noise, names=IN_PAPER, draws=settings.draws)


def by_coins(settings: Settings, seed: int) -> Run:
    """The whole procedure anew: a coin for each record, selection on the training part, climb and balanced checks."""
    making, noise, search, fixed = Making(), SeededNoise(seed), settings.search, _parts(settings)
    share = Fraction(settings.held) / (1 - Fraction(settings.test))
    parts = by_coin(joined(fixed), share, fixed.test, noise)
    selected = select(parts.train, search.budget(search.query), making, noise)
    found = climb(parts, selected, search.ladder, making, noise)
    return checked(search, found, making, noise, names=BY_COINS, draws=settings.draws)


def varied(settings: Settings, seed: int, name: str) -> Run:
    """As in the paper, with one thing it leaves open changed."""
    making, noise, search, parts = VARIANTS[name], SeededNoise(seed), settings.search, _parts(settings)
    query = search.budget(search.query)
    selected = select(parts.train, query, making, noise) if making.redrawn else _selected(settings, making)
    found = climb(parts, selected, search.ladder, making, noise)
    return checked(search, found, making, noise, names=(GAUSSIAN, SPARSE), draws=settings.draws)


def no_noise(settings: Settings, seed: int) -> Climb:
    """A synthetic table from exact marginals; only the drawing of rows and the learning vary."""
    parts, making, noise = _parts(settings), Making(), SeededNoise(seed)
    return judged(parts, [learn(_exact(settings), parts.train, making, noise)])


@cache
def _parts(settings: Settings) -> Parts:
    return by_index(
        records(settings.records), Fraction(settings.held), Fraction(settings.test), SeededNoise(settings.split)
    )


@cache
def _selected(settings: Settings, making: Making) -> Selected:
    search, noise = settings.search, SeededNoise(settings.selection)
    return select(_parts(settings).train, search.budget(search.query), making, noise)


@cache
def _exact(settings: Settings) -> Model:
    making = Making()
    return without_noise(_parts(settings).train, _selected(settings, making), making)
