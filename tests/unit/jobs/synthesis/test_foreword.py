"""What is told before any result: the rate of guessing, and what the released counts warn of."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from expost.jobs.synthesis.counted import Counted, Released
from expost.jobs.synthesis.foreword import (
    baseline_words,
    commonest_warnings,
    crowded_warnings,
    gain_warnings,
    guessing_plan,
)
from expost.report.digits import measured, points
from expost.report.page import render
from expost.report.words import forewords
from expost.tabular.aims import Aim
from tests.unit.examples import ADD
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.report.examples import customers, facts, schema
from tests.unit.report.pages import said

COUNTED = Counted(1000.0, 5.0, Fraction(1, 5), {"renewed": Released(("renewed",), np.array([914.0, 86.0]), 4.0)})


def aimed(at_least: float) -> tuple[Aim, ...]:
    """An accuracy to reach."""
    return (Aim.accuracy("renewed", at_least),)


def columns(share: float) -> list[Released]:
    """Regions with this share of 1,000 records in the first, and plans that are even."""
    regions = np.array([1000 * share, 1000 * (1 - share), 0.0])
    return [
        Released(("region",), regions, 1.0),
        *(Released((name,), np.full(2, 500.0), 1.0) for name in ("plan", "renewed")),
    ]


def test_the_rate_of_guessing_is_told_with_its_range() -> None:
    told = baseline_words(COUNTED, schema(), aimed(0.9))

    assert "Always guessing false, the commonest value of renewed, would be right for 91.4 % ± 1.2" in told


def test_asking_for_less_than_guessing_is_warned_about() -> None:
    ((title, told),) = commonest_warnings(COUNTED, aimed(0.9))

    assert title == "Asked for less than guessing"
    assert told.startswith("90 % was asked for, which is less than always guessing")
    assert commonest_warnings(COUNTED, aimed(0.92)) == ()


def test_asking_for_what_noise_may_have_put_below_guessing_is_not_told_as_certain() -> None:
    """On a first rung at a small ε the rate itself is off by half of all records."""
    noisy = replace(COUNTED, targets={"renewed": Released(("renewed",), np.array([914.0, 86.0]), 250.0)})

    ((title, told),) = commonest_warnings(noisy, aimed(0.9))

    assert title == "Perhaps asked for less than guessing"
    assert told.startswith("90 % was asked for, which may be less than always guessing the commonest value of renewed")
    assert f"would reach, {measured(0.914, noisy.guess('renewed').half)} by the released counts." in told


def test_asking_for_less_than_guessing_has_by_another_measure_is_warned_about() -> None:
    """An AUC of a half, and a balanced accuracy of one over the number of values, are had without any table."""
    measures = {"An AUC": Aim.auc, "A balanced accuracy": Aim.balanced_accuracy}
    for name, aim in measures.items():
        ((title, told),) = commonest_warnings(COUNTED, (aim("renewed", 0.45),))

        assert title == "Asked for less than guessing"
        assert told.startswith(f"{name} of 45 % was asked for of renewed, which is less than the 50 % that guessing")
        assert commonest_warnings(COUNTED, (aim("renewed", 0.5),)) == ()


def test_a_gain_over_guessing_and_an_overlap_are_not_compared_with_guessing() -> None:
    assert commonest_warnings(COUNTED, (Aim.above_guessing("renewed", 0.01), Aim.within(0.9))) == ()


def test_a_gain_that_guessing_leaves_no_room_for_is_warned_about() -> None:
    """Only where that is certain: the rate of guessing is noisy."""
    rate = COUNTED.guess("renewed")
    room = 1 - rate.rate + rate.half

    ((title, told),) = gain_warnings(COUNTED, (Aim.above_guessing("renewed", room + 0.001),), ADD.value)

    assert title == "Asked for more than can be gained"
    assert "over guessing renewed was asked for, and guessing alone is right for" in told
    assert f"No table gains more than about {points(1 - rate.rate)};" in told
    others = (Aim.above_guessing("renewed", room - 0.001), Aim.accuracy("renewed", 0.999), Aim.within(0.9))
    assert gain_warnings(COUNTED, others, ADD.value) == ()


def test_a_column_with_nearly_all_records_in_one_bin_is_warned_about() -> None:
    form = schema()
    released = [*columns(0.97), Released(("age",), np.full(4, 250.0), 1.0)]

    ((title, told),) = crowded_warnings(released, 1000.0, form)

    assert title == "Nearly all records in one bin"
    assert "in one bin of region (97.0 % in north)." in told
    assert crowded_warnings([*columns(0.94), released[-1]], 1000.0, form) == ()


def test_a_column_that_noise_may_have_crowded_is_not_warned_about() -> None:
    form, rest = schema(), [*columns(0.5)[1:], Released(("age",), np.full(4, 250.0), 1.0)]

    def warned(std: float) -> bool:
        crowded = Released(("region",), np.array([990.0, 10.0, 0.0]), std)
        return bool(crowded_warnings([crowded, *rest], 1000.0, form))

    assert warned(25.0)
    assert not warned(26.0)


def test_a_column_of_one_value_is_not_crowded() -> None:
    form = schema()
    whole = Released(("region",), np.array([1000.0]), 1.0)

    assert crowded_warnings([whole, *columns(0.5)[1:], Released(("age",), np.full(4, 250.0), 1.0)], 1000.0, form) == ()


def test_the_rate_stands_before_the_result_in_the_report_and_in_the_terminal() -> None:
    told = facts()
    page = said(render(told))

    assert told.baseline.startswith("Always guessing")
    assert page.index("Always guessing") < page.index("The accuracy is at least")
    assert forewords(told)[0] == told.baseline


def test_a_run_that_asks_for_less_than_guessing_says_so() -> None:
    done = made(customers(SCHEMA), accuracy=0.3)

    assert "Asked for less than guessing" in said(render(done.facts))
    assert any(each.startswith("WARNING: 30 % was asked for") for each in forewords(done.facts))


def test_a_mean_score_is_not_compared_with_guessing() -> None:
    done = made(customers(SCHEMA), accuracy=0.3, score=lambda candidate, records: np.ones(len(records)))

    assert done.facts.baseline == ""
    assert done.facts.warnings == ()


def test_a_plan_says_how_the_rate_will_be_told() -> None:
    told = guessing_plan(aimed(0.74))

    assert "may be right more often than what is asked for, 74 % for renewed." in told
    assert "cannot be known before the data is read" in told
