"""Torch modules that a Trainer made: their report, their receipt and their folder."""

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.job import JobKind
from expost.jobs.modules.report import ModuleJob
from expost.receipts.notation import fraction, items, number, record, text, whole
from expost.receipts.procedures import Procedure, require_steps, score_question
from expost.receipts.testimony import Testimony
from expost.training.schedule import ModuleSteps

SETTINGS = (
    "module", "trained parameters", "steps", "rate", "noise multiplier", "clip", "batch", "public number of records",
    "optimizer", "resolution", "earlier",
)  # fmt: skip


def rebuild_module(told: Testimony) -> Procedure:
    """Gradient steps at the rate that the expected batch and the public number of records lead to, without torch."""
    settings = record(told.found["training"], SETTINGS)
    for read, name in ((text, "module"), (number, "trained parameters"), (text, "optimizer")):
        read(settings[name])  # nothing rests on it, but a reader may believe it
    if told.neighbours.replaces:
        raise Unreadable("modules are not trained for neighbours that replace one another; the receipt was changed.")
    batch, records = whole(settings["batch"]), whole(settings["public number of records"])
    rate = fraction(settings["rate"])
    if rate * records != batch:
        raise Unreadable("the rate is not the expected batch over the public number of records.")
    descent = Descent(rate, fraction(settings["noise multiplier"]))
    steps = ModuleSteps(descent, fraction(settings["clip"]), records, told.neighbours)
    earlier = 0 if settings["earlier"] == 0 else whole(settings["earlier"])
    resolution, resumed = whole(settings["resolution"]), not items(settings["steps"])
    if not resumed:
        require_steps(told, descent, settings["steps"])
    question = score_question(told, resolution)
    return Procedure((), steps, question, ("training",), rung="release", earlier=earlier, resumed=resumed, unasked=True)


MODULES = JobKind({ModuleJob.kind: rebuild_module})
