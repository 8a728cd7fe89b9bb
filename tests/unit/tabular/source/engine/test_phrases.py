"""Phrases: the number that the engine is sure of is the one that Python reads, and most cells are sure."""

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product

from expost.noise import SeededNoise
from expost.tabular.schema.binned import Dates, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.cells import number_in
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical
from expost.tabular.schema.spelling import DayFormat, Numerals
from expost.tabular.source.engine.domains import Domain
from expost.tabular.source.engine.phrases import phrase_of
from expost.tabular.source.home import connection
from tests.unit.tabular.source.hostile import DAYS, REALS

USUAL = Numeric("n", REALS, Closed.LEFT, Missing.CATEGORY)
ABSENT = frozenset({None, "", "?"})


def sure(column: Column, texts: Sequence[str]) -> dict[str, object]:
    """What the engine is sure of in these texts."""
    phrase = phrase_of(Domain(column, ABSENT), "cell")
    assert phrase is not None
    home = connection()
    rows = home.execute(
        f"SELECT cell, {phrase.value} FROM (SELECT unnest($texts) AS cell)", {"texts": list(texts)}
    ).fetchall()
    return {text: value for text, value in rows if value is not None}


def test_a_short_text_is_a_number_for_the_engine_only_if_it_is_that_number_in_python() -> None:
    """All texts of up to five of the letters that numbers are spelled with."""
    found = sure(USUAL, ["".join(letters) for size in range(1, 6) for letters in product("01.e-+", repeat=size)])

    assert {text: value for text, value in found.items() if number_in(text) != value} == {}
    assert {"1", "-0", "10.01", "1.", "1e-1", "-1.1"} <= found.keys()


def test_a_number_between_two_floats_is_rounded_as_python_rounds_it() -> None:
    noise, exact = SeededNoise(1), Context(prec=60)
    texts = []
    for scale in (noise.uniform(5000) * 2.0**40).tolist():
        for low in (scale, scale * 2.0**-45):
            middle = (Fraction(low) + Fraction(math.nextafter(low, math.inf))) / 2
            spelled = format(exact.divide(Decimal(middle.numerator), Decimal(middle.denominator)), "f")
            texts += [spelled[:32], spelled[: spelled.index(".") + 18], f"{spelled[:20]}e-37", repr(low)]

    found = sure(USUAL, texts)

    assert len(found) > 10_000
    assert {text: value for text, value in found.items() if float(text) != value} == {}


def test_common_cells_are_sure() -> None:
    spelled = Numeric("n", REALS, Closed.LEFT, Missing.CATEGORY, Numerals(",", "."))
    listed = Categorical("c", ("a", "é"), "other", missing=Missing.CATEGORY)

    assert sure(USUAL, ["7", "-1.5", "2.5e-08", "?", "", "0x1", "\u0661"]) == {
        "7": 7.0,
        "-1.5": -1.5,
        "2.5e-08": 2.5e-8,
    }
    assert sure(spelled, ["1.234,5", "1234,5", "1,5", "1.5"]) == {"1.234,5": 1234.5, "1234,5": 1234.5, "1,5": 1.5}
    assert sure(listed, ["a", "é", "other", "new", "é ", "z\u00a0"]).keys() == {"a", "é", "other", "new"}
    assert sure(Boolean("b", Missing.CATEGORY), ["Yes", "no", "TRUE", "1", "2"]).keys() == {"Yes", "no", "TRUE", "1"}


def test_common_days_are_sure() -> None:
    days = Dates("d", DAYS, Closed.LEFT, Missing.CATEGORY)
    written = Dates("d", DAYS, Closed.LEFT, Missing.CATEGORY, DayFormat("%%%d.%m.%Y %H:%M"))

    assert sure(days, ["2020-01-31", "2020-01-31T10:00:00", "2020-01-31Z", "2020-02-30"]).keys() == {
        "2020-01-31", "2020-01-31T10:00:00",
    }  # fmt: skip
    assert [*map(str, sure(written, ["%31.12.2019 23:59", "%31.12.2019 24:00", "%30.02.2019 10:00"]).values())] == [
        "2019-12-31"
    ]
