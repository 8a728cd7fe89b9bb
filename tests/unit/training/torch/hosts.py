"""A training loop of somebody else, which a callback watches."""

from dataclasses import dataclass

from torch import nn

from expost.training.torch.callback import Callback


@dataclass
class Host:
    """A loop as Lightning's trainer is one, as far as a callback sees it."""

    should_stop: bool = False
    epochs: int = 0

    def fit(self, callback: Callback, module: nn.Module, limit: int = 100) -> None:
        while not self.should_stop and self.epochs < limit:
            self.epochs += 1
            callback.on_train_epoch_end(self, module)
