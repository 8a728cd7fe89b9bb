"""Fine-tuning: from features and labels to a head that is accurate enough, with its bill."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Unpack

from numpy.typing import ArrayLike

from expost.errors import InvalidValue, NotDisjoint
from expost.jobs.finetuning.prices import HeadSettings, head_recipe
from expost.jobs.finetuning.recipe import fine_tune, plan_training
from expost.jobs.finetuning.records import SAME, Hidden, shown
from expost.jobs.finetuning.report import head_commitment, head_facts
from expost.jobs.finetuning.wanted import Shape
from expost.jobs.job import Result, capped
from expost.judge import BALANCED, Judge, OnPublic
from expost.ledger import MemoryLedger
from expost.noise import Noise, SystemNoise, refuse_random_state
from expost.numerics import Real
from expost.private import Neighbours, Private, Split, split
from expost.receipts.receipt import Commitment
from expost.recorded import ReadableLedger
from expost.report.answers import Reading
from expost.report.outcomes import day
from expost.search import Line
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Told
from expost.training.head.score import Classifier, Target, made_length_one, of_length_one
from expost.training.overlap import same_data


def finetune(
    features: ArrayLike | str | Path,
    labels: ArrayLike | None = None,
    *,
    accuracy: Real | Target,
    unit: ArrayLike | str | None = None,
    classes: int | None = None,
    check: Judge = BALANCED,
    max_epsilon: float | None = None,
    noise: Noise | None = None,
    random_state: None = None,
    ledger: ReadableLedger | None = None,
    title: str = "Classifier",
    on_pledge: Callable[[Commitment], None] | None = None,
    on_step: Callable[[Reading], None] | None = None,
    on_progress: Told | None = None,
    **settings: Unpack[HeadSettings],
) -> Result[Classifier]:
    """A linear head that reaches the accuracy on held-out records, at the least privacy that reached it.

    ``features`` is an array with one row per record, or the path of an ``.npz`` file that holds ``features`` and
    ``labels``. ``unit`` says whose row it is: an identifier per row, or the name of an array of that file. The bound is
    then about a person with any number of rows, whose gradients or moments are clipped as one; of each person who is
    held out, one row is drawn at random for the checks. A row without an identifier is a person of its own.
    ``validation`` is the share of records held out for private checks. With ``check=OnPublic(...)`` of
    a file, a pair of arrays or a Labelled no record is held out, and checks are free. Without ``classes`` they are
    counted from the labels, and taken to be public. ``confidence`` is how sure a pass is: with this probability no head
    passes in the whole run that is below the accuracy on the held-out records. None is the paper's check, which
    promises nothing.

    ``method`` is "full-batch" (a few gradient steps on centred features, with nothing to tune), "means" (the nearest
    class mean), "ridge" (ridge regression from second moments, for many records beside few features), "adam" (many
    steps, each on a sample of the records) or "auto": full-batch, ridge for 20,000 ``records`` or more, and adam where
    a setting of Adam is given. ``releases`` is how many heads are released at most, ``start`` what the first may be
    stated as, or as a Fraction its ρ, which for Adam is the noise multiplier. ``records`` is about how many records
    there are, if that is public: margins are then shown as accuracies, and looks that would be too noisy are left out.
    For gradient steps ``summation=FloatSums()`` trades exact integer noise for speed, and ``device`` names a torch
    device.

    Of Adam: each step a record joins by chance ``rate``; an epoch is 1/rate steps, of which ``epochs`` come before the
    first release and ``epochs_between``, or else twice as many, before each later one. A record's gradient is clipped
    to ``max_grad_norm``. ``batch`` is a public guess at how many records join a step; it scales the gradient, which
    Adam undoes, so little depends on it. ``learning_rate`` is multiplied by ``drop`` after the first release.

    Seeded ``noise`` makes a rehearsal, and everything then says NOT PRIVATE; a ``random_state`` is refused. ``ledger``
    lets a caller that is interrupted know what was spent; ``on_progress`` hears the steps taken and to be taken in a
    release. ``on_pledge`` is told, before the records are read, all that is fixed by then, whose digest the receipt has
    too.
    """
    hidden, relation = Hidden(features, labels, unit), Neighbours.ADD_REMOVE
    relation = relation if unit is None else relation.of_persons
    del features, labels, unit  # a traceback that shows variables would show their rows
    refuse_random_state(random_state)
    noise = SystemNoise() if noise is None else noise
    hidden.require_both()
    if isinstance(check, OnPublic):
        hidden.require_apart(shown(check.records))
        check = OnPublic(of_length_one(shown(check.records).read(classes, noise)[0]))
    recipe = head_recipe(accuracy=accuracy, check=check, neighbours=relation, **settings)
    records = recipe.records
    if classes is not None:
        Shape(1, classes)  # refused before the records are read
    plan, kept = plan_training(recipe), MemoryLedger() if ledger is None else ledger
    held = None if records is None else records * float(recipe.held)
    held_std, date = 0.0 if held is None else math.sqrt(held * float(1 - recipe.held)), day(noise)
    odometer, cap = capped(
        plan.pledge, plan.pledge.promises, max_epsilon=max_epsilon, neighbours=relation, ledger=kept, noise=noise,
        rung="release",
    )  # fmt: skip
    if on_pledge is not None:
        on_pledge(head_commitment(recipe, plan, cap=cap))
    sealed, shape = _read(hidden, classes, check, noise, relation)
    parts = _divided(sealed, recipe.held, noise)
    del sealed  # the parts are copies, or at least of length 1, and one of two is enough in memory

    def climbed(line: Line) -> None:
        if on_step is not None:
            on_step(Reading.of(line, plan.pledge, asked=recipe.target.threshold, held=held, held_std=held_std))

    outcome = fine_tune(parts, recipe, shape, odometer=odometer, noise=noise, on_step=climbed, told=on_progress)
    because, counted = parts.because, classes is None
    told = partial(head_facts, outcome, recipe, shape, plan, kept, title=title, because=because, counted=counted)
    facts = partial(told, held=held, held_std=held_std, cap=cap, date=date)
    writers = {"npz": lambda folder: outcome.release.value.save(folder / "model.npz")}
    return Result(
        outcome.release, outcome.ended, partial(facts, held=held, held_std=held_std, cap=cap, date=date), writers
    )


def _divided(sealed: Private[Labelled], share: Fraction, noise: Noise) -> Split[Labelled]:
    """The parts to train on and to judge by, each record scaled to length 1.

    Uses: records written anew.
    """
    if not share:
        return Split.whole(sealed).map(of_length_one)
    return split(sealed, share, noise).map(made_length_one)


def _read(
    hidden: Hidden, classes: int | None, check: Judge, noise: Noise, neighbours: Neighbours
) -> tuple[Private[Labelled], Shape]:
    """The records, and the head that they call for; refused if they are the public ones, or of another width."""
    data, found = hidden.read(classes, noise)
    if isinstance(check, OnPublic):
        public: Labelled = check.records
        if public.width != data.width:
            raise InvalidValue("the public records have other features than those to train on; make them alike.")
        if public.features.shape == data.features.shape:
            scaled = of_length_one(data)
            if public.same_records(scaled) or same_data(public.features, scaled.features):
                raise NotDisjoint(SAME)
        found = max(found, int(public.labels.max()) + 1)
    return Private(data, neighbours), Shape(data.width, found)
