"""Draws that come out alike whenever they are made again."""

from fractions import Fraction

import numpy as np
import pytest

from expost.errors import InvalidValue
from expost.keyed import BLOCK, Keyed
from expost.noise import ScriptedNoise, SeededNoise, SystemNoise

HALF = Fraction(1, 2)


def test_a_coin_follows_from_its_place_whatever_is_drawn_beside_it() -> None:
    keyed = Keyed(SystemNoise().key(), "sides")

    whole = keyed.coins(HALF, 0, 3 * BLOCK)
    parts = [keyed.coins(HALF, first, count) for first, count in ((0, 1), (1, BLOCK), (BLOCK + 1, 2 * BLOCK - 1))]

    assert np.array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("first", [0, 5, BLOCK - 1, 3 * BLOCK + 2])
def test_there_are_as_many_coins_as_places_wherever_they_begin(first: int) -> None:
    assert len(Keyed(SeededNoise(1).key(), "sides").coins(HALF, first, 100)) == 100


def test_another_key_and_another_purpose_have_other_coins() -> None:
    key, other = SeededNoise(1).key(), SeededNoise(2).key()

    drawn = [Keyed(*each).coins(HALF, 0, 256).tolist() for each in ((key, "a"), (key, "b"), (other, "a"))]

    assert drawn[0] != drawn[1]
    assert drawn[0] != drawn[2]
    assert drawn[0] == Keyed(key, "a").coins(HALF, 0, 256).tolist()


@pytest.mark.statistical
@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 3)])
def test_coins_have_their_chance(share: Fraction) -> None:
    """10⁶ coins; a false alarm is a deviation of five standard errors, 6e-7. A chance that is 5 % off is seen."""
    count = 10**6

    coins = Keyed(SeededNoise(3).key(), "sides").coins(share, 17, count)
    allowed = 5 * (count * share * (1 - share)) ** 0.5

    assert abs(int(coins.sum()) - count * share) < allowed
    assert abs(int(coins.sum()) - count * share * Fraction(105, 100)) > allowed


def test_places_below_a_bound_are_all_drawn_and_none_beyond() -> None:
    bounds = np.arange(1, 5).repeat(2000)

    drawn = Keyed(SeededNoise(4).key(), "rows").below(bounds, 5)

    assert (drawn >= 0).all()
    assert (drawn < bounds).all()
    assert all(set(drawn[bounds == bound].tolist()) == set(range(bound)) for bound in range(1, 5))


def test_a_key_has_32_bytes_and_does_not_show() -> None:
    with pytest.raises(InvalidValue, match="must have 32"):
        Keyed(b"short", "sides")
    assert repr(Keyed(ScriptedNoise([5]).key(), "sides")) == "Keyed"
