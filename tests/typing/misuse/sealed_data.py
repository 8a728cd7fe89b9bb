"""Private data counted, walked through, opened, or divided by hand."""

import numpy as np

from expost import Budget, Gaussian, Past, Private, Split, split
from expost.mechanisms import Measurement
from expost.noise import Integers, Noise


def private_records_are_not_counted(private: Private[Integers]) -> int:
    return len(private)  # rejected: arg-type


def private_records_are_not_looped_over(private: Private[Integers]) -> None:
    for record in private:  # rejected: attr-defined
        del record


def private_records_are_not_listed(private: Private[Integers]) -> object:
    return list(private)  # rejected: call-overload


def private_records_are_not_looked_up(private: Private[Integers]) -> object:
    return private[0]  # rejected: index


def private_records_are_not_sorted(private: Private[Integers]) -> object:
    return np.sort(private)  # rejected: call-overload


def private_data_has_no_accessor(private: Private[Integers]) -> object:
    return private.data  # rejected: attr-defined


def private_data_is_not_opened_without_a_seal(private: Private[Integers]) -> Integers:
    return private.open()  # rejected: call-arg


def private_data_is_not_opened_with_any_object(private: Private[Integers]) -> Integers:
    return private.open(object())  # rejected: arg-type


def a_mechanism_is_not_run_by_hand(
    mechanism: Gaussian[Integers], private: Private[Integers], budget: Budget, noise: Noise
) -> Measurement:
    return mechanism.sample(private, budget, Past(), noise)  # rejected: arg-type


def a_split_is_not_made_by_its_constructor(private: Private[Integers]) -> Split[Integers]:
    return Split(private, private, "nobody is in both")  # rejected: call-arg


def sources_that_arrived_apart_need_a_reason(ours: Private[str], theirs: Private[str]) -> Split[str]:
    return Split.from_parts(ours, theirs)  # rejected: call-arg


def a_part_is_not_swapped(parts: Split[str], other: Private[str]) -> None:
    parts.held = other  # rejected: misc


def a_split_needs_noise(private: Private[Integers]) -> Split[Integers]:
    return split(private, 0.2)  # rejected: call-arg


def data_without_records_is_not_split(private: Private[int], noise: Noise) -> Split[int]:
    return split(private, 0.2, noise)  # rejected: type-var
