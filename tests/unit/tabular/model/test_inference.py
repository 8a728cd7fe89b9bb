"""Message passing agrees with sums over the full table, at any size of the potentials."""

import itertools
import math

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.tabular.model.inference import Passes, project
from expost.tabular.model.junction import Junction
from tests.unit.tabular.model.graphs import GRAPHS, asked, everything


@pytest.mark.parametrize("scale", [0.1, 3.0, 1e3, 1e6])
@pytest.mark.parametrize("graph", GRAPHS)
def test_marginals_and_partition_are_those_of_the_full_table(graph: str, scale: float) -> None:
    domain, cliques = GRAPHS[graph]
    passes = Passes(Junction.of(domain, cliques), cliques)
    potentials = SeededNoise(1).gaussian(scale, passes.bounds[-1])

    beliefs = passes.infer(potentials)

    logs = everything(domain, cliques, potentials)
    table = np.exp(logs - logs.max())
    assert beliefs.log_partition == pytest.approx(float(logs.max()) + math.log(table.sum()), rel=1e-12)
    np.testing.assert_allclose(beliefs.expected, asked(domain, cliques, table / table.sum()), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_covariance_is_that_of_the_full_table(graph: str) -> None:
    domain, cliques = GRAPHS[graph]
    passes = Passes(Junction.of(domain, cliques), cliques)
    noise = SeededNoise(2)
    potentials, direction = noise.gaussian(1.0, passes.bounds[-1]), noise.gaussian(1.0, passes.bounds[-1])

    moved = passes.covariance(passes.infer(potentials), direction)

    table = np.exp(everything(domain, cliques, potentials))
    table /= table.sum()
    scores = everything(domain, cliques, direction)
    np.testing.assert_allclose(moved, asked(domain, cliques, table * (scores - table @ scores)), atol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_least_cost_is_that_of_the_cheapest_row(graph: str) -> None:
    domain, cliques = GRAPHS[graph]
    passes = Passes(Junction.of(domain, cliques), cliques)
    costs = SeededNoise(3).gaussian(1.0, passes.bounds[-1])

    assert passes.least(costs) == pytest.approx(float(everything(domain, cliques, costs).min()), abs=1e-12)


def test_a_cell_projects_onto_its_own_codes() -> None:
    domain = [2, 3, 4]

    places = project(domain, (2, 0, 1), (1, 2))

    rows = itertools.product(range(4), range(2), range(3))
    assert places.tolist() == [second * 4 + third for third, _, second in rows]


def test_a_clique_outside_the_tree_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"holds columns \(0, 2\)"):
        Passes(Junction.of([2, 2, 2], [(0, 1), (1, 2)]), [(0, 2)])
