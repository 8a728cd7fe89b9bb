"""Fine-tuning until accurate enough: the paper's image experiment on a linear head, with valid statements beside it."""

from statistics import fmean
from typing import TypedDict

from expost import FixedOrder, SeededNoise
from expost.accounting.claim import best_statement
from expost.jobs.finetuning.recipe import HeadRecipe, plan_training
from expost.training import Classifier
from paper.engine.job import Job
from paper.heads.images import DIGITS, Source, pool
from paper.heads.recipes import (
    CONFIDENT,
    KINDS,
    PUBLIC,
    Settings,
    Tuned,
    multiplier,
    recipe,
    thresholds_of,
    tuned_on_digits,
)
from paper.heads.replay import Ending, accuracy, ending, trained
from paper.show.finetuning import FIGURES, TITLE, Case, Plan, Result, draw, text
from paper.summaries.confidence import LEVEL
from paper.summaries.summary import mean, ratio, share

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 3
FULL = Settings()
QUICK = Settings(first=5, public=(5, 3), private=(10, 2), probes=1, trials=2, repeats=2)


class Repeat(TypedDict):
    """One draw of records: accuracies of every release, and how each search ended, by kind and threshold."""

    validation: list[float]
    test: list[float]
    endings: dict[str, dict[str, Ending]]


def run(job: Job[Settings]) -> Result:
    """The item on the digits, which are always there."""
    return run_on(job, Source(), DIGITS)


def repeat(settings: Settings, seed: int, source: list[str], tuned: Tuned, thresholds: list[str]) -> Repeat:
    """Draw records, train once, and judge the releases by every kind of validation at every threshold."""
    images, noise = pool(Source(*source)), SeededNoise(seed)
    train, held = images.draw(settings.each, noise)
    jobs = {
        kind: {each: recipe(settings, images, tuned, kind, each, public=held) for each in thresholds} for kind in KINDS
    }
    made = trained(jobs[PUBLIC][thresholds[0]], images.shape, train, noise)
    heads = [Classifier(release.weights) for release in made.values()]
    return Repeat(
        validation=[accuracy(head, held) for head in heads],
        test=[accuracy(head, images.test) for head in heads],
        endings={
            kind: {each: ending(job, made, (train, held, images.test), noise) for each, job in by_threshold.items()}
            for kind, by_threshold in jobs.items()
        },
    )


def run_on(job: Job[Settings], source: Source, named: str) -> Result:
    """The item on features that are named by what images they are of and which network made them."""
    chosen, images = job.settings, pool(source)
    tuned = tuned_on_digits(chosen, job.seed)
    probe, thresholds = thresholds_of(chosen, images, job.seed)
    found = job.repeats(repeat, chosen.repeats, list(source), tuned, thresholds)
    return Result(
        data=named,
        digits=not source.path,
        digest=source.digest,
        records=chosen.each * images.classes,
        width=images.records.width,
        pool=len(images.records),
        test=len(images.test),
        delta=chosen.delta,
        start=chosen.start,
        probe=probe,
        shares=list(chosen.shares),
        learning_rate=tuned["learning_rate"],
        clip=tuned["clip"],
        multiplier=float(multiplier(chosen)),
        confidence=float(LEVEL),
        plans=[_plan(recipe(chosen, images, tuned, kind, thresholds[0], public=images.test), kind) for kind in KINDS],
        validation=[fmean(column) for column in zip(*(each["validation"] for each in found), strict=True)],
        reached=[fmean(column) for column in zip(*(each["test"] for each in found), strict=True)],
        cases=[
            _case(kind, each, _endings(found, kind, each), _endings(found, CONFIDENT.get(kind, kind), each))
            for kind in KINDS
            for each in thresholds
        ],
    )


def _plan(job: HeadRecipe, kind: str) -> Plan:
    """What each release would be stated as by every rule; no record is looked at."""
    pledge, fixed = plan_training(job).pledge, FixedOrder(job.order, job.delta)
    best = [best_statement(promise, job.delta) for promise in pledge.promises]
    return Plan(
        kind=kind,
        steps=list(job.schedule.steps),
        order=float(job.order),
        paper=[epsilon for epsilon, _ in best],
        orders=[order for _, order in best if order is not None],
        fixed=[fixed.epsilon(promise) for promise in pledge.promises],
        stops=[stop.epsilon for stop in pledge.table],
        check=[look.std for look in job.looks() if look is not None],
        guard=[look.guard for look in job.looks() if look is not None],
    )


def _endings(found: list[Repeat], kind: str, threshold: str) -> list[Ending]:
    return [each["endings"][kind][threshold] for each in found]


def _case(kind: str, threshold: str, endings: list[Ending], without: list[Ending]) -> Case:
    """One kind at one threshold, beside the same repeats by the same kind without a confidence."""
    accepted = [each for each in endings if each["passed"]]
    wanted = float(threshold)
    return Case(
        kind=kind,
        threshold=wanted,
        accepted=share([each["passed"] for each in endings]),
        truly=share([each["test"] >= wanted for each in accepted]),
        truly_validation=share([each["validation"] >= wanted for each in accepted]),
        paper=mean([each["paper"] for each in endings]),
        fixed=mean([each["fixed"] for each in endings]),
        stops=mean([each["stops"] for each in endings]),
        validation=mean([each["validation"] for each in endings]),
        test=mean([each["test"] for each in endings]),
        releases=mean([float(each["releases"]) for each in endings]),
        price=ratio(*([each["stops"] for each in some] for some in (endings, without))) if kind in CONFIDENT else None,
    )
