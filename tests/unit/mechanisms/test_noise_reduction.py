"""Laplace noise reduction: the levels in turn, one body of data, and a bill that is the last level."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Barrier, BrokenBarrierError
from typing import final

import numpy as np
import pytest

from expost.checks.question import PublicCheck
from expost.errors import InvalidValue, LedgerConflict
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.mechanisms.gaussian import Measurement
from expost.mechanisms.laplace_path import IntegerPath, Kernel, RealPath, Values
from expost.mechanisms.noise_reduction import NoiseReduction
from expost.noise import Integers, Noise, ScriptedNoise, SeededNoise, SystemNoise
from expost.numerics import Real, up
from expost.odometer import Odometer
from expost.private import Neighbours, Private, split
from expost.release import Past
from expost.search import planned_stops
from expost.statistic import Statistic
from tests.bills.recording import RecordingNoise
from tests.unit.examples import ADD, NONE, REPLACE, Tripwire, budget, counts, line, people, rehearsal, silence

LADDER = Ladder.of([Fraction(1, 10), Fraction(1, 2), 2], alpha=20)
KERNELS = [IntegerPath(), RealPath()]
ONE = Fraction(1)
"""A generous ceiling for twenty draws; a chance computed digit by digit would take minutes."""


@final
@dataclass
class Meeting:
    """The exact kernel, whose user waits a moment for another thread before it begins."""

    others: Barrier = field(default_factory=lambda: Barrier(2))

    @property
    def floating(self) -> bool:
        """Never, when both are there or it is clear that one of them has to wait."""
        with suppress(BrokenBarrierError):
            self.others.wait(0.5)
        return False

    def start(self, rate: Fraction, shape: tuple[int, ...], noise: Noise) -> Values:
        """Fresh noise."""
        return IntegerPath().start(rate, shape, noise)

    def rise(self, fine: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Noise at the low rate given that at the high one."""
        return IntegerPath().rise(fine, low, high, noise)

    def descend(self, coarse: Values, low: Fraction, high: Fraction, noise: Noise) -> Values:
        """Noise at the high rate given that at the low one."""
        return IntegerPath().descend(coarse, low, high, noise)


def unmoved(start: int, levels: tuple[Fraction, ...] | None) -> ScriptedNoise:
    """Noise that starts here and stays through three levels, drawn on demand or, with jumps not taken, as a path."""
    return ScriptedNoise([start, 1, 1] if levels is None else [start, 0, 1, 0, 1])


def climb(
    mechanism: NoiseReduction[Integers], data: Private[Integers], noise: Noise, odometer: Odometer
) -> list[Measurement]:
    """Every level of the ladder, one after another."""
    return [odometer.spend(mechanism, data, each, Past(), noise).value for each in LADDER.budgets]


def cells(measurements: list[Measurement]) -> list[list[float]]:
    """The values of each measurement."""
    return [measurement.values.tolist() for measurement in measurements]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("levels", [None, LADDER.levels])
def test_the_bill_is_the_last_level_at_every_order(kernel: Kernel, levels: tuple[Fraction, ...] | None) -> None:
    odometer = rehearsal()

    climb(NoiseReduction(counts(), kernel, levels), people(0, 1), SeededNoise(1), odometer)

    assert [odometer.spent.at(alpha) for alpha in (1.5, 20, 1e6)] == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_variance_is_that_of_the_level_reached(kernel: Kernel) -> None:
    measured = climb(NoiseReduction(counts(), kernel), people(0), SeededNoise(1), rehearsal())

    assert [each.variance for each in measured] == [200, 8, Fraction(1, 2)]


def test_a_fixed_exact_ladder_is_drawn_from_the_least_noise_upwards() -> None:
    """Least noise 3; jumps 40 and 500, of which the first is taken (stay = 0) and the second is not."""
    noise = ScriptedNoise([3, 40, 0, 500, 1])

    measured = climb(NoiseReduction(counts(1), IntegerPath(), LADDER.levels), people(0), noise, rehearsal())

    assert cells(measured) == [[44], [44], [4]]


def test_a_fixed_floating_ladder_is_drawn_from_the_least_noise_upwards() -> None:
    """Least noise 0.5; staying has chance 1/16, then 1/25: first no, then yes."""
    noise = ScriptedNoise([0.5, 0.9, 4.0, 0.01, 100.0])

    measured = climb(NoiseReduction(counts(1), RealPath(), LADDER.levels), people(0), noise, rehearsal())

    assert cells(measured) == [[5.5], [5.5], [1.5]]


@pytest.mark.parametrize(
    ("draws", "value"),
    [
        ([1], 10),
        ([0, 1, -1, 4], -5),
        ([0, 0, 1, 6], 6),
        ([0, 0, 0, 2], 13),
    ],
    ids=["stays", "crosses zero", "falls between", "goes beyond"],
)
def test_on_demand_exact_noise_is_reduced_in_one_of_four_ways(draws: list[int], value: int) -> None:
    mechanism, noise, odometer = NoiseReduction(counts(1), IntegerPath()), ScriptedNoise([10, *draws]), rehearsal()
    data = people(0)
    odometer.spend(mechanism, data, budget(Fraction(1, 10)), Past(), noise)

    reduced = odometer.spend(mechanism, data, budget(1), Past(), noise).value

    assert reduced.values.tolist() == [1 + value]


@pytest.mark.parametrize(("start", "mirror"), [(10, -10), (3, -3)])
def test_on_demand_noise_is_reduced_alike_on_both_sides_of_zero(start: int, mirror: int) -> None:
    def reduced(first: int) -> float:
        mechanism, noise = NoiseReduction(counts(1), IntegerPath()), ScriptedNoise([first, 0, 0, 0, 2])
        odometer, data = rehearsal(), people()
        odometer.spend(mechanism, data, budget(1), Past(), noise)
        return float(odometer.spend(mechanism, data, budget(1), Past(), noise).value.values[0])

    assert reduced(start) == -reduced(mirror)


def test_floating_noise_may_stay_when_it_is_reduced() -> None:
    mechanism, noise = NoiseReduction(counts(1), RealPath()), ScriptedNoise([0.5, 0.0, 0.5])
    odometer, data = rehearsal(), people(0)
    first = odometer.spend(mechanism, data, budget(1), Past(), noise)

    second = odometer.spend(mechanism, data, budget(1), Past(), noise)

    assert second.value.values.tolist() == first.value.values.tolist() == [1.5]


@pytest.mark.parametrize(("kernel", "floating"), [(IntegerPath(), False), (RealPath(), True)])
def test_floating_noise_is_marked(kernel: Kernel, floating: bool) -> None:
    release = rehearsal().spend(NoiseReduction(counts(), kernel), people(0), budget(1), Past(), SeededNoise(1))

    assert release.floating is floating


LEVELS = pytest.mark.parametrize("levels", [None, LADDER.levels], ids=["on demand", "fixed"])


@LEVELS
def test_other_data_is_refused_before_it_is_opened(levels: tuple[Fraction, ...] | None) -> None:
    wire = Tripwire()
    mechanism, odometer = NoiseReduction(wire.counts(), IntegerPath(), levels), rehearsal()
    odometer.spend(mechanism, people(0), LADDER.budgets[0], Past(), SeededNoise(1))
    wire.opened = False

    with pytest.raises(LedgerConflict, match="belongs to another odometer or other data"):
        odometer.spend(mechanism, people(0), LADDER.budgets[1], Past(), SeededNoise(1))

    assert not wire.opened


@LEVELS
def test_a_second_odometer_is_refused_before_data_is_opened(levels: tuple[Fraction, ...] | None) -> None:
    """Each odometer would bill an increment, and neither the level: the second knows nothing of the first."""
    wire, data, second = Tripwire(), people(0), rehearsal()
    mechanism = NoiseReduction(wire.counts(), IntegerPath(), levels)
    rehearsal().spend(mechanism, data, LADDER.budgets[0], Past(), SeededNoise(1))
    wire.opened = False

    with pytest.raises(LedgerConflict, match="belongs to another odometer or other data"):
        second.spend(mechanism, data, LADDER.budgets[1], Past(), SeededNoise(1))

    assert (wire.opened, second.spent) == (False, NONE)


def test_one_side_of_a_split_is_other_data_than_the_whole() -> None:
    whole, odometer, mechanism = people(0, 1), rehearsal(), NoiseReduction(counts(), IntegerPath())
    odometer.spend(mechanism, whole, budget(1), Past(), SeededNoise(1))

    with pytest.raises(LedgerConflict):
        odometer.spend(mechanism, split(whole, 0.5, SystemNoise()).train, budget(1), Past(), SeededNoise(1))


def test_the_same_data_in_the_same_odometer_goes_on() -> None:
    data, odometer, mechanism = people(0, 1), rehearsal(), NoiseReduction(counts(), IntegerPath())

    for _ in range(3):
        odometer.spend(mechanism, data, budget(1), Past(), SeededNoise(1))

    assert odometer.spent.at(20) == 3.0


@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_neither_lose_a_bill_nor_draw_a_level_twice(kernel: Kernel) -> None:
    odometer, data, mechanism = Odometer(), people(0, 1), NoiseReduction(counts(), kernel)

    def spend(_: int) -> Measurement:
        return odometer.spend(mechanism, data, budget(Fraction(1, 20)), Past(), SystemNoise()).value

    with ThreadPoolExecutor(8) as pool:
        measured = list(pool.map(spend, range(100)))

    assert odometer.spent.at(20) == 5.0
    assert sorted(each.variance for each in measured) == sorted(2 / Fraction(n, 20) ** 2 for n in range(1, 101))


def test_threads_put_on_record_the_level_that_they_reach() -> None:
    """Both may be about to begin before either has: the second reaches the second level, and its record says so."""
    memory, data, mechanism = MemoryLedger(), people(0), NoiseReduction(counts(), Meeting())
    odometer = Odometer(ledger=memory)

    def spend(_: int) -> object:
        return odometer.spend(mechanism, data, budget(1), Past(), SystemNoise())

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(spend, range(2)))

    assert sorted(str(entry.facts["level"]) for entry, _, _ in memory.lines) == ["1", "2"]


def test_a_level_of_a_fixed_ladder_goes_to_one_thread_and_the_other_pays_nothing() -> None:
    odometer, data, mechanism = Odometer(), people(0), NoiseReduction(counts(), Meeting(), (1, 4))

    def spend(_: int) -> bool:
        try:
            odometer.spend(mechanism, data, budget(1), Past(), SystemNoise())
        except InvalidValue:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(spend, range(2)))

    assert (sorted(taken), odometer.spent.at(20)) == ([False, True], 1.0)


@LEVELS
def test_data_changed_in_place_after_the_first_level_changes_nothing(levels: tuple[Fraction, ...] | None) -> None:
    """The secret noise is that of one value; the difference of two values under it would be released without noise."""
    records = np.zeros(1000, dtype=np.int64)
    mechanism, data, odometer = NoiseReduction(counts(1), IntegerPath(), levels), Private(records), rehearsal()
    noise = unmoved(0, levels)
    first = odometer.spend(mechanism, data, LADDER.budgets[0], Past(), noise).value

    records[:] = -1
    later = odometer.spend(mechanism, data, LADDER.budgets[1], Past(), noise).value

    assert (first.values.tolist(), later.values.tolist()) == ([1000], [1000])


def test_a_later_level_carries_the_level_and_not_its_rise() -> None:
    odometer, data, mechanism = rehearsal(), people(0), NoiseReduction(counts(), IntegerPath())

    bills = [odometer.spend(mechanism, data, each, Past(), SeededNoise(1)).spent.at(1.5) for each in LADDER.budgets]

    assert bills == [up(level) for level in LADDER.levels]
    assert bills[-1] > LADDER.budgets[-1].epsilon


@LEVELS
def test_large_counts_keep_their_last_unit(levels: tuple[Fraction, ...] | None) -> None:
    """2**53 + 1 is no float: noise and count are added as integers, and rounded as one number if at all."""
    large: Statistic[Integers] = Statistic(lambda data: np.array([2**53 + 1]), (1,), ONE, ONE, ADD)
    mechanism = NoiseReduction(large, IntegerPath(), levels)

    measured = climb(mechanism, people(0), unmoved(-(2**53), levels), rehearsal())

    assert cells(measured) == [[1], [1], [1]]


@pytest.mark.parametrize("unit", [-2, -1, 0])
def test_counts_near_the_last_float_that_knows_units_keep_unit_steps(unit: int) -> None:
    large: Statistic[Integers] = Statistic(lambda data: np.array([2**53]), (1,), ONE, ONE, ADD)

    release = rehearsal().spend(
        NoiseReduction(large, IntegerPath()), people(0), budget(1), Past(), ScriptedNoise([unit])
    )

    assert release.value.values.tolist() == [2**53 + unit]


@pytest.mark.parametrize("start", [3000, -3000])
def test_reducing_the_noise_a_millionfold_takes_few_draws(start: int) -> None:
    """Halving a hundred thousand candidates one by one would take as many."""
    for seed in range(20):
        noise = RecordingNoise(SeededNoise(seed))

        IntegerPath().descend(np.array([start]), Fraction(1, 1000), Fraction(1000), noise)

        assert len(noise.asked) < 100


def test_a_rise_too_small_to_be_drawn_is_refused_before_data_is_opened() -> None:
    wire, odometer, data = Tripwire(), rehearsal(), people(0)
    mechanism = NoiseReduction(wire.counts(), IntegerPath())
    odometer.spend(mechanism, data, budget(1), Past(), SeededNoise(1))
    wire.opened = False

    with pytest.raises(InvalidValue, match="less than one part in 2"):
        odometer.spend(mechanism, data, budget(Fraction(1, 2**64)), Past(), SeededNoise(1))

    assert (wire.opened, odometer.spent.at(20)) == (False, 1.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("first", [ONE, counts().l1 / 2**51])
def test_the_smallest_rise_is_drawn_and_billed(kernel: Kernel, first: Fraction) -> None:
    """From the lowest level that noise is drawn for, too."""
    smallest = first / (2**64 - 1)
    odometer, data, mechanism = rehearsal(), people(0), NoiseReduction(counts(), kernel)
    odometer.spend(mechanism, data, budget(first), Past(), SeededNoise(1))

    odometer.spend(mechanism, data, budget(smallest), Past(), SeededNoise(1))

    assert odometer.spent.curve == line(first + smallest, 0)


def test_levels_too_close_to_be_drawn_are_refused_before_data_is_opened() -> None:
    """Once the first level is out it is too late to say that the ladder cannot be climbed."""
    with pytest.raises(InvalidValue):
        NoiseReduction(counts(), IntegerPath(), (1, 1 + Fraction(1, 2**70)))


@LEVELS
def test_asking_for_the_promise_changes_nothing(levels: tuple[Fraction, ...] | None) -> None:
    mechanism = NoiseReduction(counts(), IntegerPath(), levels)

    promises = [mechanism.promise(LADDER.budgets[0]) for _ in range(3)]

    assert promises == [promises[0]] * 3
    assert mechanism.facts(LADDER.budgets[0])["level"] == "1/10"


@LEVELS
def test_planning_the_stops_of_a_noise_reduction_does_not_begin_it(levels: tuple[Fraction, ...] | None) -> None:
    mechanism, odometer = NoiseReduction(counts(), IntegerPath(), levels), rehearsal()
    check: PublicCheck[Measurement] = PublicCheck(lambda measurement: False)

    stops = planned_stops(mechanism, LADDER, check)
    climb(mechanism, people(0), SeededNoise(1), odometer)

    assert [stop.curve for stop in stops] == [line(level, 0) for level in LADDER.levels]
    assert odometer.spent.at(20) == stops[-1].at(20)


@pytest.mark.parametrize("levels", [(1, 2), (np.int64(1), np.int8(2)), tuple(np.array([1, 2]))])
def test_plain_levels_are_read_exactly(levels: tuple[Real, ...]) -> None:
    odometer, data, mechanism = rehearsal(), people(0), NoiseReduction(counts(), IntegerPath(), levels)

    for _ in range(2):
        odometer.spend(mechanism, data, budget(1), Past(), SeededNoise(1))

    assert odometer.spent.curve == line(2, 0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 2), 2, 5])
def test_a_level_off_the_ladder_is_refused_before_data_is_opened(epsilon: Real) -> None:
    wire = Tripwire()

    with pytest.raises(InvalidValue, match="is not the next level of the ladder"):
        rehearsal().spend(
            NoiseReduction(wire.counts(), IntegerPath(), LADDER.levels), people(0), budget(epsilon), Past(), silence()
        )

    assert not wire.opened


def test_beyond_the_last_level_there_is_nothing() -> None:
    mechanism, odometer, data = NoiseReduction(counts(), IntegerPath(), LADDER.levels), rehearsal(), people(0)
    climb(mechanism, data, SeededNoise(1), odometer)

    with pytest.raises(InvalidValue, match="is not the next level"):
        odometer.spend(mechanism, data, budget(1), Past(), SeededNoise(1))


@pytest.mark.parametrize("levels", [(), (1, 1), (2, 1), (0, 1), (-1,), (float("nan"),)])
def test_levels_that_do_not_increase_from_above_zero_are_refused(levels: tuple[Real, ...]) -> None:
    with pytest.raises(InvalidValue):
        NoiseReduction(counts(), IntegerPath(), levels)


def test_the_secret_noise_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="secret noise"):
        pickle.dumps(NoiseReduction(counts(), IntegerPath()))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_record_holds_the_level_reached(kernel: Kernel) -> None:
    assert NoiseReduction(counts(), kernel).facts(budget(Fraction(1, 2)))["level"] == "1/2"


def test_every_cell_of_a_table_keeps_its_place() -> None:
    mechanism = NoiseReduction(counts(3), IntegerPath(), (1,))

    release = rehearsal().spend(mechanism, people(0, 1, 1), budget(1), Past(), ScriptedNoise([10, 20, 30]))

    assert np.array_equal(release.value.values, [11, 22, 30])


@pytest.mark.parametrize("levels", [(2, 1), (1, 1), (1, 3, 2)])
def test_levels_that_do_not_rise_are_refused_as_such(levels: tuple[int, ...]) -> None:
    with pytest.raises(InvalidValue, match="the levels are not increasing"):
        NoiseReduction(counts(), IntegerPath(), levels)


def test_a_level_that_calls_for_noise_too_wide_is_refused_before_data_is_opened() -> None:
    wire = Tripwire()

    with pytest.raises(InvalidValue, match="64-bit noise"):
        rehearsal().spend(
            NoiseReduction(wire.counts(), IntegerPath()), people(0), budget(Fraction(1, 2**60)), Past(), silence()
        )

    assert not wire.opened


@pytest.mark.parametrize("neighbours", [ADD, REPLACE])
def test_the_relation_is_that_of_the_statistic(neighbours: Neighbours) -> None:
    assert NoiseReduction(counts(neighbours=neighbours), IntegerPath()).neighbours is neighbours
