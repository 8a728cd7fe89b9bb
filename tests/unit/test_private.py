"""Sealed data stays sealed, and a split divides it by coins that know nothing of the records."""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from expost import private
from expost._seal import SEAL, Seal
from expost.errors import ForgedRelease, InvalidValue, MechanismFailed, NotDisjoint, NotPrivate
from expost.noise import Integers, ScriptedNoise, SeededNoise, SystemNoise
from expost.numerics import Real
from expost.odometer import Odometer
from expost.private import Neighbours, Private, Split, split
from expost.release import Past
from tests.unit.examples import REPLACE, Says, budget, one_sentence, people, rehearsal, silence

RECORDS = np.arange(100_000)
BECAUSE = "two hospitals, no patient in both"


def opened(data: Private[Integers] | None) -> list[int]:
    """The records, for the eyes of the tests."""
    assert data is not None
    return [int(record) for record in data.open(SEAL)]


@pytest.mark.parametrize("use", [len, bool, list, copy.copy, copy.deepcopy, pickle.dumps])
def test_sealed_data_cannot_be_used(use: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        use(people(1, 2, 3))


def test_sealed_data_opens_to_the_seal_alone() -> None:
    with pytest.raises(ForgedRelease, match="only a mechanism run through an odometer"):
        people(1).open(Seal())


def test_a_printed_private_shows_its_label_and_nothing_else() -> None:
    assert repr(people(123456)) == "Private(data)"


def test_a_record_goes_where_its_own_coin_says() -> None:
    halves = split(people(10, 11, 12, 13), Fraction(1, 2), ScriptedNoise([0, 1, 1, 0]))

    assert (opened(halves.train), opened(halves.held)) == ([10, 13], [11, 12])


def test_a_split_says_whose_coins_divided_it() -> None:
    whose = {
        neighbours: split(Private(np.arange(4), neighbours), Fraction(1, 2), SystemNoise()).because
        for neighbours in Neighbours
    }

    assert whose == {each: f"an independent coin per {each.unit}" for each in Neighbours}


def test_one_more_record_changes_one_part_only() -> None:
    before = split(people(10, 11, 12), Fraction(1, 2), ScriptedNoise([0, 1, 0]))
    after = split(people(10, 11, 99, 12), Fraction(1, 2), ScriptedNoise([0, 1, 1, 0]))

    assert opened(before.train) == opened(after.train)
    assert opened(after.held) == [*opened(before.held), 99]


def test_both_parts_together_are_the_whole() -> None:
    parts = split(Private(RECORDS), 0.3, SeededNoise(1))

    assert sorted(opened(parts.train) + opened(parts.held)) == RECORDS.tolist()


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.01, 0.4, Fraction(1, 3)])
def test_the_held_part_has_about_its_share(share: Real) -> None:
    """1e5 coins within five standard deviations: false alarm below 1e-6; a share 5 % off is 5 to 40 away."""
    held = len(opened(split(Private(RECORDS), share, SeededNoise(3)).held))

    chance = float(share)
    deviation = (len(RECORDS) * chance * (1 - chance)) ** 0.5
    assert abs(held - len(RECORDS) * chance) < 5 * deviation


@pytest.mark.statistical
def test_the_coins_of_neighbouring_records_are_independent() -> None:
    """Pairs that land on the same side: half of 1e5, within five deviations; false alarm below 1e-6."""
    held = np.isin(RECORDS, opened(split(Private(RECORDS), 0.5, SeededNoise(4)).held))

    same = int((held[1:] == held[:-1]).sum())

    assert abs(same - len(RECORDS) / 2) < 5 * (len(RECORDS) / 4) ** 0.5


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.1, float("nan"), float("inf")])
def test_a_share_outside_zero_to_one_is_refused(share: Real) -> None:
    with pytest.raises(InvalidValue, match="held is"):
        split(people(1, 2), share, SystemNoise())


def test_the_parts_keep_the_neighbour_relation() -> None:
    parts = split(people(1, 2, neighbours=REPLACE), 0.5, SystemNoise())

    assert parts.held is not None
    assert {parts.train.neighbours, parts.held.neighbours} == {REPLACE}


def test_the_parts_are_two_sides_of_one_division_of_the_whole() -> None:
    whole = people(1, 2)

    parts = split(whole, 0.5, SystemNoise())

    assert parts.held is not None
    assert parts.train.part.parent is whole.part is parts.held.part.parent
    assert parts.train.part.division is parts.held.part.division
    assert parts.train.part is not parts.held.part


def test_two_splits_are_two_divisions() -> None:
    whole = people(1, 2)

    divisions = [split(whole, 0.5, SystemNoise()).train.part.division for _ in range(2)]

    assert divisions[0] is not divisions[1]


def test_a_split_by_coins_that_can_be_repeated_makes_nothing_private() -> None:
    """Coins known in advance belong to places, not to records: one record more moves all that follow."""

    def release() -> object:
        train = split(people(1, 2, 3), 0.5, SeededNoise(1)).train
        return Odometer().spend(Says(0), train, budget(1), Past(), SystemNoise())

    with pytest.raises(NotPrivate):
        release()


def test_a_part_of_a_part_that_seeded_coins_chose_is_as_little_private() -> None:
    """Whoever repeats the first coins knows who is in the half, however the quarters were chosen."""
    half = split(people(*range(8)), Fraction(1, 2), SeededNoise(1)).train

    quarters = split(half, Fraction(1, 2), SystemNoise())

    assert quarters.held is not None
    assert (quarters.train.seeded, quarters.held.seeded) == (True, True)


def test_a_part_that_secret_coins_chose_is_private() -> None:
    assert not split(people(*range(8)), Fraction(1, 2), SystemNoise()).train.seeded


def test_two_sources_make_a_split_on_the_word_of_the_caller() -> None:
    parts = Split.from_parts(people(1), people(2), because=BECAUSE)

    assert (opened(parts.train), opened(parts.held), parts.because) == ([1], [2], BECAUSE)


@pytest.mark.parametrize("because", ["", "  \n"])
def test_two_sources_need_a_reason(because: str) -> None:
    with pytest.raises(InvalidValue, match="say in `because` why"):
        Split.from_parts(people(1), people(2), because=because)


def test_the_same_data_twice_is_no_split() -> None:
    data = people(1)

    with pytest.raises(NotDisjoint, match="two disjoint sources"):
        Split.from_parts(data, data, because=BECAUSE)


ARRAY = np.arange(6)
SAME: dict[str, tuple[Integers, Integers]] = {
    "one array": (ARRAY, ARRAY),
    "a view of it": (ARRAY, ARRAY[:]),
    "some of its records": (ARRAY, ARRAY[4:]),
    "its records backwards": (ARRAY, ARRAY[::-1]),
}


@pytest.mark.parametrize("arrays", SAME.values(), ids=SAME)
def test_the_same_records_sealed_twice_are_no_split(arrays: tuple[Integers, Integers]) -> None:
    """The attack: the checks would be billed as if they read other people, at the maximum instead of the sum."""
    train, held = map(Private, arrays)

    with pytest.raises(NotDisjoint, match="lie in the same memory") as refused:
        Split.from_parts(train, held, because=BECAUSE)

    assert one_sentence(refused.value)


def test_disjoint_halves_of_one_array_are_a_split() -> None:
    parts = Split.from_parts(Private(ARRAY[:3]), Private(ARRAY[3:]), because=BECAUSE)

    assert (opened(parts.train), opened(parts.held)) == ([0, 1, 2], [3, 4, 5])


def test_unnoticed_the_same_records_would_be_billed_at_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: two steps on the same people, and the price of one."""
    monkeypatch.setattr(private, "shares_storage", lambda one, other: False)
    parts, odometer = Split.from_parts(Private(ARRAY), Private(ARRAY), because=BECAUSE), rehearsal()
    assert parts.held is not None

    for part in (parts.train, parts.held):
        odometer.spend(Says(0), part, budget(1), Past(), silence())

    assert odometer.spent.at(20) == 1.0


def test_the_whole_and_a_part_of_it_are_no_split() -> None:
    whole = people(1, 2)
    held = split(whole, 0.5, SystemNoise()).held
    assert held is not None

    with pytest.raises(NotDisjoint):
        Split.from_parts(whole, held, because=BECAUSE)


def test_parts_of_two_divisions_of_one_whole_are_no_split() -> None:
    whole = people(1, 2)
    one, other = (split(whole, 0.5, SystemNoise()) for _ in range(2))
    assert other.held is not None

    with pytest.raises(NotDisjoint):
        Split.from_parts(one.train, other.held, because=BECAUSE)


def test_two_sources_with_different_relations_are_no_split() -> None:
    with pytest.raises(InvalidValue, match="different neighbour relations"):
        Split.from_parts(people(1), people(2, neighbours=REPLACE), because=BECAUSE)


def test_the_whole_is_trained_on_and_nothing_held() -> None:
    data = people(1)

    parts = Split.whole(data)

    assert parts.train is data
    assert parts.held is None


def test_a_split_is_not_made_by_hand() -> None:
    with pytest.raises(ForgedRelease):
        Split(people(1), people(2), BECAUSE, Seal())


@pytest.mark.parametrize("neighbours", ["replace one record", REPLACE.value, REPLACE.name, None, 1])
def test_a_relation_in_words_is_refused(neighbours: object) -> None:
    """Compared by identity, it would be taken for the other relation, with half the noise."""
    with pytest.raises(InvalidValue, match="must be a member of Neighbours"):
        Private(0, neighbours)  # type: ignore[arg-type] # the misuse under test


def test_a_part_is_made_by_the_holder_of_the_seal_alone() -> None:
    """Whoever could call data a part of something would choose how it is billed."""
    with pytest.raises(ForgedRelease, match="only a mechanism run through an odometer"):
        Private.of_part(RECORDS, people(1).neighbours, people(1).part, Seal())


@pytest.mark.parametrize(
    ("use", "says"), [(len, "release a noisy count"), (bool, "no truth value"), (list, "cannot be looped over")]
)
def test_sealed_data_says_what_to_do_instead(use: Callable[[object], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        use(people(1, 2, 3))


@pytest.mark.parametrize(("train", "held"), [(True, False), (False, True), (False, False)])
def test_two_sources_are_as_little_private_as_either(train: bool, held: bool) -> None:
    """The parts of a split that was made on the caller's word remember who chose them."""
    one, other = (
        split(people(1, 2, 3), 0.5, SeededNoise(1) if seeded else SystemNoise()).train for seeded in (train, held)
    )

    parts = Split.from_parts(one, other, because=BECAUSE)

    assert parts.held is not None
    assert (parts.train.seeded, parts.held.seeded) == (train or held, train or held)


def test_a_whole_is_on_no_side() -> None:
    whole = Private([1, 2, 3])

    assert whole.part.side == ""


def test_parts_that_are_written_anew_are_the_same_parts() -> None:
    halves = split(people(10, 11, 12, 13), Fraction(1, 2), ScriptedNoise([0, 1, 1, 0]))

    doubled = halves.map(lambda records: 2 * records)

    assert (opened(doubled.train), opened(doubled.held)) == ([20, 26], [22, 24])
    assert doubled.train.part is halves.train.part
    assert doubled.held is not None and halves.held is not None
    assert doubled.held.part is halves.held.part
    assert (doubled.train.neighbours, doubled.because) == (halves.train.neighbours, halves.because)


def test_steps_on_parts_that_are_written_anew_add_up_with_those_on_the_old_ones() -> None:
    halves = split(people(10, 11), Fraction(1, 2), ScriptedNoise([0, 1]))
    odometer = rehearsal()
    for parts in (halves, halves.map(lambda records: records + 1)):
        odometer.spend(Says(1), parts.train, budget(1), Past(), silence())
        assert parts.held is not None
        odometer.spend(Says(1), parts.held, budget(1), Past(), silence())

    assert odometer.spent.at(20) == 2.0


def test_where_nothing_is_held_out_nothing_is_written_anew_but_the_whole() -> None:
    anew = Split.whole(people(1, 2)).map(lambda records: records[::-1])

    assert (opened(anew.train), anew.held) == ([2, 1], None)


def test_a_function_that_fails_on_sealed_records_shows_nothing_of_them() -> None:
    def failing(records: Integers) -> Integers:
        raise ValueError(f"{records}")

    with pytest.raises(MechanismFailed) as refusal:
        Split.whole(people(123456)).map(failing)

    assert "123456" not in str(refusal.value)
    assert refusal.value.__cause__ is None
