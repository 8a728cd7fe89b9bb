"""A callback for somebody else's training loop: the loop keeps time, the callback trains and says when to stop."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from expost.checks.gaussian import BalancedCheck
from expost.checks.public import PublicCheck
from expost.errors import BudgetExceeded, SpentCheck
from expost.ladder import Rung
from expost.release import Past, Release
from expost.search import Ended, Line, Outcome
from expost.step import Inquiry, Verdict
from expost.training.module import APART, Trainer

if TYPE_CHECKING:
    from torch import nn

    from expost.training.course import CheckKind
    from expost.training.records import Given, Public
    from expost.training.score import Target
    from expost.training.weights import Weights


class Host(Protocol):
    """A loop over epochs that ends when ``should_stop`` is set, as Lightning's trainer does."""

    should_stop: bool


class Callback:
    """Trains one epoch whenever the loop ends one of its own, checks at each release, and stops when accurate enough.

    The loop needs no records and no optimiser: sampling, clipping, noise and bill are the trainer's, because a loop
    that draws its own batches keeps none of what the bill rests on. Give it a single dummy batch and a training step
    that does nothing. Whatever it does to the module is undone before the next epoch. With an ``every`` in steps all
    steps of a release are one epoch here. Lightning wants its own base class as well:
    ``class Stop(expost.training.Callback, lightning.Callback)``.
    """

    def __init__(
        self,
        trainer: Trainer,
        target: "Target",
        *,
        on: "Given | Public",
        releases: int,
        every: str,
        delta: float,
        check: "CheckKind" = BalancedCheck,
        because: str = APART,
        max_epsilon: float | None = None,
    ) -> None:
        self._trainer = trainer
        self._run = trainer.begin(
            target,
            on=on,
            releases=releases,
            every=every,
            delta=delta,
            check=check,
            because=because,
            max_epsilon=max_epsilon,
        )
        judge = self._run.judge
        self._inquiry = None if isinstance(judge, PublicCheck) else Inquiry(judge)
        self._candidate: Release[nn.Module] | None = None
        self._history: list[Line] = []
        self._outcome: Outcome[nn.Module] | None = None
        self._failure: BaseException | None = None
        self._epochs = self._train()

    @property
    def outcome(self) -> "Outcome[nn.Module] | None":
        """What the run came to; None while it goes on."""
        return self._outcome

    def on_train_epoch_end(self, trainer: Host, module: object) -> None:
        """Train an epoch, and stop the loop if that was the last one; a run that failed fails again."""
        if self._failure is not None:
            raise self._failure
        try:
            next(self._epochs, None)
        except BaseException as failure:  # a loop may swallow it, and would go on with nothing trained
            self._failure = failure
            raise
        if self._outcome is not None:
            trainer.should_stop = True

    def _train(self) -> Iterator[None]:
        """Every epoch of the run, until there is an outcome."""
        if (trained := self._run.trained()) is not None:
            self._finish(trained, Ended.EXHAUSTED)
            return
        past: Past[Weights] = Past()
        for rung in self._run.rungs:
            for time in range(1, rung.times + 1):
                try:
                    past = self._run.step(rung, past)
                    ended = self._judge(rung, past) if time == rung.times else None
                except (BudgetExceeded, SpentCheck):
                    if self._candidate is None:
                        raise
                    ended = Ended.CAPPED
                if ended is not None:
                    assert self._candidate is not None  # nothing ends before the first release
                    self._finish(self._candidate, ended)
                    return
                yield

    def _judge(self, rung: Rung, past: "Past[Weights]") -> Ended | None:
        """Why the run stops at this release, if it does."""
        run = self._run
        self._candidate = past.joint().map(run.descent.built)
        verdict = self._ask(self._candidate, rung)
        self._history.append(Line(rung.budget, run.odometer.spent, verdict))
        if verdict is not None and verdict.passed:
            return Ended.HALTED
        return Ended.EXHAUSTED if rung.last else None

    def _ask(self, candidate: "Release[nn.Module]", rung: Rung) -> Verdict | None:
        run = self._run
        if isinstance(run.judge, PublicCheck):
            return run.judge.verdict(candidate.value)
        if rung.last:
            return None
        held = run.parts.held
        assert self._inquiry is not None  # a check that reads data has a run, and a part to read
        assert held is not None
        trained = run.odometer.spent_on(run.parts.train)
        return run.odometer.ask(self._inquiry, held, candidate, trained=trained, noise=run.noise).value

    def _finish(self, candidate: "Release[nn.Module]", ended: Ended) -> None:
        odometer = self._run.odometer
        self._outcome = Outcome(candidate.at_least(odometer.spent), ended, tuple(self._history), odometer.pledge)
        self._trainer.end()
