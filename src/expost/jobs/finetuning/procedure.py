"""A head's training put together again from the settings of its receipt, without its data."""

from collections.abc import Mapping

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.finetuning.centred import centre_mechanism
from expost.jobs.finetuning.wanted import resolution
from expost.receipts.costs import budget_in
from expost.receipts.notation import fraction, items, record, table, whole
from expost.receipts.procedures import Procedure, Step, require_steps
from expost.receipts.testimony import Testimony
from expost.text import Json
from expost.training.head.full_batch import FullBatch
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.mechanism import Head

COMMON = ("classes", "classes counted from the labels", "features", "steps", "method", "computed with")
OF_FULL_BATCH = ("centre", "steps per release")
OF_ADAM = ("rate", "noise multiplier", "clip", "batch", "optimizer", "learning rate", "drop")


def rebuild_training(told: Testimony) -> Procedure:
    """A centre and full-batch steps, or sampled steps at one rate and noise."""
    full = table(told.found["training"]).get("method") == "full-batch"
    settings = record(told.found["training"], (*COMMON, *(OF_FULL_BATCH if full else OF_ADAM)))
    if told.asked.measure != "accuracy" or told.asked.threshold is None:
        raise Unreadable("the receipt does not say which accuracy was asked for; it was changed.")
    before, mechanism = _full_batch(told, settings) if full else _sampled(told, settings)
    return Procedure(before, mechanism, resolution(told.asked.threshold), ("training",), rung="release")


def _full_batch(told: Testimony, settings: Mapping[str, Json]) -> tuple[tuple[Step, ...], FullBatch]:
    width, steps, budget = (
        whole(settings["features"]),
        whole(settings["steps per release"]),
        budget_in(settings["centre"]),
    )
    if [whole(each) for each in items(settings["steps"])] != [steps * place for place in range(1, len(told.stops) + 1)]:
        raise Unreadable("the steps of the training are not those of its plan; the receipt was changed.")
    centre, budget = centre_mechanism(width), budget_in(settings["centre"])
    first = Step(centre.name, centre.facts(budget), centre.floating, centre.promise(budget))
    summation = FloatSums() if told.floating else IntegerSums()
    head = FullBatch(width=width, classes=whole(settings["classes"]), centre=None, steps=steps, summation=summation)
    return (first,), head


def _sampled(told: Testimony, settings: Mapping[str, Json]) -> tuple[tuple[Step, ...], Head]:
    if settings["method"] != "adam":
        raise Unreadable("the receipt names a method of training that there is not; it was changed.")
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    require_steps(told, descent, settings["steps"])
    width, classes = whole(settings["features"]), whole(settings["classes"])
    summation = FloatSums() if told.floating else IntegerSums()
    return (), Head(width=width, classes=classes, descent=descent, summation=summation)
