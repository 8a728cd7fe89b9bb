"""A report after the run where a promise before it is meant, and the other way round."""

from expost import FixedOrder, PlannedStops, Promise, Release, Spent, tightest_pledge
from expost.accounting.claim import best_statement
from expost.accounting.curve import AdpEpsilon
from expost.accounting.plan import Plan


def what_was_spent_is_not_stated_by_itself(spent: Spent) -> None:
    spent.approx(1e-5)  # rejected: attr-defined


def what_was_spent_is_not_stated_by_another_pledge(spent: Spent, pledge: FixedOrder) -> AdpEpsilon:
    return pledge.epsilon(spent)  # rejected: arg-type


def what_a_release_cost_is_not_stated_by_another_pledge(release: Release[int], pledge: PlannedStops) -> AdpEpsilon:
    return pledge.epsilon(release.spent)  # rejected: arg-type


def what_was_spent_is_not_told_probabilistically_by_another_pledge(spent: Spent, pledge: FixedOrder) -> AdpEpsilon:
    return pledge.probabilistic(spent)  # rejected: arg-type


def a_release_is_not_stated_anew(release: Release[int]) -> None:
    release.epsilon = AdpEpsilon(0.1)  # rejected: misc


def the_order_is_not_chosen_after_the_run(spent: Spent) -> AdpEpsilon:
    return best_statement(spent, 1e-5)[0]  # rejected: arg-type


def a_pledge_is_not_tuned_to_what_was_spent(spent: Spent) -> FixedOrder:
    return FixedOrder.tuned(spent, 1e-5)  # rejected: arg-type


def a_stop_is_not_planned_after_the_run(spent: Spent) -> PlannedStops:
    return PlannedStops((spent,), 1e-5)  # rejected: arg-type


def a_plan_is_not_made_from_what_was_spent(spent: Spent) -> Plan:
    return tightest_pledge([spent], 1e-5)  # rejected: list-item


def a_promise_is_stated_at_a_delta(promise: Promise, pledge: FixedOrder) -> AdpEpsilon:
    return promise.approx(pledge)  # rejected: arg-type


def a_promise_is_not_added_to_what_was_spent(spent: Spent, promise: Promise) -> Spent:
    return spent + promise  # rejected: operator


def what_was_spent_is_not_added_to_a_promise(spent: Spent, promise: Promise) -> Promise:
    return promise + spent  # rejected: operator


def a_promise_does_not_stand_beside_what_was_spent(spent: Spent, promise: Promise) -> Spent:
    return spent.beside(promise)  # rejected: arg-type
