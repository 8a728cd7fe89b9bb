"""A callback for somebody else's training loop: the loop keeps time, the callback trains and says when to stop."""

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from expost.errors import InvalidValue
from expost.training.torch.trainer import Trainer
from expost.training.unshown import Unshown

if TYPE_CHECKING:
    from torch import nn
    from torch.optim import Optimizer

    from expost.search import Outcome
    from expost.training.head.score import Target
    from expost.training.torch.course import RunSettings


class Host(Protocol):
    """A loop over epochs that ends when ``should_stop`` is set, as Lightning's trainer does.

    Its ``optimizers``, if it has any, must be without parameters: Lightning stands for none by one of that kind.
    """

    should_stop: bool


class Callback:
    """Trains one epoch whenever the loop ends one of its own, checks at each release, and stops when accurate enough.

    The loop needs no records and no optimiser: sampling, clipping, noise and bill are the trainer's, because a loop
    that draws its own batches keeps none of what the bill rests on. Give it a single dummy batch and a training step
    that does nothing; with Lightning let ``configure_optimizers`` return None and ``automatic_optimization`` be False.
    A loop that has an optimiser of its own, or changes the module in any other way, is refused: at the start, before
    each epoch of ours, and before it writes a checkpoint. With an ``every`` in steps all steps of a release are one
    epoch here. Lightning wants its own base class as well:
    ``class Stop(expost.training.Callback, lightning.Callback)``.
    """

    def __init__(self, trainer: Trainer, target: "Target", **settings: Unpack["RunSettings"]) -> None:
        hidden = Unshown(**settings)
        del settings  # a traceback that shows variables would show the records in it
        self._run = trainer.begin(target, **hidden.named)
        self._search = self._run.search(self._run.judge)
        self._outcome: Outcome[nn.Module] | None = None
        self._failure: BaseException | None = None

    @property
    def outcome(self) -> "Outcome[nn.Module] | None":
        """The result of the run; None while it lasts."""
        return self._outcome

    def on_fit_start(self, trainer: Host, module: object) -> None:
        """Refuse a loop that would train without us."""
        self._require_idle(trainer)

    def on_train_start(self, trainer: Host, module: object) -> None:
        """Refuse a loop that would train without us, or that has put other weights into the module."""
        self._require_idle(trainer)

    def on_before_optimizer_step(self, trainer: Host, module: object, optimizer: "Optimizer") -> None:
        """Refuse a step that is not ours."""
        _require_empty(optimizer)

    def on_save_checkpoint(self, trainer: Host, module: object, checkpoint: dict[str, Any]) -> None:
        """Refuse to let a file be written with weights, or an optimiser's memory, that are on no bill."""
        self._require_idle(trainer)

    def on_train_epoch_end(self, trainer: Host, module: object) -> None:
        """Train an epoch, and stop the loop if that was the last one; a run that failed fails again."""
        if self._failure is not None:
            raise self._failure
        try:
            self._require_idle(trainer)
            if self._outcome is None:
                self._train()
        except BaseException as failure:  # a loop may swallow it, and would go on with nothing trained
            self._failure = failure
            raise
        if self._outcome is not None:
            trainer.should_stop = True

    def _train(self) -> None:
        """One epoch; what an earlier process released is judged before the first."""
        before = self._search.latest
        while not self._search.over and self._search.latest is before:
            if (line := self._search.step()) is not None:
                self._run.climbed(line)
        if self._search.over:
            self._outcome = self._run.told(self._search.outcome)

    def _require_idle(self, host: Host) -> None:
        for each in getattr(host, "optimizers", None) or ():
            _require_empty(each)
        self._run.require_untouched(self._search.latest)


def _require_empty(optimizer: "Optimizer") -> None:
    if any(group["params"] for group in optimizer.param_groups):
        raise InvalidValue(
            "the loop has an optimiser of its own, whose steps would be on no bill; let configure_optimizers return "
            "None, set automatic_optimization to False, and let training_step do nothing."
        )
