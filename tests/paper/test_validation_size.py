"""The study of the validation size, in miniature: what counts as accepted, as an error, and how sizes compare."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from paper.engine.job import Job
from paper.items import validation_size
from paper.items.validation_size import PRINTED, PRINTED_OF, Settings
from paper.show.validation_size import Result
from paper.summaries.summary import share as share_of
from paper.tables.candidates import by_index, records
from paper.tables.climb import Climb
from paper.tables.points import point, size_claims
from paper.tables.search import BALANCED, GAUSSIAN, SEARCH, Search
from paper.tables.stops import Run

from expost import SeededNoise

SHORT = replace(SEARCH, rungs=3)
TINY = Settings(
    search=Search(rungs=3, threshold="0.77"), records=2500, sizes=("0.05", "0.4"), test="1/5", repeats=2, draws=5
)


def ended(right: list[int], stops: list[int]) -> Run:
    """A climb with these counts of 1000, on both parts, that plain Gaussian checks stop at these rungs."""
    return Run(climb=Climb(held=1000, right=right, test=1000, right_test=right), stops={GAUSSIAN: stops})


def test_the_printed_shares_are_those_of_the_paper() -> None:
    shares = [round(count / PRINTED_OF, 3) for count in PRINTED.values()]

    assert shares == [0.233, 0.433, 0.533, 0.567, 0.633, 0.7, 0.467]


def test_only_the_first_release_above_the_threshold_counts_as_accepted() -> None:
    runs = [
        ended([800, 830, 840], [1, 1]),
        ended([800, 830, 840], [2, 1]),
        ended([800, 830, 840], [0, 0]),
        ended([830, 800, 800], [0, 2]),
    ]

    found = point(SHORT, GAUSSIAN, runs)

    assert (found["accepted"]["count"], found["accepted"]["of"]) == (2, 4)
    assert found["accepted_drawn"]["mean"] == pytest.approx((2 + 1 + 0 + 1) / 8)


def test_a_repeat_without_a_release_above_has_none_accepted() -> None:
    found = point(SHORT, GAUSSIAN, [ended([800, 800, 800], [2]), ended([800, 800, 830], [2])])

    assert (found["accepted"]["count"], found["never_above"], found["first_at_last"]) == (1, 1, 1)


def test_an_error_is_a_release_below_that_was_accepted_not_the_unchecked_last_one() -> None:
    found = point(SHORT, GAUSSIAN, [ended([800, 830, 800], [0, 1]), ended([800, 800, 800], [2, 2])])

    assert found["below_drawn"]["mean"] == pytest.approx(1 / 4)
    assert found["unchecked_drawn"]["mean"] == pytest.approx(1 / 2)
    assert found["above_drawn"]["mean"] == pytest.approx(1 / 4)


@pytest.mark.parametrize(("share", "said"), [(0.7, "its shares at 40 %;"), (0.1, "its shares at no size;")])
def test_the_paper_is_met_where_our_share_lies_within_its_interval(share: float, said: str) -> None:
    runs = [ended([800, 830, 840], [1] * round(10 * share) + [2] * round(10 - 10 * share))] * 2
    points = {check: [point(SHORT, GAUSSIAN, runs)] for check in (GAUSSIAN, BALANCED)}
    printed = [place < PRINTED["0.4"] for place in range(PRINTED_OF)]
    result = Result(
        alpha=20,
        threshold=0.825,
        draws=10,
        repeats=2,
        sizes=[0.4],
        printed=[share_of(printed)],
        claims=size_claims(SHORT, {"0.01": runs, "0.4": runs}),
        points=points,
    )

    assert said in " ".join(validation_size.text(result).split())


def test_the_claims_are_positive_where_the_smallest_part_does_as_the_paper_says() -> None:
    small = [ended([800, 830, 870], [2, 0]), ended([800, 830, 870], [2, 0])]
    large = [ended([800, 830, 820], [1, 1]), ended([826, 830, 830], [0, 0])]

    found = size_claims(SHORT, {"0.5": large, "0.01": small})

    levels = [float(level) for level in SHORT.ladder.levels]
    assert found["test"]["mean"] == pytest.approx(0.835 - (0.83 + 0.826) / 2)
    assert found["level"]["mean"] == pytest.approx((levels[2] + levels[0] - levels[1] - levels[0]) / 2)
    assert found["below"]["mean"] == pytest.approx(0.5)


@pytest.mark.parametrize("size", PRINTED)
def test_the_test_part_is_a_fifth_whatever_is_held_out(size: str) -> None:
    parts = by_index(records(2500), Fraction(size), Fraction(1, 5), SeededNoise(0))

    assert len(parts.test) == 500
    assert len(parts.held) == round(2500 * Fraction(size))
    assert len(parts.train) + len(parts.held) + len(parts.test) == 2500


def test_a_miniature_runs_and_shows_itself_from_json(tmp_path: Path) -> None:
    job = Job("validation_size", validation_size.VERSION, TINY, 1, tmp_path, 1)

    result = json.loads(json.dumps(validation_size.run(job), allow_nan=False))

    assert len(job.took) == 4
    assert set(result["points"]) == {GAUSSIAN, BALANCED}
    assert set(validation_size.draw(result)) == set(validation_size.FIGURES)
    assert "21 of 30" in validation_size.text(result)


def test_every_repeat_has_a_split_of_its_own() -> None:
    found = [validation_size.repeat(TINY, seed, "0.4") for seed in (1, 2, 1)]

    assert found[0] == found[2]
    assert found[0]["climb"]["right"] != found[1]["climb"]["right"]
