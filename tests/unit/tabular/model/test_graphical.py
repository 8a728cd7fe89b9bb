"""Models: nearest to the measured marginals, finite at any noise, and true to their own distribution."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import nnls

from expost.errors import InvalidValue
from expost.noise import Floats, SeededNoise
from expost.tabular.model.graphical import TOLERANCE, Measured, Model, export, fit, record_count
from expost.tabular.model.inference import project
from expost.tabular.model.junction import Clique, Junction
from tests.unit.tabular.model.graphs import GRAPHS, full, measure, truth

EXACT = 1e-10


def fitted(graph: str, variance: float = 30.0, tolerance: float = 1e-3) -> Model:
    domain, cliques = GRAPHS[graph]
    noise = SeededNoise(5)
    return fit(
        Junction.of(domain, cliques),
        measure(truth(domain, 500, noise), cliques, variance, noise),
        tolerance=tolerance,
    )


def smallest(domain: list[int], measured: list[Measured]) -> float:
    """The smallest loss over all full tables, by non-negative least squares; the row of ones fixes the total."""
    records, cells = record_count(measured), math.prod(domain)
    rows, values = [], []
    for each in measured:
        matrix = np.zeros((each.values.size, cells))
        matrix[project(domain, tuple(range(len(domain))), each.clique), np.arange(cells)] = 1
        rows.append(matrix * records / math.sqrt(each.variance))
        values.append(each.values.ravel() / math.sqrt(each.variance))
    matrix, value = np.concatenate(rows), np.concatenate(values)
    heavy = 1e4 * matrix.max()
    table = nnls(np.vstack([matrix, np.full(cells, heavy)]), np.append(value, heavy))[0]
    return 0.5 * float(np.sum((matrix @ (table / table.sum()) - value) ** 2))


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_marginal_is_that_of_the_full_table(graph: str) -> None:
    model = fitted(graph)

    table = full(model)

    columns = range(len(model.domain))
    for clique in itertools.chain.from_iterable(
        itertools.combinations(columns, size) for size in range(len(columns) + 1)
    ):
        expected = table.sum(axis=tuple(set(columns) - set(clique)))
        np.testing.assert_allclose(model.marginal(clique), expected, rtol=1e-9, atol=1e-9)


def test_the_axes_of_a_marginal_are_in_the_order_asked() -> None:
    model = fitted("cycle")

    np.testing.assert_allclose(model.marginal((3, 0, 1)), np.transpose(model.marginal((0, 1, 3)), (2, 0, 1)))
    np.testing.assert_allclose(model.marginal((1, 0)), model.marginal((0, 1)).T)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_conditional_is_that_of_the_full_table(graph: str) -> None:
    model = fitted(graph)
    codes = model.sample(50, SeededNoise(1))

    table = full(model)

    for column in range(len(model.domain)):
        lines = np.moveaxis(table, column, -1)[tuple(c for i, c in enumerate(codes) if i != column)]
        lines = np.broadcast_to(lines, (50, model.domain[column]))
        expected = lines / lines.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.conditional(column, codes), expected, rtol=1e-9)


@pytest.mark.parametrize("variance", [1e-4, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("graph", [name for name in GRAPHS if GRAPHS[name][1]])
def test_the_loss_is_the_smallest_of_all_tables(graph: str, variance: float) -> None:
    domain, cliques = GRAPHS[graph]
    noise = SeededNoise(5)
    measured = measure(truth(domain, 500, noise), cliques, variance, noise)

    model = fit(Junction.of(domain, cliques), measured, tolerance=EXACT)

    assert model.loss == pytest.approx(smallest(domain, measured), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("variance", [1e-4, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("graph", [name for name in GRAPHS if GRAPHS[name][1]])
def test_a_fit_rests_as_near_to_the_smallest_loss_as_it_says(graph: str, variance: float) -> None:
    domain, cliques = GRAPHS[graph]
    noise = SeededNoise(5)
    measured = measure(truth(domain, 500, noise), cliques, variance, noise)

    model = fit(Junction.of(domain, cliques), measured)

    least = smallest(domain, measured)
    assert model.loss <= least + TOLERANCE * enough(model.loss, measured) + 1e-6


@pytest.mark.parametrize("times", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("seed", range(6))
def test_a_fit_does_not_rest_before_its_least_precise_marginal_has_moved(seed: int, times: float) -> None:
    """Steps that suit what is many times as precise hardly move it."""
    noise, domain = SeededNoise(seed), [4, 3, 5]
    precise = 250 + np.array([1, -1, 0.5, -0.5]) * 10.0 ** (seed % 3 - 2)
    other = noise.uniform((3, 5)) + 0.1
    measured = [Measured((0,), precise, 1e4 / times), Measured((1, 2), 1000 * other / other.sum(), 1e4)]

    model = fit(Junction.of(domain, [(0,), (1, 2)]), measured)

    assert model.loss <= smallest(domain, measured) + TOLERANCE * enough(model.loss, measured)


def enough(loss: float, measured: list[Measured]) -> float:
    """The loss, or what noise leaves of it."""
    return max(loss, sum(each.values.size for each in measured) / 2)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_loss_is_that_of_the_models_marginals(graph: str) -> None:
    domain, cliques = GRAPHS[graph]
    measured = measure(truth(domain, 500, SeededNoise(5)), cliques, 30.0, SeededNoise(6))

    model = fit(Junction.of(domain, cliques), measured)

    squares = (float(np.sum((model.marginal(each.clique) - each.values) ** 2)) / each.variance for each in measured)
    assert model.loss == pytest.approx(0.5 * math.fsum(squares))


@pytest.mark.parametrize("variance", [30.0, 1e4])
@pytest.mark.parametrize("graph", GRAPHS)
def test_no_fit_lies_below_the_gap(graph: str, variance: float) -> None:
    rough, close = fitted(graph, variance, tolerance=0.1), fitted(graph, variance, tolerance=1e-6)

    assert rough.loss - rough.gap <= close.loss <= rough.loss


@pytest.mark.parametrize("variance", [30.0, 1e4])
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_loss_never_rises_during_a_fit(graph: str, variance: float) -> None:
    domain, cliques = GRAPHS[graph]
    measured = measure(truth(domain, 500, SeededNoise(5)), cliques, variance, SeededNoise(6))
    told: list[tuple[int, float]] = []

    fit(Junction.of(domain, cliques), measured, on_iteration=lambda iteration, loss: told.append((iteration, loss)))

    assert [iteration for iteration, _ in told] == list(range(len(told)))
    assert all(after <= before for (_, before), (_, after) in itertools.pairwise(told))


@pytest.mark.parametrize(
    ("offset", "scale", "variances"),
    [
        (-1e6, 1.0, (1.0,)),
        (0.0, 0.0, (1.0,)),
        (0.0, 1e9, (1e18,)),
        (0.0, 1e-9, (1e-18,)),
        (0.0, 1.0, (1e-3, 1e3)),
        (0.0, 1.0, (1e6, 1.0)),
        (1e12, 1e3, (1.0,)),
        (0.0, 1e150, (1.0,)),
    ],
    ids=["all negative", "all zero", "huge noise", "no noise", "ratio", "other ratio", "huge counts", "astronomic"],
)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_model_is_finite_whatever_was_measured(
    graph: str, offset: float, scale: float, variances: tuple[float, ...]
) -> None:
    domain, cliques = GRAPHS[graph]
    noise = SeededNoise(7)
    shapes = [tuple(domain[column] for column in clique) for clique in cliques]
    measured = [
        Measured(clique, offset + scale * noise.gaussian(1.0, shape), variances[place % len(variances)])
        for place, (clique, shape) in enumerate(zip(cliques, shapes, strict=True))
    ]

    model = fit(Junction.of(domain, cliques), measured)

    table = model.marginal(tuple(range(len(domain))))
    assert np.isfinite([model.loss, model.gap]).all()
    assert (table >= 0).all()
    assert table.sum() == pytest.approx(model.total)
    assert np.isfinite(model.conditional(0, model.round(20, noise))).all()


def test_less_noise_brings_the_model_nearer_on_average() -> None:
    domain = [6, 5, 7, 4, 2]
    cliques: list[Clique] = [(0, 1), (1, 2), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4)]
    table, junction = truth(domain, 5000, SeededNoise(8)), Junction.of(domain, cliques)
    exact = [each.values for each in measure(table, cliques, 1e-12, SeededNoise(0))]
    errors = []

    for std in (150.0, 100.0, 70.0, 48.0, 33.0, 22.0, 15.0):
        models = [fit(junction, measure(table, cliques, std**2, SeededNoise(seed))) for seed in range(8)]
        pairs = [
            (model.marginal(clique), values) for model in models for clique, values in zip(cliques, exact, strict=True)
        ]
        errors.append(sum(float(np.abs(found - values).sum()) for found, values in pairs))

    assert all(after < before for before, after in itertools.pairwise(errors))


def test_the_model_is_nearer_to_the_truth_than_what_was_measured() -> None:
    """Projection onto a convex set brings squares nearer to every point of the set."""
    domain = [6, 5, 7, 4]
    cliques: list[Clique] = [(0, 1), (1, 2), (2, 3)]
    table = truth(domain, 2000, SeededNoise(8))
    measured = measure(table, cliques, 50.0**2, SeededNoise(9))

    model = fit(Junction.of(domain, cliques), measured)

    exact = [table.sum(axis=tuple(set(range(4)) - set(clique))) for clique in cliques]
    pairs = list(zip(measured, exact, strict=True))
    noisy = sum(float(np.sum((each.values - values) ** 2)) for each, values in pairs)
    assert sum(float(np.sum((model.marginal(each.clique) - values) ** 2)) for each, values in pairs) < noisy


def test_two_fits_of_the_same_marginals_are_the_same() -> None:
    assert (fitted("cycle").marginal((0, 2)) == fitted("cycle").marginal((0, 2))).all()


def test_without_measurements_every_row_is_as_likely() -> None:
    model = fitted("nothing asked")

    assert (model.total, model.loss, model.domain) == (1.0, 0.0, (2, 3))
    np.testing.assert_allclose(model.marginal((0, 1)), np.full((2, 3), 1 / 6))


def test_the_total_weighs_each_sum_by_its_inverse_variance() -> None:
    narrow, wide = Measured((0,), np.array([4.0, 6.0]), 1.0), Measured((1,), np.full(4, 10.0), 2.0)

    assert record_count([narrow, wide]) == pytest.approx((10 / 2 + 40 / 8) / (1 / 2 + 1 / 8))


@pytest.mark.parametrize("measured", [[], [Measured((0,), np.array([-4.0, -6.0]), 1.0)]])
def test_the_total_is_one_at_least(measured: list[Measured]) -> None:
    assert record_count(measured) == 1.0


def test_an_export_is_in_the_order_of_mbis_linear_measurement() -> None:
    ((values, names, std),) = export([Measured((0, 2), np.arange(6.0).reshape(2, 3), 9.0)], ["a", "b", "c"])

    assert (values.tolist(), names, std) == ([0, 1, 2, 3, 4, 5], ("a", "c"), 3.0)


@pytest.mark.parametrize("variance", [0.0, -1.0, math.inf, math.nan])
def test_a_variance_that_is_not_above_zero_is_refused(variance: float) -> None:
    with pytest.raises(InvalidValue, match="variance"):
        Measured((0,), np.zeros(2), variance)


@pytest.mark.parametrize("values", [np.zeros((2, 2)), np.array([1.0, math.nan]), np.array([math.inf, 1.0])])
def test_values_that_are_no_marginal_are_refused(values: Floats) -> None:
    with pytest.raises(InvalidValue, match="one finite number per cell"):
        Measured((0,), values, 1.0)


def test_a_marginal_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"shape \(4,\).*domain has \(3,\)"):
        fit(Junction.of([3], [(0,)]), [Measured((0,), np.zeros(4), 1.0)])


def test_a_clique_that_the_tree_does_not_hold_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"holds columns \(0, 2\)"):
        fit(Junction.of([2, 2, 2], [(0, 1)]), [Measured((0, 2), np.zeros((2, 2)), 1.0)])


def test_a_marginal_too_large_to_sum_is_refused() -> None:
    model = fit(Junction.of([30] * 6, [(column, column + 1) for column in range(5)]), [])

    with pytest.raises(InvalidValue, match="729,000,000 cells"):
        model.marginal((0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize("clique", [(0, 0), (0, 9), (-1,)])
def test_a_marginal_over_columns_that_are_not_there_is_refused(clique: Clique) -> None:
    with pytest.raises(InvalidValue, match="distinct columns from 0 to 3"):
        fitted("cycle").marginal(clique)


@pytest.mark.parametrize("code", [-1, 3])
def test_codes_outside_the_domain_are_refused(code: int) -> None:
    model = fitted("cycle")

    with pytest.raises(InvalidValue, match="column 1 holds codes outside 0 … 2"):
        model.conditional(0, [np.array([each]) for each in (0, code, 0, 0)])
