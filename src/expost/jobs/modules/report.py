"""Trained torch modules: what a report says of them, and of no other job, and their folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from expost.accounting.pledge import Pledge
from expost.accounting.stops import PlannedStops
from expost.jobs.job import save_facts
from expost.ladder import Rung
from expost.looks import planned_looks
from expost.receipts.receipt import Commitment
from expost.recorded import Booked, CheckOnRecord, ReadableLedger
from expost.report import arrangement, words
from expost.report.facts import Facts, PlannedStop
from expost.report.outcomes import OURS, outcome_facts, reason_of, require_on_record
from expost.report.page import covered_section, method_section
from expost.report.shares import asked_for
from expost.report.units import by_row, by_unit, clipped
from expost.search import Ended, Outcome, planned_stops
from expost.text import Json

if TYPE_CHECKING:
    from expost.training.torch.course import Announced, Found
    from expost.training.torch.trainer import Trainer


OPEN = "Open to anyone: all weights that were released on the way, and the optimiser's memory beside them."
FROZEN = (
    "Not covered: the weights that training started from and those that stayed frozen. If they were trained on these "
    "records, that has a bill of its own."
)
LAYERS = (
    "Not covered: layers that mix records or keep something of them. Modules are tried on made-up records, which is a "
    "trial and not a proof. Publish the module of this release, not the one that was trained."
)
SETTINGS = (
    "Not covered: how the settings were chosen. Learning rate, clipping, schedule and target must come from elsewhere; "
    "each trial on these records has a bill of its own."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleJob:
    """A torch module, and how it was trained; ``steps`` are those by each release, none where a run was resumed.

    ``resolution`` is how many steps to 1 the score has that releases were judged by, and ``earlier`` how many releases
    of the plan were behind those who resumed the run.
    """

    module: str
    parameters: int
    steps: tuple[int, ...]
    rate: Fraction
    noise_multiplier: Fraction
    clip: Fraction
    batch: int
    records: int
    optimizer: str
    resolution: int
    earlier: int
    kind: ClassVar[str] = "A trained module"
    target: ClassVar[str] = "the label"
    rung: ClassVar[str] = "release"
    lines: ClassVar[Mapping[str, str]] = {"ModuleDescent": "noisy training steps"}
    covered: ClassVar[str] = "The bound covers the whole procedure: every training step and the decision to stop."

    def passed(self, facts: Facts) -> str:
        """The module itself was checked."""
        asked = asked_for(facts)
        if not facts.divided:
            return f"The trained module passed the check at {asked} on public records."
        return f"The trained module passed the check at {asked} on {words.held_out(facts)} that it was not trained on."

    def name(self, place: int) -> str:
        """Its number, and how many steps led to it."""
        return f"{place}, after {self.steps[place - 1]:,} steps" if self.steps else f"{place} since it was resumed"

    def tile(self, facts: Facts) -> tuple[str, str, str]:
        """Steps and parameters."""
        trained = f"{self.parameters:,} trained parameters"
        if not self.steps:
            return "training", "resumed", f"after earlier processes; {trained}"
        return "training steps", f"{self.steps[len(facts.rungs) - 1]:,}", trained

    def sections(self, facts: Facts) -> str:
        """The procedure, and what the bound covers."""
        public = (
            f"Taken to be public: the number of {self.records:,} {by_unit('records', facts.neighbours)} that the "
            f"sampling rate rests on, and the shape and type of {by_row('a record', facts.neighbours)}."
        )
        method = method_section(self._method(facts))
        left_out = (by_row(each, facts.neighbours) for each in (FROZEN, LAYERS, SETTINGS))
        covers = covered_section(facts, OPEN, *left_out, public)
        return f"{method}{covers}"

    def _method(self, facts: Facts) -> tuple[str, ...]:
        """Sample, clip, add noise, move, check."""
        return (
            *arrangement.parts(facts),
            f"In every step {by_unit('each record', facts.neighbours)} took part with probability {self.rate}, "
            f"independently of the others (Poisson sampling): the expected batch of {self.batch:,} over the public "
            f"number of {self.records:,} {by_unit('records', facts.neighbours)}. "
            f"{clipped(facts.neighbours).capitalize()} to norm {float(self.clip):g}, noise of "
            f"{float(self.noise_multiplier):.4g} times that norm was added to the sum, and "
            f"{self.optimizer} moved the weights.",
            "Sums and noise were in floating point. The bound is that of ideal Gaussian noise: what rounding may "
            "reveal is NOT covered.",
            "Each release went on from the one before, so no step was paid for twice.",
            arrangement.checked(facts) if facts.asked is not None else "Whoever ran the training chose when to stop.",
            *([words.ONE_ROW] if words.judged_by_one_row(facts) else []),
            "The module was made from noisy sums alone: it may be published and used at no further cost.",
        )

    def receipt(self) -> Mapping[str, Json]:
        """The settings of the training."""
        return {
            "training": {
                "module": self.module,
                "trained parameters": self.parameters,
                "steps": list(self.steps),
                "rate": str(self.rate),
                "noise multiplier": str(self.noise_multiplier),
                "clip": str(self.clip),
                "batch": self.batch,
                "public number of records": self.records,
                "optimizer": self.optimizer,
                "resolution": self.resolution,
                "earlier": self.earlier,
            }
        }


def of_training(trainer: "Trainer", found: "Found", *, title: str = "Module") -> Facts:
    """What a report tells of a trainer's run: ``found`` is what ``until`` or a callback came to, or the last stage."""
    announced = trainer.run.announced
    judge, goal = announced.judge, announced.goal
    outcome = found
    if not isinstance(outcome, Outcome):
        outcome = Outcome(outcome.release, Ended.EXHAUSTED, outcome.history, trainer.ledger)
    ledger = announced.whole_record(trainer.ledger, trainer.earlier, seeded=outcome.release.seeded)
    course, planned = announced.course, announced.course.releases.rungs
    earlier = _behind(course.releases.schedule.steps, ledger) - len(outcome.history)
    neighbours = require_on_record(outcome, ledger)
    trainer.run.require_released(outcome.release.value)
    told = outcome_facts(
        outcome,
        ledger,
        job=_job(trainer, outcome.release.value, earlier),
        title=title,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        held=None,
        check=judge,
        confidence=judge.confidence if isinstance(judge, OURS) else None,
        looks=planned_looks(course.descent, course.releases, judge),
        stops=_stops(outcome.pledge, planned),
        reason=reason_of(outcome.pledge),
        neighbours=neighbours.value,
        because=announced.because,
        cap=course.cap,
        packages=("torch", "opacus"),
    )
    taken = zip(told.rungs, planned[earlier:], strict=False)
    booking = trainer.ledger.booking() if isinstance(trainer.ledger, Booked) else None
    return replace(told, rungs=tuple(replace(each, times=rung.times) for each, rung in taken), booking=booking)


def module_commitment(announced: "Announced") -> Commitment:
    """What a trainer's run fixes before it opens the records, as the trainer announces it."""
    course, judge, goal = announced.course, announced.judge, announced.goal
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    return Commitment(
        kind=ModuleJob.kind,
        target=ModuleJob.target,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        confidence=judge.confidence if isinstance(judge, OURS) else None,
        check=CheckOnRecord.of(judge),
        neighbours=course.descent.neighbours.value,
        cap=course.cap,
        pledge=pledge,
        reason=reason_of(pledge),
        stops=_stops(pledge, course.releases.rungs),
        looks=planned_looks(course.descent, course.releases, judge),
    )


def _stops(pledge: Pledge | None, planned: Sequence[Rung]) -> tuple[PlannedStop, ...]:
    """What stopping at each release costs, and what is spent up to it."""
    assert isinstance(pledge, PlannedStops)  # a trainer pledges nothing else
    rungs = zip(pledge.table, planned, strict=True)
    return tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in rungs)


def _behind(planned: tuple[int, ...], ledger: ReadableLedger) -> int:
    """How many releases of the plan have all their steps on record; those that were lost are billed, and count."""
    taken = sum(int(entry.facts.get("steps", 0)) * count for entry, _, count in ledger.lines)
    return sum(steps <= taken for steps in planned)


def _job(trainer: "Trainer", module: object, earlier: int) -> ModuleJob:
    course, goal = trainer.run.announced.course, trainer.run.announced.goal
    descent, settings = course.descent.descent, course.descent.settings
    return ModuleJob(
        module=type(module).__name__,
        parameters=sum(each.numel() for each in course.descent.start.parameters.values()),
        steps=() if trainer.earlier else course.releases.schedule.steps,
        rate=descent.rate,
        noise_multiplier=descent.noise_multiplier,
        clip=course.descent.clip,
        batch=course.descent.batch,
        records=course.descent.records,
        optimizer=str(settings["optimizer"]),
        resolution=1 if goal is None else goal.score.resolution,
        earlier=earlier,
    )


def save_module(
    trainer: "Trainer",
    found: "Found",
    folder: Path,
    *,
    title: str = "Module",
    overwrite: bool = False,
) -> None:
    """Write the module's weights, the report and the receipt into a new folder, all or nothing.

    ``found`` is what the trainer's ``until`` or a callback came to, or the last stage of ``releases``. ``model.pt``
    holds the tensors of the module's state by their names, for ``torch.load(..., weights_only=True)``.
    """
    from expost.training.torch.checkpoint import save_weights  # noqa: PLC0415  whoever has a trainer has torch

    facts = of_training(trainer, found, title=title)
    module = found.release.value
    save_facts(facts, lambda fresh: save_weights(module, fresh / "model.pt"), folder, overwrite=overwrite)
