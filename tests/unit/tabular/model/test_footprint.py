"""What a schema needs is known beforehand, covers whatever is selected, and is refused where it does not fit."""

import math
import tracemalloc
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from expost.errors import SchemaMismatch
from expost.jobs.synthesis.screen import in_minutes
from expost.mechanisms.brownian import Estimate
from expost.noise import SeededNoise
from expost.tabular.candidates import candidates, scored_triples
from expost.tabular.growth import Block, Grown
from expost.tabular.marginals import Marginals
from expost.tabular.model import footprint
from expost.tabular.model.footprint import Footprint, grown_fits, in_words, memory, require_room
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.inference import Allowed
from expost.tabular.model.junction import Junction
from expost.tabular.model.raking import raked
from expost.tabular.planting import Planting
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import _every_code
from expost.tabular.selection import Edge, SpanningTree, affordable, queries
from expost.tabular.table import Table
from tests.unit.examples import ADD, one_sentence

WIDE = {f"c{place}": 40 for place in range(20)} | {"target": 4}
FEW = {"a": 150, "b": 120, "target": 3}
LARGE = {"a": 2000, "b": 1500, "target": 20}
HANDLE = ("k", "l", "m", "a", "b", "r", "s", "t")
SKEWED = dict.fromkeys([*HANDLE, *(f"x{place}" for place in range(60))], 2) | {"a": 120, "b": 120, "target": 2}


def path(domain: dict[str, int]) -> tuple[Edge, ...]:
    """The columns one after the other, as far as that is affordable."""
    return tuple(edge for edge in pairwise(list(domain)[:-1]) if edge in affordable(domain, ("target",)))


def star(domain: dict[str, int]) -> tuple[Edge, ...]:
    """The first column with all others."""
    first = next(iter(domain))
    return tuple(edge for edge in affordable(domain, ("target",)) if edge[0] == first)


def brush(domain: dict[str, int]) -> tuple[Edge, ...]:
    """A path with the largest pair in its middle, to one end of which all others are tied: it becomes the root."""
    return (*pairwise(HANDLE), *(("a", name) for name in domain if name.startswith("x")))


def peak(domain: dict[str, int], tree: tuple[Edge, ...]) -> tuple[int, int]:
    """Cells of the model of a selection, and the most bytes that were held while it was fitted and sampled."""
    place = {name: index for index, name in enumerate(domain)}
    cliques = [tuple(place[name] for name in clique) for clique in queries(domain, ("target",), tree)]
    sizes, noise = list(domain.values()), SeededNoise(1)
    measured = [
        Measured(clique, 5 + noise.gaussian(1.0, tuple(sizes[column] for column in clique)), 1.0)
        for clique in [*((column,) for column in range(len(domain))), *cliques]
    ]
    tracemalloc.start()
    try:
        junction = Junction.of(sizes, cliques)
        fit(junction, measured, iterations=2).round(1000, noise)
        return junction.cells, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


CASES = {
    "a path": (WIDE, path(WIDE)),
    "a star": (WIDE, star(WIDE)),
    "one pair": (FEW, path(FEW)),
    "no pair": (LARGE, path(LARGE)),
    "a brush": (SKEWED, brush(SKEWED)),
}


@pytest.mark.parametrize(("domain", "tree"), CASES.values(), ids=CASES)
def test_a_fit_takes_no_more_than_was_said(domain: dict[str, int], tree: tuple[Edge, ...]) -> None:
    said = Footprint.of(domain, ("target",))

    cells, bytes_held = peak(domain, tree)

    assert cells <= said.cells
    assert said.bytes / 3 < bytes_held <= said.bytes


MODEST = {f"c{place}": size for place, size in enumerate((7, 12, 24, 5, 10, 9, 41))} | {"target": 2}


def test_growth_takes_no_more_than_was_said() -> None:
    """All pairs and triples are added that may be, to a model that takes in pairs as far as it goes."""
    said, order = Footprint.of(MODEST, ("target",)), list(MODEST)
    first = queries(MODEST, ("target",), tuple(pairwise(order[:-1])))
    added = candidates(MODEST, first)
    larger = scored_triples({each: math.prod(MODEST[name] for name in each) for each in combinations(MODEST, 3)})
    noise, marginals = SeededNoise(1), Marginals(MODEST, (*first, *added, *larger), ADD)
    ones = [Measured((place,), np.full(size, 500.0), 1.0) for place, size in enumerate(MODEST.values())]
    tracemalloc.start()
    try:
        planting = Planting(MODEST, first, ADD, ones)
        blocks = []
        for cliques in (first, added, larger):
            cells = Marginals(MODEST, cliques, ADD).cells
            blocks.append(Block(cliques, Estimate(40 + noise.gaussian(1.0, (cells,)), Fraction(1))))
        grown = Grown(tuple(blocks))
        planting.expected(grown, added)
        planting.expected(grown, larger)
        raked(planting.model(grown), planting.informed(grown), 1000, noise)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    cells = planting.model(grown).junction.cells

    assert said.cells < cells <= footprint.GROWN_CELLS
    assert marginals.cells <= said.counts
    assert held <= said.bytes + said.growth


def test_a_model_that_pairs_were_added_to_is_refused_by_its_cells_its_walk_and_its_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    junction = Junction.of([4, 4, 4], [(0, 1), (1, 2), (0, 2)])
    cliques = [(0, 1), (1, 2), (0, 2)]
    needed = footprint.CELL * 64 + footprint.COUNT * 48 + footprint.LINK * 3 * 64
    for name, least in (("GROWN_CELLS", 64), ("LARGEST_WALK", 256), ("GROWN_BYTES", needed)):
        with monkeypatch.context() as patch:
            patch.setattr(footprint, name, least)
            assert grown_fits(junction, cliques)
            patch.setattr(footprint, name, least - 1)
            assert not grown_fits(junction, cliques)


def test_a_schema_of_two_columns_has_nothing_to_add() -> None:
    assert Footprint.of({"a": 3, "target": 2}, ("target",)).growth == 0


@pytest.mark.parametrize("size", [900, 3000])
def test_trying_a_classifier_on_every_value_takes_no_more_than_was_said(size: int) -> None:
    """Many values are tried some at a time."""
    many = Schema(
        (
            *(Integer(f"c{place}", tuple(range(size)), Missing.FALLBACK) for place in range(40)),
            Boolean("target", Missing.FALLBACK),
        ),
        True,
        ADD,
    )

    tracemalloc.start()
    tried = sum(len(each) for each in _every_code(many, "target"))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    said = footprint.TRIED * min(40 * 40 * size, footprint.TRIED_AT_ONCE)
    assert tried == 40 * size
    assert said / 5 < held <= said


def test_pairs_of_many_columns_are_counted_in_no_more_than_was_said() -> None:
    """Selection takes more than the model that it leads to where pairs are many."""
    domain = dict.fromkeys([f"c{place}" for place in range(60)], 12) | {"target": 2}
    form = Schema(
        tuple(Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in domain.items()), True, ADD
    )
    data = Table(form, {name: np.zeros(10, dtype=np.uint8) for name in domain})
    alone = {name: np.full(size, 10 / size) for name, size in domain.items()}
    said = Footprint.of(domain, ("target",))

    tracemalloc.start()
    SpanningTree(alone, affordable(domain, ("target",)), ADD)._scores(data)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert held <= said.bytes


def test_a_plan_says_roughly_how_long_a_wide_table_takes() -> None:
    few, many = ({f"c{place}": 3 for place in range(number)} | {"target": 2} for number in (13, 500))

    times = [Footprint.of(domain, ("target",)) for domain in (few, many)]

    assert in_minutes(times[0].choice + 2 * times[0].rung) == ""
    assert in_minutes(times[1].choice + 2 * times[1].rung).startswith("All rungs take roughly 30 seconds of one core")
    assert in_minutes(95).startswith("All rungs take roughly 2 minutes ")


TIED = (("c0", "c2", "c4"), ("c1", "c3"), ("c5", "c0"))


@pytest.mark.parametrize("size", [6, 14])
def test_a_fit_under_rules_takes_no_more_than_was_said(size: int) -> None:
    """The pairs of a path are held where there is room, and left to raking where there is none."""
    domain = {f"c{place}": size for place in range(6)} | {"target": 3}
    place = {name: index for index, name in enumerate(domain)}
    said, first = Footprint.of(domain, ("target",), TIED), queries(domain, ("target",), path(domain))
    rules = [tuple(sorted(place[name] for name in names)) for names in TIED]
    allowed = [Allowed(each, SeededNoise(2).uniform((size,) * len(each)) < 0.7) for each in rules]
    noise = SeededNoise(1)
    ones = [Measured((column,), np.full(each, 500.0), 1.0) for column, each in enumerate(domain.values())]
    cells = Marginals(domain, first, ADD).cells
    grown = Grown((Block(first, Estimate(40 + noise.gaussian(1.0, (cells,)), Fraction(1))),))

    tracemalloc.start()
    try:
        planting = Planting(domain, first, ADD, ones, allowed=allowed, room=said.fit)
        model = planting.model(grown)
        raked(model, planting.measured(grown), 1000, noise)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    fitted = {clique for clique, _ in model.potentials}
    pairs = {planting.places(clique) for clique in first}
    assert {pair for pair in pairs if place["target"] in pair} <= fitted
    assert (pairs <= fitted) is (size == 6)
    assert held <= said.bytes + said.growth
    assert model.junction.cells <= max(said.cells, footprint.GROWN_CELLS)
    assert footprint.fit_bytes(model.junction, sorted(fitted)) <= max(said.fit, footprint.GROWN_BYTES)


def test_rules_within_a_pair_with_the_target_need_nothing_more() -> None:
    alone, said = Footprint.of(WIDE, ("target",)), Footprint.of(WIDE, ("target",), (("c0", "target"), ("c3",)))

    assert (said.fit, said.bytes, said.counts) == (alone.fit, alone.bytes, alone.counts)


def test_rules_that_need_too_large_a_table_with_the_target_are_refused() -> None:
    domain = dict.fromkeys("abc", 80) | {"target": 4}
    require_room(domain, ("target",), (("a", "b"), ("b", "c")))

    with pytest.raises(SchemaMismatch, match=r"one table of a, b, c, target, .* 2,048,000 cells") as refused:
        require_room(domain, ("target",), (("a", "b"), ("b", "c"), ("a", "c")))

    assert one_sentence(refused.value)


def test_a_bound_without_the_largest_clique_of_each_column_would_be_passed() -> None:
    """What is said of the brush less its share for cliques that are joined to the largest one."""
    said, largest = Footprint.of(SKEWED, ("target",)), 120 * 120 * 2

    assert peak(SKEWED, brush(SKEWED))[1] > said.bytes - footprint.LINK * (len(SKEWED) + 3) * largest


def test_the_counts_are_those_of_the_largest_selection() -> None:
    pairs = {"a": 3, "b": 4, "c": 5, "target": 2}

    said = Footprint.of(pairs, ("target",))

    assert said.cells == (4 * 5 + 3 * 5) * 2
    assert said.counts >= sum(pairs.values()) + (3 + 4 + 5) * 2 + 4 * 5 + 3 * 5


def test_a_schema_that_does_not_fit_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Footprint.of(WIDE, ("target",))
    needed = said.bytes + said.growth
    monkeypatch.setattr(footprint, "memory", lambda: needed)
    require_room(WIDE, ("target",))
    monkeypatch.setattr(footprint, "memory", lambda: needed - 1)

    with pytest.raises(SchemaMismatch, match="of memory, and there is room for") as refused:
        require_room(WIDE, ("target",))

    assert one_sentence(refused.value)


def test_a_schema_that_does_not_fit_into_what_is_allowed_is_refused_wherever_there_is_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = Footprint.of(WIDE, ("target",))
    needed = said.bytes + said.growth
    for there in (None, 2 * needed):
        monkeypatch.setattr(footprint, "memory", lambda there=there: there)
        require_room(WIDE, ("target",), allowed=needed)

        with pytest.raises(SchemaMismatch, match="of memory, and there is room for"):
            require_room(WIDE, ("target",), allowed=needed - 1)


def test_more_counts_than_can_be_measured_are_refused_whatever_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "memory", lambda: None)
    many = {f"c{place}": 700 for place in range(200)} | {"target": 2}

    with pytest.raises(SchemaMismatch, match="counts") as refused:
        require_room(many, ("target",))

    assert one_sentence(refused.value)


def test_the_memory_of_a_container_is_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limit").write_text("123456\n", encoding="ascii")
    (tmp_path / "unlimited").write_text("max\n", encoding="ascii")
    monkeypatch.setattr(footprint, "LIMITS", (tmp_path / "limit",))
    assert memory() == 123456
    monkeypatch.setattr(footprint, "LIMITS", (tmp_path / "unlimited", tmp_path / "none"))

    whole = memory()

    assert whole is not None
    assert whole > 123456


@pytest.mark.parametrize(
    ("size", "words"),
    [(1, "0.1 MB"), (1_040_000, "1.1 MB"), (99_900_000, "100 MB"), (27_000_000_001, "28 GB"), (2 * 10**9, "2 GB")],
)
def test_bytes_are_told_in_words_and_rounded_up(size: int, words: str) -> None:
    assert in_words(size) == words


def test_bytes_of_a_table_are_counted_by_this_test() -> None:
    """The instrument sees what NumPy holds."""
    tracemalloc.start()
    kept = np.zeros(10**6)
    seen = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert seen >= kept.nbytes
