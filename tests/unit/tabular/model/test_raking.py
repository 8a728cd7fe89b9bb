"""Rows are weighted until pairs fit that the model does not hold, as far as the noise in them allows."""

from itertools import combinations

import numpy as np
import pytest

from expost.noise import Floats, Noise, SeededNoise
from expost.tabular.model import raking
from expost.tabular.model.graphical import Measured, Model, fit
from expost.tabular.model.junction import Junction
from expost.tabular.model.raking import raked
from expost.tabular.model.sampling import Codes

ROWS = 20_000
JOINT = np.array([[0.35, 0.05, 0.1], [0.05, 0.25, 0.2]])


def independent(total: float = 1000.0) -> Model:
    """Two columns apart, by their true shares, and a third that is even."""
    alone = [JOINT.sum(axis=1), JOINT.sum(axis=0), np.full(2, 0.5)]
    measured = [Measured((place,), total * share, 1e-3) for place, share in enumerate(alone)]
    return fit(Junction.of([2, 3, 2], [(0,), (1,), (2,)]), measured)


def shares(codes: list[np.ndarray], left: int = 0, right: int = 1, size: int = 3) -> Floats:
    """The joint shares of two columns."""
    cells = np.bincount(codes[left].astype(int) * size + codes[right], minlength=2 * size)
    return np.asarray(cells.reshape(2, size) / len(codes[0]))


def test_a_pair_that_the_model_does_not_hold_is_fitted() -> None:
    model = independent()
    assert np.abs(shares(model.round(ROWS, SeededNoise(1))) - JOINT).max() > 0.1

    _, codes = raked(model, [Measured((0, 1), 1000 * JOINT, 0.01)], ROWS, SeededNoise(1))

    assert np.abs(shares(codes) - JOINT).max() < 0.005
    assert np.abs(shares(codes, 2, 1).sum(axis=1) - 0.5).max() < 0.01


def test_a_triple_whose_pairs_say_nothing_is_fitted() -> None:
    """The third column is even or odd as the two others together are, in nine of ten records."""
    even = fit(
        Junction.of([2, 2, 2], [(0,), (1,), (2,)]), [Measured((place,), np.full(2, 500.0), 1.0) for place in range(3)]
    )
    odd = np.indices((2, 2, 2)).sum(axis=0) % 2 == 1
    triple = np.where(odd, 25.0, 225.0)

    _, codes = raked(even, [Measured((0, 1, 2), triple, 0.01)], ROWS, SeededNoise(1))

    cells = np.bincount(4 * codes[0].astype(int) + 2 * codes[1] + codes[2], minlength=8)
    np.testing.assert_allclose(cells / ROWS, triple.ravel() / 1000, atol=0.003)


def test_a_triple_does_not_move_the_pairs_that_were_measured_better() -> None:
    """Its counts are off by as much as noise may be, and say of the pair what the pair does not."""
    triple = np.stack([500 * JOINT, 500 * JOINT[:, ::-1]], axis=2)
    measured = [Measured((0, 1), 1000 * JOINT, 0.01), Measured((0, 1, 2), triple, 100.0)]

    _, codes = raked(independent(), measured, ROWS, SeededNoise(1))

    assert np.abs(shares(codes) - JOINT).max() < 0.005


def test_a_pair_that_is_all_noise_moves_nothing() -> None:
    model = independent()

    _, codes = raked(model, [Measured((0, 1), 1000 * JOINT, 1e9)], ROWS, SeededNoise(1))

    np.testing.assert_allclose(shares(codes), np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0)), atol=0.01)


def test_the_factors_tell_the_same_of_a_column_as_the_rows_do() -> None:
    model, codes = raked(independent(), [Measured((0, 1), 1000 * JOINT, 0.01)], ROWS, SeededNoise(1))
    rows = [np.zeros(3, dtype=np.int64), np.arange(3), np.zeros(3, dtype=np.int64)]

    told = model.conditional(0, rows)

    counted = shares(codes)
    np.testing.assert_allclose(told.T, counted / counted.sum(axis=0), atol=0.02)


@pytest.mark.parametrize("rows", [1, 2, 997])
@pytest.mark.parametrize("values", [1000 * JOINT, -(10**9) * JOINT, 10**9 * JOINT, 0 * JOINT])
def test_there_are_as_many_rows_as_were_asked_whatever_the_noise_made_of_the_counts(rows: int, values: Floats) -> None:
    pairs = [Measured((0, 1), values, 1.0), Measured((1, 2), np.full((3, 2), -5e4), 1.0)]

    model, codes = raked(independent(), pairs, rows, SeededNoise(2))

    assert [len(column) for column in codes] == [rows] * 3
    assert [int(column.max()) < size for column, size in zip(codes, (2, 3, 2), strict=True)] == [True] * 3
    assert all(np.isfinite(table).all() for _, table in model.potentials)


def test_pairs_that_fit_already_are_left_alone() -> None:
    model = independent()
    even = np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0))

    weighted, codes = raked(model, [Measured((0, 1), 1000 * even, 1.0)], ROWS, SeededNoise(4))

    np.testing.assert_allclose(shares(codes), even, atol=0.003)
    assert np.abs(weighted.potentials[-1][1]).max() < 0.1


def test_a_model_that_knows_nothing_of_a_pair_holds_it_back_by_little() -> None:
    """A standard error of 2 % of the records per cell, beside interactions of 15 %."""
    _, codes = raked(independent(), [Measured((0, 1), 1000 * JOINT, 400.0)], ROWS, SeededNoise(1))

    assert np.abs(shares(codes) - JOINT).max() < 0.04


def test_a_pair_in_many_records_is_not_held_back_where_it_is_far_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A standard error of 300 records per cell, beside interactions of 150,000."""
    pair = Measured((0, 1), 1e6 * JOINT, 300.0**2)

    _, codes = raked(independent(1e6), [pair], ROWS, SeededNoise(1))
    monkeypatch.setattr(raking, "SHARED", 1e9)
    _, held_back = raked(independent(1e6), [pair], ROWS, SeededNoise(1))

    assert np.abs(shares(codes) - JOINT).max() < 0.002
    assert np.abs(shares(held_back) - JOINT).max() > 0.003


def test_cells_are_held_as_strongly_as_ever_unless_pairs_that_the_model_lacks_are_far_off() -> None:
    """Noise says nothing, nor do triples, nor what the model was fitted to."""
    shares_of = [JOINT.sum(axis=1), np.outer(JOINT.sum(axis=0), [0.5, 0.5])]
    fitted = [Measured(clique, 1e6 * each, 1.0) for clique, each in zip([(0,), (1, 2)], shares_of, strict=True)]
    model, noise = fit(Junction.of([2, 3, 2], [(0,), (1, 2)]), fitted), SeededNoise(3)
    codes = model.round(ROWS, noise)
    even = 1e6 * np.outer(JOINT.sum(axis=1), JOINT.sum(axis=0))
    noisy = Measured((0, 1), even + noise.gaussian(300.0, (2, 3)), 300.0**2)
    triple = Measured((0, 1, 2), 1e6 * np.stack([JOINT, np.zeros((2, 3))], axis=-1), 300.0**2)
    known = Measured((1, 2), np.array([[1e6, 0], [0, 0], [0, 0]]), 300.0**2)
    usual = raking.PRIOR * 300.0**2

    assert raking._held(model, codes, [noisy, triple, known]) == [usual] * 3
    least, *others = raking._held(model, codes, [Measured((0, 1), 1e6 * JOINT, 300.0**2), triple, known])

    assert least < usual / 10
    assert others == [usual, least]  # one prior for all pairs


def test_rows_of_like_codes_make_up_for_each_other_when_weights_are_rounded() -> None:
    noise = SeededNoise(5)
    codes = independent().sample(ROWS, noise)
    weights = np.asarray(np.exp(noise.uniform(ROWS)))
    wanted = np.bincount(codes[0].astype(int) * 3 + codes[1], weights=weights, minlength=6) * ROWS / weights.sum()

    picked = raking._systematic(codes, weights, ROWS, noise)

    assert np.abs(shares([column[picked] for column in codes]).ravel() * ROWS - wanted).max() <= 2


def test_more_rows_are_drawn_where_few_of_them_bear_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records all but a few of which are in one cell that the model holds to be rare."""
    rare = np.full((2, 3), 1.0)
    rare[0, 2] = 995.0
    model, drawn = independent(), []

    def drawing(self: Model, rows: int, noise: Noise) -> list[Codes]:
        drawn.append(rows)
        return self.sample(rows, noise)

    monkeypatch.setattr(Model, "round", drawing)

    _, codes = raked(model, [Measured((0, 1), rare, 0.01)], 1000, SeededNoise(6))
    raked(model, [Measured((0, 1), 1000 * JOINT, 1e9)], 1000, SeededNoise(6))

    assert drawn == [1000, 4000, 1000]
    assert len(codes[0]) == 1000


def test_a_pair_that_the_model_was_fitted_to_stays_as_it_is_there() -> None:
    """Its counts are as if noise had moved a tenth of the records; those of a third column pull at it besides."""
    noisy = 1000 * JOINT + np.array([[50, -50, 0], [-50, 50, 0]])
    measured = [Measured((0, 1), 1000 * JOINT, 1e-3), Measured((2,), np.full(2, 500.0), 1e-3)]
    model = fit(Junction.of([2, 3, 2], [(0, 1), (2,)]), measured)
    other = Measured((0, 2), np.array([[400.0, 100.0], [100.0, 400.0]]), 1.0)

    _, codes = raked(model, [Measured((0, 1), noisy, 1.0), other], ROWS, SeededNoise(7))

    np.testing.assert_allclose(shares(codes), JOINT, atol=0.003)
    np.testing.assert_allclose(shares(codes, 0, 2, 2), other.values / 1000, atol=0.003)


SIZES = (2, 1, 3, 4, 2)
"""Columns of a larger model, of which one has one value only."""


def of_five(noise: Noise) -> tuple[Model, list[Measured]]:
    """A model of even columns, and pairs and triples, their columns in any order, that say something else."""
    alone = [Measured((place,), np.full(size, 1e4 / size), 1.0) for place, size in enumerate(SIZES)]
    model = fit(Junction.of(SIZES, [(place,) for place in range(5)]), alone)
    cliques = [(0, 2), (1, 3), (3, 2), (4, 0), (0, 2, 4), (2, 1, 3)]
    shapes = [[SIZES[column] for column in clique] for clique in cliques]
    shares = [noise.uniform(tuple(shape)) + 0.2 for shape in shapes]
    return model, [Measured(c, 1e4 * each / each.sum(), 100.0) for c, each in zip(cliques, shares, strict=True)]


def one_after_another(model: Model, codes: list[Codes], wanted: list[Measured]) -> tuple[Floats, list[Floats]]:
    """Each marginal by a pass of its own over the rows, twelve times."""
    weights = np.full(len(codes[0]), model.total / len(codes[0]))
    tables = [np.zeros(np.shape(each.values)) for each in wanted]
    strengths = raking._held(model, codes, wanted)
    for _ in range(raking.PASSES):
        for each, table, held in zip(wanted, tables, strengths, strict=True):
            cells = tuple(codes[column] for column in each.clique)
            counts = np.zeros(table.shape)
            np.add.at(counts, cells, weights)
            step = raking._step(counts.ravel(), table.ravel(), each.values.ravel(), held).reshape(table.shape)
            np.add(table, step, out=table)
            weights *= np.exp(step)[cells]
    return weights, tables


def test_marginals_fitted_in_one_pass_weight_rows_as_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them are columns of one value, columns in any order, and chunks of rows that end anywhere."""
    noise = SeededNoise(8)
    model, wanted = of_five(noise)
    codes = model.sample(3001, noise)
    monkeypatch.setattr(raking, "SMALL", 0.0)
    monkeypatch.setattr(raking, "CHUNK", 700)
    places = [place for block in raking._blocks(SIZES, wanted, 3001) for place in block.places]

    weights, factors = raking._weights(model, codes, wanted)

    expected, tables = one_after_another(model, codes, [wanted[place] for place in places])
    np.testing.assert_allclose(weights, expected, rtol=1e-10)
    for place, table in zip(places, tables, strict=True):
        assert factors[place][0] == wanted[place].clique
        np.testing.assert_allclose(factors[place][1], table, atol=1e-10)


def test_rows_are_gone_through_once_for_several_marginals_and_triples_still_come_first() -> None:
    _, wanted = of_five(SeededNoise(8))
    wanted.sort(key=lambda each: -len(each.clique))

    blocks = raking._blocks(SIZES, wanted, 3001)

    assert [sorted(each.places) for each in blocks] == [[0, 1], [2, 3, 4, 5]]


def test_more_marginals_share_a_pass_where_there_are_more_rows() -> None:
    sizes = [5] * 12
    wanted = [Measured(pair, np.ones((5, 5)), 1.0) for pair in combinations(range(12), 2)]

    few, many, most = (raking._blocks(sizes, wanted, rows) for rows in (10**4, 10**5, 10**6))

    assert len(most) < len(many) < len(few) < len(wanted)
    for blocks in (few, many, most):
        assert sorted(place for each in blocks for place in each.places) == list(range(len(wanted)))
    assert max(5 ** len(each.columns) for each in few) <= 256
    assert max(5 ** len(each.columns) for each in many) <= 10**5 / 32


@pytest.mark.parametrize("values", [1000 * JOINT, -(10**9) * JOINT, 10**9 * JOINT, 0 * JOINT])
def test_weights_of_marginals_that_are_fitted_together_stay_finite(values: Floats) -> None:
    """Noise is as it is where budgets are tiny."""
    model = independent()
    pairs = [Measured((0, 1), values, 1.0), Measured((1, 2), np.full((3, 2), -5e4), 1.0)]

    weights, factors = raking._weights(model, model.sample(ROWS, SeededNoise(2)), pairs)

    assert np.isfinite(weights).all()
    assert weights.sum() > 0
    assert all(np.isfinite(table).all() for _, table in factors)
