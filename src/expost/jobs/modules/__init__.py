"""Torch modules that a Trainer made: their report, their receipt and their folder."""

from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.jobs.job import JobKind
from expost.jobs.modules.report import ModuleJob
from expost.receipts.notation import fraction, items, table, whole
from expost.receipts.procedures import Procedure
from expost.receipts.testimony import Testimony
from expost.training.schedule import ModuleSteps


def rebuild_module(told: Testimony) -> Procedure:
    """Gradient steps at the rate that the expected batch and the public number of records lead to, without torch."""
    settings = table(told.found["training"])
    batch, records = whole(settings["batch"]), whole(settings["public number of records"])
    rate = fraction(settings["rate"])
    if rate * records != batch:
        raise Unreadable("the rate is not the expected batch over the public number of records.")
    steps = ModuleSteps(Descent(rate, fraction(settings["noise multiplier"])), fraction(settings["clip"]), records)
    earlier = 0 if settings["earlier"] == 0 else whole(settings["earlier"])
    resolution, resumed = whole(settings["resolution"]), not items(settings["steps"])
    return Procedure((), steps, resolution, earlier, resumed=resumed, unasked=True)


MODULES = JobKind({ModuleJob.kind: rebuild_module})
