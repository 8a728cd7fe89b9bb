"""Where a run stands on a lasting ledger, in sentences."""

from dataclasses import replace
from fractions import Fraction

import pytest

from expost.numerics import up
from expost.recorded import Allowance, Booking
from expost.report.booked import fitting, for_auditors, held_and_returned, standing

WHERE = Booking(
    ledger="hospital.db", dataset="admissions", run="4711", entry=12, head="0" * 64, held=0.2567, captured=0.02844,
    spent=0.8391, most=1.3102, cap=3.0, notation="ε at δ = 1e-6", fitting=7, planned=7,
)  # fmt: skip


def test_what_is_spent_and_what_it_may_come_to_are_each_stated_once() -> None:
    assert standing(WHERE) == "admissions: ε = 0.840 at δ = 1e-6 is spent; with this run at most ε = 1.32 of 3."


def test_a_first_run_says_that_nothing_is_spent() -> None:
    first = replace(WHERE, spent=0.0)

    assert standing(first) == "admissions: nothing is spent yet; with this run at most ε = 1.32 of 3 at δ = 1e-6."


def test_a_run_of_an_analyst_tells_of_the_allowance_too() -> None:
    bens = Allowance("the analyst 'ben'", 0.0, 0.7319, 1.0, binds=True)
    told = standing(replace(WHERE, allowance=bens))

    assert told.startswith(standing(WHERE))
    assert told.endswith(" The analyst 'ben' has spent nothing of an allowance of 1; with this run at most ε = 0.732.")
    assert "has spent ε = 0.250 of an allowance of 1;" in standing(replace(WHERE, allowance=replace(bens, spent=0.25)))


def test_whose_limit_leaves_room_for_a_part_of_the_plan_is_said() -> None:
    part = replace(WHERE, fitting=2, planned=3, allowance=Allowance("the analyst 'ben'", 0.0, 0.7, 1.0, binds=True))
    others = replace(part, allowance=Allowance("the analyst 'ben'", 0.0, 0.7, 1.0, binds=False))

    assert "The allowance of the analyst 'ben' has room for 2 of the 3 planned rungs" in str(fitting(part, "rung"))
    assert "The ledger has room for 2 of the 3 planned rungs" in str(fitting(others, "rung"))


def test_a_total_that_has_reached_its_cap_is_not_shown_as_more() -> None:
    """Rounded up to three digits it would be ε = 0.151 of 0.15."""
    reached = up(Fraction(15, 100))
    told = replace(WHERE, spent=reached, most=reached, cap=reached)

    assert standing(told) == "admissions: ε = 0.15 at δ = 1e-6 is spent; with this run at most ε = 0.15 of 0.15."
    assert held_and_returned(told).endswith("; ε = 0.15 of 0.15 at δ = 1e-6 is spent.")
    assert "ε = 0.150 of 0.15" in held_and_returned(replace(told, spent=0.1491))


@pytest.mark.parametrize(("held", "captured"), [(0.2567, 0.02844), (0.1554, 0.1554), (0.30001, 0.0), (1.0, 0.0004)])
def test_what_was_captured_and_what_was_returned_add_up_to_what_was_held(held: float, captured: float) -> None:
    told = held_and_returned(replace(WHERE, held=held, captured=captured))

    whole, paid, rest = (float(each.split()[-1]) for each in told.split(" %")[:3])
    assert whole == pytest.approx(paid + rest)
    assert whole >= 100 * held
    assert paid >= 100 * captured
    assert told.endswith(" returned; ε = 0.840 of 3 at δ = 1e-6 is spent.")


def test_of_a_run_that_held_nothing_no_shares_are_told() -> None:
    told = held_and_returned(replace(WHERE, held=0.0, captured=0.0))

    assert told == "admissions: nothing was held; ε = 0.840 of 3 at δ = 1e-6 is spent."


def test_a_plan_that_fits_is_not_mentioned() -> None:
    assert fitting(WHERE, "rung") is None
    assert "room for 3 of the 7 planned rungs" in str(fitting(replace(WHERE, fitting=3), "rung"))


@pytest.mark.parametrize(
    ("notation", "told"),
    [("ε at the Rényi order 20", "ε = 0.840 at the Rényi order 20"), ("ρ of zCDP", "ρ = 0.840 of zCDP")],
)
def test_the_number_is_named_as_the_terms_name_it(notation: str, told: str) -> None:
    where = replace(WHERE, notation=notation)

    assert told in standing(where)
    assert f"stated together as {told}, where the cap is 3" in for_auditors(where)
