"""A check of a table tells its owner which records break a rule, and nobody else is told."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import pytest

from expost.errors import SchemaMismatch
from expost.tabular.inspection import check_table
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from tests.unit.examples import ADD

pl = import_module("polars")

Cells: TypeAlias = Sequence[str | None]
RULE = "pregnant = yes implies sex = F"


def form(*rules: str, missing: Missing = Missing.CATEGORY) -> Schema:
    return Schema(
        (
            Categorical("sex", ("F", "M"), "other", missing=missing),
            Boolean("pregnant", missing),
            Integer("pain", (0, 1, 2), missing),
        ),
        True,
        ADD,
        rules=rules,
    )


def cells(sex: Cells, pregnant: Cells, pain: Cells | None = None) -> Any:
    """A frame of texts."""
    found = {"sex": sex, "pregnant": pregnant, "pain": pain or ["0"] * len(sex)}
    return pl.DataFrame(found, schema=dict.fromkeys(found, pl.String))


def test_the_share_that_breaks_a_rule_is_told_with_the_commonest_ways() -> None:
    sex = ["M", "F", "X", "M", "M", "F", None, "M", "F", "F"]
    pregnant = ["yes", "yes", "yes", "yes", "no", "no", "yes", None, "no", "no"]

    (found,) = check_table(cells(sex, pregnant), form(RULE)).rules

    assert (found.records, found.broken, found.share) == (10, 3, 0.3)
    assert found.examples == ("sex = M and pregnant = true", "sex = other and pregnant = true")
    assert found.notable


@pytest.mark.parametrize(("broken", "notable"), [(0, False), (1, False), (2, True)])
def test_a_rule_is_notable_where_more_than_one_record_in_a_hundred_breaks_it(broken: int, notable: bool) -> None:
    checked = check_table(cells(["M"] * 100, ["yes"] * broken + ["no"] * (100 - broken)), form(RULE))

    assert checked.notable is notable
    assert ("correct the rule if these can be" in str(checked)) is notable
    assert ("such as sex = M and pregnant = true" in str(checked)) is (broken > 0)


def test_records_that_a_run_drops_are_not_counted() -> None:
    """For whichever column: a run has as many records as are counted here, and as many that break the rule."""
    schema = form(RULE, missing=Missing.DROP)
    table = cells(["M", "M", None, "M", "F"], ["yes", "yes", "yes", None, "no"], ["0", None, "1", "2", "2"])

    (found,) = check_table(table, schema).rules

    coded = read_table(table, schema)
    (rule,) = schema.constraints
    assert found.records == len(coded) == 2
    assert found.broken == int((~rule.allowed[coded.codes("sex"), coded.codes("pregnant")]).sum()) == 1


def test_a_rule_about_a_column_that_the_table_lacks_is_left_out() -> None:
    table = cells(["M", "F"], ["yes", "no"]).drop("pain")

    checked = check_table(table, form("never pain = 2", RULE))

    assert [each.rule.sentence for each in checked.rules] == [RULE]
    assert checked.lacking == ("pain",)


def test_a_page_without_rules_says_nothing_of_them() -> None:
    assert "rule" not in str(check_table(cells(["M"], ["no"]), form()))


def test_rules_that_contradict_each_other_are_refused_before_the_table_is_opened() -> None:
    with pytest.raises(SchemaMismatch, match="leaves no possible value"):
        check_table("nowhere.csv", form("never pain >= 0 ", "never pain is missing"))
