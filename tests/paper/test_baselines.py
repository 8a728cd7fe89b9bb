"""What accuracy-first saves, in miniature: predictors made of counts, what each method pays, how it is summed up."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from paper.engine.job import Job
from paper.items.baselines import QUICK, Found, _geometric, _guards, _row, attempts, run
from paper.peers.methods import METHODS, stated
from paper.peers.predictors import Marginals, correct, naive_bayes, ridge
from paper.peers.task import Afresh, Settings, Task, task
from paper.show.baselines import NAMES, text
from sklearn.naive_bayes import CategoricalNB

from expost import BalancedCheck, Gaussian, planned_stops
from expost.accounting.gaussian import gaussian_epsilon
from expost.datasets import adult
from expost.tabular.table import Table

SCHEMA = adult.adult_schema()
COLUMNS = [name for name in SCHEMA.names if name != SCHEMA.target]
BOTH = [Marginals.with_target(SCHEMA), Marginals.all_pairs(SCHEMA)]


def few(count: int) -> Table:
    table = adult.load()
    return table[np.arange(len(table)) < count]


def given(seed: int = 1, predictor: str = "ridge", guard: int = 0) -> Task:
    return task(QUICK, seed, predictor, guard)


def job(settings: Settings, folder: Path) -> Job[Settings]:
    return Job("baselines", 1, settings, 1, folder, 1)


def found(price: float, accuracy: float = 0.9) -> Found:
    return Found(price=price, accuracy=accuracy, rungs=1)


@pytest.mark.parametrize("marginals", BOTH)
def test_a_record_counts_once_for_each_pair_of_columns(marginals: Marginals) -> None:
    table, statistic = few(20), marginals.statistic
    whole = statistic.evaluate(table)

    moves = [whole - statistic.evaluate(table[np.arange(20) != left_out]) for left_out in range(20)]

    assert {int(np.abs(move).sum()) for move in moves} == {len(marginals.pairs)} == {statistic.l1}
    assert {int((move**2).sum()) for move in moves} == {statistic.l2_squared}


def test_ridge_regression_without_noise_is_that_on_the_records() -> None:
    table, marginals = few(3000), Marginals.all_pairs(SCHEMA)
    rows = np.concatenate([np.eye(SCHEMA.domain[name])[table.codes(name)] for name in COLUMNS], axis=1)
    signs = 2.0 * table.codes("income") - 1
    wanted = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ signs)

    made = ridge(marginals)(marginals.statistic.evaluate(table).astype(float), 0.0)

    assert np.concatenate([made.weights[name] for name in COLUMNS]) == pytest.approx(wanted, abs=1e-8)


def test_naive_bayes_without_noise_is_that_of_scikit_learn() -> None:
    table, marginals = few(20000), Marginals.with_target(SCHEMA)
    rows = np.stack([table.codes(name) for name in COLUMNS], axis=1)
    sizes = [SCHEMA.domain[name] for name in COLUMNS]
    theirs = CategoricalNB(alpha=1e-9, force_alpha=True, min_categories=sizes).fit(rows, table.codes("income"))

    ours = naive_bayes(marginals)(marginals.statistic.evaluate(table).astype(float), 0.0)

    assert (ours.predict(table) == theirs.predict(rows)).mean() > 0.995


def test_more_noise_makes_a_worse_predictor() -> None:
    noisy, fine = (attempts(replace(QUICK, low=low), 1, "ridge", "oracle", 0)["oracle"] for low in ("0.0001", "1e-1"))

    assert noisy["rungs"] > fine["rungs"]
    assert min(noisy["accuracy"], fine["accuracy"]) >= 0.82


def test_releases_that_do_not_know_of_each_other_cost_their_sum() -> None:
    task, levels = given(), QUICK.ladder.levels
    rungs = Afresh(tuple(replace(QUICK.ladder.budgets[0], epsilon=level) for level in levels))

    stops = planned_stops(Gaussian(task.statistic), rungs, BalancedCheck(task.question, None))

    assert [stop.at(20) for stop in stops] == pytest.approx([float(sum(levels[: i + 1])) for i in range(len(levels))])


def test_every_release_but_the_last_is_asked_about() -> None:
    rungs = Afresh(QUICK.ladder.budgets).rungs

    assert [rung.asked for rung in rungs] == [True] * (len(rungs) - 1) + [False]


def test_the_oracle_pays_for_one_release_at_the_whole_delta() -> None:
    task = given()

    outcome, price = METHODS["oracle"](task)

    rho = float(QUICK.ladder.levels[len(outcome.history) - 1] / QUICK.alpha)
    assert price == pytest.approx(gaussian_epsilon(rho, QUICK.delta), rel=1e-3)
    assert correct(outcome.release.value, task.held).mean() >= 0.82


@pytest.mark.parametrize("method", ["ours", "reduced"])
def test_stopping_at_a_rung_states_its_level(method: str) -> None:
    task = given()
    levels = stated(task)

    outcome, price = METHODS[method](task)

    assert price == pytest.approx(levels[len(outcome.history) - 1], abs=1e-6)


def test_a_check_of_one_level_is_paid_in_full_by_an_early_stop() -> None:
    """Naive Bayes passes on the first rung of this ladder, where the check has cost more than the release."""
    task = given(predictor="naive Bayes")
    levels = stated(task)

    outcome, price = METHODS["above"](task)

    assert len(outcome.history) == 1
    assert price == pytest.approx(levels[len(levels) // 2], abs=1e-6)


@pytest.mark.parametrize("method", ["doubling", "afresh"])
def test_a_fresh_release_costs_more_than_a_refined_one_of_its_budget(method: str) -> None:
    """On the first rung they are the same; here the first rung is not enough."""
    settings = replace(QUICK, targets=(("ridge", "0.83"),))

    outcome, price = METHODS[method](task(settings, 1, "ridge", 0))

    taken = len(outcome.history)
    level = settings.ladder.levels[0] * 2 ** (taken - 1) if method == "doubling" else settings.ladder.levels[taken - 1]
    assert taken > 1
    assert price > gaussian_epsilon(float(level / settings.alpha), settings.delta / settings.rungs) * 1.05


def test_every_method_sees_the_same_division_of_the_records() -> None:
    one, other = given(seed=3), given(seed=3, guard=5)

    assert all((one.held.codes(name) == other.held.codes(name)).all() for name in COLUMNS)
    assert other.question.threshold - one.question.threshold == Fraction(5, 1000)


@pytest.mark.parametrize(("surely", "guard"), [(0.0, 0), (2.0, 7)])
def test_the_guard_is_the_least_that_is_sure_enough_or_the_largest(surely: float, guard: int, tmp_path: Path) -> None:
    settings = replace(QUICK, surely=surely, guards=(0, 7), repeats=1)

    assert set(_guards(job(settings, tmp_path), "naive Bayes", 0.79).values()) == {guard}


def test_ratios_are_of_the_same_repeat() -> None:
    prices = [0.1, 0.7, 0.2]

    row = _row("doubling", 0, [found(price) for price in prices], [2 * price for price in prices], 0.8)

    assert list(row["ours_over"].values()) == pytest.approx([2.0, 2.0, 2.0])
    assert row["price"]["low"] < row["price"]["mean"] == pytest.approx(math.prod(prices) ** (1 / 3))


def test_a_geometric_interval_is_wider_for_prices_that_differ_more() -> None:
    near, far = _geometric([1.0, 2.0, 4.0]), _geometric([0.5, 2.0, 8.0])

    assert near["mean"] == pytest.approx(far["mean"]) == pytest.approx(2.0)
    assert far["low"] < near["low"] < near["high"] < far["high"]


def test_only_predictors_that_truly_reach_the_target_count() -> None:
    row = _row("ours", 0, [found(1, 0.79), found(1, 0.8), found(1, 0.81), found(1, 0.5)], [1.0] * 4, 0.8)

    assert row["reached"] == 0.5


def test_the_text_tells_of_every_method_on_every_predictor(tmp_path: Path) -> None:
    told = text(run(job(QUICK, tmp_path)))

    assert all(told.count(f"| {name} |") == len(QUICK.targets) for name in NAMES.values())
    assert set(NAMES) == set(METHODS)
