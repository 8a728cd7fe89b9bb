"""Marginals: counts by brute force, sensitivities over all small neighbours, and the way back from flat values."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest

from expost.errors import InvalidValue, SchemaMismatch
from expost.noise import Integers, SeededNoise
from expost.private import Neighbours
from expost.statistic import Statistic
from expost.tabular.marginals import Marginals
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table
from tests.unit.examples import ADD, REPLACE, distances, l1, l2_squared, largest, one_sentence

SIZES = {"a": 2, "b": 3, "c": 2}
SCHEMA = Schema(tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in SIZES.items()), True, ADD)
CLIQUES = (("a",), ("a", "b"), ("c", "b"), ("a", "b", "c"))
RECORDS = list(product(*(range(size) for size in SIZES.values())))
Record = tuple[int, ...]


def table(records: Sequence[Record]) -> Table:
    columns = np.array(records, dtype=np.uint8).reshape(-1, len(SIZES)).T
    return Table(SCHEMA, dict(zip(SIZES, columns, strict=True)))


def many(count: int) -> list[Record]:
    return [RECORDS[int(share * len(RECORDS))] for share in SeededNoise(1).uniform(count).tolist()]


def asked(neighbours: Neighbours = ADD, cliques: tuple[tuple[str, ...], ...] = CLIQUES) -> Marginals:
    return Marginals(SCHEMA.domain, cliques, neighbours)


def evaluated(statistic: Statistic[Table], records: Sequence[Record]) -> Integers:
    return statistic.evaluate(table(records))


def claimed(statistic: Statistic[Table], norm: Callable[[Integers], int]) -> Fraction:
    return statistic.l1 if norm is l1 else statistic.l2_squared


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_no_neighbour_moves_the_marginals_further_than_claimed(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = asked(neighbours).statistic

    moved = largest(distances(partial(evaluated, statistic), RECORDS, neighbours, 2), norm)

    assert moved <= claimed(statistic, norm)


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
@pytest.mark.parametrize("norm", [l1, l2_squared])
def test_some_neighbour_moves_the_marginals_further_than_any_smaller_claim(
    neighbours: Neighbours, norm: Callable[[Integers], int]
) -> None:
    statistic = asked(neighbours).statistic

    moved = largest(distances(partial(evaluated, statistic), RECORDS, neighbours, 2), norm)

    assert moved > claimed(statistic, norm) - 1


def test_replacing_a_record_moves_further_than_the_claim_for_adding_one() -> None:
    statistic = asked(ADD).statistic

    moved = largest(distances(partial(evaluated, statistic), RECORDS, REPLACE, 2), l2_squared)

    assert moved > statistic.l2_squared


@pytest.mark.parametrize(("neighbours", "moved"), [(ADD, 4), (REPLACE, 8)])
def test_the_sensitivity_is_the_number_of_cliques_and_twice_that_for_replacing(
    neighbours: Neighbours, moved: int
) -> None:
    statistic = asked(neighbours).statistic

    assert statistic.l2_squared == statistic.l1 == moved


def test_each_marginal_counts_every_combination() -> None:
    records = many(500)

    parts = asked().apart(asked().statistic.evaluate(table(records)))

    for clique, counts in parts.items():
        expected = Counter(tuple(record["abc".index(name)] for name in clique) for record in records)
        assert {place: int(count) for place, count in np.ndenumerate(counts) if count} == dict(expected)


def test_each_marginal_has_an_axis_for_each_column() -> None:
    parts = asked().apart(np.arange(asked().cells))

    assert [(clique, part.shape) for clique, part in parts.items()] == list(zip(CLIQUES, asked().shapes, strict=True))
    assert np.concatenate([part.ravel() for part in parts.values()]).tolist() == list(range(asked().cells))


def test_no_records_are_counted_as_zeros() -> None:
    assert not asked().statistic.evaluate(table([])).any()


def test_no_columns_make_a_marginal_of_the_number_of_records() -> None:
    assert asked(cliques=((),)).statistic.evaluate(table(many(9))).tolist() == [9]


def test_all_pairs_have_the_total_of_the_table_each() -> None:
    pairs = asked(cliques=tuple(combinations(SIZES, 2)))

    parts = pairs.apart(pairs.statistic.evaluate(table(many(100))))

    assert [int(part.sum()) for part in parts.values()] == [100, 100, 100]


BAD = {
    "none": ((), InvalidValue),
    "an unknown column": ((("a", "z"),), SchemaMismatch),
    "a marginal twice": ((("a", "b"), ("b", "a")), InvalidValue),
    "a column twice": ((("a", "a"),), InvalidValue),
    "a column twice in one of several": ((("a",), ("b", "b")), InvalidValue),
}


@pytest.mark.parametrize(("cliques", "kind"), BAD.values(), ids=BAD)
def test_marginals_that_are_none_are_refused_in_one_sentence(
    cliques: tuple[tuple[str, ...], ...], kind: type[Exception]
) -> None:
    with pytest.raises(kind) as refused:
        asked(cliques=cliques)

    assert one_sentence(refused.value)


def test_marginals_too_large_to_count_are_refused_before_data_is_read() -> None:
    with pytest.raises(InvalidValue) as refused:
        Marginals({"a": 2**16, "b": 2**16}, (("a", "b"),), ADD)

    assert one_sentence(refused.value)


def test_just_as_many_cells_are_counted_as_fit_half_a_gigabyte() -> None:
    most = 2**29 // np.dtype(np.int64).itemsize

    assert Marginals({"a": most}, (("a",),), ADD).cells == most
    with pytest.raises(InvalidValue, match=f"have {most + 1} cells"):
        Marginals({"a": most, "b": 1}, (("a",), ("b",)), ADD)


def test_a_table_of_another_domain_is_refused() -> None:
    other = Marginals({**SCHEMA.domain, "a": 5}, CLIQUES, ADD)

    with pytest.raises(SchemaMismatch, match="domain"):
        other.statistic.evaluate(table(RECORDS))


def test_values_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidValue, match="one value per cell"):
        asked().apart(np.zeros(3))
