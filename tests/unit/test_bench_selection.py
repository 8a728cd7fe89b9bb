"""The benchmark of selections in miniature, and the table that the theory shows of it."""

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from benchmarks import selection
from benchmarks.harness import RESULTS
from benchmarks.selection.case import DELTA, STOPS, Case
from benchmarks.selection.tables import TABLES, TARGET, few
from benchmarks.selection.trees import Gaussian, Way, heaviest, leeway, true_scores

from expost import Gaussian as Measuring
from expost import SeededNoise
from expost.accounting.claim import Budget
from expost.tabular.selection import queries, star
from tests.bills.recording import RecordingNoise

EDGES = (("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"))
WEIGHTS = np.array([9.0, 7.0, 4.0, 1.0])


@pytest.fixture(scope="module")
def case() -> Case:
    return Case.of(few(), SeededNoise(1))


def test_the_heaviest_tree_leaves_out_the_lightest_pair_of_a_circle() -> None:
    assert heaviest(EDGES, WEIGHTS) == [0, 1, 3]


def test_a_pair_is_as_certain_as_its_distance_from_what_would_replace_it() -> None:
    assert leeway(EDGES, WEIGHTS).tolist() == [5, 3, 3, np.inf]


@pytest.mark.parametrize("name", selection.WAYS)
@pytest.mark.parametrize("epsilon", [0.18, 1.5])
def test_every_way_is_stated_as_the_price(name: str, epsilon: float, case: Case) -> None:
    way, state = selection.WAYS[name]
    alone, half, domain = case.selection.alone(), case.selection.half, case.train.domain
    pairs = case.selection.marginals(queries(domain, (TARGET,), star(domain, (TARGET,))))

    spent = Measuring(alone.statistic).promise(half) + way.cost(case.tree, half)
    spent += Measuring(pairs.statistic).promise(case.level(way, state, epsilon))

    assert 0.9999 * epsilon < state(spent, DELTA / STOPS)[0] <= epsilon


@pytest.mark.parametrize("rounds", [1, 4])
def test_gaussian_noise_has_the_variance_that_is_billed(rounds: int, case: Case) -> None:
    """Each of the scores measured in a round moves by 1, so that a round costs its number over twice the variance."""
    noise, budget = RecordingNoise(SeededNoise(1)), Budget.of(Fraction(1, 100), alpha=2)
    way: Way = Gaussian(rounds)

    way.choose(case.tree, case.train, budget, noise)

    sizes = [6, 3, 2, 1][:rounds]
    assert [draw.shape for draw in noise.asked] == [(size,) for size in sizes]
    costs = [size / (2 * draw.parameter) for size, draw in zip(sizes, noise.asked, strict=True)]
    assert sum(costs) == pytest.approx(float(budget.rho))
    assert way.cost(case.tree, budget).at(2) == pytest.approx(float(budget.epsilon))


@pytest.mark.parametrize("name", selection.TREES)
def test_a_large_budget_finds_the_best_tree(name: str, case: Case) -> None:
    scores = true_scores(case.tree, case.train)

    found = selection.TREES[name].choose(case.tree, case.train, Budget.of(2, alpha=2), SeededNoise(1))

    assert set(found) == {case.tree.edges[place] for place in heaviest(case.tree.edges, scores)}


def test_a_miniature_has_the_figures_of_its_cell() -> None:
    found = selection.cell("few.1.5", few(), 1.5, seeds=2)

    ours, before = (found[f"selection.accuracy.few.1.5.{way}"] for way in ("exponential", "by_order"))
    assert found["selection.accuracy_gain.few.1.5.exponential_over_by_order"] == pytest.approx(ours - before)
    assert 0.5 < ours < 1
    assert found["selection.two_way.few.1.5.gaussian.error"] > 0


def test_no_tree_beats_the_best() -> None:
    found = selection.trees("few", few(), 3)

    assert all(0.5 < share <= 1 for name, share in found.items() if not name.endswith("error"))


def outcomes(figures: Mapping[str, float]) -> str:
    """Accuracies and what Gaussian noise gains, as the theory shows them."""
    lines = ["| table | ε | by order | exponential | Gaussian | gain | two-way gain |", "|---|---|---|---|---|---|---|"]
    for place in (f"{table}.{epsilon}" for table in TABLES for epsilon in selection.EPSILONS):
        table, _, epsilon = place.partition(".")
        accuracies = [f"{figures[f'selection.accuracy.{place}.{way}']:.4f}" for way in selection.WAYS]
        gains = [f"selection.{measure}_gain.{place}.gaussian_over_exponential" for measure in ("accuracy", "two_way")]
        compared = [f"{figures[gain]:+.4f} ± {figures[f'{gain}.error']:.4f}" for gain in gains]
        lines.append(f"| {' | '.join([table, epsilon, *accuracies, *compared])} |".replace("-", "−"))
    return "\n".join(lines)


def chosen_trees(figures: Mapping[str, float]) -> str:
    """Shares of the best tree's score, as the theory shows them."""
    lines = ["| table | exponential | at equal profile | Gaussian | all scores once |", "|---|---|---|---|---|"]
    for table in TABLES:
        names = [f"selection.tree.{table}.{way}" for way in selection.TREES]
        shares = [f"{figures[name]:.4f} ± {figures[f'{name}.error']:.4f}" for name in names]
        lines.append(f"| {' | '.join([table, *shares])} |")
    return "\n".join(lines)


@pytest.mark.parametrize("shown", [outcomes, chosen_trees])
def test_the_theory_shows_what_was_recorded(shown: Callable[[Mapping[str, float]], str]) -> None:
    theory = (Path(__file__).parents[2] / "docs/theory.md").read_text(encoding="utf-8")

    assert shown(json.loads((RESULTS / "selection.json").read_text(encoding="utf-8"))["figures"]) in theory
