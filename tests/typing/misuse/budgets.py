"""A number of one kind where another is meant."""

from fractions import Fraction

from expost import Budget, Filter, FixedOrder, Gaussian, Ladder, Odometer, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.filters import PledgedFilter


def a_bare_number_is_no_budget(mechanism: Gaussian[str]) -> Promise:
    return mechanism.promise(0.5)  # rejected: arg-type


def a_stated_epsilon_is_no_budget(mechanism: Gaussian[str], stated: AdpEpsilon) -> Promise:
    return mechanism.promise(stated)  # rejected: arg-type


def a_budget_without_its_order() -> Budget:
    return Budget.of(0.5)  # rejected: call-arg


def a_ladder_without_its_order() -> Ladder:
    return Ladder.geometric(0.1, 1, 5)  # rejected: call-arg


def a_bare_number_caps_nothing() -> Filter:
    return Filter(1.0)  # rejected: arg-type


def a_bare_number_is_no_stated_cap(pledge: FixedOrder) -> PledgedFilter:
    return PledgedFilter(pledge, 1.0)  # rejected: arg-type


def a_bound_at_an_order_is_no_stated_cap(pledge: FixedOrder, spent: Spent) -> PledgedFilter:
    return PledgedFilter(pledge, spent.at(20))  # rejected: arg-type


def a_bound_at_an_order_is_no_statement(promise: Promise) -> AdpEpsilon:
    return promise.at(20)  # rejected: return-value


def a_budget_is_no_cap(budget: Budget) -> Odometer:
    return Odometer(cap=budget)  # rejected: arg-type


def budgets_do_not_add(first: Budget, second: Budget) -> object:
    return first + second  # rejected: operator


def budgets_are_not_ordered(first: Budget, second: Budget) -> object:
    return first < second  # rejected: operator


def a_budget_is_not_changed(budget: Budget) -> None:
    budget.epsilon = Fraction(1)  # rejected: misc


def a_pledge_is_no_cap(pledge: FixedOrder) -> Odometer:
    return Odometer(cap=pledge)  # rejected: arg-type


def a_cap_is_no_pledge(cap: Filter) -> Odometer:
    return Odometer(pledge=cap)  # rejected: arg-type


def a_delta_is_no_pledge() -> Odometer:
    return Odometer(pledge=1e-5)  # rejected: arg-type


def a_pledge_is_named(pledge: FixedOrder) -> Odometer:
    return Odometer(pledge)  # rejected: call-arg


def a_pledge_is_not_changed(odometer: Odometer, pledge: FixedOrder) -> None:
    odometer.pledge = pledge  # rejected: misc
