"""One search by each method: the same records, question and range of prices, each billed by its own valid rule."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from expost import (
    BalancedCheck,
    Brownian,
    Budget,
    Gaussian,
    Ladder,
    Odometer,
    Outcome,
    PlannedStops,
    PublicCheck,
    planned_stops,
    search,
)
from expost.baselines import Doubling, ReducedAboveThreshold, doubling
from expost.mechanisms import Estimate, IntegerPath, Measurement, NoiseReduction
from paper.peers.predictors import Predictor
from paper.peers.task import Afresh, Task

Searched: TypeAlias = tuple[Outcome[Predictor], float]
"""An outcome, and the ε that its method states."""
FINEST = 10**6
"""Levels of the pure methods are rounded to this part, so that their exact samplers meet short fractions."""


def stated(task: Task) -> tuple[float, ...]:
    """What our ladder states at each rung; the levels of the pure methods are the same numbers."""
    return tuple(stop.epsilon for stop in _pledge(task, task.settings.ladder).table)


def _oracle(task: Task) -> Searched:
    """The first rung that truly reaches the target, released at once: no check, no other stop."""
    ladder, mechanism = task.settings.ladder, Brownian(Gaussian(task.statistic))
    truly = PublicCheck[Predictor](lambda model: task.question.ask(model, task.held) >= 0)
    odometer = Odometer(rehearsal=True)
    outcome = search(task.parts, mechanism, ladder, _last(task), truly, noise=task.noise, odometer=odometer)
    level = Budget(ladder.levels[len(outcome.history) - 1], ladder.alpha)
    return outcome, mechanism.promise(level).approx(task.settings.delta)


def _brownian(task: Task, ladder: Ladder) -> Searched:
    mechanism, check = Brownian(Gaussian(task.statistic)), BalancedCheck(task.question, None)
    odometer = Odometer(pledge=_pledge(task, ladder), rehearsal=True)
    outcome = search(task.parts, mechanism, ladder, _last(task), check, noise=task.noise, odometer=odometer)
    return outcome, outcome.epsilon


def _ours(task: Task) -> Searched:
    return _brownian(task, task.settings.ladder)


def _closer(task: Task) -> Searched:
    """A rung more between each two of the ladder."""
    return _brownian(task, task.settings.closer)


def _afresh(task: Task) -> Searched:
    """Every rung of our ladder released anew."""
    ladder, mechanism, check = task.settings.ladder, Gaussian(task.statistic), BalancedCheck(task.question, None)
    rungs = Afresh(tuple(Budget(level, ladder.alpha) for level in ladder.levels))
    odometer = _pledged(task, rungs)
    outcome = search(task.parts, mechanism, rungs, _last(task), check, noise=task.noise, odometer=odometer)
    return outcome, outcome.epsilon


def _doubling(task: Task) -> Searched:
    settings, mechanism, check = task.settings, Gaussian(task.statistic), BalancedCheck(task.question, None)
    budgets = Doubling(Budget.of(Fraction(settings.low), alpha=settings.alpha), settings.doublings)

    def build(fresh: Measurement) -> Predictor:
        return task.build(fresh.values, fresh.std)

    odometer = _pledged(task, Afresh(budgets.budgets))
    outcome = doubling(task.parts, mechanism, budgets, build, check, noise=task.noise, odometer=odometer)
    return outcome, outcome.epsilon


def _above(task: Task) -> Searched:
    """A check of one level, that of the ladder's middle."""
    levels = _pure_levels(task)
    return _laplace(task, levels, (levels[len(levels) // 2],) * (len(levels) - 1))


def _reduced(task: Task) -> Searched:
    """A check whose level rises with the ladder."""
    levels = _pure_levels(task)
    return _laplace(task, levels, levels[:-1])


METHODS: dict[str, Callable[[Task], Searched]] = {
    "oracle": _oracle,
    "ours": _ours,
    "closer": _closer,
    "reduced": _reduced,
    "above": _above,
    "doubling": _doubling,
    "afresh": _afresh,
}


def _laplace(task: Task, levels: tuple[Fraction, ...], asked: tuple[Fraction, ...]) -> Searched:
    """Laplace noise reduction; everything is pure, so that the bill is the same at every order, and δ is 0."""
    mechanism, check = (
        NoiseReduction(task.statistic, IntegerPath(), levels),
        ReducedAboveThreshold(task.question, asked),
    )
    ladder, odometer = Ladder(levels, Fraction(task.settings.alpha)), Odometer(rehearsal=True)
    outcome = search(task.parts, mechanism, ladder, _last(task), check, noise=task.noise, odometer=odometer)
    return outcome, outcome.release.spent.at(task.settings.alpha)


def _last(task: Task) -> Callable[[Sequence[Estimate | Measurement]], Predictor]:
    return lambda releases: task.build(releases[-1].values, releases[-1].std)


def _pledge(task: Task, ladder: Ladder) -> PlannedStops:
    mechanism, check = Brownian(Gaussian(task.statistic)), BalancedCheck(task.question, None)
    return PlannedStops(planned_stops(mechanism, ladder, check), task.settings.delta)


def _pledged(task: Task, rungs: Afresh) -> Odometer:
    stops = planned_stops(Gaussian(task.statistic), rungs, BalancedCheck(task.question, None))
    return Odometer(pledge=PlannedStops(stops, task.settings.delta), rehearsal=True)


def _pure_levels(task: Task) -> tuple[Fraction, ...]:
    return tuple(Fraction(round(epsilon * FINEST), FINEST) for epsilon in stated(task))
