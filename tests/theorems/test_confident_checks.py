"""Claim (confident checks). With probability at least c, over all looks of a run, no candidate passes that is below the
target on the held-out records: the guard of each look is exceeded by its fresh noise with probability 1 − c^(1/K).
"""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expost import BalancedCheck, Budget, CentredSum, Confidence, GaussianCheck, Neighbours, SparseVectorCheck
from expost.accounting.claim import NOTHING, Promise
from expost.accounting.curve import Linear
from expost.accounting.tails import laplace_tail, lattice_tail, sparse_vector_tail
from expost.checks.confidence import population_bound, worth_asking
from expost.errors import InvalidValue, SpentCheck
from expost.noise import Floats
from expost.protocols import Check, Price
from tests.ahead import NoiseAhead
from tests.unit.examples import one_sentence

VARIANCES = [Fraction(1, 3), Fraction(2), Fraction(49), Fraction(10**4), Fraction(255**2)]
WIDE = [Fraction(257**2), Fraction(10**7), Fraction(10**12)]


def exact_tail(variance: Fraction, least: int) -> mp.mpf:
    """P(Z ≥ least), term by term."""

    def term(k: mp.mpf) -> mp.mpf:
        return mp.exp(-(k**2) * variance.denominator / (2 * mp.mpf(variance.numerator)))

    reach = least + math.ceil(12 * math.sqrt(variance)) + 4
    above = mp.fsum(term(k) for k in range(max(1, least), reach))
    whole = 1 + 2 * mp.fsum(term(k) for k in range(1, reach))
    return above / whole


def theta_tail(variance: Fraction, least: int) -> mp.mpf:
    """The same for wide noise, by the Euler-Maclaurin formula."""
    sigma = mp.sqrt(mp.mpf(variance.numerator) / variance.denominator)
    start = mp.mpf(least) / sigma
    density = mp.npdf(start) / sigma
    return mp.ncdf(-start) + density / 2 + start * density / (12 * sigma)


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_tail_of_integer_noise_is_its_sum(variance: Fraction) -> None:
    for least in {1, 2, math.ceil(math.sqrt(variance)), math.ceil(3 * math.sqrt(variance))}:
        known = exact_tail(variance, least)

        assert known <= mp.mpf(lattice_tail(variance, least)) <= known * (1 + mp.mpf(10) ** -9)


@pytest.mark.parametrize("variance", WIDE)
@pytest.mark.parametrize("deviations", [0.5, 1.1, 2.4, 4.0])
def test_the_tail_of_wide_noise_is_bounded_from_above_and_closely(variance: Fraction, deviations: float) -> None:
    least = math.ceil(deviations * math.sqrt(variance))
    known = theta_tail(variance, least)

    assert known <= mp.mpf(lattice_tail(variance, least)) <= known * (1 + 5 / mp.sqrt(variance.numerator))


def test_the_continuous_tail_would_understate_that_of_integers() -> None:
    assert mp.ncdf(-3) < exact_tail(Fraction(1), 3)


@pytest.mark.parametrize("least", [0, -5])
def test_nothing_is_claimed_of_a_tail_from_zero_on(least: int) -> None:
    assert lattice_tail(Fraction(4), least) == 1


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1000)])
def test_the_tail_of_laplace_noise_is_its_sum(scale: Fraction) -> None:
    ratio = mp.exp(-mp.mpf(scale.denominator) / scale.numerator)
    weights = {k: ratio ** abs(k) * (1 - ratio) / (1 + ratio) for k in range(-60, 61)}

    for least in (-7, 0, 1, 8):
        below = mp.fsum(weights[k] for k in range(-60, least)) + ratio**61 / (1 + ratio)
        assert float(laplace_tail(scale, np.array([float(least)]))[0]) == pytest.approx(float(1 - below), rel=1e-9)


@pytest.mark.parametrize("looks", [1, 3, 7])
def test_the_tail_of_the_sparse_vector_is_the_mean_over_its_threshold(looks: int) -> None:
    variance, scale, least = Fraction(9), Fraction(5, 2), 12
    ratio = mp.exp(-mp.mpf(2) / 5)

    def fails(threshold: int) -> mp.mpf:
        reach = threshold + least
        passed = ratio**reach / (1 + ratio) if reach > 0 else 1 - ratio ** (1 - reach) / (1 + ratio)
        return (1 - passed) ** looks

    weights = {t: mp.exp(-mp.mpf(t * t) / 18) for t in range(-60, 61)}
    known = 1 - mp.fsum(w * fails(t) for t, w in weights.items()) / mp.fsum(weights.values())

    assert known <= mp.mpf(sparse_vector_tail(variance, scale, least, looks)) <= known * (1 + mp.mpf(10) ** -9)


def test_the_tail_of_a_wide_sparse_vector_is_bounded_from_above_and_closely() -> None:
    """Ten times the noise and the margin is the same law but for the lattice."""
    fine = sparse_vector_tail(Fraction(250**2), Fraction(300), 1000, 7)
    wide = sparse_vector_tail(Fraction(2500**2), Fraction(3000), 10000, 7)

    assert fine < wide < 1.02 * fine


@given(st.integers(1, 40), st.fractions(Fraction(1, 2), Fraction(999, 1000), max_denominator=1000))
def test_all_looks_together_err_no_more_than_the_confidence_allows(looks: int, level: Fraction) -> None:
    share = Confidence(level, looks).share

    with mp.workdps(50):
        asked = mp.mpf(level.numerator) / level.denominator
        assert (1 - mp.mpf(share)) ** looks >= asked
        assert (1 - mp.mpf(share) * (1 + mp.mpf(10) ** -9)) ** looks < asked


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("looks", [1, 7])
def test_the_guard_is_the_least_that_noise_alone_rarely_lifts_a_candidate_over(variance: Fraction, looks: int) -> None:
    sure = Confidence.of(0.95, looks=looks)
    guard = sure.guard(variance)

    assert exact_tail(variance, guard + 1) <= sure.share
    assert guard == 0 or exact_tail(variance, guard) > sure.share


def test_the_guard_of_a_sparse_vector_is_the_least_for_all_its_looks() -> None:
    sure, variance, scale = Confidence.of(0.95, looks=7), Fraction(90), Fraction(21)
    guard = sure.threshold_guard(variance, scale)

    assert sparse_vector_tail(variance, scale, guard + 1, 7) <= 0.05 < sparse_vector_tail(variance, scale, guard, 7)


def right(candidate: int, held: range) -> Floats:
    """So many records are right, whichever they are."""
    return (np.arange(len(held)) < candidate).astype(np.float64)


QUESTION: CentredSum[range, int] = CentredSum(right, Fraction(91, 100), Neighbours.ADD_REMOVE)
LOOKS, HELD = 7, range(600)
SURE = Confidence.of(0.95, looks=LOOKS)
TRAINED = [Promise(Linear(Fraction(0), Fraction(2**rung, 4000))) for rung in range(LOOKS)]
CHECKS: dict[str, Check[range, int]] = {
    "balanced": BalancedCheck(QUESTION, SURE),
    "Gaussian": GaussianCheck(QUESTION, Budget.of(Fraction(1, 2), alpha=20), LOOKS, SURE),
    "sparse vector": SparseVectorCheck.calibrated(QUESTION, Budget.of(Fraction(1, 2), alpha=20), SURE),
}
PAPERS: dict[str, Check[range, int]] = {
    "balanced": BalancedCheck(QUESTION, None),
    "Gaussian": GaussianCheck(QUESTION, Budget.of(Fraction(1, 2), alpha=20), LOOKS, None),
    "sparse vector": SparseVectorCheck.calibrated(QUESTION, Budget.of(Fraction(1, 2), alpha=20), None),
}
JUST_BELOW = math.ceil(Fraction(91, 100) * len(HELD)) - 1
RUNS = 2000


def prices(check: Check[range, int]) -> list[Price]:
    """What each look of a run costs while none passes."""
    found, asked = list[Price](), NOTHING
    for index, trained in enumerate(TRAINED):
        found.append(check.price(index, trained.as_spent(), asked.as_spent()))
        asked = asked + found[-1].failed
    return found


def shortened(guard: Callable[..., int]) -> Callable[..., int]:
    """The same but for a quarter."""
    return lambda confidence, *noise: math.floor(0.75 * guard(confidence, *noise))


def share_passed(check: Check[range, int], candidate: int) -> float:
    """In how many runs the same candidate passes one of the looks."""
    noise, known, passed = NoiseAhead(7), prices(check), 0
    for _ in range(RUNS):
        answers = check.begin()
        passed += any(answers.answer(*look, HELD, candidate, noise).passed for look in enumerate(known))
    return passed / RUNS


@pytest.mark.statistical
@pytest.mark.parametrize("name", CHECKS)
def test_a_candidate_just_below_the_target_passes_in_few_runs(name: str) -> None:
    """The worst case: the same candidate, a record short, at every look. False alarm below 1e-6 at 5 % + 2.4 %."""
    assert share_passed(CHECKS[name], JUST_BELOW) < 0.05 + 4.9 * math.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.statistical
@pytest.mark.parametrize("name", PAPERS)
def test_the_checks_of_the_paper_pass_it_in_most_runs(name: str) -> None:
    """The twin: without a guard some of seven looks is lifted above 0 nearly always."""
    assert share_passed(PAPERS[name], JUST_BELOW) > 0.5


@pytest.mark.statistical
@pytest.mark.parametrize("name", CHECKS)
def test_a_guard_at_three_quarters_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in ("guard", "threshold_guard"):
        monkeypatch.setattr(Confidence, each, shortened(getattr(Confidence, each)))

    assert share_passed(CHECKS[name], JUST_BELOW) > 0.05 + 4.9 * math.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.statistical
@pytest.mark.parametrize("name", CHECKS)
def test_a_candidate_far_above_the_target_passes(name: str) -> None:
    assert share_passed(CHECKS[name], 600) > 0.99


@pytest.mark.parametrize("name", CHECKS)
def test_a_look_beyond_those_planned_is_refused(name: str) -> None:
    with pytest.raises(SpentCheck) as refused:
        CHECKS[name].price(LOOKS, TRAINED[-1].as_spent(), NOTHING.as_spent())

    assert one_sentence(refused.value)


@pytest.mark.parametrize("name", CHECKS)
def test_a_confidence_changes_no_price(name: str) -> None:
    trained = TRAINED[2].as_spent()

    assert CHECKS[name].price(0, trained, NOTHING.as_spent()) == PAPERS[name].price(0, trained, NOTHING.as_spent())


@pytest.mark.parametrize("level", [0.4, 1, 1.5, math.nan, math.inf, 0])
def test_a_level_that_is_no_confidence_is_refused(level: float) -> None:
    with pytest.raises(InvalidValue) as refused:
        Confidence.of(level, looks=3)

    assert one_sentence(refused.value)


def test_more_questions_than_looks_are_refused() -> None:
    with pytest.raises(InvalidValue, match="7 questions are planned, the confidence is for 3 looks"):
        GaussianCheck(QUESTION, Budget.of(1, alpha=20), 7, Confidence.of(0.95, looks=3))


RHOS = [Fraction(level) / 20 for level in (0.02, 0.0315, 0.0564, 0.11, 0.2254, 0.4742, 1.01)]


@pytest.mark.parametrize(
    ("held", "asked"),
    [(None, range(7)), (20_000, range(7)), (3000, range(2, 7)), (200, (4, 5, 6)), (1, (4, 5, 6))],
)
def test_rungs_are_asked_about_where_the_guard_is_narrow(held: float | None, asked: range | tuple[int, ...]) -> None:
    assert worth_asking(RHOS, QUESTION, Fraction(95, 100), held) == tuple(asked)


def test_what_a_look_left_out_would_have_spent_the_next_one_has() -> None:
    check = BalancedCheck(QUESTION, Confidence.of(0.95, looks=1))

    alone = check.price(0, TRAINED[3].as_spent(), NOTHING.as_spent()).passed
    after = check.price(0, TRAINED[3].as_spent(), TRAINED[2].as_spent()).passed

    assert alone == TRAINED[3] or alone.at(20) == TRAINED[3].at(20)
    assert after.at(20) == pytest.approx(TRAINED[3].at(20) - TRAINED[2].at(20))


def test_an_accuracy_among_new_people_is_bounded_by_the_binomial_law() -> None:
    bound = population_bound(Fraction(4, 5), 1000.7, 0.01)

    rarely = mp.betainc(800, 201, 0, bound, regularized=True)
    assert float(rarely) == pytest.approx(0.01, rel=1e-9)
    assert 0.76 < bound < 0.8
