"""What the type checker rejects is refused at run time as well, with nothing about the data in the refusal."""

import copy
import dataclasses
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from expost import (
    Budget,
    Gaussian,
    Neighbours,
    Odometer,
    Past,
    Private,
    Promise,
    Release,
    SeededNoise,
    Spent,
    Split,
    histogram,
    split,
)
from expost._seal import Seal, guarded
from expost.accounting.claim import NOTHING
from expost.errors import ForgedRelease
from expost.mechanisms import Measurement
from expost.noise import Integers

BUDGET = Budget.of(0.5, alpha=20)

# Any, because a caller without a type checker is the one these tests stand for.
Misuse = Callable[[Any], object]

COPIES: dict[str, Misuse] = {"pickle": pickle.dumps, "copy": copy.copy, "deepcopy": copy.deepcopy}

PEEKS: dict[str, Misuse] = {
    "len": len,
    "list": list,
    "bool": bool,
    "vars": vars,
    "in": lambda private: 4 in private,
    "index": lambda private: private[0],
    **COPIES,
}

FORGERIES = pytest.mark.parametrize("seal", [Seal(), object(), None], ids=["a new seal", "an object", "nothing"])


def ages(*values: int) -> Private[Integers]:
    return Private(np.array(values))


def released() -> Release[Measurement]:
    mechanism = Gaussian(histogram(np.asarray, 4, Neighbours.ADD_REMOVE))
    return Odometer(rehearsal=True).spend(mechanism, ages(0, 1, 1, 3), BUDGET, Past(), SeededNoise(1))


@FORGERIES
def test_a_forged_seal_opens_nothing(seal: Seal) -> None:
    with pytest.raises(ForgedRelease):
        ages(3, 4).open(seal)


@FORGERIES
def test_a_forged_seal_makes_no_release(seal: Seal) -> None:
    with pytest.raises(ForgedRelease):
        Release(3, {}, seal, seeded=False, floating=False)


@FORGERIES
def test_a_forged_seal_makes_no_split(seal: Seal) -> None:
    with pytest.raises(ForgedRelease):
        Split(ages(3), ages(4), "nobody is in both", seal)


@pytest.mark.parametrize("peek", PEEKS.values(), ids=PEEKS)
def test_private_data_is_not_counted_walked_through_or_copied(peek: Misuse) -> None:
    with pytest.raises(TypeError):
        peek(ages(3, 4))


@pytest.mark.parametrize("peek", PEEKS.values(), ids=PEEKS)
def test_a_refusal_says_the_same_whatever_the_data(peek: Misuse) -> None:
    messages = set()
    for private in (ages(3, 4), ages()):
        with pytest.raises(TypeError) as refusal:
            peek(private)
        messages.add(str(refusal.value))

    assert len(messages) == 1


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{0!r:>20}".format], ids=["repr", "str", "format", "padded"])
def test_private_data_shows_the_same_whatever_it_is(show: Callable[[object], str]) -> None:
    assert show(ages(3, 4)) == show(Private("a secret"))


def test_the_parts_of_a_split_show_the_same_whatever_they_hold() -> None:
    few, many = (split(ages(*range(size)), 0.5, SeededNoise(1)) for size in (1, 50))

    assert (repr(few.train), repr(few.held)) == (repr(many.train), repr(many.held))


def test_private_data_has_no_attribute_that_holds_it() -> None:
    private = ages(3, 4)

    held = [getattr(private, name) for name in dir(private) if not name.startswith("_")]

    assert not any(isinstance(value, np.ndarray) for value in held)


def test_an_array_of_private_data_is_one_opaque_object() -> None:
    private = ages(3, 4)

    array = np.asarray(private)

    assert (array.shape, array.item()) == ((), private)


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.deepcopy])
def test_a_split_takes_no_copy_of_its_data_along(duplicate: Misuse) -> None:
    parts = split(ages(3, 4, 5), 0.5, SeededNoise(1))

    with pytest.raises(TypeError):
        duplicate(parts)


@pytest.mark.parametrize("part", ["train", "held", "because"])
def test_the_parts_of_a_split_are_not_swapped(part: str) -> None:
    parts = Split.whole(ages(3, 4))

    with pytest.raises(AttributeError):
        setattr(parts, part, ages(5))


@pytest.mark.parametrize("name", ["value", "spent", "seeded", "floating", "_value", "_bills", "_seeded", "note"])
def test_a_release_is_not_written_on(name: str) -> None:
    release = released()

    with pytest.raises(ForgedRelease):
        setattr(release, name, 0)


@pytest.mark.parametrize("name", ["value", "_bills"])
def test_nothing_is_removed_from_a_release(name: str) -> None:
    release = released()

    with pytest.raises(ForgedRelease):
        delattr(release, name)


def test_a_release_is_not_rebuilt_with_a_lower_bill() -> None:
    release = released()

    with pytest.raises(TypeError):
        dataclasses.replace(release, spent=NOTHING.as_spent())  # type: ignore[type-var]  # the misuse under test


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_release_is_not_copied(duplicate: Misuse) -> None:
    with pytest.raises(TypeError):
        duplicate(released())


def test_a_release_from_seeded_noise_says_so_wherever_it_is_shown() -> None:
    release = released()

    assert "NOT PRIVATE" in repr(release.map(lambda _: 3))


@pytest.mark.parametrize("claim", [BUDGET, NOTHING, NOTHING.as_spent()], ids=["budget", "promise", "spent"])
def test_a_number_that_was_claimed_is_not_changed(claim: Budget | Promise | Spent) -> None:
    name = dataclasses.fields(claim)[0].name

    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(claim, name, 0)


@pytest.mark.parametrize("combine", [operator.add, operator.lt])
def test_budgets_neither_add_nor_compare(combine: Callable[[object, object], object]) -> None:
    with pytest.raises(TypeError):
        combine(BUDGET, BUDGET)


@pytest.mark.parametrize(
    ("left", "right"),
    [(NOTHING, NOTHING.as_spent()), (NOTHING.as_spent(), NOTHING)],
    ids=["promise + spent", "spent + promise"],
)
def test_a_promise_and_what_was_spent_do_not_add(left: object, right: object) -> None:
    """A promise made of what was spent would let the order be chosen after the run."""
    with pytest.raises(TypeError):
        operator.add(left, right)


def test_warnings_are_silent_while_data_is_open_and_only_then() -> None:
    """Tests turn warnings into errors, so one that is heard fails the step; a step within a step changes nothing."""
    before = list(warnings.filters)

    def nested() -> int:
        guarded(lambda: warnings.warn("a value of the data", stacklevel=1))
        warnings.warn("another one, after the inner step", stacklevel=1)
        return 3

    for _ in range(2):
        assert guarded(nested) == 3
        assert list(warnings.filters) == before
    with pytest.raises(UserWarning):
        warnings.warn("nothing is open any more", stacklevel=1)
