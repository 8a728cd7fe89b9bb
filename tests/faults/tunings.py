"""Tunings whose receipts are forged; nothing here decides a result."""

from collections.abc import Callable
from functools import cache, partial

from expost.jobs.tunings.report import TuningFacts, of_tuning
from tests.unit.training.tunings import Commonest, tuned

SETTINGS: dict[str, dict[str, float]] = {
    "tuning": {},
    "tuning, none passed": {"accuracy": 1.5},
    "tuning, geometric": {"eta": 1.0, "mean_runs": 3.0},
}


@cache
def finished(name: str) -> TuningFacts:
    """The facts of a rehearsed tuning of two configurations, each with a δ."""
    two = (Commonest("dear", 2.0, 1e-8), Commonest("cheap", 0.5, 1e-9))
    return of_tuning(tuned(two, **SETTINGS[name]))  # type: ignore[arg-type]  # numbers all


TUNINGS: dict[str, Callable[[], TuningFacts]] = {name: partial(finished, name) for name in SETTINGS}
