"""Private training of any torch module: say how accurate it must be, and pay for the steps that reached it."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Unpack, final

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer

from expost.checks.question import PublicCheck
from expost.errors import LedgerConflict
from expost.judge import BALANCED, Judge, OnPublic
from expost.ledger import Fact, MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real, positive
from expost.private import Private, Split
from expost.recorded import ReadableLedger
from expost.search import Line, Outcome
from expost.training.head.score import Target
from expost.training.torch.checkpoint import Checkpoint
from expost.training.torch.clipping import Clipper, Loss, PerRecord
from expost.training.torch.course import Announced, Course, Goal, ModuleCheck, ProcessSettings, RunSettings, Stage
from expost.training.torch.layers import require_trainable
from expost.training.torch.progress import Paid
from expost.training.torch.records import Examples, Given
from expost.training.torch.resumption import Prospect
from expost.training.torch.run import TrainingRun, begin
from expost.training.torch.scores import Accuracy, Score
from expost.training.torch.units import Unit
from expost.training.torch.weights import ModuleDescent, Weights
from expost.training.unshown import Unshown

DELTA, CONFIDENCE = 1e-5, 0.95
APART = "the caller held these records out before training"
ACCURACY: Score = Accuracy()
CROSS_ENTROPY: Loss = partial(cross_entropy, reduction="none")


@final
class Trainer:
    """Trains a module by noisy gradient steps on private records, once.

    Records are (features, label), several inputs and then the label, or a mapping with a field 'labels': the module
    is called with all but the label. ``batch`` is the expected number of records a step: each joins by its own coin
    of chance batch/records, where ``records`` is a public number. Left out, it is the number of records there are,
    which is then treated as public, and on record as such. ``max_grad_norm`` is what a record's gradient is clipped
    to, and ``loss`` maps outputs and labels to one loss per record. ``gradients`` is PerRecord or Ghost, and
    ``max_physical_batch_size`` bounds how many records are on the device at a time; neither changes what is
    trained. Layers must treat each record apart and keep nothing, which is tried on made-up records; shape and type
    of the records are public, and so are frozen weights. Dropout draws from torch, and privacy does not rest on it.
    Publish the modules that come back, not the one given: its layers have seen records, and a trial does not find
    everything. There is no ``random_state``: noise that can be repeated protects nobody.

    ``unit`` says whose record it is: an identifier per record, or the name of a field, which is then not an input. The
    bound is about a person with any number of records, who joins a step with all of them by one coin and the sum of
    whose gradients is clipped; ``batch`` and ``records`` count persons. A missing identifier makes a person of its own.

    With a ``checkpoint`` what is about to be spent is on disk before an epoch's steps run, and the weights after them.
    Steps that were on their way when a process was killed stay on the bill, and the resumed run takes as many fewer, so
    that every later release is stated as the stop that was planned for it. A ``ledger`` such as a Journal says the
    same of the bill alone, with a checkpoint or without one. ``on_announced`` is told, before a record is read, all
    that is fixed by then, of which ``expost.jobs.module_commitment`` makes the digest that the receipt has.

    ``ledger`` has what this process has spent, step by step, and ``earlier`` what processes before it have paid, in
    order. ``prospect`` is what can still be stated of a run that was resumed; None for one that begins here.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        data: Given,
        *,
        batch: int,
        max_grad_norm: Real,
        noise_multiplier: Real,
        unit: Unit | None = None,
        records: int | None = None,
        loss: Loss = CROSS_ENTROPY,
        gradients: type[Clipper] = PerRecord,
        device: str | torch.device | None = None,
        max_physical_batch_size: int = 256,
        checkpoint: str | Path | None = None,
        ledger: ReadableLedger | None = None,
        on_announced: Callable[[Announced], None] | None = None,
        noise: Noise | None = None,
        random_state: None = None,
    ) -> None:
        hidden = Unshown(given=data, unit=unit)
        del data, unit  # a traceback that shows variables would show its rows
        refuse_random_state(random_state)
        require_trainable(model, optimizer, device)
        given = hidden.read_by(partial(Examples.by_person, noise=None))
        self._given, self._noise = given, SystemNoise() if noise is None else noise
        self._data = Private(given, given.neighbours)
        self._checkpoint: Checkpoint | None = None
        self._begun: TrainingRun | None = None
        self._on_announced = on_announced
        self.ledger: ReadableLedger = MemoryLedger() if ledger is None else ledger
        self.earlier: tuple[Paid, ...] = ()
        self.prospect: Prospect | None = None
        self._descent = ModuleDescent(
            module=model,
            optimizer=optimizer,
            noise_multiplier=positive(noise_multiplier, "noise_multiplier"),
            clip=positive(max_grad_norm, "max_grad_norm"),
            batch=batch,
            records=len(given) if records is None else records,
            loss=loss,
            clipper=gradients,
            at_once=max_physical_batch_size,
            start=Weights.of(model, optimizer, 0),
            keep=self._keep,
            neighbours=given.neighbours,
        )
        if given.uniform:
            self._descent.require_separable(given)
        if checkpoint is not None:
            settings = {**self._descent.settings, "seeded": self._noise.seeded}
            self._checkpoint = Checkpoint.new(Path(checkpoint), settings, self._descent.start)
            self._checkpoint.ledger = self.ledger

    def until(
        self, target: Target, *, on_step: Callable[[Line], None] | None = None, **settings: Unpack[RunSettings]
    ) -> Outcome[nn.Module]:
        """Train until the held-out records say that the target is reached; the outcome is the trained module.

        The settings and their defaults are those of ``begin``. ``on_step`` is told of each release that is on record.

        What is to be reached is the mean ``score`` of the records ``on``, of which expost.training has several. They
        are private, and nobody may be both in them and in the training records: ``because`` is the caller's word for
        it. With a unit one record of each person is drawn for the checks; whose it is stands in the same field as in
        the training records, or is given as ``on_unit``. Public records are given as ``check=OnPublic(...)`` instead,
        and are free. A release passes when its noisy margin is so far above 0 that, with this ``confidence``, none of
        the run passes that is below the target on these records; None is the paper's check, which promises nothing and
        is not asked about the last release. The looks of all processes of a run count, and a question that was being
        answered when one was killed is over. A sparse vector check, whose threshold dies with its process, is refused
        with a checkpoint.
        """
        hidden = Unshown(**settings)
        del settings  # which would be seen as long as the run lasts
        return self.begin(target, **hidden.named).finish(on_step)

    def releases(
        self, *, every: str, releases: int, delta: float = DELTA, max_epsilon: float | None = None
    ) -> Iterator[Stage]:
        """Train release by release for as long as the caller asks for the next one; looking costs nothing.

        What the caller decides by must be the releases and public data. The cap ends the loop before it is passed.
        """
        course = Course.of(self._descent, every=every, releases=releases, delta=delta, max_epsilon=max_epsilon)
        return self._run(course, PublicCheck(lambda module: False), Split.whole(self._data)).stages()

    def begin(
        self,
        target: Target,
        *,
        on: Given | None = None,
        on_unit: Unit | None = None,
        score: Score = ACCURACY,
        releases: int,
        every: str,
        delta: float = DELTA,
        check: Judge = BALANCED,
        confidence: Real | None = CONFIDENCE,
        because: str = APART,
        max_epsilon: float | None = None,
    ) -> TrainingRun:
        """The same run as ``until``, planned and pledged, for a loop of one's own."""
        hidden = Unshown(on=on, unit=on_unit)
        del on, on_unit
        course = Course.of(
            self._descent, every=every, releases=releases, delta=delta, max_epsilon=max_epsilon, confidence=confidence
        )
        held = hidden.read_by(partial(self._given.held_out, check=check, noise=self._noise))
        goal, parts = Goal(target, score), Split.whole(self._data)
        if check.public:
            check = OnPublic(held)
        else:
            parts = Split.from_parts(self._data, Private(held, held.neighbours), because=because)
        return self._run(course, course.check(goal, check), parts, goal, held)

    @property
    def run(self) -> TrainingRun:
        """The run that was begun, with what was announced of it and what it released."""
        if self._begun is None:
            raise LedgerConflict("this trainer has not begun a run; train first, then report on it.")
        return self._begun

    @property
    def plan(self) -> Mapping[str, Fact]:
        """What the run was planned as: releases, δ, check, score and threshold; empty before one begins."""
        return {} if self._begun is None else self._begun.announced.plan

    @classmethod
    def resume(
        cls,
        path: str | Path,
        model: nn.Module,
        optimizer: Optimizer,
        data: Given,
        **settings: Unpack[ProcessSettings],
    ) -> "Trainer":
        """Go on where a checkpoint ends, with its weights and its bill; the records must be the same ones.

        Call ``until`` or ``releases`` with the same plan as before: the pledge was made for it, and ``prospect`` says
        which of its statements are still to come. If no step remains, they return the last release with its bill, and
        so they do for a run that is over, unless a cap ended it. A ``ledger`` is a new one, and is told first what
        earlier processes of the run have spent.
        """
        hidden = Unshown(data=data, **settings)
        del data, settings
        checkpoint = Checkpoint.load(Path(path))
        progress, saved = checkpoint.progress, checkpoint.progress.settings
        trainer = cls(
            model, optimizer, batch=int(saved["batch"]), max_grad_norm=Fraction(saved["clip"]),
            noise_multiplier=Fraction(saved["noise_multiplier"]), records=int(saved["records"]), **hidden.named,
        )  # fmt: skip
        checkpoint.require_like(trainer._noise, trainer._data.neighbours)
        trainer._descent = trainer._descent.resumed(progress.weights, progress.settings["optimizer"])
        trainer._checkpoint, checkpoint.ledger = checkpoint, trainer.ledger
        trainer.earlier, trainer.prospect = progress.bills, progress.prospect
        if progress.over:  # else the weights come with their bill, when a run begins
            trainer._descent.load(progress.weights)
        return trainer

    def _keep(self, weights: Weights) -> None:
        if self._checkpoint is not None:
            self._checkpoint.keep(weights)

    def _run(
        self,
        course: Course,
        judge: ModuleCheck,
        parts: Split[Examples],
        goal: Goal | None = None,
        held: Examples | None = None,
    ) -> TrainingRun:
        if self._begun is not None:
            raise LedgerConflict("this trainer has begun a run; make another for another run, and add up their bills.")
        announced = Announced(course, judge, goal, parts.because)
        ledger, ready = self._checkpoint or self.ledger, partial(course.require_suited, self._given, held, goal)
        self._begun = begin(announced, parts, ledger=ledger, noise=self._noise, ready=ready)
        if self._on_announced is not None:
            self._on_announced(self._begun.announced)
        return self._begun
