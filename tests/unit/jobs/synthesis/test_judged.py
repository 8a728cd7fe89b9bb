"""How an aim was measured is told with what it leaves open: what chance was given back, and values without weight."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from expost import Aim, Neighbours
from expost.jobs.synthesis.counted import Counted, Released
from expost.jobs.synthesis.judged import judged_words
from expost.noise import Integers
from expost.tabular.model.graphical import Measured, fit
from expost.tabular.model.junction import Junction
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Candidate, Lesson
from expost.tabular.table import Table

SCHEMA = Schema(
    (
        Integer("a", tuple(range(40)), Missing.FALLBACK),
        Integer("b", tuple(range(40)), Missing.FALLBACK),
        Categorical("y", ("none", "some", "much"), missing=Missing.FALLBACK),
        Boolean("z", Missing.FALLBACK),
    ),
    True,
    Neighbours.ADD_REMOVE,
)


def told(
    *aims: Aim,
    counts: tuple[float, ...] = (900.0, 80.0, 60.0),
    held: float = 400.0,
    share: Fraction = Fraction(1, 5),
) -> tuple[str, ...]:
    """The words for a table of 1,600 rows that has each pair of a and b once."""
    places = np.arange(1600)
    columns = {"a": places % 40, "b": places // 40, "y": places % 3, "z": places % 2}
    model = fit(Junction.of((2,), [(0,)]), [Measured((0,), np.ones(2), 1.0)])
    learnt: dict[Lesson, Callable[[Table], Integers]] = {}
    table = Table(SCHEMA, {name: codes.astype(np.uint8) for name, codes in columns.items()})
    candidate = Candidate(table, model, learnt, {}, held)
    counted = Counted(1600.0, 1.0, share, {"y": Released(("y",), np.array(counts), 10.0)})
    return judged_words(aims, SCHEMA, counted, candidate)


def test_an_overlap_says_how_much_was_given_back_and_where() -> None:
    """400 records leave three of four cells empty, so that chance takes most of the overlap of a and b."""
    (words,) = told(Aim.within(0.1))

    assert "at most 77.9 %, for a × b. By as much more a table may be off" in words


def test_nothing_is_given_back_where_public_records_judge() -> None:
    (words,) = told(Aim.within(0.1), held=0.0, share=Fraction(0))

    assert "in the public records" in words
    assert "at most 0 %" in words


def test_only_tables_that_were_asked_about_are_told_of() -> None:
    (words,) = told(Aim.within(0.1, crosstabs=[("y", "z")]))

    assert "for y × z." in words


@pytest.mark.parametrize(
    ("counts", "ending"),
    [
        ((900.0, 80.0, 60.0), "of which noise is a part."),
        ((900.0, 80.0, 39.0), "could have made those of much, which were left out."),
        ((900.0, -3.0, 39.0), "could have made those of some, much, so that nothing could pass."),
    ],
)
def test_a_balanced_accuracy_says_which_values_were_lost_in_noise(counts: tuple[float, ...], ending: str) -> None:
    (words,) = told(Aim.balanced_accuracy("y", 0.5), counts=counts)

    assert words.startswith("The values of y were weighed by their released counts")
    assert words.endswith(ending)


def test_a_gain_says_which_value_it_is_over_and_an_accuracy_nothing() -> None:
    assert told(Aim.accuracy("y", 0.5)) == ()
    assert told(Aim.above_guessing("y", 0.1))[0].startswith("The commonest value of y")
    assert len(told(Aim.above_guessing("y", 0.1), Aim.above_guessing("y", 0.2))) == 1
