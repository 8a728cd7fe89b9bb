"""A head's training put together again from the settings of its receipt, without its data."""

from expost.accounting.descent import Descent
from expost.receipts.notation import fraction, record, whole
from expost.receipts.procedures import Procedure, require_steps
from expost.receipts.testimony import Testimony
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.mechanism import Head

SETTINGS = (
    "classes", "classes counted from the labels", "features", "steps", "rate", "noise multiplier", "clip", "batch",
    "optimizer", "learning rate", "drop", "computed with",
)  # fmt: skip
RESOLUTIONS = {"accuracy": 1}
"""Steps to 1 of a record's score: it is right or wrong."""


def rebuild_training(told: Testimony) -> Procedure:
    """Gradient steps at one rate and noise."""
    settings = record(told.found["training"], SETTINGS)
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    require_steps(told, descent, settings["steps"])
    width, classes = whole(settings["features"]), whole(settings["classes"])
    summation = FloatSums() if told.floating else IntegerSums()
    head = Head(width=width, classes=classes, descent=descent, summation=summation)
    return Procedure((), head, RESOLUTIONS[told.asked.measure], ("training",), rung="release")
