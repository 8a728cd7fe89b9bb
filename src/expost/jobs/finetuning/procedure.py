"""A head's training put together again from the settings of its receipt, without its data."""

from collections.abc import Callable, Mapping
from typing import Any

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.finetuning.centred import centre_mechanism
from expost.jobs.finetuning.methods import CENTRED, Computing, GradientSteps
from expost.jobs.finetuning.wanted import Shape, resolution
from expost.protocols import Mechanism
from expost.receipts.costs import BUDGET, budget_in
from expost.receipts.notation import fraction, items, number, record, table, text, truth, whole
from expost.receipts.procedures import Procedure, Step, require_steps, score_question
from expost.receipts.testimony import Testimony
from expost.text import Json
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.mechanism import Head

COMMON = ("classes", "classes counted from the labels", "features", "steps", "method", "computed with")
OF_ADAM = ("rate", "noise multiplier", "clip", "batch", "optimizer", "learning rate", "drop")
READ: Mapping[str, Callable[[Json], object]] = {
    "classes counted from the labels": truth,
    "computed with": text,
    "clip": number,
    "batch": number,
    "optimizer": text,
    "learning rate": number,
    "drop": number,
}
"""Settings that no cost rests on: a reader may believe them, so that each has its type."""


def rebuild_training(told: Testimony) -> Procedure:
    """A centre and what measures from it, or sampled steps at one rate and noise."""
    named = text(table(told.found["training"])["method"])
    own = OF_ADAM if named == "adam" else ("centre", *(["steps per release"] if named == GradientSteps.name else []))
    settings = record(told.found["training"], (*COMMON, *own))
    for name in READ.keys() & settings.keys():
        READ[name](settings[name])
    asked = told.asked
    assert asked.check is not None  # asked for where there is one
    if asked.measure != "accuracy" or asked.threshold is None or named not in {"adam", *CENTRED}:
        raise Unreadable("the receipt does not say which accuracy was asked for, or how a head was trained for it.")
    if told.neighbours.replaces:
        raise Unreadable("heads are not trained for neighbours that replace one another; the receipt was changed.")
    shape = Shape(whole(settings["features"]), whole(settings["classes"]))
    rebuild, summation = _sampled if named == "adam" else _centred, FloatSums() if told.floating else IntegerSums()
    before, mechanism = rebuild(told, settings, shape, summation)
    question = score_question(told, resolution(asked.threshold, asked.check.name))
    return Procedure(before, mechanism, question, ("training",), rung="release")


def _centred(
    told: Testimony, settings: Mapping[str, Json], shape: Shape, summation: Summation
) -> tuple[tuple[Step, ...], Mechanism[Any, Any]]:
    method = CENTRED[text(settings["method"])]
    if "steps per release" in settings:
        method = GradientSteps(whole(settings["steps per release"]))
    taken = [method.per_release * place for place in range(1, len(told.stops) + 1)]
    if [whole(each) for each in items(settings["steps"])] != taken:
        raise Unreadable("the steps of the training are not those of its plan; the receipt was changed.")
    centre, budget = centre_mechanism(shape.width, told.neighbours), budget_in(record(settings["centre"], BUDGET))
    first = Step(centre.name, centre.facts(budget), centre.floating, centre.promise(budget))
    return (first,), method.training(shape, None, Computing(told.neighbours, summation)).mechanism


def _sampled(
    told: Testimony, settings: Mapping[str, Json], shape: Shape, summation: Summation
) -> tuple[tuple[Step, ...], Mechanism[Any, Any]]:
    descent = Descent(fraction(settings["rate"]), fraction(settings["noise multiplier"]))
    require_steps(told, descent, settings["steps"])
    return (), Head(
        width=shape.width,
        classes=shape.classes,
        descent=descent,
        summation=summation,
        neighbours=told.neighbours,
    )
