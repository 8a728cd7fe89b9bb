"""What accuracy-first saves: the price of the same accuracy by the search and by what it is compared with."""

import math
from typing import TypedDict

import numpy as np

from paper.engine.job import Job
from paper.peers.methods import METHODS, stated
from paper.peers.predictors import correct
from paper.peers.task import Settings, Task, task
from paper.show.baselines import FIGURES, TITLE, Interval, Panel, Result, Row, draw, text
from paper.summaries.compare import share_interval

__all__ = ["FIGURES", "FULL", "QUICK", "TITLE", "VERSION", "draw", "run", "text"]

VERSION = 1
FULL = Settings()
QUICK = Settings(rungs=7, doublings=7, low="0.01", guards=(0,), repeats=2)


class Found(TypedDict):
    """What one search stated, the accuracy its candidate has on the held-out records, and the rungs it took."""

    price: float
    accuracy: float
    rungs: int


def attempts(settings: Settings, seed: int, predictor: str, methods: str, guard: int) -> dict[str, Found]:
    """One search by each of the methods, which are named in one string."""
    return {method: _attempt(task(settings, seed, predictor, guard), method) for method in methods.split()}


def reported(settings: Settings, seed: int, predictor: str, methods: str, guard: int) -> dict[str, Found]:
    """The same with seeds that no guard was chosen by."""
    return attempts(settings, seed + settings.repeats, predictor, methods, guard)


def run(job: Job[Settings]) -> Result:
    """Each method on each predictor, at the least guard that makes it sure enough of the target."""
    chosen = job.settings
    return Result(
        delta=chosen.delta,
        held=float(chosen.held),
        surely=chosen.surely,
        reported=chosen.repeats,
        doublings=chosen.doublings,
        panels=[_panel(job, predictor, float(target)) for predictor, target in chosen.targets],
    )


def _attempt(given: Task, method: str) -> Found:
    outcome, price = METHODS[method](given)
    accuracy = float(correct(outcome.release.value, given.held).mean())
    return Found(price=price, accuracy=accuracy, rungs=len(outcome.history))


def _panel(job: Job[Settings], predictor: str, target: float) -> Panel:
    chosen, given = job.settings, task(job.settings, job.seed, predictor, 0)
    guards, found = _guards(job, predictor, target), dict[str, list[Found]]()
    for guard in sorted(set(guards.values())):
        methods = [method for method in METHODS if guards[method] == guard]
        fresh = job.repeats(reported, chosen.repeats, predictor, " ".join(methods), guard)
        found |= {method: [each[method] for each in fresh] for method in methods}
    ours = [each["price"] for each in found["ours"]]
    return Panel(
        predictor=predictor,
        target=target,
        pairs=int(given.statistic.l1),
        cells=given.statistic.shape[0],
        levels=list(stated(given)),
        rows=[_row(method, guards[method], found[method], ours, target) for method in METHODS],
    )


def _guards(job: Job[Settings], predictor: str, target: float) -> dict[str, int]:
    """For each method the least guard with which it reaches the target often enough, or the largest."""
    chosen, sure, unsure = job.settings, dict[str, int](), list(METHODS)
    for guard in chosen.guards:
        tried = job.repeats(attempts, chosen.repeats, predictor, " ".join(unsure), guard) if unsure else []
        for method in list(unsure):
            reached = sum(each[method]["accuracy"] >= target for each in tried)
            if reached >= chosen.surely * chosen.repeats or guard == chosen.guards[-1]:
                sure[method] = guard
                unsure.remove(method)
    return sure


def _row(method: str, guard: int, found: list[Found], ours: list[float], target: float) -> Row:
    prices = [each["price"] for each in found]
    reached = sum(each["accuracy"] >= target for each in found)
    quartiles = np.quantile(prices, (0.25, 0.5, 0.75))
    return Row(
        method=method,
        guard=guard / 1000,
        price=_geometric(prices),
        quartiles=[float(each) for each in quartiles],
        ours_over=_geometric([mine / price for mine, price in zip(ours, prices, strict=True)]),
        reached=reached / len(found),
        reached_interval=list(share_interval(reached, len(found))),
        accuracy=float(np.mean([each["accuracy"] for each in found])),
        rungs=float(np.mean([each["rungs"] for each in found])),
    )


def _geometric(values: list[float]) -> Interval:
    """The geometric mean, with the normal interval of 95 % on the scale of logarithms."""
    logs = np.log(values)
    mean, error = float(logs.mean()), 1.96 * float(logs.std(ddof=1)) / math.sqrt(len(values))
    return Interval(mean=math.exp(mean), low=math.exp(mean - error), high=math.exp(mean + error))
