"""A head's training put together again from the settings of its receipt, without its data."""

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.finetuning.centred import centre_mechanism
from expost.jobs.finetuning.methods import CENTRED, Computing, GradientSteps
from expost.jobs.finetuning.wanted import Shape, resolution
from expost.receipts.notation import budget_in, fraction, table, whole
from expost.receipts.procedures import Procedure, Step
from expost.receipts.testimony import Testimony
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.mechanism import Head


def rebuild_training(told: Testimony) -> Procedure:
    """Gradient steps at one rate and noise, or a centre and what measures from it."""
    settings = table(told.found["training"])
    width, classes = whole(settings["features"]), whole(settings["classes"])
    summation, steps_to_one = FloatSums() if told.floating else IntegerSums(), _resolution(told)
    named = settings.get("method")
    if isinstance(named, str) and named in CENTRED:
        full = named == GradientSteps.name
        method = GradientSteps(whole(settings["steps per release"])) if full else CENTRED[named]
        centre, budget = centre_mechanism(width), budget_in(settings["centre"])
        first = Step(centre.name, centre.facts(budget), centre.floating, centre.promise(budget))
        rungs = method.training(Shape(width, classes), None, Computing(summation)).mechanism
        return Procedure((first,), rungs, steps_to_one)
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    sampled = Head(width=width, classes=classes, descent=descent, summation=summation)
    return Procedure((), sampled, steps_to_one)


def _resolution(told: Testimony) -> int:
    if told.asked.measure != "accuracy" or told.asked.threshold is None:
        raise Unreadable("the receipt does not say which accuracy was asked for; it was changed.")
    return resolution(told.asked.threshold)
