"""The same experiment with full-batch heads: the default of `expost finetune` beside Adam, on the same records."""

from typing import TypedDict

from expost import SeededNoise
from expost.jobs.finetuning.recipe import plan_training
from paper.engine.job import Job
from paper.heads.images import DIGITS, Source, pool
from paper.heads.recipes import Settings, Tuned, thresholds_of, tuned_on_digits
from paper.heads.sides import ADAM, FULL_BATCH, METHODS, Reached, Sides, default, sides
from paper.items import finetuning
from paper.show.full_batch import FIGURES, TITLE, Case, Result, draw, text
from paper.summaries.confidence import LEVEL
from paper.summaries.summary import mean, ratio, share

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
FULL, QUICK = finetuning.FULL, finetuning.QUICK


class Repeat(TypedDict):
    """How the searches of one draw of records ended."""

    sides: Sides


def run(job: Job[Settings]) -> Result:
    """The item on the digits, which are always there."""
    return run_on(job, Source(), DIGITS)


def repeat(settings: Settings, seed: int, source: list[str], tuned: Tuned, thresholds: list[str]) -> Repeat:
    """Draw records as the experiment did, and search with either method at every threshold."""
    return Repeat(sides=sides(settings, pool(Source(*source)), tuned, thresholds, SeededNoise(seed)))


def run_on(job: Job[Settings], source: Source, named: str) -> Result:
    """The item on features that are named by what images they are of and which network made them."""
    chosen, images = job.settings, pool(source)
    tuned = tuned_on_digits(chosen, job.seed)
    _, thresholds = thresholds_of(chosen, images, job.seed)
    found = [each["sides"] for each in job.repeats(repeat, chosen.repeats, list(source), tuned, thresholds)]
    plan = default(chosen, thresholds[0])
    return Result(
        data=named,
        digest=source.digest,
        records=chosen.each * images.classes,
        delta=chosen.delta,
        confidence=float(LEVEL),
        steps=list(plan.taken),
        stops=list(plan_training(plan).epsilons),
        cases=[_case(method, each, found) for each in thresholds for method in METHODS],
    )


def _case(method: str, threshold: str, found: list[Sides]) -> Case:
    """One method at one threshold, beside Adam in the same repeats."""
    searches, adam = ([each[side][threshold] for each in found] for side in (method, ADAM))
    wanted = float(threshold)
    return Case(
        method=method,
        threshold=wanted,
        passed=share([each["passed"] for each in searches]),
        truly=share([each["test"] >= wanted for each in searches if each["passed"]]),
        releases=mean([float(each["releases"]) for each in searches]),
        epsilon=mean(_epsilons(searches)),
        by_orders=mean([each["by_orders"] for each in searches]),
        test=mean([each["test"] for each in searches]),
        over_adam=ratio(_epsilons(searches), _epsilons(adam)) if method == FULL_BATCH else None,
    )


def _epsilons(searches: list[Reached]) -> list[float]:
    return [each["epsilon"] for each in searches]
