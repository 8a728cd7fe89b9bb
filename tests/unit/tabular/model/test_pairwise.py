"""All pairs of columns at once are those that the model gives one by one."""

from itertools import combinations

import numpy as np
import pytest

from expost.noise import SeededNoise
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.pairwise import pairwise_cells, pairwise_counts, walk
from tests.unit.tabular.model.graphs import GRAPHS


@pytest.mark.parametrize(("domain", "cliques"), GRAPHS.values(), ids=GRAPHS)
def test_every_pair_is_that_of_the_model(domain: list[int], cliques: list[Clique]) -> None:
    noise = SeededNoise(3)
    measured = [Measured(c, 20 + noise.gaussian(5.0, tuple(domain[each] for each in c)), 1.0) for c in cliques]
    model = fit(Junction.of(domain, cliques), measured)

    found = dict(pairwise_counts(model, combinations(range(len(domain)), 2)))

    assert sorted(found) == [*combinations(range(len(domain)), 2)]
    for pair, counts in found.items():
        np.testing.assert_allclose(counts, model.marginal(pair), atol=1e-9 * model.total)


@pytest.mark.parametrize(("domain", "cliques"), GRAPHS.values(), ids=GRAPHS)
def test_a_walk_from_columns_of_one_clique_meets_every_other_one(domain: list[int], cliques: list[Clique]) -> None:
    noise = SeededNoise(3)
    measured = [Measured(c, 20 + noise.gaussian(5.0, tuple(domain[each] for each in c)), 1.0) for c in cliques]
    model = fit(Junction.of(domain, cliques), measured)

    for start in cliques:
        found = dict(walk(model, start, {*range(len(domain))}))

        assert {*found} == {*range(len(domain))} - {*start}
        for other, counts in found.items():
            np.testing.assert_allclose(counts, model.marginal((*start, other)), atol=1e-9 * model.total)


@pytest.mark.parametrize(("domain", "cliques"), GRAPHS.values(), ids=GRAPHS)
def test_only_the_pairs_that_are_wanted_are_worked_out(domain: list[int], cliques: list[Clique]) -> None:
    model = fit(Junction.of(domain, cliques), [Measured((0,), np.full(domain[0], 9.0), 1.0)])
    wanted = [*combinations(range(len(domain)), 2)][::3]

    found = dict(pairwise_counts(model, wanted))

    assert sorted(found) == wanted
    for pair, counts in found.items():
        np.testing.assert_allclose(counts, model.marginal(pair), atol=1e-9 * model.total)


def test_values_that_never_occur_have_no_partners() -> None:
    certain = Measured((0, 1), np.array([[50.0, 0.0], [0.0, 0.0]]), 1e-6)
    model = fit(Junction.of([2, 2, 3], [(0, 1), (1, 2)]), [certain, Measured((1, 2), np.full((2, 3), 8.0), 1e6)])

    found = dict(pairwise_counts(model, [(0, 2)]))

    assert np.isfinite(found[0, 2]).all()
    assert found[0, 2][1].sum() == pytest.approx(0, abs=0.01)


def test_a_walk_holds_the_largest_column_with_every_clique() -> None:
    assert pairwise_cells(Junction.of([2, 3, 5], [(0, 1), (1, 2)])) == 5 * (2 * 3 + 3 * 5)
