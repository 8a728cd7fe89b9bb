"""Fine-tuning: from features and labels to a head that is accurate enough, with its bill."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, final

from numpy.typing import ArrayLike

from expost.accounting.curve import AdpEpsilon
from expost.checks.confidence import confidence_level
from expost.checks.question import as_typed
from expost.errors import InvalidValue, SchemaMismatch
from expost.folders.claim import Claim
from expost.folders.delivery import deliver
from expost.jobs.budget import capped
from expost.jobs.finetuning.recipe import (
    CONFIDENCE,
    CheckMaker,
    HeadRecipe,
    OnPublic,
    balanced,
    fine_tune,
    plan_training,
)
from expost.jobs.finetuning.records import SAME, Hidden
from expost.jobs.finetuning.report import head_commitment, head_facts
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise
from expost.numerics import Real, exact
from expost.private import Private, Split, split
from expost.receipts.receipt import receipt, receipt_text
from expost.recorded import ReadableLedger
from expost.release import Release
from expost.report.facts import Facts, Reading
from expost.report.page import fragment, render
from expost.search import Line, Outcome
from expost.training.head.arrays import on
from expost.training.head.gradient import Exact, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told
from expost.training.head.optimizer import Adam
from expost.training.head.score import Classifier, Target
from expost.training.head.score import accuracy as to_reach
from expost.training.overlap import same_data
from expost.training.schedule import Epsilon, Schedule

UNKNOWN = 2
"""Stands for classes and features until the records are read; no price depends on either."""
HALF = Fraction(1, 2)
START = Epsilon(1.5)

Public: TypeAlias = str | Path | Labelled | tuple  # type: ignore[type-arg]  # of features and labels; told apart when run
"""Public records: a file, checked already, or features and labels."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Finetuned:
    """A finished run: the trained head with its bill, and everything a report tells."""

    outcome: Outcome[Classifier]
    facts: Facts

    @property
    def release(self) -> Release[Classifier]:
        """The head, with the bill of the whole procedure."""
        return self.outcome.release

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of the pledged (ε, δ) statement, for the whole procedure."""
        return self.outcome.epsilon

    @property
    def delta(self) -> float:
        """The δ of the statement."""
        return self.facts.delta

    @property
    def passed(self) -> bool:
        """Whether a release passed the check."""
        return self.facts.reached

    @property
    def history(self) -> tuple[Reading, ...]:
        """One line per release: ε added, (ε, δ) so far, noisy margin, verdict."""
        return self.facts.rungs

    def save(self, folder: Path | Claim, *, overwrite: bool = False) -> None:
        """Write the receipt, the report and the head into a new folder, all or nothing."""
        deliver(
            folder,
            lambda fresh: self.release.value.save(fresh / "model.npz"),
            receipt=receipt_text(receipt(self.facts)),
            report=render(self.facts),
            overwrite=overwrite,
        )

    def __repr__(self) -> str:
        mark = ", NOT PRIVATE" if self.facts.seeded else ""
        return f"Finetuned(ε = {self.epsilon:.4g}, δ = {self.delta:g}, passed = {self.passed}{mark})"

    def _repr_html_(self) -> str:
        return fragment(self.facts)


def finetune(
    features: ArrayLike | str | Path,
    labels: ArrayLike | None = None,
    *,
    accuracy: Real | Target,
    confidence: Real | None = CONFIDENCE,
    validation: Real | Public = 0.5,
    classes: int | None = None,
    start: Epsilon | Fraction = START,
    releases: int = 5,
    epochs: int = 50,
    epochs_between: int = 100,
    rate: Real = 0.1,
    batch: float = 64.0,
    clip: float = 1.0,
    learning_rate: float = 0.05,
    drop: float = 0.1,
    delta: float = 1e-5,
    check: CheckMaker = balanced,
    max_epsilon: float | None = None,
    device: str | None = None,
    summation: Summation | None = None,
    records: int | None = None,
    noise: Noise | None = None,
    ledger: ReadableLedger | None = None,
    title: str = "Classifier",
    on_pledge: Callable[[str], None] | None = None,
    on_step: Callable[[Reading], None] | None = None,
    on_progress: Told | None = None,
) -> Finetuned:
    """A linear head that reaches the accuracy on held-out records, at the least privacy that reached it.

    ``features`` is an array with one row per record, or the path of an ``.npz`` file that holds ``features`` and
    ``labels``. ``validation`` is the share of records held out for private checks, or public records: a file,
    a pair of arrays or a Labelled; checks on those are free, and ``check`` is not used. Without ``classes`` they are
    counted from the labels, and taken to be public. ``confidence`` is how sure a pass is: with this probability no head
    passes in the whole run that is below the accuracy on the held-out records. None is the paper's check, which
    promises nothing.

    Each step a record joins by chance ``rate``; an epoch is 1/rate steps, of which ``epochs`` come before the first
    release and ``epochs_between`` before each later one. ``start`` is what the first release may be stated as, or,
    as a Fraction, the noise multiplier itself. ``batch`` is a public guess at how many records join a step; it scales
    the gradient, which Adam undoes, so little depends on it. The learning rate is multiplied by ``drop`` after the
    first release. ``records`` is about how many records there are, if that is public: margins are then shown as
    accuracies, and looks that would be too noisy are left out. Seeded ``noise`` makes a rehearsal, and everything then
    says NOT PRIVATE. ``ledger`` lets a caller that is interrupted know what was spent; ``on_progress`` hears the steps
    taken and to be taken in a release. ``on_pledge`` is told, before the records are read, the digest of all that is
    fixed by then; the receipt holds it too.
    """
    hidden = Hidden(features, labels)
    del features, labels  # a traceback that shows variables would show their rows
    hidden.require_both()
    if isinstance(validation, Public):
        hidden.require_apart(_shown(validation))
    if not isinstance(start, Epsilon | Fraction):
        raise InvalidValue("start is a bare number; say Epsilon(1.5) for a price, Fraction(8) for a noise multiplier.")
    chance = typed(rate, "rate")
    recipe = HeadRecipe(
        width=UNKNOWN,
        classes=UNKNOWN if classes is None else classes,
        target=accuracy if isinstance(accuracy, Target) else to_reach(accuracy),
        schedule=Schedule.of_epochs(epochs, epochs_between, releases, rate=chance),
        start=start,
        confidence=None if confidence is None else confidence_level(confidence),
        records=records,
        rate=chance,
        delta=delta,
        validation=HALF if isinstance(validation, Public) else typed(validation, "validation"),
        check=OnPublic(public(validation, classes)) if isinstance(validation, Public) else check,
        clip=clip,
        batch=batch,
        optimizer=Adam(learning_rate),
        summation=Exact() if summation is None else summation,
        arrays=on(device),
        drop=drop,
    )
    return finetune_recipe(
        hidden,
        recipe,
        classes=classes,
        noise=SystemNoise() if noise is None else noise,
        ledger=ledger,
        max_epsilon=max_epsilon,
        title=title,
        on_pledge=on_pledge,
        on_step=on_step,
        on_progress=on_progress,
    )


def finetune_recipe(
    hidden: Hidden,
    recipe: HeadRecipe,
    *,
    classes: int | None,
    noise: Noise,
    ledger: ReadableLedger | None = None,
    max_epsilon: float | None = None,
    title: str = "Classifier",
    on_pledge: Callable[[str], None] | None = None,
    on_step: Callable[[Reading], None] | None = None,
    on_progress: Told | None = None,
) -> Finetuned:
    """The same from a recipe that is ready but for the size of the head, which the records have yet to say."""
    records = recipe.records
    plan, kept = plan_training(recipe), MemoryLedger() if ledger is None else ledger
    first, held = plan.pledge.table[0].epsilon, None if records is None else records * float(recipe.held)
    odometer = capped(plan.pledge, first, max_epsilon=max_epsilon, ledger=kept, noise=noise, rung="release")
    cap = None if max_epsilon is None else AdpEpsilon(max_epsilon)
    if on_pledge is not None:
        on_pledge(head_commitment(recipe, plan, cap=cap).digest)
    data, found = hidden.read(classes)
    sized = _sized(recipe, data, found)
    sealed = Private(data)
    parts = split(sealed, sized.held, noise) if sized.held else Split.whole(sealed)

    def told(line: Line) -> None:
        if on_step is not None:
            on_step(Reading.of(line, plan.pledge, asked=recipe.target.threshold, held=held))

    outcome = fine_tune(parts, sized, odometer=odometer, noise=noise, on_step=told, told=on_progress)
    facts = head_facts(
        outcome,
        sized,
        plan,
        kept,
        title=title,
        because=parts.because,
        held=held,
        counted=classes is None,
        cap=cap,
    )
    return Finetuned(outcome, facts)


def public(records: Public, classes: int | None) -> Labelled:
    """Public records to check on, read at once and scaled."""
    return _shown(records).read(classes)[0]


def _shown(records: Public) -> Hidden:
    match records:
        case Labelled():
            return Hidden(records.features, records.labels)
        case str() | Path():
            return Hidden(records)
        case (features, labels):
            return Hidden(features, labels)
    raise InvalidValue("the public records are not a pair; give their features and their labels.")


def typed(value: Real, name: str) -> Fraction:
    """The decimal that a person typed."""
    exact(value, name)
    return as_typed(value)


def _sized(recipe: HeadRecipe, data: Labelled, classes: int) -> HeadRecipe:
    """The recipe for the head that the records call for, at the noise that was planned."""
    check = recipe.check
    if isinstance(check, OnPublic):
        if check.records.width != data.width:
            raise SchemaMismatch("the public records have other features than those to train on; make them alike.")
        if check.records.same_records(data) or same_data(check.records.features, data.features):
            raise SchemaMismatch(SAME)
        classes = max(classes, int(check.records.labels.max()) + 1)
    return replace(recipe, width=data.width, classes=classes, start=recipe.descent.noise_multiplier)
