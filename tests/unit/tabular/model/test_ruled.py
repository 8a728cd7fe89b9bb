"""Rules that no model can keep are refused before any data is opened, by name and in one sentence."""

import numpy as np
import pytest

from expost.errors import SchemaMismatch
from expost.tabular.model import ruled
from expost.tabular.model.inference import Allowed
from expost.tabular.model.junction import Junction
from expost.tabular.model.ruled import allowed_by, require_possible
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Integer
from expost.tabular.schema.schema import Schema
from tests.unit.examples import ADD, one_sentence


def form(*rules: str, sizes: tuple[int, ...] = (3, 3, 3, 3)) -> Schema:
    columns = tuple(
        Integer(name, tuple(range(size)), Missing.FALLBACK) for name, size in zip("abcd", sizes, strict=True)
    )
    return Schema((*columns, Boolean("target", Missing.FALLBACK)), True, ADD, rules=rules)


def test_rules_name_columns_by_their_place() -> None:
    schema = form("never d = 1 and b = 2", "never target = yes")

    assert [each.clique for each in allowed_by(schema)] == [(1, 3), (4,)]
    assert np.array_equal(allowed_by(schema)[0].table, schema.constraints[0].allowed)


def test_rules_that_leave_something_are_taken() -> None:
    require_possible(form())
    require_possible(form("a = 0 implies b = 1", "b = 1 implies c = 2", "c = 2 implies a = 0"))
    require_possible(form("never a in (1, 2)", "a determines b: 0 -> 2, 1 -> 0, 2 -> 0"))


CONTRADICTIONS = {
    "one alone": (["never a >= 0"], "never a >= 0"),
    "two of one column": (["never a < 2", "never b = 1", "never a > 1"], "never a > 1"),
    "along a chain": (
        ["never a < 2", "a = 2 implies b = 0", "b = 0 implies c = 1", "c = 1 implies d = 2", "never d = 2"],
        "never d = 2",
    ),
    "around a circle": (
        [
            "a determines b: 0 -> 1, 1 -> 2, 2 -> 0",
            "b determines c: 0 -> 1, 1 -> 2, 2 -> 0",
            "c determines a: 0 -> 0, 1 -> 1, 2 -> 2",
        ],
        "c determines a",
    ),
}


@pytest.mark.parametrize(("rules", "named"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_rules_that_leave_nothing_are_refused_by_the_first_that_does(rules: list[str], named: str) -> None:
    with pytest.raises(SchemaMismatch) as refused:
        require_possible(form(*rules))

    assert str(refused.value).startswith(f'the rule "{named}')
    assert one_sentence(refused.value)
    require_possible(form(*rules[:-1]))


def test_rules_that_tie_too_much_together_are_refused() -> None:
    """Each of them is small; the circle that they make is not."""
    circle = ["never a = 0 and b = 0", "never b = 0 and c = 0", "never c = 0 and d = 0", "never a = 0 and d = 0"]

    require_possible(form(*circle[:3], sizes=(200, 200, 200, 200)))
    with pytest.raises(SchemaMismatch, match=r"of a, b, c; the limit|of .*; the limit is 1,048,576") as refused:
        require_possible(form(*circle, sizes=(200, 200, 200, 200)))

    assert one_sentence(refused.value)


def test_columns_without_a_rule_do_not_count() -> None:
    wide = tuple(Integer(f"x{place}", tuple(range(60_000)), Missing.FALLBACK) for place in range(30))
    schema = Schema((*wide, Boolean("a", Missing.FALLBACK)), True, ADD, rules=("never a = yes",))

    require_possible(schema)


def test_a_contradiction_among_many_rules_is_found_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand rules took half a minute when they were tried one after the other."""
    tried: list[object] = []
    schema = form(*["never a = 1 and b = 2"] * 500, "never c >= 0", *["never d = 1"] * 500)
    possible = ruled._is_possible

    def counted(junction: Junction, allowed: tuple[Allowed, ...]) -> bool:
        tried.append(allowed)
        return possible(junction, allowed)

    monkeypatch.setattr(ruled, "_is_possible", counted)

    with pytest.raises(SchemaMismatch, match='the rule "never c >= 0" leaves'):
        require_possible(schema)
    assert len(tried) <= 12
