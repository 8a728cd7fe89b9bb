"""Sentences of reports about trained heads, method by method, for records and for persons with any number of rows."""

from collections.abc import Mapping

from expost.jobs.finetuning.methods import ClassMeans, GradientSteps, Ridge
from expost.mechanisms.brownian import Brownian
from expost.training.head.full_batch import KEPT, STEPS, FullBatch

OPEN = "Open to anyone: all weights that were released on the way, and whatever else the training released beside them."
EXTRACTOR = (
    "Not covered: where the features come from. Whatever turned the records into features must have been trained and "
    "chosen on public data; if it was trained on these records, that has a bill of its own."
)
SETTINGS = (
    "Not covered: how the settings were chosen. Learning rate, clipping, schedule and accuracy must come from "
    "elsewhere; each trial on these records has a bill of its own."
)
EXACT = (
    "Sums and noise were integers, and the noise was an exact discrete Gaussian, so the bound holds for the machine's "
    "arithmetic too."
)
FLOATING = (
    "Sums and noise were in floating point. The bound is that of ideal Gaussian noise: what rounding may reveal is NOT "
    "covered."
)


SOFTMAX = "Softmax regression was trained on the rows, starting from zero weights."
ROW_PER_RECORD = "Each record came as a row of features, which was scaled to length 1 by itself."
ROWS_OF_PERSONS = (
    "Each person came with any number of rows of features. Each row was scaled to length 1 by itself, and a row "
    "without an identifier counted as a person of its own."
)
CENTRE_OF_PERSONS = (
    "All that the rows of one person added to a sum was scaled down to what a single row may add, so that a person "
    "with many rows counted about as much as one with a single row."
)
DRAWN = (
    "Of each person who was held out, one row was drawn at random before the first look, and no other was looked at."
)
LINES: Mapping[str, Mapping[str, str]] = {
    GradientSteps.name: {FullBatch.name: "noisy full-batch steps"},
    ClassMeans.name: {Brownian.name: "noisy class sums"},
    Ridge.name: {Brownian.name: "noisy class sums and second moments"},
}
"""What the lines of a method are called."""
REFINED = "Each release measured the same sums again and refined those of the one before, so that nothing was lost."
TRAINED: Mapping[str, tuple[str, ...]] = {
    GradientSteps.name: (
        f"Softmax regression was trained on the centred rows by {STEPS} gradient steps per release, in which every "
        "record took part: its gradient was clipped, noise was added to the sum, and the weights moved by a step whose "
        "size was fixed beforehand.",
        f"Each release went on from {KEPT:.0%} of the weights of the one before, with less noise.",
    ),
    ClassMeans.name: (
        "The sum of the centred rows of each class and its number of records were released, with noise. A record is "
        "taken to be of the class whose mean is nearest; means that are mostly noise were moved towards the centre.",
        REFINED,
    ),
    Ridge.name: (
        "The sum of the centred rows of each class, its number of records and the second moments of all rows were "
        "released together, with noise. The head is the ridge regression that they give, with a penalty that follows "
        "from the noise.",
        REFINED,
    ),
}
"""What a report says of a method, after the centre."""
TRAINED_BY_PERSON: Mapping[str, tuple[str, ...]] = {
    GradientSteps.name: (
        f"Softmax regression was trained on the centred rows by {STEPS} gradient steps per release, in which every "
        "person took part: the gradients of that person's rows were added up and their sum was clipped, noise was "
        "added to the sum over all persons, and the weights moved by a step whose size was fixed beforehand.",
        TRAINED[GradientSteps.name][1],
    ),
    ClassMeans.name: (
        "The sum of the centred rows of each class and its number of rows were released, with noise. A row is taken to "
        "be of the class whose mean is nearest; means that are mostly noise were moved towards the centre.",
        REFINED,
    ),
    Ridge.name: (
        "The sum of the centred rows of each class, its number of rows and the second moments of all rows were "
        "released together, with noise. The head is the ridge regression that they give, with a penalty that follows "
        "from the noise.",
        REFINED,
    ),
}
"""The same where records were persons."""
