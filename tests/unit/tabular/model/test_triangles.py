"""What a model expects of three columns whose pairs are known, and what three columns tell of their pairs."""

from itertools import combinations

import numpy as np
import pytest

from expost.noise import Floats, SeededNoise
from expost.tabular.model.graphical import Measured, Model, fit
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.triangles import _agreeing, base, informed, triangles, triple_counts
from tests.unit.tabular.model.graphs import GRAPHS


def test_a_triangle_has_all_three_pairs_and_is_named_once() -> None:
    pairs: list[Clique] = [(0, 1), (2, 0), (1, 2), (2, 3), (1, 3), (3, 4)]

    assert [*triangles(pairs)] == [(0, 1, 2), (1, 2, 3)]
    assert [*triangles(combinations(range(5), 2))] == [*combinations(range(5), 3)]


def test_a_walk_starts_from_the_smallest_pair_that_one_clique_holds() -> None:
    chain = Junction.of([4, 2, 3, 5], [(0, 1), (1, 2), (2, 3)])

    assert base(chain, (0, 1, 2), 10**6) == (1, 2)
    assert base(chain, (0, 2, 3), 10**6) == (2, 3)
    assert base(Junction.of([2, 2, 2], [(0,), (1,), (2,)]), (0, 1, 2), 10**6) is None


def test_a_walk_that_would_hold_too_much_is_not_taken() -> None:
    chain = Junction.of([4, 2, 3], [(0, 1), (1, 2)])
    needed = 2 * 3 * (4 * 2 + 2 * 3)

    assert base(chain, (0, 1, 2), needed) == (1, 2)
    assert base(chain, (0, 1, 2), needed - 1) is None


@pytest.mark.parametrize(("domain", "cliques"), GRAPHS.values(), ids=GRAPHS)
def test_every_triple_is_that_of_the_model_where_no_pair_was_left_out(domain: list[int], cliques: list[Clique]) -> None:
    noise = SeededNoise(3)
    measured = [Measured(c, 20 + noise.gaussian(5.0, tuple(domain[each] for each in c)), 1.0) for c in cliques]
    model = fit(Junction.of(domain, cliques), measured)
    found = {triple: base(model.junction, triple, 10**9) for triple in combinations(range(len(domain)), 3)}
    bases: dict[Clique, Clique] = {triple: pair for triple, pair in found.items() if pair is not None}

    counts = dict(triple_counts(model, bases, {}))

    assert {*counts} == {*bases}
    for triple, expected in counts.items():
        np.testing.assert_allclose(expected, model.marginal(triple), atol=1e-9 * model.total)


def chain() -> tuple[Model, Floats]:
    """A model of two pairs of three columns, and the counts of the third, which it does not expect."""
    left, right = np.array([[30.0, 10.0], [10.0, 50.0]]), np.array([[25.0, 15.0], [20.0, 40.0]])
    measured = [Measured((0, 1), left, 1e-3), Measured((1, 2), right, 1e-3)]
    return fit(Junction.of([2, 2, 2], [(0, 1), (1, 2)]), measured), np.array([[35.0, 5.0], [10.0, 50.0]])


def test_a_pair_that_the_model_leaves_out_is_in_what_is_expected_of_a_triple() -> None:
    model, apart = chain()

    ((triple, counts),) = triple_counts(model, {(0, 1, 2): (0, 1)}, {(0, 2): apart})

    assert triple == (0, 1, 2)
    np.testing.assert_allclose(counts.sum(axis=1), apart, atol=0.01)
    assert np.abs(model.marginal((0, 2)) - apart).max() > 5


def test_counts_that_noise_made_negative_are_expected_of_nobody() -> None:
    model, _ = chain()

    ((_, counts),) = triple_counts(model, {(0, 1, 2): (0, 1)}, {(0, 2): np.array([[-3.0, 60.0], [60.0, -3.0]])})

    assert (counts >= 0).all()
    assert counts.sum() == pytest.approx(model.total)
    assert counts[0, :, 0].sum() == 0
    assert np.isfinite(
        [*dict(triple_counts(model, {(0, 1, 2): (0, 1)}, {(0, 2): np.full((2, 2), -1.0)})).values()]
    ).all()


def test_a_pair_is_averaged_with_the_sums_of_triples_by_their_precision() -> None:
    triple = np.arange(12.0).reshape(2, 2, 3)
    pair, other, whole = Measured((0, 2), np.ones((2, 3)), 4.0), Measured((0, 3), np.ones((2, 2)), 4.0), triple

    found = informed([pair, other, Measured((0, 1, 2), whole, 1.0)])

    assert found[1] is other
    assert found[2].values is whole
    assert found[0].variance == pytest.approx(1 / (1 / 4 + 1 / 2))
    np.testing.assert_allclose(found[0].values, (np.ones((2, 3)) / 4 + triple.sum(axis=1) / 2) / (3 / 4))


def test_without_triples_pairs_are_as_measured() -> None:
    pair = Measured((0, 2), np.ones((2, 3)), 3.0)

    assert informed([pair]) == [pair]


def test_cells_that_are_next_to_empty_are_not_blown_up_to_match_a_pair() -> None:
    """No finite factor makes a thousand records of 1e-310 of one, and a choice among triples needs numbers."""
    counts = np.full((2, 2, 2), 250.0)
    counts[1] = 1e-310
    pairs: dict[Clique, Floats] = {(0, 2): np.array([[0.0, 0.0], [500.0, 500.0]]), (1, 2): np.full((2, 2), 250.0)}

    found = _agreeing(counts, (0, 1, 2), pairs)

    assert np.isfinite(found).all()
    assert (found >= 0).all()
