"""When a training run releases: in steps or epochs, bought whole or in pieces, at the order that suits it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.accounting.convert import cks_offset
from expost.accounting.curve import ORDERS
from expost.accounting.descent import Descent
from expost.errors import InvalidValue
from expost.release import Past
from expost.training.schedule import Epsilon, Releases, Schedule, epoch, release_order
from tests.unit.examples import one_sentence, released

DESCENT = Descent(Fraction(1, 10), Fraction(4))
SCHEDULE = Schedule(30, 20, 3)
RELEASES = Releases(SCHEDULE, DESCENT, Fraction(8))


def after(taken: int) -> Past[object]:
    """A past of so many releases."""
    return Past(*(released(0, 1) for _ in range(taken)))


@pytest.mark.parametrize(("rate", "steps"), [((1, 10), 10), ((1, 3), 3), ((2, 3), 2), ((1, 1), 1), ((3, 1000), 333)])
def test_an_epoch_brings_each_record_once_on_average(rate: tuple[int, int], steps: int) -> None:
    assert epoch(Fraction(*rate)) == steps


def test_steps_taken_by_each_release() -> None:
    assert SCHEDULE.steps == (30, 50, 70)


def test_epochs_are_counted_in_steps() -> None:
    assert Schedule.of_epochs(50, 100, 5, rate=Fraction(1, 10)).steps == (500, 1500, 2500, 3500, 4500)


@given(
    first=st.integers(1, 60), between=st.integers(1, 60), releases=st.integers(1, 4),
    at_once=st.none() | st.integers(1, 70),
)  # fmt: skip
def test_rungs_buy_exactly_the_steps_up_to_each_release(
    first: int, between: int, releases: int, at_once: int | None
) -> None:
    rungs = Releases(Schedule(first, between, releases), DESCENT, Fraction(8), at_once).rungs

    bought = [DESCENT.steps(rung.budget) * rung.times for rung in rungs]

    assert bought == [first] + [between] * (releases - 1)
    assert at_once is None or all(DESCENT.steps(rung.budget) <= at_once for rung in rungs)


def test_only_the_last_rung_is_not_asked_about() -> None:
    assert [rung.asked for rung in RELEASES.rungs] == [True, True, False]
    assert [rung.asked for rung in Releases(Schedule(30, 0, 1), DESCENT, Fraction(8)).rungs] == [False]


def test_the_next_rung_follows_the_number_of_releases() -> None:
    assert [RELEASES(after(taken), ()) for taken in range(4)] == [*RELEASES.rungs, None]


@pytest.mark.parametrize("steps", [50, 500, 4500])
def test_the_best_order_states_the_least(steps: int) -> None:
    promise = DESCENT.promise(steps)

    stated = {alpha: promise.at(alpha) + cks_offset(alpha, 1e-5) for alpha in ORDERS}

    assert float(release_order(promise, 1e-5)) == min(stated, key=lambda alpha: stated[alpha])


def test_steps_that_everyone_joins_have_a_best_order_too() -> None:
    everyone, alpha = Descent(Fraction(1), Fraction(8)), 20

    chosen = release_order(everyone.promise(50), 1e-5)

    assert everyone.promise(50).at(chosen) + cks_offset(chosen, 1e-5) < everyone.promise(50).at(alpha) + cks_offset(
        alpha, 1e-5
    )


@pytest.mark.parametrize("epochs", [(0, 10, 2), (10, 0, 2), (0, 0, 1), (-5, 10, 2)])
def test_more_releases_than_epochs_are_refused(epochs: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidValue, match="more releases than epochs") as refused:
        Schedule.of_epochs(*epochs, rate=Fraction(1, 10))

    assert one_sentence(refused.value)


@pytest.mark.parametrize("steps", [(0, 10, 2), (10, 0, 2), (10, -1, 2)])
def test_more_releases_than_steps_are_refused(steps: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidValue, match="more releases than training steps") as refused:
        Schedule(*steps)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("releases", [0, -1])
def test_no_release_is_refused(releases: int) -> None:
    with pytest.raises(InvalidValue, match="plan at least one") as refused:
        Schedule(10, 10, releases)

    assert one_sentence(refused.value)


def test_one_release_needs_no_distance_to_the_next() -> None:
    assert Schedule.of_epochs(3, 0, 1, rate=Fraction(1, 10)).steps == (30,)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1, 2), Fraction(3, 2)])
def test_epochs_at_a_rate_that_is_none_are_refused(rate: Fraction) -> None:
    with pytest.raises(InvalidValue, match="rate is") as refused:
        Schedule.of_epochs(1, 1, 2, rate=rate)

    assert one_sentence(refused.value)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_an_epsilon_to_start_from_is_above_zero(value: float) -> None:
    with pytest.raises(InvalidValue, match="epsilon is") as refused:
        Epsilon(value)

    assert one_sentence(refused.value)
