"""Private training of any torch module: say how accurate it must be, and pay for the steps that reached it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import final

from expost.errors import InvalidValue, LedgerConflict, NotInstalled

try:
    import opacus  # noqa: F401  whether it is there
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy
    from torch.optim import Optimizer
except ModuleNotFoundError as missing:
    raise NotInstalled(
        f"training a torch module needs {missing.name}; install expost[training].", name=missing.name
    ) from None

from expost.accounting.curve import AdpEpsilon
from expost.accounting.descent import Descent
from expost.checks.public import PublicCheck
from expost.judge import BALANCED, Judge, OnPublic
from expost.ledger import Fact, MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real, positive
from expost.private import Private, Split
from expost.recorded import ReadableLedger
from expost.search import Line, Outcome, finish
from expost.training.head.score import Target
from expost.training.torch.checkpoint import Checkpoint
from expost.training.torch.clipping import Clipper, Loss, PerRecord, require_trainable
from expost.training.torch.course import Announced, Course, Goal, ModuleCheck, Stage
from expost.training.torch.paid import Paid
from expost.training.torch.records import Examples, Given
from expost.training.torch.resumption import Prospect
from expost.training.torch.run import TrainingRun, begin
from expost.training.torch.scores import Accuracy, Score
from expost.training.torch.weights import ModuleDescent, Weights

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

    With a ``checkpoint`` what is about to be spent is on disk before an epoch's steps run, and the weights after them.
    Steps that were on their way when a process was killed stay on the bill, and the resumed run takes as many fewer, so
    that every later release is stated as the stop that was planned for it. A ``ledger`` such as a Journal says the
    same of the bill alone, with a checkpoint or without one. ``on_announced`` is told, before a record is read, all
    that is fixed by then, of which ``expost.jobs.module_commitment`` makes the digest that the receipt has.
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
        refuse_random_state(random_state)
        require_trainable(model, optimizer, device)
        if max_physical_batch_size < 1:
            raise InvalidValue(
                f"max_physical_batch_size is {max_physical_batch_size}; give the device at least one record at a time."
            )
        given = Examples.of(data)
        del data  # a traceback that shows variables would show its rows
        given.require_once()
        public = len(given) if records is None else records
        if not 1 <= batch <= public:
            raise InvalidValue(
                f"batch is {batch} of {public} records; expect at least one and at most all of them per step."
            )
        self._given = given
        self._data, self._noise = Private(given), SystemNoise() if noise is None else noise
        self._checkpoint: Checkpoint | None = None
        self._ledger: ReadableLedger = MemoryLedger() if ledger is None else ledger
        self._announced: Announced | None = None
        self._begun: TrainingRun | None = None
        self._on_announced = on_announced
        self._prospect: Prospect | None = None
        self._descent = ModuleDescent(
            module=model,
            optimizer=optimizer,
            descent=Descent(Fraction(batch, public), positive(noise_multiplier, "noise_multiplier")),
            clip=positive(max_grad_norm, "max_grad_norm"),
            batch=batch,
            records=public,
            loss=loss,
            clipper=gradients,
            at_once=max_physical_batch_size,
            start=Weights.of(model, optimizer, 0),
            keep=self._keep,
        )
        if given.uniform:
            self._descent.require_separable(given.shaped())
        if checkpoint is not None:
            settings = {**self._descent.settings, "seeded": self._noise.seeded}
            self._checkpoint = Checkpoint.new(Path(checkpoint), settings, self._descent.start)
            self._checkpoint.ledger = self._ledger

    def until(
        self,
        target: Target,
        *,
        on: Given | None = None,
        score: Score = ACCURACY,
        releases: int,
        every: str,
        delta: float = DELTA,
        check: Judge = BALANCED,
        confidence: Real | None = CONFIDENCE,
        because: str = APART,
        max_epsilon: float | None = None,
        on_step: Callable[[Line], None] | None = None,
    ) -> Outcome[nn.Module]:
        """Train until the held-out records ``on`` say that the target is reached; the outcome is the trained module.

        What is to be reached is the mean ``score`` of these records, of which expost.training has several. They are
        private, and nobody may be both in them and in the training records: ``because`` is the caller's word for
        it. Public records are given as ``check=OnPublic(...)`` instead, and are free. A release passes when its
        noisy margin is so far above 0 that, with this ``confidence``, none of the run passes that is below the
        target on these records; None is the paper's check, which promises nothing and is not asked about the last
        release. The looks of all processes of a run count, and a question that was being answered when one was
        killed is over. A sparse vector check, whose threshold dies with its process, is refused with a checkpoint.
        """
        run = self.begin(
            target,
            on=on,
            score=score,
            releases=releases,
            every=every,
            delta=delta,
            check=check,
            confidence=confidence,
            because=because,
            max_epsilon=max_epsilon,
        )

        def climbed(line: Line) -> None:
            run.climbed(line)
            if on_step is not None:
                on_step(line)

        outcome = run.told(finish(run.search(run.judge), climbed))
        self.end()
        return outcome

    def releases(
        self, *, every: str, releases: int, delta: float = DELTA, max_epsilon: float | None = None
    ) -> Iterator[Stage]:
        """Train release by release for as long as the caller asks for the next one; looking costs nothing.

        What the caller decides by must be the releases and public data. The cap ends the loop before it is passed.
        """
        course = Course.of(self._descent, every=every, releases=releases, delta=delta)
        judge: ModuleCheck = PublicCheck(lambda module: False)
        run = self._run(course, Split.whole(self._data), judge, None, max_epsilon=max_epsilon, ready=self._probe)
        return run.stages(self.end)

    def begin(
        self,
        target: Target,
        *,
        on: Given | None = None,
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
        course = Course.of(self._descent, every=every, releases=releases, delta=delta, confidence=confidence)
        held = _held(on, check)
        del on
        self._given.require_apart(held)
        goal = Goal(target, score)

        def probe() -> None:
            self._probe()
            if len(held):
                self._descent.require_scored(score, target.threshold, held.shaped())

        parts, judge = Split.whole(self._data), course.public(target, score, held)
        if not check.public:
            held.require_once()
            parts = Split.from_parts(self._data, Private(held), because=because)
            judge = course.private(target, score, check)
        return self._run(course, parts, judge, goal, max_epsilon=max_epsilon, ready=probe)

    def end(self) -> None:
        """Put on record that the run is over."""
        if self._checkpoint is not None:
            self._checkpoint.end()

    @property
    def ledger(self) -> ReadableLedger:
        """What this process has spent, step by step."""
        return self._ledger

    @property
    def earlier(self) -> tuple[Paid, ...]:
        """What earlier processes of the run have paid, in order; nothing for a run that begins here."""
        return () if self._checkpoint is None else self._checkpoint.earlier

    @property
    def announced(self) -> Announced:
        """What was said of the run before data was read."""
        if self._announced is None:
            raise LedgerConflict("this trainer has not begun a run; train first, then report on it.")
        return self._announced

    @property
    def plan(self) -> Mapping[str, Fact]:
        """What the run was planned as: releases, δ, check, score and threshold; empty before one begins."""
        return {} if self._announced is None else self._announced.plan

    def require_released(self, module: nn.Module) -> None:
        """Refuse a module that is not one that this trainer released, or not as it was released."""
        if self._begun is None:
            raise LedgerConflict("this trainer has not begun a run; train first, then save the result.")
        self._begun.require_released(module)

    @property
    def prospect(self) -> Prospect | None:
        """What can still be stated of a run that was resumed; None for one that begins here."""
        return self._prospect

    @classmethod
    def resume(
        cls,
        path: str | Path,
        model: nn.Module,
        optimizer: Optimizer,
        data: Given,
        *,
        loss: Loss = CROSS_ENTROPY,
        gradients: type[Clipper] = PerRecord,
        device: str | torch.device | None = None,
        max_physical_batch_size: int = 256,
        ledger: ReadableLedger | None = None,
        on_announced: Callable[[Announced], None] | None = None,
        noise: Noise | None = None,
    ) -> "Trainer":
        """Go on where a checkpoint ends, with its weights and its bill; the records must be the same ones.

        Call ``until`` or ``releases`` with the same plan as before: the pledge was made for it, and ``prospect`` says
        which of its statements are still to come. If no step remains, they return the last release with its bill, and
        so they do for a run that is over, unless a cap ended it. A ``ledger`` is a new one, and is told first what
        earlier processes of the run have spent.
        """
        checkpoint = Checkpoint.load(Path(path))
        settings = checkpoint.settings
        trainer = cls(
            model,
            optimizer,
            data,
            batch=int(settings["batch"]),
            max_grad_norm=Fraction(settings["clip"]),
            noise_multiplier=Fraction(settings["noise_multiplier"]),
            records=int(settings["records"]),
            loss=loss,
            gradients=gradients,
            device=device,
            max_physical_batch_size=max_physical_batch_size,
            ledger=ledger,
            on_announced=on_announced,
            noise=noise,
        )
        if settings["seeded"] != trainer._noise.seeded:
            raise LedgerConflict(f"{path} and this run differ in whether noise is seeded; resume with the same kind.")
        trainer._go_on(checkpoint)
        return trainer

    def _go_on(self, checkpoint: Checkpoint) -> None:
        weights, descent = checkpoint.weights, self._descent
        descent.require_fitting(weights, checkpoint.settings["optimizer"])
        descent.optimizer.load_state_dict({**weights.optimizer, "state": {}})
        self._checkpoint, self._descent = checkpoint, replace(descent, start=weights)
        checkpoint.ledger = self._ledger
        self._prospect = checkpoint.prospect
        if checkpoint.over:  # else the weights come with their bill, when a run begins
            descent.load(weights)

    def _run(
        self,
        course: Course,
        parts: Split[Examples],
        judge: ModuleCheck,
        goal: Goal | None,
        *,
        max_epsilon: float | None,
        ready: Callable[[], None],
    ) -> TrainingRun:
        if self._announced is not None:
            raise LedgerConflict("this trainer has begun a run; make another for another run, and add up their bills.")
        ledger, noise = self._checkpoint or self._ledger, self._noise
        aim = {} if goal is None else goal.facts
        run = begin(course, parts, judge, ledger=ledger, max_epsilon=max_epsilon, noise=noise, ready=ready, goal=aim)
        cap = None if max_epsilon is None else AdpEpsilon(max_epsilon)
        self._begun = run
        self._announced = Announced(
            course=course, judge=judge, goal=goal, because=parts.because, cap=cap, plan=run.plan
        )
        self._descent.load(self._descent.start)
        if self._on_announced is not None:
            self._on_announced(self._announced)
        return run

    def _probe(self) -> None:
        """For records whose shape is not known before one is read: when all else is settled, and nothing billed."""
        if len(self._given) and not self._given.uniform:
            self._descent.require_separable(self._given.shaped())

    def _keep(self, weights: Weights) -> None:
        if self._checkpoint is not None:
            self._checkpoint.keep(weights)


def _held(on: Given | None, check: Judge) -> Examples:
    """The records to check on: private ones, or those of a public check, and never both."""
    given = check.records if isinstance(check, OnPublic) else on
    if given is None or (isinstance(check, OnPublic) and on is not None):
        raise InvalidValue("give held-out records as on=..., or public ones as check=OnPublic(...), and not both.")
    return Examples.of(given)
