"""What is not allowed has probability zero exactly, and all else is the best fit among what is."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from expost.errors import InvalidValue
from expost.noise import Floats, SeededNoise
from expost.tabular.model.graphical import Measured, Model, fit, record_count
from expost.tabular.model.inference import Allowed, Flags, Passes, project
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.pairwise import pairwise_counts
from expost.tabular.model.raking import raked
from tests.unit.tabular.model.graphs import everything, measure, truth

EXACT = 1e-10
DOMAIN = [3, 2, 4, 2]
MEASURED: list[Clique] = [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (1, 3)]


def flags(text: str, *shape: int) -> Flags:
    return np.array([letter == "1" for letter in text], dtype=np.bool_).reshape(shape)


RULES = {
    "a pair that is measured": [Allowed((0, 1), flags("101101", 3, 2))],
    "a pair that is not": [Allowed((0, 2), flags("100111110010", 3, 4))],
    "one column follows from another": [Allowed((0, 2), flags("100001000010", 3, 4))],
    "three columns": [Allowed((0, 2, 3), flags("10" * 9 + "110111", 3, 4, 2))],
    "two that meet": [Allowed((0, 2), flags("100111110010", 3, 4)), Allowed((2, 3), flags("10011101", 4, 2))],
    "a value that cannot be": [Allowed((2,), flags("1011", 4))],
    "what follows from two only": [Allowed((0, 1), flags("110101", 3, 2)), Allowed((1, 3), flags("1100", 2, 2))],
}


def mask(rules: list[Allowed]) -> Flags:
    """The allowed cells of the full table."""
    allowed = np.ones(math.prod(DOMAIN), dtype=np.bool_)
    for each in rules:
        allowed &= each.table.ravel()[project(DOMAIN, tuple(range(len(DOMAIN))), each.clique)]
    return allowed.reshape(DOMAIN)


def counted(variance: float = 30.0, seed: int = 5) -> list[Measured]:
    noise = SeededNoise(seed)
    return measure(truth(DOMAIN, 500, noise), MEASURED, variance, noise)


def modelled(rules: list[Allowed], measured: list[Measured], tolerance: float = 1e-3) -> Model:
    junction = Junction.of(DOMAIN, [*MEASURED, *(each.clique for each in rules)])
    return fit(junction, measured, allowed=rules, tolerance=tolerance)


def dense(rules: list[Allowed], model: Model) -> Floats:
    """The model's full table from its potentials and the rules, worked out the long way."""
    flat = np.concatenate([table.ravel() for _, table in model.potentials])
    logs = everything(DOMAIN, [clique for clique, _ in model.potentials], flat)
    weights = np.where(mask(rules).ravel(), np.exp(logs - logs[mask(rules).ravel()].max()), 0.0)
    return np.asarray(model.total * weights / weights.sum()).reshape(DOMAIN)


def best(rules: list[Allowed], measured: list[Measured]) -> tuple[float, Floats]:
    """The smallest loss over all tables that keep the rules, and such a table, by non-negative least squares."""
    records, kept, cells = record_count(measured), mask(rules).ravel(), math.prod(DOMAIN)
    rows, values = [], []
    for each in measured:
        matrix = np.zeros((each.values.size, cells))
        matrix[project(DOMAIN, tuple(range(len(DOMAIN))), each.clique), np.arange(cells)] = 1
        rows.append(matrix[:, kept] * records / math.sqrt(each.variance))
        values.append(each.values.ravel() / math.sqrt(each.variance))
    matrix, value = np.concatenate(rows), np.concatenate(values)
    heavy = 1e4 * matrix.max()
    found = nnls(np.vstack([matrix, np.full(kept.sum(), heavy)]), np.append(value, heavy))[0]
    table = np.zeros(cells)
    table[kept] = found / found.sum()
    return 0.5 * float(np.sum((matrix @ table[kept] - value) ** 2)), records * table.reshape(DOMAIN)


@pytest.mark.parametrize("variance", [1e-2, 30.0, 1e4])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_fit_is_the_nearest_of_all_tables_that_keep_the_rules(rules: list[Allowed], variance: float) -> None:
    measured = counted(variance)

    model = modelled(rules, measured, EXACT)

    loss, table = best(rules, measured)
    assert model.loss == pytest.approx(loss, rel=1e-6, abs=1e-6)
    for clique in MEASURED:
        expected = table.sum(axis=tuple(set(range(4)) - set(clique)))
        np.testing.assert_allclose(model.marginal(clique), expected, atol=0.05)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_marginal_is_that_of_the_full_table_with_its_zeros(rules: list[Allowed]) -> None:
    model = modelled(rules, counted())

    table = dense(rules, model)

    for size in range(5):
        for clique in itertools.combinations(range(4), size):
            others = tuple(set(range(4)) - set(clique))
            found = model.marginal(clique)
            np.testing.assert_allclose(found, table.sum(axis=others), rtol=1e-9, atol=1e-9)
            assert (found[~mask(rules).any(axis=others)] == 0).all()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_pair_is_that_of_the_full_table_with_its_zeros(rules: list[Allowed]) -> None:
    model = modelled(rules, counted())

    table = dense(rules, model)

    for pair, found in pairwise_counts(model, itertools.combinations(range(4), 2)):
        others = tuple(set(range(4)) - set(pair))
        np.testing.assert_allclose(found, table.sum(axis=others), rtol=1e-9, atol=1e-9)
        assert (found[~mask(rules).any(axis=others)] == 0).all()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_conditional_is_that_of_the_full_table_with_its_zeros(rules: list[Allowed]) -> None:
    model = modelled(rules, counted())
    codes = model.sample(200, SeededNoise(1))

    table = dense(rules, model)

    for column in range(4):
        others = tuple(codes[other] for other in range(4) if other != column)
        lines = np.moveaxis(table, column, -1)[others]
        found = model.conditional(column, codes)
        np.testing.assert_allclose(found, lines / lines.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
        assert (found[~np.moveaxis(mask(rules), column, -1)[others]] == 0).all()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_records_that_break_rules_are_judged_and_alone_as_together(rules: list[Allowed]) -> None:
    """Private records may break any rule: each has a distribution, whoever else is asked about."""
    model = modelled(rules, counted())
    everybody = [codes.ravel() for codes in np.indices(DOMAIN)]

    for column in range(4):
        together = model.log_odds(column, everybody)
        alone = [model.log_odds(column, [codes[[place]] for codes in everybody])[0] for place in range(len(together))]
        assert np.array_equal(np.array(alone), together)
        assert np.isfinite(together.max(axis=1)).all()
        np.testing.assert_allclose(model.conditional(column, everybody).sum(axis=1), 1.0)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("rows", [1, 7, 20_000])
def test_no_row_breaks_a_rule_however_it_is_drawn(rules: list[Allowed], rows: int) -> None:
    model, noise = modelled(rules, counted(1e3)), SeededNoise(3)
    pairs = [Measured((0, 3), np.full((3, 2), 80.0), 1.0)]

    for drawn in (model.sample(rows, noise), model.round(rows, noise), raked(model, pairs, rows, noise)[1]):
        assert mask(rules)[tuple(drawn)].all()


def test_without_the_rules_rows_do_break_them() -> None:
    drawn = modelled([], counted()).round(20_000, SeededNoise(3))

    assert all(not mask(rules)[tuple(drawn)].all() for rules in RULES.values())


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("variance", [1e-12, 1e12])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_counts_of_what_cannot_be_leave_the_fit_finite(rules: list[Allowed], variance: float, scale: float) -> None:
    """All records may break the rules: they are counted, and the model has no place for them."""
    table = scale * np.where(mask(rules), 0.0, 1.0)
    measured = [Measured(c, table.sum(axis=tuple(set(range(4)) - set(c))), variance) for c in MEASURED]

    model = modelled(rules, measured)

    assert all(np.isfinite(table).all() for _, table in model.potentials)
    assert model.marginal(()) == pytest.approx(model.total)
    assert np.isfinite(model.loss)


def test_where_records_keep_a_rule_it_makes_the_fit_better() -> None:
    """Over 40 draws of the noise the mean distance of all pairs is less with the rule than without it."""
    rules = RULES["one column follows from another"]
    table = truth(DOMAIN, 500, SeededNoise(5)) * mask(rules)
    far = {True: 0.0, False: 0.0}

    for seed in range(40):
        measured = measure(table, MEASURED, 100.0, SeededNoise(seed))
        for ruled in far:
            model = modelled(rules if ruled else [], measured)
            counts = dict(pairwise_counts(model, itertools.combinations(range(4), 2)))
            far[ruled] += sum(
                float(np.abs(found - table.sum(axis=tuple(set(range(4)) - set(pair)))).sum())
                for pair, found in counts.items()
            )

    assert far[True] < 0.8 * far[False]


def test_a_gap_bounds_what_a_fit_under_rules_is_above_the_best() -> None:
    rules = RULES["two that meet"]
    rough, close = (modelled(rules, counted(), tolerance) for tolerance in (0.1, 1e-6))

    assert rough.loss - rough.gap <= close.loss <= rough.loss


def test_rules_that_allow_nothing_are_refused() -> None:
    rules = [Allowed((0, 1), flags("100000", 3, 2)), Allowed((1, 2), flags("00001111", 2, 4))]

    with pytest.raises(InvalidValue, match="no combination"):
        modelled(rules, counted())


def test_a_rule_of_another_shape_or_of_columns_apart_is_refused() -> None:
    junction = Junction.of(DOMAIN, [(0, 1)])

    with pytest.raises(InvalidValue, match="shape"):
        fit(junction, [], allowed=[Allowed((0, 1), flags("1111", 2, 2))])
    with pytest.raises(InvalidValue, match="no clique"):
        fit(junction, [], allowed=[Allowed((0, 2), flags("1" * 12, 3, 4))])


@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.9))
@settings(max_examples=60, deadline=None)
def test_what_some_allowed_combination_reaches_is_found_on_any_tree(seed: int, share: float) -> None:
    """On random trees with random rules, entries have probability just where the full table has."""
    domain, noise = [2, 3, 2, 3, 2], SeededNoise(seed)
    cliques: list[Clique] = [tuple(sorted({int(noise.below(5)) for _ in range(3)})) for _ in range(3)]
    rules = [Allowed(c, noise.uniform(tuple(domain[i] for i in c)) < share) for c in cliques]
    full = np.ones(math.prod(domain), dtype=np.bool_)
    for each in rules:
        full &= each.table.ravel()[project(domain, tuple(range(5)), each.clique)]
    junction, asked = Junction.of(domain, cliques), [*cliques, (0,), (3,)]

    if not full.any():
        with pytest.raises(InvalidValue):
            Passes(junction, asked, rules)
        return
    passes = Passes(junction, asked, rules)

    beliefs = passes.infer(np.zeros(passes.bounds[-1]))
    table = full.reshape(domain) / full.sum()
    expected = [table.sum(axis=tuple(set(range(5)) - set(c))).ravel() for c in asked]
    np.testing.assert_allclose(beliefs.expected, np.concatenate(expected), atol=1e-12)
    assert np.array_equal(passes.reachable, np.concatenate(expected) > 0)
    assert (beliefs.expected[~passes.reachable] == 0).all()
