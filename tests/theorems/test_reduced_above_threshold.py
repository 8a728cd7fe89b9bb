"""Theorem (ReducedAboveThreshold). With pure levels e_1 ≤ e_2 ≤ …, threshold noise of scale 2Δ/e_n reduced from level
to level and fresh question noise of scale 4Δ/e_n, passing at level N is pure ex post with e_N and never passing
with e_K/2. In the Rényi form the threshold follows a Brownian path.

Both laws are summed exactly over the secret threshold path on the integers.
"""

import math
from fractions import Fraction

import pytest

from expost import Budget, FiniteMechanism, Neighbours, Promise
from expost.accounting.claim import NOTHING
from expost.baselines import Doubling, ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks import PublicCount
from expost.noise import Floats
from tests.theorems.laplace_paths import joint, two_sided
from tests.theorems.sparse_vectors import gaussian_law, pass_chance

LEVELS = (1.0, 2.0)
REACH = 60
QUESTION: PublicCount[Floats, float] = PublicCount(
    lambda candidate, held: held, Fraction(1, 2), 10, Neighbours.ADD_REMOVE
)
Law = dict[tuple[str, float], float]


def pure_law(values: tuple[int, int], bills: tuple[float, float, float], query: float = 4.0) -> Law:
    """Pass at the first question, at the second, or never; threshold path of rates e/2, question scales 4/e."""
    first, second, never = 0.0, 0.0, 0.0
    for coarse in range(-REACH, REACH + 1):
        weight = two_sided(LEVELS[0] / 2, coarse)
        chance = pass_chance(coarse - values[0], query / LEVELS[0])
        first += weight * chance
        for fine in range(-REACH, REACH + 1):
            both = joint(LEVELS[0] / 2, LEVELS[1] / 2, coarse, fine) * (1 - chance)
            late = pass_chance(fine - values[1], query / LEVELS[1])
            second += both * late
            never += both * (1 - late)
    total = first + second + never
    return {
        ("first", bills[0]): first / total,
        ("second", bills[1]): second / total,
        ("never", bills[2]): never / total,
    }


NEIGHBOURS = [((0, 1), (-1, 2)), ((3, -1), (2, 0)), ((-2, 4), (-3, 5)), ((0, 8), (-1, 9))]


@pytest.mark.parametrize(("here", "there"), NEIGHBOURS)
def test_passing_costs_its_level_and_never_passing_half_the_last(here: tuple[int, int], there: tuple[int, int]) -> None:
    bills = (LEVELS[0], LEVELS[1], LEVELS[1] / 2)

    assert FiniteMechanism({"X": pure_law(here, bills), "X'": pure_law(there, bills)}).is_pure(tolerance=1e-9)


def test_question_noise_eight_times_too_small_is_not_covered() -> None:
    bills = (LEVELS[0], LEVELS[1], LEVELS[1] / 2)
    here, there = (-12, -12), (-11, -13)

    table = FiniteMechanism({"X": pure_law(here, bills, 0.5), "X'": pure_law(there, bills, 0.5)})

    assert not table.is_pure(tolerance=1e-9)


def billed(
    check: ReducedAboveThreshold[Floats, float] | RenyiReducedAboveThreshold[Floats, float], *passed: bool
) -> Promise:
    """The sum of the prices along one run, as the code makes them out."""
    total = NOTHING
    for index, verdict in enumerate(passed):
        price = check.price(index, total.as_spent(), total.as_spent())
        total = total + (price.passed if verdict else price.failed)
    return total


def test_the_code_bills_what_the_theorem_says() -> None:
    check = ReducedAboveThreshold(QUESTION, (Fraction(1), Fraction(2)))

    bills = [billed(check, *path).at(7) for path in ((True,), (False, True), (False, False))]

    assert bills == [1.0, 2.0, 1.0]


def renyi_law(
    values: tuple[int, int], variances: tuple[float, float], scales: tuple[float, float], bills: tuple[float, ...]
) -> Law:
    """Threshold: a fresh discrete Gaussian, then its precision-weighted mean with another."""
    rise = 1 / variances[1] - 1 / variances[0]
    share = rise * variances[1]
    outputs = [0.0, 0.0, 0.0]
    for coarse, weight in gaussian_law(variances[0]).items():
        chance = pass_chance(coarse - values[0], scales[0])
        outputs[0] += weight * chance
        for fresh, again in gaussian_law(1 / rise).items():
            threshold = (1 - share) * coarse + share * fresh
            late = pass_chance(math.ceil(threshold - 1e-12) - values[1], scales[1])
            outputs[1] += weight * again * (1 - chance) * late
            outputs[2] += weight * again * (1 - chance) * (1 - late)
    return dict(zip(zip(("first", "second", "never"), bills, strict=True), outputs, strict=True))


def renyi_mechanism(rhos: tuple[float, float], scales: tuple[float, float], alpha: float, *, pay_passes: bool) -> float:
    variances = (1 / (2 * rhos[0]), 1 / (2 * rhos[1]))
    xi = (2 / scales[0], 2 / scales[1]) if pay_passes else (0.0, 0.0)
    bills = (xi[0] + alpha * rhos[0], xi[1] + alpha * rhos[1], alpha * rhos[1])
    return max(
        FiniteMechanism(
            {"X": renyi_law(here, variances, scales, bills), "X'": renyi_law(there, variances, scales, bills)}
        ).moment(alpha)
        for here, there in NEIGHBOURS
    )


@pytest.mark.parametrize("alpha", [1.3, 3.0, 12.0])
def test_the_renyi_form_is_ex_post_renyi(alpha: float) -> None:
    assert renyi_mechanism((0.1, 0.25), (6.0, 3.0), alpha, pay_passes=True) <= 1 + 1e-9


def test_the_renyi_form_without_the_price_of_a_pass_is_not() -> None:
    assert renyi_mechanism((0.1, 0.25), (0.5, 0.3), 1.3, pay_passes=False) > 1


def test_the_renyi_code_bills_its_level_on_a_pass_and_the_threshold_otherwise() -> None:
    levels = (Budget.of(Fraction(1, 2), alpha=10), Budget.of(1, alpha=10))
    check = RenyiReducedAboveThreshold(QUESTION, levels)

    bills = [billed(check, *path).at(10) for path in ((True,), (False, True), (False, False))]

    assert bills == [0.5, 1.0, 0.5]


def test_doubling_pays_nearly_twice_the_last_budget() -> None:
    budgets = Doubling(Budget.of(Fraction(1, 100), alpha=20), 7).budgets

    assert sum(budget.epsilon for budget in budgets) == 2 * budgets[-1].epsilon - budgets[0].epsilon
