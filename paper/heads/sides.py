"""Full-batch heads beside Adam's on the same records, each searched with private checks and a confidence."""

from fractions import Fraction
from typing import Final, TypeAlias, TypedDict

from expost import Ended, Odometer, Private, Split
from expost.accounting.claim import order_statement
from expost.accounting.stops import PlannedStops
from expost.jobs.finetuning.prices import head_recipe
from expost.jobs.finetuning.recipe import fine_tune, plan_training
from expost.jobs.finetuning.wanted import Wanted
from expost.judge import Balanced
from expost.noise import Noise
from paper.heads.images import Pool
from paper.heads.recipes import Settings, Tuned, recipe
from paper.heads.replay import Parts, accuracy, ending, trained
from paper.summaries.confidence import LEVEL, confident

FULL_BATCH, ADAM = "full-batch", "adam"
METHODS: Final = (FULL_BATCH, ADAM)
KIND: Final = confident("private, balanced")


class Reached(TypedDict):
    """How one search ended: what it is stated as, and would be by Rényi orders alone; its head, and whether it passed.

    A search that never passes has spent what its last release costs.
    """

    epsilon: float
    by_orders: float
    validation: float
    test: float
    releases: int
    passed: bool


Sides: TypeAlias = dict[str, dict[str, Reached]]
"""By method, then by threshold."""


def default(chosen: Settings, threshold: str) -> Wanted:
    """The job as `expost finetune` runs it, at the experiment's δ: nothing else is set."""
    return head_recipe(accuracy=Fraction(threshold), check=Balanced(), confidence=LEVEL, delta=chosen.delta)


def sides(chosen: Settings, images: Pool, tuned: Tuned, thresholds: list[str], noise: Noise) -> Sides:
    """Both methods at every threshold, on one draw of records; Adam trains once, and every threshold judges that."""
    train, held = images.draw(chosen.each, noise)
    parts = train, held, images.test
    jobs = {each: recipe(chosen, images, tuned, KIND, each, public=held) for each in thresholds}
    made = trained(jobs[thresholds[0]], images.shape, train, noise)
    adam: dict[str, Reached] = {}
    for each, job in jobs.items():
        found = ending(job, made, parts, noise)
        adam[each] = Reached(
            epsilon=found["stops"],
            by_orders=by_orders(plan_training(job).pledge)[found["releases"] - 1],
            validation=found["validation"],
            test=found["test"],
            releases=found["releases"],
            passed=found["passed"],
        )
    return {FULL_BATCH: {each: _full_batch(default(chosen, each), images, parts, noise) for each in jobs}, ADAM: adam}


def by_orders(pledge: PlannedStops) -> list[float]:
    """What each planned stop is stated as by the best Rényi order for it, whatever better way the pledge knows."""
    return [order_statement(promise, pledge.share)[0] for promise in pledge.promises]


def _full_batch(job: Wanted, images: Pool, parts: Parts, noise: Noise) -> Reached:
    """One search by full-batch steps, from the start."""
    train, held, test = parts
    split = Split.from_parts(Private(train), Private(held), because="drawn as different records")
    pledge = plan_training(job).pledge
    outcome = fine_tune(split, job, images.shape, odometer=Odometer(pledge=pledge, rehearsal=True), noise=noise)
    head, releases = outcome.release.value, len(outcome.history)
    return Reached(
        epsilon=outcome.epsilon,
        by_orders=by_orders(pledge)[releases - 1],
        validation=accuracy(head, held),
        test=accuracy(head, test),
        releases=releases,
        passed=outcome.ended is Ended.HALTED,
    )
