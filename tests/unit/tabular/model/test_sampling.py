"""Rows from a model: independent ones follow its marginals, rounded ones hug them, and zeros are never drawn."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from expost.errors import InvalidValue
from expost.noise import Floats, Integers, Noise, ScriptedNoise, SeededNoise
from expost.tabular.model import sampling
from expost.tabular.model.graphical import Measured, Model, fit
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.sampling import Codes

DOMAIN = (6, 5, 7, 4, 1, 2)
CLIQUES: list[Clique] = [(0, 1), (1, 2), (2, 3), (0, 5), (1, 5), (2, 5), (3, 5)]
FALSE_ALARM = 1e-6
ROWS = 400_000
NEXT_TO_ONE, NEXT_TO_ZERO = 1 - 2.0**-53, 2.0**-53


def model() -> Model:
    """Correlated columns, one column of one value, a target joined to the others."""
    noise = SeededNoise(3)
    table = noise.uniform(DOMAIN) ** 2
    table *= noise.uniform((6, 5, 1, 1, 1, 1)) * noise.uniform((1, 5, 7, 1, 1, 1)) * 1e3 / table.sum()
    marginals = [table.sum(axis=tuple(set(range(6)) - set(clique))) for clique in CLIQUES]
    measured = [Measured(clique, values, 1e-2) for clique, values in zip(CLIQUES, marginals, strict=True)]
    return fit(Junction.of(DOMAIN, CLIQUES), measured)


def holes() -> tuple[Junction, list[Floats]]:
    """A root and a child whose tables hold zeros at the beginning, the middle and the end."""
    junction = Junction.of((3, 4), [(0, 1)])
    return junction, [np.array([[0.0, 0.25, 0.0, 0.0], [0.0] * 4, [0.5, 0.0, 0.25, 0.0]])]


def count(codes: list[Codes], clique: Clique) -> Floats:
    sizes = [DOMAIN[column] for column in clique]
    cells = np.ravel_multi_index([codes[column].astype(np.int64) for column in clique], sizes)
    return np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes).astype(np.float64)


def excess(codes: list[Codes], truth: Model, clique: Clique, tilt: float = 1.0) -> float:
    """P(chi-square statistic this large), cells expected below 5 pooled; ``tilt`` makes the first code likelier."""
    share = truth.marginal(clique)
    share[0] *= tilt
    expected = share.ravel() * ROWS / share.sum()
    found, rare = count(codes, clique).ravel(), expected < 5
    pooled = np.append(expected[~rare], max(expected[rare].sum(), 1e-9))
    statistic = float(np.sum((np.append(found[~rare], found[rare].sum()) - pooled) ** 2 / pooled))
    return float(chi2.sf(statistic, max(len(pooled) - 2, 1)))


PAIRS = list(itertools.combinations((0, 1, 2, 3, 5), 2))


@pytest.mark.statistical
def test_independent_rows_follow_every_pair_of_columns() -> None:
    """False alarm 1e-6 over all pairs, chi-square of 4e5 rows."""
    truth = model()

    codes = truth.sample(ROWS, SeededNoise(11))

    assert min(excess(codes, truth, pair) for pair in PAIRS) > FALSE_ALARM / len(PAIRS)


@pytest.mark.statistical
@pytest.mark.parametrize("pair", PAIRS)
def test_a_code_five_percent_too_rare_is_noticed(pair: Clique) -> None:
    """The same statistic rejects the rows when the model's first code of a column is made 5 % likelier."""
    truth = model()

    codes = truth.sample(ROWS, SeededNoise(11))

    assert excess(codes, truth, pair, tilt=1.05) < FALSE_ALARM / len(PAIRS)


@pytest.mark.statistical
def test_rounded_rows_keep_columns_apart_that_meet_only_through_others() -> None:
    """Columns of different cliques follow the model too: false alarm 1e-6, chi-square of 4e5 rows."""
    truth = model()

    codes = truth.round(ROWS, SeededNoise(12))

    assert min(excess(codes, truth, pair) for pair in PAIRS) > FALSE_ALARM / len(PAIRS)


@pytest.mark.parametrize("rows", [1, 17, 1000, 50_000])
def test_rounded_counts_follow_each_conditional_to_within_one(rows: int) -> None:
    truth = model()

    codes = truth.round(rows, SeededNoise(13))

    for node in truth.junction.nodes:
        share = truth.marginal(node.columns)
        axes = tuple(range(len(node.separator), share.ndim))
        share /= share.sum(axis=axes, keepdims=True)
        found = count(codes, node.columns)
        assert np.abs(found - share * found.sum(axis=axes, keepdims=True)).max() < 1 + 1e-6


def test_independent_counts_do_not_follow_to_within_one() -> None:
    truth = model()

    codes = truth.sample(50_000, SeededNoise(13))

    root = truth.junction.nodes[0].columns
    assert np.abs(count(codes, root) - truth.marginal(root) * 50_000 / truth.total).max() > 10


@pytest.mark.statistical
def test_rounding_is_right_on_average() -> None:
    """The mean of 20,000 small tables lies within 5.5 standard errors in each cell: false alarm below 1e-6."""
    junction, tables = holes()
    noise = SeededNoise(14)
    found = [np.concatenate(sampling.rounded(junction, tables, 3, noise)).reshape(2, 3) for _ in range(20_000)]

    cells = np.concatenate([first * 4 + second for first, second in found])
    mean = np.bincount(cells, minlength=12) / 20_000

    assert np.abs(mean - 3 * tables[0].ravel()).max() < 5.5 * 0.5 / np.sqrt(20_000)


def places(draws: int = 12_000, rows: int = 64) -> Floats:
    """Of tables with one column of three values, how often each row held the middle one, in standard errors."""
    junction, tables, noise = Junction.of((3,), [(0,)]), [np.array([0.25, 0.25, 0.5])], SeededNoise(15)
    held = sum((sampling.rounded(junction, tables, rows, noise)[0] == 1).astype(np.int64) for _ in range(draws))
    return np.asarray((held - draws / 4) / np.sqrt(draws * 3 / 16))


@pytest.mark.statistical
def test_every_row_is_as_likely_to_hold_a_value() -> None:
    """12,000 tables of 64 rows: each row within 5.9 standard errors, false alarm below 1e-6 over all."""
    assert np.abs(places()).max() < 5.9


@pytest.mark.statistical
def test_moving_the_first_rows_instead_of_random_ones_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(cells: Integers, picks: Integers, noise: Noise) -> Integers:
        return np.concatenate([np.flatnonzero(cells == cell)[:count] for cell, count in enumerate(picks)])

    monkeypatch.setattr(sampling, "_picked", first)

    assert np.abs(places()).max() > 5.9


@pytest.mark.statistical
def test_rows_are_picked_evenly_from_large_and_small_cells() -> None:
    """Of 320 rows in cells of 310, 9 and 1, 20,000 picks of 3, 2 and 1: within 5.9 standard errors each."""
    cells, picks, noise = np.repeat([0, 1, 2], [310, 9, 1]), np.array([3, 2, 1]), SeededNoise(16)

    found = np.array([sampling._picked(cells, picks, noise) for _ in range(20_000)])

    assert (cells[found] == [0, 0, 0, 1, 1, 2]).all()
    share = np.array([3 / 310, 2 / 9, 1.0])[cells]
    errors = np.sqrt(20_000 * share * (1 - share)) + 1e-9
    assert np.abs((np.bincount(found.ravel(), minlength=320) - 20_000 * share) / errors).max() < 5.9
    assert all(len(set(row)) == 6 for row in found.tolist())


@pytest.mark.parametrize("uniform", [NEXT_TO_ZERO, 0.5, NEXT_TO_ONE])
@pytest.mark.parametrize("rows", [3, 5000])
@pytest.mark.parametrize("draw", [sampling.independent, sampling.rounded])
def test_a_row_of_probability_zero_is_never_drawn(draw: sampling.Draw, rows: int, uniform: float) -> None:
    junction, tables = holes()

    first, second = draw(junction, tables, rows, ScriptedNoise([uniform] * (2 * rows + 2)))

    assert (tables[0][first, second] > 0).all()


def test_a_uniform_next_to_one_stays_with_its_own_separator() -> None:
    junction = Junction.of((3000, 2), [(0, 1), (0,)])
    table = np.zeros((3000, 2))
    table[2999, 0] = 1.0

    first, second = sampling.independent(junction, [table], 2, ScriptedNoise([NEXT_TO_ONE] * 2))

    assert (first.tolist(), second.tolist()) == ([2999, 2999], [0, 0])


@pytest.mark.parametrize("rows", [0, 1, sampling.CHUNK, sampling.CHUNK + 1])
def test_there_are_as_many_rows_as_asked(rows: int) -> None:
    truth = model()

    lengths = {len(column) for column in truth.sample(rows, SeededNoise(1)) + truth.round(rows, SeededNoise(1))}

    assert lengths == {rows}


def test_codes_come_in_the_smallest_type() -> None:
    wide = fit(Junction.of((1, 256, 257), []), [])

    assert [column.dtype for column in wide.sample(4, SeededNoise(1))] == [np.uint8, np.uint8, np.uint16]


def test_the_same_noise_draws_the_same_rows() -> None:
    truth = model()

    for draw in (truth.sample, truth.round):
        pairs = zip(draw(999, SeededNoise(4)), draw(999, SeededNoise(4)), strict=True)
        assert all((one == other).all() for one, other in pairs)


def test_a_negative_number_of_rows_is_refused() -> None:
    with pytest.raises(InvalidValue, match="rows is -1"):
        model().sample(-1, SeededNoise(1))
