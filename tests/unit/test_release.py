"""Releases: the bill follows the value everywhere and only ever rises."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost._seal import SEAL, Seal
from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.pledge import FixedOrder
from expost.errors import ForgedRelease, InvalidValue
from expost.noise import SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours
from expost.release import Past, Release, merged
from tests.unit.examples import ADD, REPLACE, Says, budget, line, people, released

FIXED, OTHER = FixedOrder.at(20, 1e-5), FixedOrder.at(30, 1e-5)
weights = st.fractions(0, 10, max_denominator=1000)
bills = st.builds(lambda xi, rho: Spent(line(xi, rho)), weights, weights)


def test_mapping_changes_the_value() -> None:
    assert released(3, 1).map(lambda value: value + 1).value == 4


def test_mapping_keeps_the_bill() -> None:
    release = released(3, 1)

    assert release.map(str).spent == release.spent


@given(st.integers(), st.integers(-5, 5), st.integers(-5, 5))
def test_mapping_twice_is_mapping_the_composition(value: int, shift: int, factor: int) -> None:
    release = released(value, 1)

    stepwise = release.map(lambda x: x + shift).map(lambda x: x * factor)
    at_once = release.map(lambda x: (x + shift) * factor)

    assert (stepwise.value, stepwise.spent) == (at_once.value, at_once.spent)


@given(bills)
def test_raising_the_bill_never_lowers_it(bound: Spent) -> None:
    release = released(0, 1)

    raised = release.at_least(bound).spent

    assert all(raised.at(alpha) == max(release.spent.at(alpha), bound.at(alpha)) for alpha in (1.5, 20, 1e6))


@given(bills)
def test_raising_the_bill_twice_is_raising_it_once(bound: Spent) -> None:
    once = released(0, 1).at_least(bound)

    assert once.at_least(bound).spent == once.spent


def test_the_bill_may_be_raised_to_a_promise() -> None:
    assert released(0, 1).at_least(Promise(line(9, 9))).spent == Spent(line(9, 9))


def test_raising_the_bill_keeps_the_value() -> None:
    assert released("kept", 1).at_least(NOTHING).value == "kept"


def test_joint_values_come_in_order() -> None:
    assert Past(released("a", 1), released("b", 1)).joint().value == ("a", "b")


def test_the_bills_of_different_odometers_add() -> None:
    assert Past(released(0, 1), released(0, 2)).joint().spent.at(20) == 3.0


def test_the_bills_of_one_odometer_are_running_totals_of_which_the_largest_counts() -> None:
    odometer = Odometer()
    first, second = spent(odometer, 1), spent(odometer, 2)

    assert [Past(*steps).joint().spent.at(20) for steps in ((first,), (first, second), (second, first))] == [
        1.0,
        3.0,
        3.0,
    ]


def test_releases_of_two_odometers_cost_the_sum_of_both_totals() -> None:
    one, other = Odometer(), Odometer()

    joint = Past(spent(one, 1), spent(other, 10), spent(one, 2), spent(other, 20)).joint()

    assert joint.spent.at(20) == 33.0


def test_a_joint_release_is_not_billed_again_beside_its_parts() -> None:
    odometer = Odometer()
    first, second = spent(odometer, 1), spent(odometer, 2)

    again = Past[object](Past(first, second).joint(), second).joint()

    assert again.spent.at(20) == 3.0


def test_a_later_release_carries_at_least_what_an_earlier_one_did() -> None:
    odometer = Odometer()

    bills = [spent(odometer, epsilon).spent.at(20) for epsilon in (4, 1, 2)]

    assert bills == [4.0, 5.0, 7.0]


def test_an_empty_past_cost_nothing() -> None:
    assert Past[object]().joint().spent == NOTHING.as_spent()


def test_a_past_grows_without_changing() -> None:
    before = Past(released(1, 1))

    after = before.then(released(2, 1))

    assert [len(before.steps), len(after.steps)] == [1, 2]


def test_two_pasts_grow_from_one_without_knowing_of_each_other() -> None:
    before = Past(released(1, 1))
    one, other = before.then(released(2, 2)), before.then(released(3, 4))

    assert [[step.value for step in past.steps] for past in (one, other)] == [[1, 2], [1, 3]]
    assert [past.joint().spent.at(20) for past in (before, one, other)] == [1.0, 3.0, 5.0]


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(1, 9)), max_size=9))
def test_a_joint_bill_that_was_brought_along_is_that_of_all_bills_at_once(steps: list[tuple[int, int]]) -> None:
    """Of three odometers in turns, one of which is taken over by its own past."""
    odometers, grown = [Odometer(pledge=FIXED) for _ in range(3)], Past[int]()
    for place, epsilon in steps:
        grown = grown.then(spent(odometers[place], epsilon))

    together = merged(*(step.bills(SEAL) for step in grown.steps))

    assert grown.together.bills(SEAL) == grown.joint().bills(SEAL) == together
    assert grown.together.epsilon == grown.joint().epsilon == Past(*grown.steps).joint().epsilon
    assert len(grown) == len(steps) == len(grown.joint().value)


def test_a_past_keeps_the_larger_bill_when_an_earlier_release_comes_last() -> None:
    """A running total that simply took the last one would be less than what had been spent."""
    odometer = Odometer()
    first, second = spent(odometer, 1), spent(odometer, 2)

    backwards = Past(second).then(first)

    assert backwards.together.spent == second.spent != first.spent


def test_a_past_knows_its_newest_release() -> None:
    last = released(2, 1)

    assert Past(released(1, 1), last).newest is last
    assert (Past[int]().newest, len(Past[int]())) == (None, 0)


def test_seeded_noise_marks_every_descendant() -> None:
    release = released(0, 1)

    assert release.map(str).seeded
    assert release.at_least(NOTHING).seeded
    assert Past(private(), release).joint().seeded


def test_floating_noise_marks_every_descendant() -> None:
    release = released(0, 1, floating=True)

    assert release.map(str).floating
    assert release.at_least(NOTHING).floating
    assert Past(private(), release).joint().floating


def test_exact_system_noise_leaves_no_mark() -> None:
    joint = Past(private(), private()).joint()

    assert (joint.seeded, joint.floating) == (False, False)


def test_a_seeded_release_says_that_it_is_not_private() -> None:
    assert repr(released(3, 1)) == "Release(3, NOT PRIVATE)"


def test_a_private_release_shows_its_value() -> None:
    assert repr(private()) == "Release(0)"


def test_a_release_is_not_made_by_hand() -> None:
    with pytest.raises(ForgedRelease, match="only a mechanism run through an odometer"):
        Release(3, {}, Seal(), seeded=False, floating=False)


@pytest.mark.parametrize("name", ["_bills", "_value", "_seeded", "value", "other"])
def test_a_release_cannot_be_changed(name: str) -> None:
    with pytest.raises(ForgedRelease, match="a release is final"):
        setattr(released(3, 1), name, 0)


def test_a_release_cannot_be_emptied() -> None:
    release = released(3, 1)

    with pytest.raises(ForgedRelease, match="a release is final"):
        del release._bills


def test_a_release_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="publish its value"):
        pickle.dumps(released(3, 1))


def spent(odometer: Odometer, epsilon: int) -> Release[int]:
    """A step of the odometer on data of its own, with noise that nobody can repeat."""
    return odometer.spend(Says(0), people(0), budget(epsilon), Past(), SystemNoise())


def private() -> Release[int]:
    """A release with noise that nobody can repeat."""
    return Odometer().spend(Says(0), people(0), budget(1), Past(), SystemNoise())


def test_the_bills_of_a_release_are_shown_to_the_holder_of_the_seal_alone() -> None:
    with pytest.raises(ForgedRelease, match="only a mechanism run through an odometer"):
        released(3, 1).bills(Seal())


def under(neighbours: Neighbours) -> Release[int]:
    """A release for data with these neighbours."""
    return Odometer().spend(
        Says(0, neighbours=neighbours), people(0, neighbours=neighbours), budget(1), Past(), SystemNoise()
    )


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_a_release_and_its_past_know_the_neighbours_they_are_billed_for(neighbours: Neighbours) -> None:
    past = Past(under(neighbours), under(neighbours))

    assert past.neighbours is past.joint().neighbours is past.steps[0].neighbours is neighbours


def test_without_data_there_are_no_neighbours_and_no_pledge() -> None:
    empty = Past[int]()

    assert (empty.neighbours, empty.joint().neighbours, empty.joint().pledge) == (None, None, None)


def test_a_bill_that_is_for_no_neighbours_goes_with_any() -> None:
    free = Past[int]().joint().at_least(Promise(line(1, 1)))

    assert Past[object](free, under(REPLACE)).joint().neighbours is REPLACE


def test_releases_for_different_neighbours_are_no_past() -> None:
    with pytest.raises(InvalidValue, match="do not add up"):
        Past(under(ADD), under(REPLACE))


@pytest.mark.parametrize(
    ("pledges", "kept"),
    [((FIXED,), FIXED), ((FIXED, FIXED), FIXED), ((FIXED, OTHER), None), ((FIXED, None), None), ((None, FIXED), None)],
)
def test_a_release_is_stated_by_the_pledge_that_all_its_odometers_had(
    pledges: tuple[FixedOrder | None, ...], kept: FixedOrder | None
) -> None:
    joint = Past(*(spent(Odometer(pledge=pledge), 1) for pledge in pledges)).joint()

    assert joint.pledge == kept


def test_a_release_tells_its_kind_and_its_price_in_a_few_words() -> None:
    pledged = Odometer(pledge=FixedOrder.at(20, delta=1e-5)).spend(
        Says([0] * 10**6), people(0), budget(1), Past(), SystemNoise()
    )
    bare = Odometer().spend(Says("x"), people(0), budget(1), Past(), SystemNoise())

    assert pledged.brief == f"list, ε = {pledged.epsilon:.4g}, δ = 1e-05"
    assert bare.brief == "str, no pledge"
    assert released("x", 1).brief == "str, no pledge, NOT PRIVATE"
