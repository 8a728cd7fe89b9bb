"""Releases made, changed or billed by hand."""

from collections.abc import Mapping
from dataclasses import replace

from expost import Odometer, Past, Private, Release, Spent
from expost.release import Bill


def a_release_is_not_made_without_a_seal(bills: Mapping[object, Bill]) -> Release[int]:
    return Release(3, bills, seeded=False, floating=False)  # rejected: call-arg


def a_release_is_not_made_with_any_object(bills: Mapping[object, Bill]) -> Release[int]:
    return Release(3, bills, object(), seeded=False, floating=False)  # rejected: arg-type


def a_total_is_not_replaced(odometer: Odometer, spent: Spent) -> None:
    odometer.spent = spent  # rejected: misc


def the_value_is_not_replaced(release: Release[int]) -> None:
    release.value = 4  # rejected: misc


def the_bill_is_not_replaced(release: Release[int], spent: Spent) -> None:
    release.spent = spent  # rejected: misc


def nothing_is_written_on_a_release(release: Release[int]) -> None:
    release.note = "as good as private"  # rejected: attr-defined


def a_release_is_not_rebuilt(release: Release[int], spent: Spent) -> Release[int]:
    return replace(release, spent=spent)  # rejected: type-var


def a_map_takes_the_released_value(release: Release[int]) -> Release[int]:
    return release.map(len)  # rejected: arg-type


def a_map_does_not_open_data(release: Release[int], private: Private[str]) -> Release[str]:
    return release.map(lambda _: private.open())  # rejected: call-arg


def a_map_does_not_read_data(release: Release[int], private: Private[str]) -> Release[int]:
    return release.map(private)  # rejected: arg-type


def a_bill_is_not_raised_to_a_bare_number(release: Release[int]) -> Release[int]:
    return release.at_least(0.1)  # rejected: arg-type


def a_value_without_a_bill_is_no_past() -> Past[int]:
    return Past(3)  # rejected: arg-type


def a_value_without_a_bill_is_no_later_step(past: Past[int]) -> Past[int]:
    return past.then(4)  # rejected: arg-type


def releases_do_not_add(first: Release[int], second: Release[int]) -> object:
    return first + second  # rejected: operator


def a_bill_without_its_odometer_is_no_bill(release: Release[int], spent: Spent) -> Release[int]:
    return release.at_least({object(): spent})  # rejected: arg-type
