"""Pairs that were not measured are compared with the records all the same, by scores that are on the bill."""

from collections.abc import Mapping

import numpy as np
import pytest

from expost.accounting.claim import Budget
from expost.jobs.synthesis.comparison import Comparison, Unmeasured, unmeasured
from expost.jobs.synthesis.kept import KeptTable, checked_words, kept_section
from expost.noise import Integers, SeededNoise
from expost.release import Past
from expost.tabular.growth import Growing, Grown, Scored
from expost.tabular.marginals import Clique, Marginals
from tests.unit.jobs.synthesis.recipes import GROWING, RECIPE, done
from tests.unit.report.examples import customers

SCORED = Scored((("a", "b"), ("a", "c"), ("b", "c")), np.array([40.0, -3.0, 90.0]), 5.0)


def test_what_was_measured_since_is_left_out_and_the_worst_comes_first() -> None:
    found = unmeasured(SCORED, [("a", "c")], 500.0)

    assert [(each.columns, each.distance) for each in found] == [(("b", "c"), 0.09), (("a", "b"), 0.04)]
    assert found[0].half == pytest.approx(1.96 * 5 / 1000, rel=1e-3)


def test_a_distance_is_never_negative_and_nothing_is_told_without_scores() -> None:
    (_, _, least) = unmeasured(SCORED, [], 500.0)

    assert (least.columns, least.distance) == (("a", "c"), 0.0)
    assert unmeasured(None, [], 500.0) == ()


def test_the_page_names_the_worst_pairs_and_counts_the_others() -> None:
    pairs = tuple(Unmeasured(("x", f"y{place}"), 0.09 - place / 100, 0.002) for place in range(9))
    kept = KeptTable((), (), 10.0, 10.0, pairs)

    assert "farthest from the records in x × y0 (9 %), x × y1 (8 %)" in checked_words(kept)
    assert "All 1 others were closer" not in checked_words(kept)
    assert "The other one was closer." in checked_words(kept)
    assert "Pairs that were not measured" in kept_section(kept)
    assert "Pairs that were not measured" not in kept_section(KeptTable((), (), 10.0, 10.0))


def test_where_no_pair_was_compared_the_page_says_so() -> None:
    columns = tuple(Comparison((name,), (), 0.0, 0.0, 0.0, 0.0) for name in "abc")
    pair = Comparison(("a", "b"), (), 0.0, 0.0, 0.0, 0.0)

    page = kept_section(KeptTable(columns, (pair,), 10.0, 10.0))

    assert "None of them was compared with the records, so how far off they are is not known." in page


def test_a_run_that_grows_tells_its_scores_and_another_has_none() -> None:
    grown, plain = done(GROWING), done(RECIPE)

    assert grown.scored is not None
    assert not {*grown.scored.cliques} & {*grown.measured}
    assert plain.scored is None


def test_a_score_is_the_distance_of_the_model_from_the_records_up_to_noise() -> None:
    """Gaussian steps with hardly any noise: the score of a pair that the model does not hold is its own misfit."""
    table, noise = customers(GROWING.schema), SeededNoise(3)
    schema, tree = GROWING.schema, (("region", "renewed"), ("age", "renewed"), ("plan", "renewed"))
    growing = Growing(schema.domain, tree, (("age", "plan"),), schema.neighbours, Watched())
    grown = growing.sample(table, Budget.of(10**6, alpha=20), Past(), noise)
    counts = Marginals(schema.domain, (("age", "plan"),), schema.neighbours).statistic.evaluate(table)

    assert grown.scored is not None
    assert grown.scored.distances[0] == pytest.approx(np.abs(counts - 7).sum(), abs=6 * grown.scored.std + 1)


class Watched:
    """A gardener that expects seven records everywhere, and adds nothing."""

    def grows(self, grown: Grown | None, budget: Budget) -> bool:
        return True

    def triples(self, grown: Grown, pairs: tuple[Clique, ...], budget: Budget) -> tuple[Clique, ...]:
        return ()

    def expected(self, grown: Grown, cliques: tuple[Clique, ...]) -> Mapping[Clique, Integers]:
        return {("age", "plan"): np.full(8, 7, dtype=np.int64)}

    def chosen(self, grown: Grown, scored: Scored, budget: Budget) -> tuple[Clique, ...]:
        return ()
