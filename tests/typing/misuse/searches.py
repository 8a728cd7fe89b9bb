"""Searches put together from parts that do not fit."""

from collections.abc import Callable
from dataclasses import dataclass

from expost import (
    Brownian,
    FixedOrder,
    Gaussian,
    GaussianCheck,
    Ladder,
    Neighbours,
    Odometer,
    Outcome,
    Past,
    Private,
    Promise,
    PublicCheck,
    Release,
    Spent,
    Split,
    Statistic,
    histogram,
    planned_stops,
    search,
)
from expost.ladder import Rung
from expost.mechanisms import Estimate, Measurement, NoiseReduction
from expost.noise import Integers, Noise
from expost.protocols import Inquiry, Verdict


@dataclass(frozen=True)
class Given:
    """Parts that do fit."""

    data: Private[Integers]
    parts: Split[Integers]
    counts: Brownian[Integers]
    ladder: Ladder
    check: PublicCheck[Estimate]
    noise: Noise
    odometer: Odometer


def newest(estimates: tuple[Estimate, ...]) -> Estimate:
    return estimates[-1]


def newest_measurement(measurements: tuple[Measurement, ...]) -> Measurement:
    return measurements[-1]


def newest_release(releases: tuple[Release[Estimate], ...]) -> Estimate:
    return releases[-1].value


def peek(past: Past[Estimate], verdicts: tuple[Verdict, ...], data: Private[Integers]) -> Rung | None:
    raise AssertionError


def bare(past: Past[Estimate], verdicts: tuple[Verdict, ...]) -> float:
    return 0.5


def a_search_needs_a_split(g: Given) -> Outcome[Estimate]:
    return search(g.data, g.counts, g.ladder, newest, g.check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_search_needs_noise(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, g.check, odometer=g.odometer)  # rejected: call-arg


def no_noise_is_no_noise(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, g.check, noise=None, odometer=g.odometer)  # rejected: arg-type


def a_seed_is_no_noise(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, g.check, noise=7, odometer=g.odometer)  # rejected: arg-type


def a_search_needs_an_odometer(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, g.check, noise=g.noise)  # rejected: call-arg


def a_selector_takes_no_data(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, peek, newest, g.check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_selector_returns_no_bare_number(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.counts, bare, newest, g.check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_build_takes_the_values_of_the_mechanism(g: Given, check: PublicCheck[Measurement]) -> Outcome[Measurement]:
    build = newest_measurement
    return search(g.parts, g.counts, g.ladder, build, check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_build_takes_values_not_releases(g: Given) -> Outcome[Estimate]:
    build = newest_release
    return search(g.parts, g.counts, g.ladder, build, g.check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_check_is_no_mechanism(g: Given) -> Outcome[Estimate]:
    return search(g.parts, g.check, g.ladder, newest, g.check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_mechanism_is_no_check(g: Given, check: Brownian[str]) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_check_judges_what_was_built(g: Given, check: PublicCheck[str]) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, check, noise=g.noise, odometer=g.odometer)  # rejected: arg-type


def a_check_reads_the_records_that_were_held_out(g: Given, check: GaussianCheck[str, Estimate]) -> Outcome[Estimate]:
    return search(g.parts, g.counts, g.ladder, newest, check, noise=g.noise, odometer=g.odometer)  # rejected: misc


def a_mechanism_reads_records_of_its_own_type(g: Given, words: Gaussian[str]) -> Release[Measurement]:
    return g.odometer.spend(words, g.data, g.ladder.budgets[0], Past(), g.noise)  # rejected: misc


def a_mechanism_reads_sealed_data(g: Given, ages: Integers) -> Release[Estimate]:
    return g.odometer.spend(g.counts, ages, g.ladder.budgets[0], Past(), g.noise)  # rejected: arg-type


def stops_are_planned_on_a_ladder(g: Given) -> tuple[Promise, ...]:
    return planned_stops(g.counts, peek, g.check)  # rejected: arg-type


def a_check_is_not_asked_without_an_inquiry(
    g: Given, check: GaussianCheck[Integers, int], candidate: Release[int], spent: Spent
) -> Release[Verdict]:
    return g.odometer.ask(check, g.data, candidate, trained=spent, noise=g.noise)  # rejected: arg-type


def an_inquiry_is_asked_about_a_release(g: Given, inquiry: Inquiry[Integers, int], spent: Spent) -> Release[Verdict]:
    return g.odometer.ask(inquiry, g.data, 3, trained=spent, noise=g.noise)  # rejected: arg-type


def an_inquiry_reads_records_of_its_own_type(
    g: Given, inquiry: Inquiry[str, int], candidate: Release[int], spent: Spent
) -> Release[Verdict]:
    return g.odometer.ask(inquiry, g.data, candidate, trained=spent, noise=g.noise)  # rejected: misc


def what_training_spent_is_named(
    g: Given, inquiry: Inquiry[Integers, int], candidate: Release[int], spent: Spent
) -> Release[Verdict]:
    return g.odometer.ask(inquiry, g.data, candidate, spent, noise=g.noise)  # rejected: call-arg


def a_promise_is_not_what_training_spent(
    g: Given, inquiry: Inquiry[Integers, int], candidate: Release[int], promise: Promise
) -> Release[Verdict]:
    return g.odometer.ask(inquiry, g.data, candidate, trained=promise, noise=g.noise)  # rejected: arg-type


def stops_are_not_planned_from_what_was_spent(g: Given, spent: Spent) -> tuple[Promise, ...]:
    return planned_stops(g.counts, g.ladder, g.check, prior=spent)  # rejected: arg-type


def an_outcome_is_not_pledged_afterwards(outcome: Outcome[Estimate], pledge: FixedOrder) -> None:
    outcome.pledge = pledge  # rejected: misc


def noise_reduction_needs_a_kernel(statistic: Statistic[Integers]) -> NoiseReduction[Integers]:
    return NoiseReduction(statistic)  # rejected: call-arg


def a_histogram_counts_records(codes: Callable[[int], Integers]) -> Statistic[int]:
    return histogram(codes, 3, Neighbours.ADD_REMOVE)  # rejected: type-var


def a_relation_is_not_said_in_words(ages: Integers) -> Private[Integers]:
    return Private(ages, "replace one record")  # rejected: arg-type
