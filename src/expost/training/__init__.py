"""Training until accurate enough, with a bill that covers every step and every look at held-out data.

What trains torch modules is loaded when it is first used, and needs expost[training].
"""

import importlib
from typing import TYPE_CHECKING, Any

from expost.training.configuration import HeadConfiguration
from expost.training.finetune import HeadRecipe, balanced, calibrated
from expost.training.gradient import Exact, Floating
from expost.training.labelled import Labelled
from expost.training.public_search import search_public
from expost.training.schedule import Schedule
from expost.training.score import Classifier
from expost.training.tune import tune

if TYPE_CHECKING:
    from expost.training.callback import Callback
    from expost.training.clipping import Ghost, PerRecord
    from expost.training.module import Trainer
    from expost.training.records import Public
    from expost.training.scores import Accuracy, BalancedAccuracy, MultiLabel, OneLogit, OwnScore, PerToken, Within

__all__ = [
    "Accuracy",
    "BalancedAccuracy",
    "Callback",
    "Classifier",
    "Exact",
    "Floating",
    "Ghost",
    "HeadConfiguration",
    "HeadRecipe",
    "Labelled",
    "MultiLabel",
    "OneLogit",
    "OwnScore",
    "PerRecord",
    "PerToken",
    "Public",
    "Schedule",
    "Trainer",
    "Within",
    "balanced",
    "calibrated",
    "search_public",
    "tune",
]

_ON_TORCH = {
    "Within": "expost.training.scores",
    "PerToken": "expost.training.scores",
    "OwnScore": "expost.training.scores",
    "OneLogit": "expost.training.scores",
    "MultiLabel": "expost.training.scores",
    "BalancedAccuracy": "expost.training.scores",
    "Accuracy": "expost.training.scores",
    "Callback": "expost.training.callback",
    "Ghost": "expost.training.clipping",
    "PerRecord": "expost.training.clipping",
    "Public": "expost.training.records",
    "Trainer": "expost.training.module",
}


def __getattr__(name: str) -> Any:
    if name not in _ON_TORCH:
        raise AttributeError(f"expost.training has no {name}; its names are {', '.join(__all__)}.")
    importlib.import_module("expost.training.module")  # says what to install where torch is missing
    return getattr(importlib.import_module(_ON_TORCH[name]), name)
