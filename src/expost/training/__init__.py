"""Training until accurate enough, with a bill that covers every step and every look at held-out data.

What trains torch modules is loaded when it is first used, and needs expost[training].
"""

import importlib
from typing import TYPE_CHECKING, Any

from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.labelled import Labelled
from expost.training.head.score import Classifier
from expost.training.public_search import search_public
from expost.training.schedule import Schedule
from expost.training.tune import tune

if TYPE_CHECKING:
    from expost.training.torch.callback import Callback
    from expost.training.torch.clipping import Ghost, PerRecord
    from expost.training.torch.scores import (
        Accuracy,
        BalancedAccuracy,
        MultiLabel,
        OneLogit,
        OwnScore,
        PerToken,
        Within,
    )
    from expost.training.torch.trainer import Trainer

__all__ = [
    "Accuracy",
    "BalancedAccuracy",
    "Callback",
    "Classifier",
    "FloatSums",
    "Ghost",
    "IntegerSums",
    "Labelled",
    "MultiLabel",
    "OneLogit",
    "OwnScore",
    "PerRecord",
    "PerToken",
    "Schedule",
    "Trainer",
    "Within",
    "search_public",
    "tune",
]

_ON_TORCH = {
    "Within": "expost.training.torch.scores",
    "PerToken": "expost.training.torch.scores",
    "OwnScore": "expost.training.torch.scores",
    "OneLogit": "expost.training.torch.scores",
    "MultiLabel": "expost.training.torch.scores",
    "BalancedAccuracy": "expost.training.torch.scores",
    "Accuracy": "expost.training.torch.scores",
    "Callback": "expost.training.torch.callback",
    "Ghost": "expost.training.torch.clipping",
    "PerRecord": "expost.training.torch.clipping",
    "Trainer": "expost.training.torch.trainer",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_TORCH:
        raise AttributeError(f"expost.training has no {name}; its names are {', '.join(__all__)}.")
    return getattr(importlib.import_module(_ON_TORCH[name]), name)
