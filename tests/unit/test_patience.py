"""Patience: a flat ladder is climbed no further, one that rises or may yet pass is, and noise alone decides nothing."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost.errors import InvalidValue
from expost.noise import SeededNoise
from expost.patience import HIDDEN, LINE, SURE, Patience, Plateau
from expost.protocols import Verdict
from tests.unit.examples import one_sentence

HELD = 8000.0
STDS = (22.4, 29.4, 20.1, 13.7, 9.3, 6.3, 4.3)
"""Standard errors of balanced looks on the usual ladder, in records."""
GUARDS = tuple(2.4 * std for std in STDS)
RUNS = 100


def plateau(patience: Patience | None = None, **changes: Any) -> Plateau:
    """The rule on the usual ladder, with counts that have settled."""
    told: dict[str, Any] = {"guards": GUARDS, "held": HELD, "settled": (True,) * len(STDS)} | changes
    return Plateau(patience or Patience(), **told)


def said(accuracies: Sequence[float | None], stds: Sequence[float] = STDS) -> tuple[Verdict | None, ...]:
    """Verdicts with these margins, as shares of the held-out records."""
    told = zip(accuracies, stds, strict=False)
    return tuple(None if share is None else Verdict(False, HELD * share, std) for share, std in told)


def ended(rule: Plateau, level: Callable[[int], float], seed: int, stds: Sequence[float] = STDS) -> int | None:
    """The rung, from 1, on which a run ends whose candidates are this far above the target; None where none is."""
    noise = SeededNoise(seed)
    shares = [level(place) + float(noise.gaussian(std / HELD, (1,))[0]) for place, std in enumerate(stds)]
    for place in range(1, len(stds)):
        if rule(said(shares[:place], stds)):
            return place
    return None


def test_a_flat_ladder_ends_at_its_first_chance_in_nine_of_ten_runs() -> None:
    found = [ended(plateau(), lambda place: -0.05, seed) for seed in range(RUNS)]

    assert sum(place == 3 for place in found) >= 0.9 * RUNS
    assert all(place is not None and place <= 5 for place in found)


@pytest.mark.parametrize("stds", [STDS, (35.0,) * 7], ids=["finer and finer", "as noisy as two answers may be"])
def test_a_ladder_that_rises_by_a_point_is_climbed_on_in_nine_of_ten_runs(stds: tuple[float, ...]) -> None:
    """Also where it does not rise far enough to pass."""
    found = [ended(plateau(), lambda place: -0.1 + 0.01 * place, seed, stds) for seed in range(4 * RUNS)]

    assert SURE * math.hypot(35, 35) < HIDDEN * 2 * HELD < SURE * math.hypot(36, 36)
    assert sum(place is not None for place in found) < 0.4 * RUNS


@pytest.mark.parametrize("looks", [1, 2, 3])
def test_the_largest_noise_that_may_decide_mistakes_a_rise_of_a_point_for_flat_in_few_comparisons(looks: int) -> None:
    """The worst case of one comparison, worked out; with noise twice as large it would be one of several."""
    gain, least = 0.01 * looks, float(Patience().min_gain)

    def mistaken(hidden: float) -> float:
        std = hidden * looks / SURE
        return NormalDist(gain, std).cdf(max(least, hidden * looks))

    assert mistaken(HIDDEN) < 0.06
    assert mistaken(2 * HIDDEN) > 0.2


def test_noise_alone_exceeds_what_is_asked_of_a_gain_in_one_of_ten_comparisons() -> None:
    assert pytest.approx(0.9) == NormalDist().cdf(SURE)


def test_nothing_is_decided_before_there_are_more_looks_than_patience() -> None:
    for looks in (1, 2, 3):
        found = [plateau(Patience(looks))(said([-0.05] * taken, (5.0,) * 7)) for taken in range(1, 5)]

        assert found == [taken > looks for taken in range(1, 5)]


def test_only_looks_that_were_answered_count() -> None:
    rule = plateau()

    assert not rule(said([None, -0.05, None, -0.05]))
    assert rule(said([None, -0.05, None, -0.05, -0.05]))
    assert not rule(said([None, -0.05, None, -0.05, -0.05, None]))


def test_a_yes_or_no_says_nothing_about_a_rise() -> None:
    assert not plateau()((Verdict(False),) * 5)


@pytest.mark.parametrize(("gain", "flat"), [(0.0049, True), (0.0051, False), (-0.02, True)])
def test_a_gain_counts_from_the_least_one_on(gain: float, flat: bool) -> None:
    quiet = (1.0,) * 7

    assert plateau()(said([-0.05, -0.05, -0.05 + gain], quiet)) is flat


def test_a_gain_that_may_be_noise_does_not_count() -> None:
    gain = 0.9 * SURE * math.hypot(STDS[0], STDS[2]) / HELD

    assert gain < float(Patience().min_gain)
    assert plateau(Patience(2, Fraction(0)))(said([-0.05, -0.05, -0.05 + gain]))
    assert not plateau(Patience(2, Fraction(0)))(said([-0.05, -0.05, -0.05 + 1.2 * gain]))


def test_noise_that_would_hide_a_rise_decides_nothing_where_the_rise_would_pass() -> None:
    most = HIDDEN * 2 * HELD / SURE / math.sqrt(2)
    near = [-0.02] * 3

    assert plateau(guards=(10.0,) * 7)(said(near, (0.999 * most,) * 7))
    assert not plateau(guards=(10.0,) * 7)(said(near, (1.001 * most,) * 7))


def test_what_noise_may_hide_of_a_rise_is_told_by_the_line_through_the_answers() -> None:
    """The line through three answers, five rungs from their middle, has √(1/3 + 5²/2) times their standard error."""
    std = 200.0
    reach = LINE * std * math.sqrt(1 / 3 + 25 / 2)

    def ends(level: float) -> bool:
        return plateau(guards=(0.0,) * 7)(said([level / HELD] * 3, (std,) * 7))

    assert ends(-reach - 1)
    assert not ends(-reach + 1)


def test_an_answer_before_the_counts_had_settled_tells_nothing_of_the_line() -> None:
    std, level = (200.0,) * 7, -0.15
    shares = [-0.4, level, level, level]

    assert not plateau(guards=(0.0,) * 7)(said(shares, std))
    assert plateau(guards=(0.0,) * 7, settled=(False,) + (True,) * 6)(said(shares, std))


FEW = tuple(4 * std for std in STDS)
"""Standard errors where a quarter of the records is held out, which hide a rise of a point a look until the last."""


@pytest.mark.parametrize(("below", "place"), [(0.07, 4), (0.12, 3)])
def test_on_few_records_a_flat_ladder_ends_where_no_rise_that_noise_may_hide_would_pass(
    below: float, place: int
) -> None:
    rule = plateau(guards=tuple(4 * guard for guard in GUARDS))

    found = [ended(rule, lambda place: -below, seed, FEW) for seed in range(RUNS)]

    assert sum(taken is not None and taken <= place for taken in found) >= 0.9 * RUNS


@pytest.mark.parametrize("slope", [0.01, 0.02, 0.03])
@pytest.mark.parametrize("wide", [1, 2, 4, 8])
def test_a_ladder_that_rises_until_it_passes_is_climbed_on_in_nine_of_ten_runs(slope: float, wide: int) -> None:
    """The worst case: its candidates are good enough for the last look alone."""
    stds = tuple(wide * std for std in STDS)
    guards = tuple(wide * guard for guard in GUARDS)
    top = guards[-1] / HELD + 1e-9

    found = [
        ended(plateau(guards=guards), lambda place: top - slope * (6 - place), seed, stds) for seed in range(4 * RUNS)
    ]

    assert sum(place is not None for place in found) <= 0.4 * RUNS


def test_a_ladder_goes_on_whose_level_a_finer_look_would_pass() -> None:
    """The level is above the last guard, though below that of each look so far."""
    level = 1.2 * GUARDS[-1] / HELD

    assert level < GUARDS[2] / HELD
    assert not plateau()(said([level] * 3))
    assert plateau(guards=(*GUARDS[:3], *(GUARDS[2],) * 4))(said([-level] * 3))


def test_a_level_counts_as_far_as_noise_may_have_lowered_it() -> None:
    spread = 1 / math.hypot(1 / STDS[0], 1 / STDS[2])
    least = GUARDS[-1] - SURE * spread

    assert plateau()(said([(least - 1) / HELD] * 3))
    assert not plateau()(said([(least + 1) / HELD] * 3))


def test_where_no_look_is_ahead_nothing_can_pass() -> None:
    assert plateau(guards=(*GUARDS[:3], None))(said([0.02] * 3))


def test_a_ladder_goes_on_until_the_counts_have_settled() -> None:
    rule = plateau(settled=(False, True, True, True, True, True, True))

    assert [rule(said([-0.05] * taken)) for taken in (3, 4)] == [False, True]


@given(st.lists(st.floats(-0.2, 0.2), min_size=3, max_size=6), st.floats(0, 0.1))
def test_what_is_added_to_the_last_answer_never_ends_a_run(shares: list[float], more: float) -> None:
    lower, higher = said(shares), said([*shares[:-1], shares[-1] + more])

    assert plateau()(lower) or not plateau()(higher)


def test_patience_as_it_is_typed() -> None:
    assert Patience.of(2, 0.005) == Patience()
    assert Patience.of(0, 0.005) is None


@pytest.mark.parametrize(
    ("looks", "least"), [(-1, 0.005), (2.5, 0.005), (2, -0.1), (2, 1), (2, math.nan), (2, math.inf)]
)
def test_a_patience_that_makes_no_sense_is_refused(looks: Any, least: float) -> None:
    with pytest.raises(InvalidValue) as refusal:
        Patience.of(looks, least)

    assert one_sentence(refusal.value)


def test_the_compared_rungs_are_as_far_apart_as_the_patience() -> None:
    verdicts = said([-0.05] * 6)

    assert [Patience(looks).compared(verdicts) for looks in (1, 2, 6)] == [(4, 5), (3, 5), None]
