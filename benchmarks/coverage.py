"""Coverage of answers: how often error bars hold and targets are met, over RUNS seeded runs of each kind of question.

The runs are those of ``ask`` from its first look to its last, on one table with skewed, equal, tiny and empty groups:
of one question, of several that overlap, and of one that uses an earlier answer.
``held`` is the share of error bars that hold, ``met`` that of settled groups whose number is as near as was asked for
and of groups too small for it that are, ``reached`` that of runs that reached their target, ``right`` that of decisions
that are right. ``coverage.least`` is the least of the shares that are to be 95 %, and ``coverage.plausible`` is 1 if no
number of misses has a chance below FALSE_ALARM where 5 % are allowed. The twins take ±1.96 standard errors at each of
several looks: how often bars of four looks all hold, and no difference of equal groups is seen in eleven.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.harness import Progress
from expost.jobs.asking.climb import AnswerLook, climb, refine, release_exactly
from expost.jobs.asking.deciding import decide
from expost.jobs.asking.estimates import Bars
from expost.jobs.asking.measuring import Measuring
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import AnswerPlan, plan_answer
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.targets import Above, Compare, Target, Top, WithinDistance, WithinShare
from expost.noise import Floats, SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private
from expost.tabular.persons import Grouped
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

RUNS, FALSE_ALARM, CONFIDENCE = 2_000, 1e-6, Fraction(19, 20)
SIZES = np.array([2400, 900, 900, 600, 350, 150, 3, 0])
"""Rows of each group: skewed, two alike, tiny, none."""
COLUMNS = (
    Integer("g", tuple(range(len(SIZES))), Missing.FALLBACK), Integer("v", tuple(range(11)), Missing.FALLBACK),
)  # fmt: skip
RECORDS = Schema(COLUMNS, True, Neighbours.ADD_REMOVE)
PERSONS = Schema(COLUMNS, True, Neighbours.ADD_REMOVE_PERSON, unit="id")
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
VALUES = np.minimum(np.random.default_rng(5).binomial(10, 0.2 + 0.08 * GROUPS), 10)
OWNERS = np.arange(len(GROUPS)) // 2
"""Persons have two rows, nearly always in one group."""
Held = NDArray[np.bool_]
Asked = tuple[tuple[str, Floats], ...]
"""Questions with their true answers."""


def by_group(f: Callable[[NDArray[np.int64]], float]) -> Floats:
    """A number of the values of each group, 0 of an empty one."""
    return np.array([f(VALUES[group == GROUPS]) if size else 0.0 for group, size in enumerate(SIZES)])


@dataclass(frozen=True)
class Kind:
    """A kind of question, its target, and the true answers."""

    question: str
    target: Target
    truth: Floats
    schema: Schema = RECORDS


COUNTS = SIZES.astype(np.float64)
THIRD, SIXTH = Fraction(1, 3), Fraction(1, 6)
TENTH = WithinShare(Fraction(1, 10))
KINDS = {
    "a count within a share": Kind("count by g", TENTH, COUNTS),
    "a count within a distance": Kind("count by g", WithinDistance(Fraction(25)), COUNTS),
    "a count within a share of the total": Kind("count by g", WithinShare(Fraction(1, 100), of_total=True), COUNTS),
    "a sum within a share": Kind("sum of v by g", WithinShare(Fraction(3, 20)), by_group(np.sum)),
    "a mean within a distance": Kind("mean of v by g", WithinDistance(Fraction(1)), by_group(np.mean)),
    "a mean within a share": Kind("mean of v by g", WithinShare(Fraction(1, 5)), by_group(np.mean)),
    "a share within a share": Kind(
        "share of v < 6 by g", WithinShare(Fraction(1, 4)), by_group(lambda of: float(np.mean(of < 6)))
    ),
    "a share within a distance": Kind(
        "share of v = 3 by g", WithinDistance(Fraction(1, 10)), by_group(lambda of: float(np.mean(of == 3)))
    ),
    "a median within a distance": Kind("median of v by g", WithinDistance(Fraction(2)), by_group(np.median)),
    "persons within a share": Kind(
        "persons by g", WithinShare(Fraction(1, 5)),
        np.array([len(np.unique(OWNERS[group == GROUPS])) for group in range(len(SIZES))], dtype=np.float64), PERSONS,
    ),
}  # fmt: skip


EVERY = np.bincount(VALUES, minlength=11).astype(np.float64)
OVERLAPPING: Asked = (
    ("count by g", COUNTS),
    ("count by v", EVERY),
    ("sum of v by g", by_group(np.sum)),
    ("count by g where v = 3", by_group(lambda of: float(np.sum(of == 3)))),
    ("count", COUNTS.sum(keepdims=True)),
)
"""Questions whose answers have much in common."""
SEVERAL: dict[str, tuple[Asked, Target]] = {
    "several within a distance": (OVERLAPPING, WithinDistance(Fraction(60))),
    "several within a share": (OVERLAPPING[:2], WithinShare(Fraction(1, 5))),
}


def data_of(schema: Schema) -> Private[Table] | Private[Grouped]:
    """The table, by records or by persons."""
    table = Table(schema, {"g": GROUPS.astype(np.uint8), "v": VALUES.astype(np.uint8)})
    if schema.unit is None:
        return Private(table, schema.neighbours)
    return Private(Grouped.of(table, OWNERS), schema.neighbours)


DATA = {schema.neighbours: data_of(schema) for schema in (RECORDS, PERSONS)}


def recipe_of(kind: Kind, *, together: bool = False) -> AskRecipe:
    """A kind of question as it is asked."""
    return AskRecipe(
        schema=kind.schema, questions=(Targeted(queries_in(kind.question)[0], kind.target),), confidence=CONFIDENCE,
        together=together, delta=1e-5, max_epsilon=2.0, rows_per_person=None if kind.schema.unit is None else 2,
    )  # fmt: skip


def several(name: str) -> AskRecipe:
    """Questions that overlap, asked at once."""
    asked, target = SEVERAL[name]
    first = recipe_of(Kind(asked[0][0], target, COUNTS))
    return replace(first, questions=tuple(Targeted(queries_in(each)[0], target) for each, _ in asked))


def begun(recipe: AskRecipe, plan: AnswerPlan, seed: int) -> Measuring:
    """A run that has measured nothing yet."""
    odometer = Odometer(pledge=plan.pledge, rehearsal=True)
    most = dict.fromkeys(recipe.tallies, recipe.rows_per_person or 1)
    return Measuring(recipe, DATA[recipe.schema.neighbours], odometer, SeededNoise(seed), most)


def ended(plan: AnswerPlan, measuring: Measuring) -> AnswerLook:
    """The run, as it is chosen by what is asked."""
    if plan.exact:
        return release_exactly(plan, measuring)
    procedure = climb if measuring.recipe.decision is None else decide
    return procedure(plan, measuring, top=len(plan.levels), tell=lambda doing: None)


def plausible(misses: int, of: int, allowed: float = 0.05) -> bool:
    """Whether so many misses have a chance of at least the false-alarm rate where this share is allowed."""
    return bool(stats.binom.sf(misses - 1, of, allowed) >= FALSE_ALARM)


def holds(look: AnswerLook, truth: Floats) -> Held:
    """The groups whose truth lies between the ends of its error bar."""
    (bars,) = look.bars
    return bars_hold(bars, truth)


def bars_hold(bars: Bars, truth: Floats) -> Held:
    """The same of one question among others."""
    return np.asarray((bars.low <= truth + 1e-9) & (truth - 1e-9 <= bars.high))


def near(kind: Kind, look: AnswerLook) -> Held:
    """The groups whose estimate is as near to the truth as was asked for."""
    (bars,) = look.bars
    apart = np.abs(bars.point - kind.truth)
    if isinstance(kind.target, WithinDistance):
        return np.asarray(apart <= float(kind.target.distance))
    assert isinstance(kind.target, WithinShare)
    whole = np.abs(kind.truth).sum() if kind.target.of_total else np.abs(kind.truth)
    return np.asarray(apart <= float(kind.target.share) * whole)


def within_share(share: Fraction) -> AskRecipe:
    """Counts within a share, where groups below a hundred are small."""
    return replace(recipe_of(Kind("count by g", WithinShare(share), COUNTS)), fewer_than=100)


def refined_twice(plan: AnswerPlan, seed: int) -> list[AnswerLook]:
    """An answer at a third, refined to a fourth where somebody who looks at it feels like it, and to a fifth."""
    measuring = begun(within_share(Fraction(1, 3)), plan, seed)
    found = [ended(plan, measuring)]
    for share in (Fraction(1, 4), Fraction(1, 5)):
        if found[-1].bars[0].point[1] < found[-1].bars[0].point[2] or share == Fraction(1, 5):
            measuring.recipe = within_share(share)
            found.append(refine(plan, measuring, tell=lambda doing: None))
    return found


def after_an_earlier_one(plan: AnswerPlan, seed: int) -> list[AnswerLook]:
    """An answer at a third, and a finer one afterwards that may use it, as on a ledger."""
    first, second = (begun(within_share(share), plan, seed + RUNS * part) for part, share in ((0, THIRD), (1, SIXTH)))
    found = ended(plan, first)
    second.before = dict(first.known)
    return [found, ended(plan, second)]


DECISIONS: dict[str, tuple[Target, Callable[[AnswerLook], bool]]] = {
    "which is larger": (Compare("0", "1"), lambda look: bool(look.bars[0].point[0] > look.bars[0].point[1])),
    "which of two close ones is larger": (
        Compare("3", "1"),
        lambda look: bool(look.bars[0].point[3] < look.bars[0].point[1]),
    ),
    "above": (Above(Fraction(500)), lambda look: bool(np.array_equal(look.bars[0].point > 500, SIZES > 500))),
    "the top": (Top(3), lambda look: set(np.argsort(-look.bars[0].point)[:3].tolist()) == {0, 1, 2}),
}


def naive_looks(draws: int, truth: float, levels: int, ratio: float) -> tuple[Floats, Floats]:
    """Ever finer estimates of a number, and their standard errors."""
    noise = np.random.default_rng(8)
    precisions = 1e-4 * ratio ** np.arange(levels)
    steps = np.sqrt(np.diff(precisions, prepend=0.0)) * noise.standard_normal((draws, levels))
    return truth + np.cumsum(steps, axis=1) / precisions, 1 / np.sqrt(precisions)


@dataclass
class Count:
    """How many of something did not hold, of how many."""

    misses: int = 0
    of: int = 0

    def add(self, held: Held) -> None:
        """Count the ones of a run."""
        self.misses, self.of = self.misses + int((~held).sum()), self.of + held.size

    @property
    def share(self) -> float:
        """The share that holds; all, where there is none."""
        return 1 - self.misses / max(self.of, 1)


def every_run(recipe: AskRecipe) -> Iterator[AnswerLook]:
    """The ends of RUNS runs."""
    plan = plan_answer(recipe)
    return (ended(plan, begun(recipe, plan, seed)) for seed in range(RUNS))


def kind_figures(name: str) -> dict[str, Count]:
    """What runs of one kind of question come to."""
    kind, found = KINDS[name], {"held": Count(), "met": Count(), "reached": Count()}
    counted = SIZES > 0 if exists_for_rows_only(name) else SIZES >= 0
    for look in every_run(recipe_of(kind)):
        found["held"].add(holds(look, kind.truth)[counted])
        found["met"].add(target_met(kind, look))
        found["reached"].add(np.array([look.reached]))
    return found


def exists_for_rows_only(name: str) -> bool:
    """Whether a group without rows has no such number: a mean or a median."""
    return "me" in name.split()[1]


def target_met(kind: Kind, look: AnswerLook) -> Held:
    """Of the groups that are said to be settled or small, which are as near as was asked for, or as small."""
    settled, few = look.settled[0], look.few[0] & ~look.settled[0]
    return np.asarray(np.concatenate([near(kind, look)[settled], (look.sizes[0] > SIZES)[few]]))


def several_figures(name: str) -> dict[str, Count]:
    """How often bars hold of questions that overlap, each question by itself: they do not miss independently."""
    asked, found = SEVERAL[name][0], {"reached": Count()}
    for look in every_run(several(name)):
        found["reached"].add(np.array([look.reached]))
        for (question, truth), bars in zip(asked, look.bars, strict=True):
            found.setdefault(f"{question.replace(' ', '_')}.held", Count()).add(bars_hold(bars, truth))
    return found


def bars_at_once() -> Count:
    """In how many runs all bars hold that are to hold together."""
    kind, found = KINDS["a count within a share"], Count()
    for look in every_run(recipe_of(kind, together=True)):
        found.add(np.array([holds(look, kind.truth).all()]))
    return found


def all_hold(runs: Callable[[AnswerPlan, int], list[AnswerLook]]) -> Count:
    """How often all bars of a group hold, of an answer that was refined or followed by one that uses it."""
    found, plan = Count(), plan_answer(within_share(THIRD))
    for seed in range(RUNS):
        found.add(np.asarray(np.all([holds(look, COUNTS) for look in runs(plan, seed)], axis=0)))
    return found


def later_hold() -> Count:
    """How often the bars of an answer hold that used an earlier one."""
    found, plan = Count(), plan_answer(within_share(THIRD))
    for seed in range(RUNS):
        found.add(holds(after_an_earlier_one(plan, seed)[-1], COUNTS))
    return found


def decided_rightly(name: str) -> Count:
    """How many decisions are right, of those that were made."""
    (target, right), found = DECISIONS[name], Count()
    for look in every_run(recipe_of(Kind("count by g", target, COUNTS))):
        found.add(np.array([right(look)] if look.reached else [], dtype=np.bool_))
    return found


def equal_left_open() -> Count:
    """In how many runs it is left open which of two equal groups is larger."""
    found = Count()
    for look in every_run(recipe_of(Kind("count by g", Compare("1", "2"), COUNTS))):
        found.add(np.array([not look.reached]))
    return found


def naive_shares() -> list[float]:
    """The twins: a number at four looks, and a difference of nothing at eleven."""
    looked = [(truth, naive_looks(20_000, truth, levels, 2.0)) for truth, levels in ((100.0, 4), (0.0, 11))]
    return [float((np.abs(values - truth) <= 1.96 * errors).all(axis=1).mean()) for truth, (values, errors) in looked]


def run(progress: Progress) -> dict[str, float]:
    """The shares of every kind of question, the least of them, and those of the twins."""
    found: dict[str, Count] = {}
    for name in KINDS:
        progress(name)
        found |= {f"coverage.{name.replace(' ', '_')}.{what}": each for what, each in kind_figures(name).items()}
    for name in SEVERAL:
        progress(name)
        found |= {f"coverage.{name.replace(' ', '_')}.{what}": each for what, each in several_figures(name).items()}
    progress("bars that hold together, and answers that are refined or used by later ones")
    found |= {"coverage.together.held": bars_at_once(), "coverage.refined.held": all_hold(refined_twice)}
    found["coverage.after_an_earlier_one.held"] = later_hold()
    for name in DECISIONS:
        progress(name)
        found[f"coverage.{name.replace(' ', '_')}.right"] = decided_rightly(name)
    found["coverage.equal_groups.left_open"] = equal_left_open()
    claimed = [each for name, each in found.items() if not name.endswith("reached")]
    naive = dict(zip(("coverage.naive_bars", "coverage.naive_decision"), naive_shares(), strict=True))
    return {
        "coverage.runs": float(RUNS),
        "coverage.least": min(each.share for each in claimed),
        "coverage.plausible": float(all(plausible(each.misses, each.of) for each in claimed)),
        **naive,
        **{name: each.share for name, each in found.items()},
    }
