"""Trained torch modules: what a report says of them, and of no other job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, final

from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import PlannedStops
from expost.checks.public import PublicCheck
from expost.jobs.finetuning.report import COVERED, FLOATING, SETTINGS
from expost.jobs.searches.report import OURS, REASONS, computed_with, searched
from expost.ledger import Entry, MemoryLedger
from expost.looks import planned_looks
from expost.receipts.commitment import Commitment
from expost.recorded import CheckOnRecord, ReadableLedger
from expost.report import words
from expost.report.coverage import coverage
from expost.report.coverage import looks as looks_covered
from expost.report.facts import Facts, PlannedStop, Terms, versions
from expost.search import Ended, Outcome, planned_stops
from expost.text import Json

if TYPE_CHECKING:
    from expost.training.torch.course import Announced, Found
    from expost.training.torch.trainer import Trainer

CARRIED = "Carried"
"""The name by which a process puts on its record what earlier ones spent; the class itself needs torch."""
FROZEN = (
    "Not covered: the weights that training started from and those that stayed frozen. If they were trained on these "
    "records, that has a bill of its own."
)
LAYERS = (
    "Not covered: layers that mix records or keep something of them. Modules are tried on made-up records, which is a "
    "trial and not a proof; publish the module of this release, not the one that was trained."
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
    product: ClassVar[str] = "The trained module"
    unseen: ClassVar[str] = "held-out records it was not trained on"
    first: ClassVar[str] = "every training step"
    lines: ClassVar[Mapping[str, str]] = {"ModuleDescent": "noisy training steps"}
    terms: ClassVar[Terms] = Terms(
        rung="release",
        title="The releases",
        whole="training",
        onward="training on",
        top="to the last release",
        taken="reached",
        finer="trained further",
    )

    def size(self, facts: Facts) -> tuple[str, str, str]:
        """Steps and parameters."""
        trained = f"{self.parameters:,} trained parameters"
        if not self.steps:
            return "training", "resumed", f"after earlier processes; {trained}"
        return "training steps", f"{self.steps[len(facts.rungs) - 1]:,}", trained

    def name(self, place: int) -> str:
        """Its number, and how many steps led to it."""
        return f"{place}, after {self.steps[place - 1]:,} steps" if self.steps else f"{place} since it was resumed"

    def method(self, facts: Facts) -> tuple[str, ...]:
        """Sample, clip, add noise, move, try."""
        return (
            *words.divided(facts),
            f"In every step a record took part by its own coin of chance {self.rate} (Poisson sampling), which is the "
            f"expected batch of {self.batch:,} over the public number of {self.records:,} records. Its gradient was "
            f"clipped to norm {float(self.clip):g}, noise of {float(self.noise_multiplier):.4g} times that norm was "
            f"added to the sum, and {self.optimizer} moved the weights.",
            FLOATING,
            "Each release went on from the one before, so that no step was paid twice.",
            words.tried(facts) if facts.asked is not None else "Whoever ran the training chose when to stop.",
            "The module was made from noisy sums alone: it may be published and used without further cost.",
        )

    def exhibits(self) -> str:
        """None: weights are not a chart."""
        return ""

    def appendix(self, facts: Facts) -> str:
        """What the bound is about, and what it is not."""
        public = (
            f"Taken to be public: the number of {self.records:,} records that the sampling rate rests on, and the "
            "shape and type of a record."
        )
        told = coverage(facts, COVERED.format(looks=looks_covered(facts)), FROZEN, LAYERS, SETTINGS, public)
        return f"{told}{computed_with(facts)}"

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
    announced = trainer.announced
    judge, goal = announced.judge, announced.goal
    outcome = found
    if not isinstance(outcome, Outcome):
        outcome = Outcome(outcome.release, Ended.EXHAUSTED, outcome.history, trainer.ledger)
    ledger = trainer.ledger if not trainer.earlier else whole_record(trainer, seeded=outcome.release.seeded)
    course, planned = announced.course, announced.course.releases.rungs
    earlier = _behind(course.releases.schedule.steps, ledger) - len(outcome.history)
    told = searched(
        outcome,
        ledger,
        job=_job(trainer, outcome.release.value, earlier),
        title=title,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        held=None,
        check=judge,
        because=announced.because,
        cap=announced.cap,
    )
    trainer.require_released(outcome.release.value)
    taken = zip(told.rungs, planned[earlier:], strict=False)
    return replace(
        told,
        rungs=tuple(replace(each, times=rung.times) for each, rung in taken),
        stops=tuple(replace(stop, rung=rung) for stop, rung in zip(told.stops, planned, strict=True)),
        looks=planned_looks(course.descent, course.releases, judge),
        versions=versions("torch", "opacus"),
    )


def module_commitment(announced: "Announced") -> Commitment:
    """What a trainer's run fixes before it opens the records, as the trainer announces it."""
    course, judge, goal = announced.course, announced.judge, announced.goal
    pledge = PlannedStops(planned_stops(course.descent, course.releases, judge), course.delta)
    stops = zip(pledge.table, course.releases.rungs, strict=True)
    return Commitment(
        kind=ModuleJob.kind,
        target=ModuleJob.target,
        measure="score" if goal is None else goal.score.name,
        asked=None if goal is None else goal.target.threshold,
        confidence=judge.confidence if isinstance(judge, OURS) else None,
        check=CheckOnRecord.of(judge),
        neighbours=course.descent.neighbours.value,
        cap=announced.cap,
        pledge=pledge,
        reason=REASONS[PlannedStops],
        stops=tuple(PlannedStop(stop.promise, stop.epsilon, rung) for stop, rung in stops),
        looks=planned_looks(course.descent, course.releases, judge),
    )


def whole_record(trainer: "Trainer", *, seeded: bool) -> MemoryLedger:
    """The record of a run that was resumed, with what earlier processes paid step by step.

    For the process itself that is one line for each part, which nobody could work out again.
    """
    descent, judge = trainer.announced.course.descent, trainer.announced.judge
    ledger, whole = trainer.ledger, MemoryLedger()
    steps = descent.facts(trainer.announced.course.releases.rungs[0].budget)
    if ledger.pledged is not None:
        whole.pledge(ledger.pledged)
    for paid in trainer.earlier:
        neighbours = descent.neighbours.value
        if paid.steps:
            facts = {**steps, "steps": paid.steps}
            entry = Entry(type(descent).__name__, paid.part, neighbours, seeded, descent.floating, facts)
            promise = descent.descent.promise(paid.steps)  # as it was billed, and equal to what is billed now
        else:
            assert not isinstance(judge, PublicCheck)  # one that reads nothing is on no bill
            entry, promise = Entry(judge.name, paid.part, neighbours, seeded, False, judge.facts()), paid.promise
        _put(whole, entry, promise.as_spent(), paid.times)
    for entry, spent, count in ledger.lines:
        if entry.what != CARRIED:
            _put(whole, entry, spent, count)
    for hold in ledger.held:
        whole.hold(hold.entry, hold.promise)
    return whole


def _put(ledger: MemoryLedger, entry: Entry, spent: Spent, count: int) -> None:
    for _ in range(count):
        ledger.capture(ledger.hold(entry, Promise(spent.curve)), spent)


def _behind(planned: tuple[int, ...], ledger: ReadableLedger) -> int:
    """How many releases of the plan have all their steps on record; those that were lost are billed, and count."""
    taken = sum(int(entry.facts.get("steps", 0)) * count for entry, _, count in ledger.lines)
    return sum(steps <= taken for steps in planned)


def _job(trainer: "Trainer", module: object, earlier: int) -> ModuleJob:
    course, goal = trainer.announced.course, trainer.announced.goal
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
