"""A torch module's training put together again from the settings of its receipt, without its data and without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NoReturn, final

from expost.accounting.claim import Budget, Promise
from expost.accounting.descent import Descent
from expost.errors import Unreadable
from expost.ledger import Fact
from expost.private import Neighbours
from expost.receipts.notation import fraction, items, table, whole
from expost.receipts.procedures import Procedure
from expost.receipts.testimony import Testimony
from expost.training.schedule import ModuleSteps


@final
@dataclass(frozen=True, slots=True)
class Unread:
    """The steps of a torch module, of which an audit has neither the module nor the records."""

    steps: ModuleSteps
    name: ClassVar[str] = ModuleSteps.name
    neighbours: ClassVar[Neighbours] = ModuleSteps.neighbours
    floating: ClassVar[bool] = ModuleSteps.floating

    def promise(self, budget: Budget) -> Promise:
        return self.steps.promise(budget)

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        return self.steps.facts(budget)

    def sample(self, data: object, budget: Budget, past: object, noise: object) -> NoReturn:
        """Never: there are no records."""
        raise AssertionError("an audit has no records to train on")


def rebuild_module(told: Testimony) -> Procedure:
    """Gradient steps at the rate that the expected batch and the public number of records lead to."""
    settings = table(told.found["training"])
    batch, records = whole(settings["batch"]), whole(settings["public number of records"])
    rate = fraction(settings["rate"])
    if rate * records != batch:
        raise Unreadable("the rate is not the expected batch over the public number of records.")
    descent = Descent(rate, fraction(settings["noise multiplier"]))
    steps = Unread(ModuleSteps(descent, fraction(settings["clip"]), records))
    earlier = 0 if settings["earlier"] == 0 else whole(settings["earlier"])
    resolution, resumed = whole(settings["resolution"]), not items(settings["steps"])
    return Procedure((), steps, resolution, earlier, resumed=resumed, unasked=True)
