"""A head's training put together again from the settings of its receipt, without its data."""

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.finetuning.centred import centre_mechanism
from expost.jobs.finetuning.wanted import resolution
from expost.receipts.notation import budget_in, fraction, table, whole
from expost.receipts.procedures import Procedure, Step
from expost.receipts.testimony import Testimony
from expost.training.head.full_batch import FullBatch
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.mechanism import Head


def rebuild_training(told: Testimony) -> Procedure:
    """Gradient steps at one rate and noise, or a centre and full-batch steps."""
    settings = table(told.found["training"])
    width, classes = whole(settings["features"]), whole(settings["classes"])
    summation, steps_to_one = FloatSums() if told.floating else IntegerSums(), _resolution(told)
    if settings.get("method") == "full-batch":
        steps, centre = whole(settings["steps per release"]), centre_mechanism(width)
        head = FullBatch(width=width, classes=classes, centre=None, steps=steps, summation=summation)
        budget = budget_in(settings["centre"])
        first = Step(centre.name, centre.facts(budget), centre.floating, centre.promise(budget))
        return Procedure((first,), head, steps_to_one)
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    sampled = Head(width=width, classes=classes, descent=descent, summation=summation)
    return Procedure((), sampled, steps_to_one)


def _resolution(told: Testimony) -> int:
    if told.asked.measure != "accuracy" or told.asked.threshold is None:
        raise Unreadable("the receipt does not say which accuracy was asked for; it was changed.")
    return resolution(told.asked.threshold)
