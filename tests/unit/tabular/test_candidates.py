"""Which pairs and triples may be scored, and what a run may have added by its own account."""

from itertools import combinations

import pytest

from expost.tabular import candidates as limits
from expost.tabular.candidates import candidates, may_be_added, most_triples, scored_triples
from expost.tabular.marginals import Clique

DOMAIN = {"a": 5, "b": 2, "c": 3, "d": 4}
FIRST = (("a", "d"), ("b", "d"), ("c", "d"), ("a", "b"))


def test_every_other_pair_is_a_candidate() -> None:
    assert candidates(DOMAIN, FIRST) == (("a", "c"), ("b", "c"))


def test_of_too_many_pairs_those_with_the_fewest_cells_are_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CANDIDATES", 3)
    assert candidates(DOMAIN, ()) == (("a", "b"), ("b", "c"), ("b", "d"))
    monkeypatch.setattr(limits, "MOST_COUNTS", 14)

    assert candidates(DOMAIN, ()) == (("b", "c"), ("b", "d"))


def test_of_too_many_triples_those_with_the_fewest_cells_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    cells: dict[Clique, int] = {("a", "b", "c"): 30, ("a", "b", "d"): 40, ("b", "c", "d"): 24}
    assert scored_triples(cells) == tuple(cells)
    monkeypatch.setattr(limits, "MOST_TRIPLES", 2)
    assert scored_triples(cells) == (("a", "b", "c"), ("b", "c", "d"))
    monkeypatch.setattr(limits, "MOST_TRIPLE_COUNTS", 53)

    assert scored_triples(cells) == (("b", "c", "d"),)
    assert scored_triples(cells, [29]) == (("b", "c", "d"),)
    assert scored_triples(cells, [30]) == scored_triples(cells, [1, 1]) == scored_triples(cells, [1, 1, 1]) == ()


def test_a_step_scores_no_more_triples_than_there_are_and_than_a_thousand() -> None:
    assert [most_triples(columns) for columns in (2, 3, 4, 100)] == [0, 1, 4, 1000]


MAY: dict[str, list[list[Clique]]] = {
    "nothing": [[], []],
    "a pair": [[("b", "c")]],
    "a triple of first pairs": [[("a", "b", "d")]],
    "a triple with a pair that the rung added": [[("a", "c"), ("a", "c", "d")]],
    "a triple with a pair of an earlier rung": [[("b", "c"), ("a", "c")], [("a", "b", "c")]],
}
MAY_NOT: dict[str, list[list[Clique]]] = {
    "a pair twice": [[("b", "c")], [("b", "c")]],
    "a triple twice": [[("a", "b", "d")], [("a", "b", "d")]],
    "a first pair": [[("a", "d")]],
    "a pair backwards": [[("c", "b")]],
    "a triple backwards": [[("b", "a", "d")]],
    "a triple of a pair that is not measured": [[("a", "c", "d")]],
    "a triple before its pair": [[("a", "c", "d"), ("a", "c")]],
    "a triple of a pair that a later rung added": [[("a", "c", "d")], [("a", "c")]],
    "a column alone": [[("a",)]],
    "all columns": [[("a", "c"), ("b", "c"), ("a", "b", "c", "d")]],
    "a column that there is not": [[("a", "b", "e")]],
    "a column twice": [[("a", "a", "b")]],
}


@pytest.mark.parametrize("rungs", MAY.values(), ids=MAY)
def test_a_run_may_have_added_candidates_and_triples_of_what_is_measured(rungs: list[list[Clique]]) -> None:
    assert may_be_added(DOMAIN, FIRST, rungs)


@pytest.mark.parametrize("rungs", MAY_NOT.values(), ids=MAY_NOT)
def test_a_run_cannot_have_added_anything_else(rungs: list[list[Clique]]) -> None:
    assert not may_be_added(DOMAIN, FIRST, rungs)


def test_a_rung_cannot_have_added_more_triples_than_it_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    everything: list[Clique] = [*candidates(DOMAIN, FIRST), *combinations(DOMAIN, 3)]
    cells = 30 + 40 + 60 + 24
    assert may_be_added(DOMAIN, FIRST, [everything])
    for name, least in (("MOST_TRIPLES", 4), ("MOST_TRIPLE_COUNTS", cells)):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, least)
            assert may_be_added(DOMAIN, FIRST, [everything])
            patch.setattr(limits, name, least - 1)
            assert not may_be_added(DOMAIN, FIRST, [everything])
            assert not may_be_added(DOMAIN, FIRST, [everything[:4], everything[4:]])  # nor in two rungs
