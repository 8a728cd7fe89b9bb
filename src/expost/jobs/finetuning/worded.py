"""Methods in words: what a report says of features, sums and steps, of records or of persons with many rows."""

from collections.abc import Callable, Mapping
from functools import partial

from expost.jobs.finetuning.methods import ClassMeans, GradientSteps, Ridge
from expost.mechanisms.brownian import Brownian
from expost.report.digits import plain
from expost.report.units import OF_PERSONS, by_row, by_unit, clipped
from expost.training.head.full_batch import KEPT, STEPS, FullBatch

LINES: Mapping[str, Mapping[str, str]] = {
    GradientSteps.name: {FullBatch.name: "noisy full-batch steps"},
    ClassMeans.name: {Brownian.name: "noisy class sums"},
    Ridge.name: {Brownian.name: "noisy class sums and second moments"},
}
"""What the lines of a method are called."""
ADDED_UP = (
    "What the rows of one person add to a sum, here and below, was added up first, and clipped as one vector: a person "
    "moves it no farther than a single row might."
)
REFINED = "Each release measured the same sums again and refined those of the one before, so that nothing was lost."


def _steps(neighbours: str) -> tuple[str, ...]:
    return (
        f"Softmax regression was trained on the centred rows by {STEPS} gradient steps per release, in which "
        f"{by_unit('every record', neighbours)} took part: {clipped(neighbours)}, noise was added to the sum, and the "
        "weights moved by a step whose size was fixed beforehand.",
        f"Each release went on from {plain(KEPT)} of the weights of the one before, with noise of its own.",
    )


def _moments(told: str, neighbours: str) -> tuple[str, ...]:
    return by_row(told, neighbours), REFINED


TRAINED: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    GradientSteps.name: _steps,
    ClassMeans.name: partial(
        _moments,
        "The sum of the centred rows of each class and its number of records were released, with noise. A record is "
        "taken to be of the class whose mean is nearest; means that are mostly noise were moved towards the centre.",
    ),
    Ridge.name: partial(
        _moments,
        "The sum of the centred rows of each class, its number of records and the second moments of all rows were "
        "released together, with noise. The head is the ridge regression that they give, with a penalty that follows "
        "from the noise.",
    ),
}
"""What a report says of a method, after the centre, by the neighbours."""


def scaled_words(neighbours: str) -> str:
    """What was done to the features of a row."""
    if neighbours in OF_PERSONS:
        return "Each row of features, of which a person may have several, was scaled to length 1 by itself."
    return "Each record came as a row of features, which was scaled to length 1 by itself."
