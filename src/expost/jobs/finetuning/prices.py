"""The recipe that settings make up, as a person types them."""

from fractions import Fraction
from typing import TypedDict, Unpack, final

from expost.checks.confidence import confidence_level
from expost.checks.question import as_typed
from expost.errors import InvalidValue
from expost.jobs.finetuning.centred import CentredRecipe
from expost.jobs.finetuning.methods import CENTRED, ClassMeans, GradientSteps, Ridge
from expost.jobs.finetuning.recipe import HeadRecipe
from expost.jobs.finetuning.wanted import CONFIDENCE, Wanted
from expost.judge import BALANCED, Judge, share_held
from expost.numerics import Real
from expost.private import Neighbours
from expost.training.head.arrays import on
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.optimizer import Adam
from expost.training.head.score import Target
from expost.training.head.score import accuracy as to_reach
from expost.training.schedule import Epsilon, Schedule

METHODS = ("auto", *CENTRED, "adam")
OF_ADAM = ("epochs", "epochs_between", "rate", "batch", "max_grad_norm", "learning_rate", "drop")
"""What the many sampled steps of Adam leave to be set, and other methods do not."""
OF_STEPS = ("summation", "device")
"""What gradient steps leave to be set: sums of moments are always exact, and quick."""

MANY = 20_000
"""Public records from which ridge is the default: benchmarks/heads_sizes.py has what was measured."""


@final
class HeadSettings(TypedDict, total=False):
    """Everything about training a head that may be left out; ``finetune`` says what each is."""

    method: str
    confidence: Real | None
    validation: Real
    start: Epsilon | Fraction
    releases: int
    epochs: int
    epochs_between: int
    rate: Real
    batch: float
    max_grad_norm: float
    learning_rate: float
    drop: float
    delta: float
    device: str | None
    summation: Summation
    records: int | None


def method_of(settings: HeadSettings) -> tuple[str, str]:
    """The way of training that the settings call for, and why, in a sentence; those of another way are refused."""
    named, adams = settings.get("method", "auto"), [name for name in OF_ADAM if name in settings]
    if named not in METHODS:
        raise InvalidValue(f"there is no method {named!r}; the methods are {', '.join(METHODS)}.")
    if named in CENTRED and adams:
        raise InvalidValue(f"{adams[0]} is a setting of Adam; leave it out, or choose the method adam.")
    steps = [name for name in OF_STEPS if name in settings]
    if named in (ClassMeans.name, Ridge.name) and steps:
        raise InvalidValue(f"{steps[0]} is a setting of gradient steps, which {named} does without; leave it out.")
    if named != "auto":
        return named, f"The method is {named}, as was asked."
    if adams:
        return "adam", f"The method is adam, because {adams[0]} was set, which full-batch steps do not have."
    if (settings.get("records") or 0) >= MANY and not steps:
        return Ridge.name, (
            f"The method is ridge: with {MANY:,} records or more it reaches more than full-batch steps, and it leaves "
            "nothing to be tuned either."
        )
    return GradientSteps.name, (
        "The method is full-batch: a few gradient steps on centred features, with nothing to be tuned. It suits up to "
        "some thousand records; with many more, ridge or adam may reach more."
    )


def head_recipe(
    *,
    accuracy: Real | Target,
    check: Judge = BALANCED,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    **settings: Unpack[HeadSettings],
) -> Wanted:
    """All that is public about the job, refused where it makes no sense; public records to check on are read before."""
    method, _ = method_of(settings)
    start, confidence = settings.get("start"), settings.get("confidence", CONFIDENCE)
    if start is not None and not isinstance(start, Epsilon | Fraction):
        raise InvalidValue("start is a bare number; say Epsilon(1.5) for a price, or give an exact Fraction.")
    target = accuracy if isinstance(accuracy, Target) else to_reach(accuracy)
    sure = None if confidence is None else confidence_level(confidence)
    records, delta = settings.get("records"), settings.get("delta", 1e-5)
    held, arrays = share_held(settings.get("validation", 0.5)), on(settings.get("device"))
    summation = settings.get("summation", IntegerSums())
    if method in CENTRED:
        return CentredRecipe(
            target=target,
            confidence=sure,
            records=records,
            delta=delta,
            validation=held,
            check=check,
            start=Epsilon(1.0) if start is None else start,
            method=CENTRED[method],
            count=settings.get("releases", 6),
            summation=summation,
            arrays=arrays,
            neighbours=neighbours,
        )
    rate = as_typed(settings.get("rate", 0.1), "rate")
    epochs = settings.get("epochs", 50)
    between = settings.get("epochs_between", 2 * epochs)
    return HeadRecipe(
        target=target,
        confidence=sure,
        records=records,
        delta=delta,
        validation=held,
        check=check,
        start=Epsilon(1.5) if start is None else start,
        schedule=Schedule.of_epochs(epochs, between, settings.get("releases", 5), rate=rate),
        rate=rate,
        clip=settings.get("max_grad_norm", 1.0),
        batch=settings.get("batch", 64.0),
        optimizer=Adam(settings.get("learning_rate", 0.05)),
        summation=summation,
        arrays=arrays,
        neighbours=neighbours,
        drop=settings.get("drop", 0.1),
    )
