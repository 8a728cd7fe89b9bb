"""There is one loop: whoever trains, by a search, ``until``, release by release or in a loop of their own, ends alike.

The check is scripted: it passes at one question, or refuses one, whatever the module is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import Linear
from expost.checks.question import PublicCheck
from expost.errors import SpentCheck
from expost.judge import OnPublic
from expost.ledger import Fact
from expost.noise import Noise
from expost.private import Neighbours
from expost.protocols import Price, Verdict
from expost.search import Ended, Line, Outcome, finish, search
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.run import TrainingRun
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import against, flat, held, trainer

PLAN: dict[str, Any] = {"every": "2 epochs", "releases": 4, "delta": 1e-5, "confidence": 0.9}
CHEAP = Promise(Linear(Fraction(0), Fraction(1, 10**6)))
NEVER = 99


@dataclass(frozen=True)
class Scripted:
    """Passes at one question and refuses another, both counted from 0."""

    passing: int = NEVER
    refused: int = NEVER
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    name: ClassVar[str] = "scripted check"

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        if index == self.refused:
            raise SpentCheck("this question was not planned for.")
        return Price(CHEAP, CHEAP)

    def begin(self) -> "Scripted":
        return self

    def answer(self, index: int, price: Price, held: object, candidate: object, noise: Noise) -> Verdict:
        return Verdict(index == self.passing)

    def facts(self) -> Mapping[str, Fact]:
        return {}


def by_search(job: Trainer, cap: float | None, *, public: bool = False) -> Outcome[nn.Module]:
    run = job.begin(accuracy(0.5), **against(OnPublic(held()) if public else held()), max_epsilon=cap, **PLAN)

    def select(past: object, verdicts: tuple[Verdict | None, ...]) -> Any:
        return run.rungs[len(verdicts)] if len(verdicts) < len(run.rungs) else None

    return search(run.parts, run.descent, select, run.descent.built, run.judge, noise=run.noise, odometer=run.odometer)


def by_until(job: Trainer, cap: float | None) -> Outcome[nn.Module]:
    return job.until(accuracy(0.5), on=held(), max_epsilon=cap, **PLAN)


def by_a_run(job: Trainer, cap: float | None) -> Outcome[nn.Module]:
    run = job.begin(accuracy(0.5), on=held(), max_epsilon=cap, **PLAN)
    return finish(run.search(run.judge))


def by_callback(job: Trainer, cap: float | None) -> Outcome[nn.Module]:
    callback, host = (
        Callback(job, accuracy(0.5), on=held(), max_epsilon=cap, **PLAN),
        SimpleNamespace(should_stop=False),
    )
    while not host.should_stop:
        callback.on_train_epoch_end(host, None)
    assert callback.outcome is not None
    return callback.outcome


WAYS: dict[str, Callable[[Trainer, float | None], Outcome[nn.Module]]] = {
    "until": by_until,
    "a run": by_a_run,
    "a callback": by_callback,
}
SCRIPTS = {
    "passes at once": (Scripted(passing=0), None, Ended.HALTED, [True]),
    "passes later": (Scripted(passing=2), None, Ended.HALTED, [False, False, True]),
    "never passes": (Scripted(), None, Ended.EXHAUSTED, [False] * 4),
    "passes at the end": (Scripted(passing=3), None, Ended.HALTED, [False, False, False, True]),
    "a question is refused": (Scripted(refused=1), None, Ended.CAPPED, [False, None]),
    "the first question is refused": (Scripted(refused=0), None, Ended.CAPPED, [None]),
    "a step is refused": (Scripted(), 1, Ended.CAPPED, [False, False]),
}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Whatever begins a run gets this check for its own."""

    def put(check: Any) -> None:
        begin = Trainer.begin

        def begun(job: Trainer, *given: Any, **named: Any) -> TrainingRun:
            return replace(begin(job, *given, **named), judge=check)

        monkeypatch.setattr(Trainer, "begin", begun)

    return put


def told(history: tuple[Line, ...]) -> list[tuple[object, ...]]:
    return [(line.budget, line.verdict, line.spent.at(8), line.epsilon) for line in history]


def billed(job: Trainer) -> list[tuple[object, ...]]:
    return [(entry, spent.at(8), count) for entry, spent, count in job.ledger.lines]


def cap_at(stop: int | None) -> float | None:
    """The ε that training is stated as at one of its stops."""
    if stop is None:
        return None
    return trainer().begin(accuracy(0.5), on=held(), **PLAN).pledge.table[stop].epsilon


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_comes_to_what_a_search_comes_to(way: str, script: str, scripted: Callable[[Scripted], None]) -> None:
    check, stop, ended, verdicts = SCRIPTS[script]
    cap = cap_at(stop)
    scripted(check)
    first, second = trainer(), trainer()
    expected = by_search(first, cap)

    outcome = WAYS[way](second, cap)

    assert (outcome.ended, expected.ended) == (ended, ended)
    assert [None if line.verdict is None else line.verdict.passed for line in outcome.history] == verdicts
    assert told(outcome.history) == told(expected.history)
    assert outcome.epsilon == expected.epsilon
    assert billed(second) == billed(first)
    assert torch.equal(flat(outcome.release.value), flat(expected.release.value))


@pytest.mark.parametrize("stop", [None, 1])
def test_releases_are_those_of_a_search_that_never_passes(
    stop: int | None, scripted: Callable[[PublicCheck[nn.Module]], None]
) -> None:
    cap = cap_at(stop)
    scripted(PublicCheck(lambda module: False))
    first, second = trainer(), trainer()
    expected = by_search(first, cap, public=True)

    seen = [*second.releases(every="2 epochs", releases=4, delta=1e-5, max_epsilon=cap)]

    paid = [(line.budget, line.spent.at(8)) for line in expected.history]
    assert [(line.budget, line.spent.at(8)) for line in seen[-1].history] == paid
    assert [len(stage.history) for stage in seen] == [*range(1, len(paid) + 1)]
    assert billed(second) == billed(first)
    assert torch.equal(flat(seen[-1].module), flat(expected.release.value))
