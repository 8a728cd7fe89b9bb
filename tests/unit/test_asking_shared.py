"""What several questions share is measured once, at the least cost that meets all of them."""

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from expost.jobs.asking.answer import Answer
from expost.jobs.asking.design import Design, MarginGoal
from expost.jobs.asking.margins import Margins
from expost.jobs.asking.overlap import Axes, covers
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import AnswerPlan, plan_answer
from expost.jobs.asking.question import AskRecipe, Targeted
from expost.jobs.asking.run import ask
from expost.jobs.asking.sharing import home_among, measurable
from expost.jobs.asking.tallies import Tally
from expost.jobs.asking.targets import WithinDistance
from expost.noise import SeededNoise
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD

COLUMNS: tuple[Column, ...] = (
    *(Integer(name, (0, 1), Missing.FALLBACK) for name in "abcd"),
    Integer("g", (0, 1, 2, 3), Missing.FALLBACK),
    Integer("days", tuple(range(11)), Missing.FALLBACK),
    Integer("known", tuple(range(11)), Missing.CATEGORY),
    Boolean("e", Missing.FALLBACK),
)
SCHEMA = Schema(COLUMNS, True, ADD)
PERSONS = Schema(COLUMNS, True, ADD.of_persons, unit="id")
NOISE = np.random.default_rng(3)
TABLE = Table(
    SCHEMA, {each.name: NOISE.integers(0, min(2, each.size), 3000).astype(np.uint8) for each in SCHEMA.columns}
)


minimize = import_module("scipy.optimize").minimize


def tally(question: str) -> Tally:
    return Tally.of(queries_in(question)[0])


def recipe_of(*asked: str, within: float = 50, schema: Schema = SCHEMA, rows: int | None = None) -> AskRecipe:
    questions = tuple(Targeted(queries_in(each)[0], WithinDistance(Fraction(within))) for each in asked)
    return AskRecipe(
        schema=schema, questions=questions, confidence=Fraction(19, 20), together=False, delta=1e-5, max_epsilon=5.0,
        rows_per_person=rows,
    )  # fmt: skip


def planned(*asked: str, within: float = 50) -> AnswerPlan:
    return plan_answer(recipe_of(*asked, within=within))


def rho(*asked: str, within: float = 50) -> float:
    return float(planned(*asked, within=within).levels[0])


@pytest.mark.parametrize(
    ("finer", "coarser"),
    [
        ("count by a, b", "count by b"),
        ("count by a, b", "count"),
        ("sum of days by a, b", "mean of days by b"),
        ("share of e = true by a, b", "share of e = true"),
        ("mean of days by a", "count"),
        ("share of e = true by a, b", "count by b"),
        ("share of known is missing by a, b", "count by b"),
        ("count by a, e", "count by a where e = true"),
        ("count by a, b, e where days > 4", "count by b where days > 4 and e = false"),
        ("mean of days by a, e", "mean of days where e = true"),
    ],
)
def test_cells_are_sums_of_finer_ones(finer: str, coarser: str) -> None:
    assert covers(SCHEMA, tally(finer), tally(coarser))
    assert not covers(SCHEMA, tally(coarser), tally(finer))


@pytest.mark.parametrize(
    ("finer", "coarser"),
    [
        ("count by a, b", "count by b, c"),
        ("count by a, b where c = 1", "count by b"),
        ("mean of known by a, b", "count by b"),
        ("share of known > 4 by a, b", "count by b"),
        ("sum of days by a, b", "sum of known by b"),
        ("count by a, b", "mean of days by b"),
        ("count by a, g", "count by a where g > 1"),
        ("count by a, g", "count by g where g = 1"),
        ("persons by a, b", "persons by b"),
    ],
)
def test_cells_that_are_no_sums_are_not_taken_for_them(finer: str, coarser: str) -> None:
    """The twin: other rows, rows left out, parts of rows, and persons who are in several groups."""
    assert not covers(SCHEMA, tally(finer), tally(coarser))


def test_a_persons_rows_under_a_condition_weigh_more_than_among_all_of_theirs() -> None:
    assert covers(PERSONS, tally("count by a, e"), tally("count by a"))
    assert not covers(PERSONS, tally("count by a, e"), tally("count by a where e = true"))


@pytest.mark.parametrize(
    ("asked", "free"),
    [
        (("sum of days by g, a", "sum of days by g"), False),
        (("count by g, e", "count by g where e = true"), True),
        (("sum of days by g, e", "sum of days by g where e = true"), True),
    ],
    ids=str,
)
def test_what_a_finer_question_tells_is_not_measured_again(asked: tuple[str, str], free: bool) -> None:
    finer, coarser = asked

    together = rho(*asked)

    assert together < 0.8 * (rho(finer) + rho(coarser))
    assert together == pytest.approx(rho(finer)) or not free


def test_a_condition_on_a_column_that_others_are_grouped_by_costs_no_more_than_without() -> None:
    """All groups of the column have the price of one of them, and tell of everything else."""
    assert rho("count by g where e = true", "count by e") <= 1.002 * rho("count by g, e", "count by e")
    assert home_among(recipe_of("count by g where e = true", "count by e"), tally("count by g where e = true")) == (
        tally("count by g, e")
    )
    assert rho("count by g where e = true") == pytest.approx(rho("count by g, e"), rel=0.01)


@pytest.mark.parametrize(("columns", "most"), [("abc", 1.76), ("abcd", 2.69)])
def test_pairs_of_columns_cost_less_than_one_after_the_other(columns: str, most: float) -> None:
    """In units of one of them, of which there are three and six."""
    pairs = [f"count by {', '.join(pair)}" for pair in combinations(columns, 2)]

    assert rho(*pairs) < most * 1.005 * rho(pairs[0])


def test_asking_for_more_costs_no_less() -> None:
    pairs = [f"count by {', '.join(pair)}" for pair in combinations("abc", 2)]

    assert rho(*pairs) <= 1.002 * rho(*pairs, "count by a, b, c")


def test_coarser_counts_count_for_finer_ones() -> None:
    """Measured in units of the finest: two and a half, where each for itself costs three beyond what sums tell."""
    asked = ("count by a, b", "count by a", "count by b", "count")

    assert rho(*asked) < 1.01 * 2.25 * rho(asked[0])


@pytest.mark.parametrize(
    "asked",
    [
        ("count by a, b", "count by a", "count by b", "count"),
        ("count by a, b", "count by b, c", "count by a, c"),
        ("sum of days by g, e", "count by g where e = true", "sum of days by g where e = true", "count"),
        ("sum of days by g", "count by g, a", "sum of known by g"),
    ],
    ids=str,
)
def test_one_release_meets_every_distance_and_is_no_finer_than_that(asked: tuple[str, ...]) -> None:
    answer = answered(*asked)

    halves = [max(line.half for line in told.lines) / 60 for told in answer.told]
    assert answer.passed
    assert max(halves) <= 1 + 1e-9
    assert max(halves) > 0.985
    assert answer.epsilon == pytest.approx(planned(*asked, within=60).epsilons[0])


def answered(*asked: str) -> Answer:
    return ask(TABLE, *asked, schema=SCHEMA, within=60, max_epsilon=5.0, noise=SeededNoise(4))


@pytest.mark.parametrize("within", ["8%", "20%"])
def test_a_climb_measures_what_its_questions_share(within: str) -> None:
    asked = ("count by a, b", "count by b, c", "count by a, c", "mean of days by a", "count by b where c = 1")

    answer = ask(TABLE, *asked, schema=SCHEMA, within=within, max_epsilon=5.0, noise=SeededNoise(5))

    by_ab, by_bc, _, _, by_b = ([line.estimate for line in told.lines] for told in answer.told)
    assert answer.passed
    assert by_ab[0] + by_ab[2] == pytest.approx(by_bc[0] + by_bc[1])
    assert by_b == pytest.approx([by_bc[1], by_bc[3]])


def design_of(sizes: Mapping[str, int], asked: list[Axes], variances: list[float]) -> Design:
    places = list(dict.fromkeys([*asked, *(one | other for one in asked for other in asked)]))
    wanted = tuple(MarginGoal(each, variance, False) for each, variance in zip(asked, variances, strict=True))
    return Design(
        Margins.of(places, dict(sizes.items())),
        tuple(places),
        np.full(len(places), 0.5),
        wanted,
    )


margins = st.lists(st.frozensets(st.sampled_from("abcd"), max_size=3), min_size=2, max_size=5, unique=True)


@settings(max_examples=25, deadline=None)
@given(margins, st.lists(st.floats(0.1, 10), min_size=5, max_size=5), st.tuples(*[st.integers(2, 6)] * 4))
def test_the_design_is_met_and_hardly_dearer_than_the_cheapest(
    asked: list[Axes], variances: list[float], sizes: tuple[int, ...]
) -> None:
    """Beside another solver, from where ours ends; it is convex in the logarithms of the precisions."""
    design = design_of(dict(zip("abcd", sizes, strict=True)), asked, variances[: len(asked)])

    found = design.cheapest()

    assert design.missing(found) <= 1 + 1e-6
    cells = np.array([design.margins.cells(each) for each in design.measured], dtype=np.float64)
    best = minimize(
        lambda logs: np.log(design.cost(np.exp(logs))),
        np.log(found + 1e-6 * found.max()),
        constraints={
            "type": "ineq",
            "fun": lambda logs: 1 - design.needs @ (1 / (design.tells @ (np.exp(logs) / cells))),
        },
        method="SLSQP",
        options={"maxiter": 300},
    )
    least = np.exp(best.x) * design.missing(np.exp(best.x))
    assert design.cost(found) <= 1.01 * design.cost(least)


def test_a_design_is_never_dearer_than_the_finest_first() -> None:
    """Which was the rule before: each tally as far as finer ones do not tell of it."""
    design = design_of({"a": 3, "b": 50}, [frozenset("ab"), frozenset("a")], [1.0, 0.001])
    finest_first = np.array([1.0, 1000 - 1 / 50])

    assert design.missing(finest_first) == pytest.approx(1, abs=1e-6)
    assert design.cost(design.cheapest()) <= design.cost(finest_first) * (1 + 1e-3)


def test_what_may_be_measured_is_little_however_much_is_asked() -> None:
    columns = "abcdefghij"
    pairs = [tally(f"count by {', '.join(pair)}") for pair in combinations(columns, 2)]

    found = measurable(pairs)

    assert {*pairs} < {*found}
    assert len(found) <= len(pairs) + 32


def test_persons_whose_rows_are_counted_first_are_measured_by_what_was_asked_alone() -> None:
    """How far a person moves another tally is not known."""
    pairs = [f"count by {', '.join(pair)}" for pair in combinations("abc", 2)]

    found, given = (recipe_of(*pairs, schema=PERSONS, rows=rows) for rows in (None, 2))

    assert not found.bounded
    assert float(plan_answer(given).levels[0]) == pytest.approx(4 * rho(*pairs), rel=0.01)
