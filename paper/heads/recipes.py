"""The fine-tuning jobs of the paper: schedules, noise, checks, and the search on digits for what it leaves open."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypedDict, final

from sklearn.linear_model import LogisticRegression

from expost import SeededNoise
from expost.accounting.descent import Descent, noise_multiplier
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.judge import Balanced, Budgeted, Judge, OnPublic
from expost.training import Classifier, Labelled, search_public
from expost.training.head.optimizer import Adam
from expost.training.head.score import Target
from expost.training.schedule import Schedule
from paper.heads.images import Pool, Source, pool
from paper.heads.replay import accuracy, trained
from paper.summaries.confidence import LEVEL, confident

if TYPE_CHECKING:
    from optuna import Trial

PUBLIC: Final = "public"
PRIVATE: Final[dict[str, Judge]] = {"private, balanced": Balanced(), "private, calibrated": Budgeted()}
CONFIDENT: Final = {confident(kind): kind for kind in PRIVATE}
"""The kinds with a confidence, each with the name of the same kind without one."""
KINDS: Final = (PUBLIC, *PRIVATE, *CONFIDENT)
DRAWS = 3
"""Digits are drawn so often for each setting that is tried."""


@final
@dataclass(frozen=True)
class Settings:
    """The paper's: records a class, δ, the first release and its price, schedules in epochs; ours: what it leaves open.

    A schedule is the epochs between releases and the most releases. Thresholds are shares of a probe's accuracy.
    """

    each: int = 50
    delta: float = 1 / 500
    rate: str = "0.1"
    start: float = 1.5
    first: int = 50
    public: tuple[int, int] = (50, 10)
    private: tuple[int, int] = (100, 5)
    drop: float = 0.1
    shares: tuple[float, ...] = (0.75, 0.8, 0.85)
    probes: int = 10
    trials: int = 20
    repeats: int = 50


class Tuned(TypedDict):
    """What the optimiser was set to."""

    learning_rate: float
    clip: float


def recipe(chosen: Settings, pool: Pool, tuned: Tuned, kind: str, threshold: str, *, public: Labelled) -> HeadRecipe:
    """The job for one kind of validation; only a public one looks at the public records.

    Without a confidence the last release is returned unchecked, as in the paper.
    """
    between, releases = chosen.public if kind == PUBLIC else chosen.private
    rate = Fraction(chosen.rate)
    check: Judge = OnPublic(public) if kind == PUBLIC else PRIVATE[CONFIDENT.get(kind, kind)]
    return HeadRecipe(
        target=Target(Fraction(threshold)),
        schedule=Schedule.of_epochs(chosen.first, between, releases, rate=rate),
        start=multiplier(chosen),
        confidence=LEVEL if kind in CONFIDENT else None,
        rate=rate,
        delta=chosen.delta,
        check=check,
        clip=tuned["clip"],
        batch=float(rate * chosen.each * pool.classes),
        optimizer=Adam(tuned["learning_rate"]),
        drop=chosen.drop,
    )


@cache
def multiplier(chosen: Settings) -> Fraction:
    """The noise with which the first release has its price at the best order, as the paper's software sets it."""
    rate = Fraction(chosen.rate)
    steps = Schedule.of_epochs(chosen.first, 1, 1, rate=rate).first
    return noise_multiplier(chosen.start, lambda noise: Descent(rate, noise).promise(steps).approx(chosen.delta))


def thresholds_of(chosen: Settings, images: Pool, seed: int) -> tuple[float, list[str]]:
    """The mean accuracy of probes without privacy, and the thresholds: shares of it."""
    probe = fmean(_probe(images, chosen.each, seed + place) for place in range(chosen.probes))
    return probe, [f"{each * probe:.2f}" for each in chosen.shares]


def _probe(images: Pool, each: int, seed: int) -> float:
    """The test accuracy of logistic regression without privacy, on the records of one repeat."""
    train, _ = images.draw(each, SeededNoise(seed))
    fitted = LogisticRegression(C=100.0, max_iter=2000).fit(train.features, train.labels)
    return float(fitted.score(images.test.features, images.test.labels))


def tuned_on_digits(chosen: Settings, seed: int) -> Tuned:
    """Learning rate and clipping norm that do best on public digits at the price of the first release."""
    digits, noise = pool(Source()), SeededNoise(seed)
    draws = [digits.draw(chosen.each, noise) for _ in range(DRAWS)]

    def score(setting: Tuned) -> float:
        job = recipe(chosen, digits, setting, PUBLIC, "0.5", public=digits.test)
        once = replace(job, schedule=Schedule(job.schedule.first, 1, 1))
        heads = [trained(once, digits.shape, train, noise)[once.schedule.first] for train, _ in draws]
        return fmean(accuracy(Classifier(head.weights), digits.test) for head in heads)

    return search_public(lambda setting: setting, score, _space, noise=noise, trials=chosen.trials).setting


def _space(trial: "Trial") -> Tuned:
    return Tuned(
        learning_rate=trial.suggest_float("learning rate", 0.005, 0.5, log=True),
        clip=trial.suggest_float("clip", 0.05, 1.0, log=True),
    )
