"""Finite mechanisms: what is refused, and how outputs without a claim are read."""

import math

import pytest

from expost.errors import InvalidValue
from expost.verify import FiniteMechanism, compose

HALVES = {("a", 1.0): 0.5, ("b", 1.0): 0.5}
TWINS = FiniteMechanism({"X": HALVES, "X'": HALVES})
SILENT = FiniteMechanism({"X": {("x", math.inf): 1.0}, "X'": {("y", math.inf): 1.0}})


@pytest.mark.parametrize(
    "row",
    [
        {("a", 1.0): 0.5, ("b", 1.0): 0.4},
        {("a", 1.0): 1.5, ("b", 1.0): -0.5},
        {("a", 1.0): math.nan, ("b", 1.0): 0.5},
        {("a", 1.0): math.inf, ("b", 1.0): -math.inf},
        {},
    ],
)
def test_a_row_that_is_no_law_is_refused(row: dict[tuple[str, float], float]) -> None:
    with pytest.raises(InvalidValue, match=r"the row of dataset .* is not a law"):
        FiniteMechanism({"X": HALVES, "X'": row})


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, -math.inf])
def test_a_claim_below_zero_or_nan_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidValue, match="claims ε="):
        FiniteMechanism({"X": {("a", epsilon): 1.0}, "X'": {("a", epsilon): 1.0}})


@pytest.mark.parametrize(
    ("datasets", "neighbours"),
    [
        (["X"], None),
        ([], None),
        (["X", "X'"], []),
        (["X", "X'"], [("X", "X")]),
        (["X", "X'", "lonely"], [("X", "X'")]),
        (["X", "X'"], [("X", "X'"), ("X", "unknown")]),
    ],
)
def test_a_dataset_without_a_row_or_a_neighbour_is_refused(
    datasets: list[str], neighbours: list[tuple[str, str]] | None
) -> None:
    with pytest.raises(InvalidValue, match="no row or no neighbour"):
        FiniteMechanism(dict.fromkeys(datasets, HALVES), neighbours)


@pytest.mark.parametrize("alpha", [1.0, 0.5, -2.0, math.nan, math.inf])
def test_an_order_not_above_one_is_refused_even_if_nothing_is_claimed(alpha: float) -> None:
    for mechanism in (TWINS, SILENT):
        with pytest.raises(InvalidValue, match="alpha is"):
            mechanism.moment(alpha)


@pytest.mark.parametrize("xi", [-0.1, math.nan, math.inf])
def test_a_negative_or_infinite_xi_is_refused(xi: float) -> None:
    with pytest.raises(InvalidValue, match="xi is"):
        TWINS.is_zcdp(xi)


def test_a_kernel_that_is_no_law_is_refused() -> None:
    with pytest.raises(InvalidValue, match="the kernel at"):
        TWINS.post_process(lambda y, epsilon: {y: 0.9})


def test_raising_refuses_to_lower() -> None:
    with pytest.raises(InvalidValue, match="would lower the ε"):
        TWINS.raised(lambda y, epsilon: epsilon - 1e-9)


def test_composing_mechanisms_with_other_neighbours_is_refused() -> None:
    other = FiniteMechanism({"X": HALVES, "Z": HALVES})

    with pytest.raises(InvalidValue, match="other neighbours"):
        compose(TWINS, lambda y, epsilon: other)


def test_the_table_cannot_change_after_it_was_checked() -> None:
    source = {"X": dict(HALVES), "X'": dict(HALVES)}
    mechanism = FiniteMechanism(source)

    source["X"]["a", 1.0] = 7.0

    assert mechanism.table["X"]["a", 1.0] == 0.5


def test_neighbours_are_symmetric_and_only_those_named() -> None:
    rows = {"A": {("a", 0.0): 1.0}, "B": {("a", 0.0): 1.0}, "C": {("c", 0.0): 1.0}, "D": {("c", 0.0): 1.0}}

    by_pairs = FiniteMechanism(rows, [("A", "B"), ("D", "C")])

    assert by_pairs.pairs == {("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")}
    assert by_pairs.is_pure()
    assert not FiniteMechanism(rows).is_pure()


def test_a_mechanism_that_claims_nothing_satisfies_everything() -> None:
    assert SILENT.is_pure()
    assert SILENT.approximate_delta() == 0
    assert SILENT.moment(2) == 0
    assert SILENT.is_zcdp(0)


def test_a_moment_beyond_the_floats_is_infinite() -> None:
    sharp = FiniteMechanism({"X": {("a", 0.0): 1.0}, "X'": {("a", 0.0): 1e-300, ("b", 0.0): 1.0}})

    assert sharp.loss("X", "X'").moment(1e6) == math.inf


def test_a_claim_near_the_largest_float_does_not_overflow() -> None:
    p = {("a", 1e308): 0.5, ("b", 1e308): 0.5}
    q = {("a", 1e308): 0.1, ("b", 1e308): 0.9}
    mechanism = FiniteMechanism({"X": p, "X'": q})

    assert mechanism.moment(100) == 0
    assert mechanism.approximate_delta() == 0
    assert mechanism.is_zcdp(0)


def test_a_mean_excess_is_the_divergence_less_the_mean_claim() -> None:
    p = {("a", 0.5): 0.75, ("b", 0.1): 0.25}
    q = {("a", 0.5): 0.25, ("b", 0.1): 0.75}

    excess = FiniteMechanism({"X": p, "X'": q}).loss("X", "X'").mean_excess()

    assert excess == pytest.approx(0.5 * math.log(3) - 0.4, rel=1e-14)


def test_composing_keeps_both_outputs_in_full() -> None:
    """Two transcripts with the same values and the same total stay apart."""
    first = FiniteMechanism({x: {("y", 0.0): 0.5, ("y", 1.0): 0.5} for x in "AB"})

    both = compose(first, lambda y, epsilon: first)

    assert both.table["A"][(("y", 0.0), ("y", 1.0)), 1.0] == 0.25
    assert both.table["A"][(("y", 1.0), ("y", 0.0)), 1.0] == 0.25
