"""The recipe that settings make up, as a person types them."""

from fractions import Fraction

from expost.checks.confidence import confidence_level
from expost.checks.question import as_typed
from expost.errors import InvalidValue
from expost.jobs.finetuning.recipe import CONFIDENCE, START, HeadRecipe
from expost.judge import BALANCED, Judge, share_held
from expost.numerics import Real
from expost.training.head.arrays import on
from expost.training.head.gradient import IntegerSums, Summation
from expost.training.head.optimizer import Adam
from expost.training.head.score import Target
from expost.training.head.score import accuracy as to_reach
from expost.training.schedule import Epsilon, Schedule


def head_recipe(
    *,
    accuracy: Real | Target,
    confidence: Real | None = CONFIDENCE,
    validation: Real = 0.5,
    start: Epsilon | Fraction = START,
    releases: int = 5,
    epochs: int = 50,
    epochs_between: int = 100,
    rate: Real = 0.1,
    batch: float = 64.0,
    max_grad_norm: float = 1.0,
    learning_rate: float = 0.05,
    drop: float = 0.1,
    delta: float = 1e-5,
    check: Judge = BALANCED,
    device: str | None = None,
    summation: Summation | None = None,
    records: int | None = None,
) -> HeadRecipe:
    """All that is public about the job, refused where it makes no sense; public records to check on are read before."""
    if not isinstance(start, Epsilon | Fraction):
        raise InvalidValue("start is a bare number; say Epsilon(1.5) for a price, Fraction(8) for a noise multiplier.")
    chance = as_typed(rate, "rate")
    return HeadRecipe(
        target=accuracy if isinstance(accuracy, Target) else to_reach(accuracy),
        schedule=Schedule.of_epochs(epochs, epochs_between, releases, rate=chance),
        start=start,
        confidence=None if confidence is None else confidence_level(confidence),
        records=records,
        rate=chance,
        delta=delta,
        validation=share_held(validation),
        check=check,
        clip=max_grad_norm,
        batch=batch,
        optimizer=Adam(learning_rate),
        summation=IntegerSums() if summation is None else summation,
        arrays=on(device),
        drop=drop,
    )
