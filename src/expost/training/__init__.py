"""Training until accurate enough, with a bill that covers every step and every look at held-out data.

What trains torch modules is loaded when it is first used, and needs expost[training].
"""

import importlib
from typing import TYPE_CHECKING, Any

from expost.training.configuration import HeadConfiguration
from expost.training.finetune import Recipe, balanced, calibrated
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

__all__ = [
    "Callback",
    "Classifier",
    "Exact",
    "Floating",
    "Ghost",
    "HeadConfiguration",
    "Labelled",
    "PerRecord",
    "Public",
    "Recipe",
    "Schedule",
    "Trainer",
    "balanced",
    "calibrated",
    "search_public",
    "tune",
]

_ON_TORCH = {
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
