"""What each check asks of the sampler is what its bill is for, question by question, whatever the answers are."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import pytest

from expost.accounting.claim import Spent
from expost.accounting.curve import Curve, Linear, Tabulated
from expost.baselines import ReducedAboveThreshold, RenyiReducedAboveThreshold
from expost.checks.gaussian import BalancedCheck, GaussianCheck
from expost.checks.sparse_vector import SparseVectorCheck
from expost.noise import Integers, Noise, ScriptedNoise
from expost.odometer import Odometer
from expost.protocols import Check, Inquiry, Verdict
from tests.bills.questions import FAR, REACH, UNIT, Given
from tests.bills.recording import Draw, RecordingNoise, descent_chances, integer_gaussian_cost
from tests.unit.examples import ALPHA, NONE, budget, people, released

HELD = people(0)


QUESTION = Given()
ENDINGS = pytest.mark.parametrize("margins", [[-FAR, -FAR, -FAR], [-FAR, -FAR, FAR], [-FAR, FAR], [FAR]])


def quiet() -> RecordingNoise:
    """Draws that are all 0, written down."""
    return RecordingNoise(ScriptedNoise([0] * 100))


def ask(
    check: Check[Integers, int], margins: Sequence[int], noise: Noise, trained: Sequence[Spent] = ()
) -> tuple[list[Curve], list[Verdict]]:
    """One run of the check through an odometer: the bill after each question, and what was answered."""
    odometer, inquiry = Odometer(rehearsal=True), Inquiry(check)
    bills, verdicts = [], []
    for place, margin in enumerate(margins):
        before = trained[place] if trained else NONE
        verdicts.append(odometer.ask(inquiry, HELD, released(margin, 1), trained=before, noise=noise).value)
        bills.append(odometer.spent.curve)
    return bills, verdicts


def added(costs: Sequence[Linear]) -> list[Curve]:
    """The running totals."""
    return [spent.curve for spent in accumulate((Spent(cost) for cost in costs), Spent.__add__)]


@ENDINGS
def test_each_gaussian_question_has_the_noise_that_is_billed(margins: list[int]) -> None:
    """ρ = Δ²/(2σ²) for each question, pass or fail; all that were planned come to the budget."""
    noise = quiet()

    bills, verdicts = ask(GaussianCheck(QUESTION, budget(2), 3, None), margins, noise)

    variances = noise.parameters("discrete_gaussian")
    assert noise.asked == [Draw("discrete_gaussian", variance, ()) for variance in variances]
    assert bills == added([integer_gaussian_cost(variance, REACH**2) for variance in variances])
    assert REACH**2 / (2 * variances[0]) == Fraction(2, ALPHA) / 3
    assert [verdict.passed for verdict in verdicts] == [margin > 0 for margin in margins]
    assert [verdict.std for verdict in verdicts] == [float(variance) ** 0.5 / UNIT for variance in variances]


@pytest.mark.parametrize(
    "trained",
    [
        [Linear(Fraction(0), Fraction(1, 10)), Linear(Fraction(0), Fraction(1, 4)), Linear(Fraction(2), Fraction(1))],
        [Tabulated.of((2.0, 4.0), (0.5, 0.5)), Tabulated.of((2.0, 4.0), (1.0, 3.0)), Tabulated.of((2.0,), (8.0,))],
    ],
)
def test_each_balanced_question_has_the_noise_of_what_training_spent_beyond_it(trained: list[Curve]) -> None:
    """The bill after each question is Σ Δ²/(2σ_j²): the largest ρ with ρ·α below what training had spent by then."""
    noise = quiet()

    bills, verdicts = ask(BalancedCheck(QUESTION, None), [-FAR, -FAR, FAR], noise, [Spent(curve) for curve in trained])

    variances = noise.parameters("discrete_gaussian")
    assert noise.asked == [Draw("discrete_gaussian", variance, ()) for variance in variances]
    assert bills == added([integer_gaussian_cost(variance, REACH**2) for variance in variances])
    assert [bill.rho for bill in bills if isinstance(bill, Linear)] == [below(curve) for curve in trained]
    assert [verdict.std for verdict in verdicts] == [float(variance) ** 0.5 / UNIT for variance in variances]


def below(curve: Curve) -> Fraction:
    """The largest ρ with ρ·α at most the curve, at the orders it is known at."""
    if isinstance(curve, Tabulated):
        return min(Fraction(value) / Fraction(alpha) for alpha, value in zip(curve.orders, curve.values, strict=True))
    assert isinstance(curve, Linear)
    return curve.rho


@ENDINGS
@pytest.mark.parametrize(("monotone", "shifts"), [(False, 2), (True, 1)])
def test_a_sparse_vector_has_the_noise_that_is_billed(margins: list[int], monotone: bool, shifts: int) -> None:
    """The threshold costs ρ = Δ²/(2σ²) once, a fail nothing, a pass 2Δ/b, or Δ/b where all answers move alike."""
    noise = quiet()

    bills, verdicts = ask(SparseVectorCheck(Given(monotone), Fraction(50), Fraction(7), None), margins, noise)

    (variance,), scales = noise.parameters("discrete_gaussian"), noise.parameters("discrete_laplace")
    once = Linear(Fraction(0), REACH**2 / (2 * variance))
    passed = [Linear(shifts * REACH / scale, once.rho) for scale in scales]
    assert noise.asked[0] == Draw("discrete_gaussian", variance, ())
    assert noise.asked[1:] == [Draw("discrete_laplace", scale, ()) for scale in scales]
    assert len(scales) == len(margins)
    assert bills == [dear if verdict.passed else once for dear, verdict in zip(passed, verdicts, strict=True)]
    assert [verdict.passed for verdict in verdicts] == [margin > 0 for margin in margins]


@pytest.mark.parametrize(("monotone", "shifts"), [(False, 2), (True, 1)])
def test_a_calibrated_sparse_vector_asks_for_noise_that_costs_the_budget(monotone: bool, shifts: int) -> None:
    noise = quiet()

    ask(SparseVectorCheck.calibrated(Given(monotone), budget(3), None), [FAR], noise)

    (variance,), (scale,) = noise.parameters("discrete_gaussian"), noise.parameters("discrete_laplace")
    cost = shifts * REACH / scale + ALPHA * REACH**2 / (2 * variance)
    assert 3 * (1 - 1e-12) < cost <= 3


@ENDINGS
def test_reduced_above_threshold_has_the_noise_that_is_billed(margins: list[int]) -> None:
    """A threshold of rate e/(2Δ) moved by Δ costs e/2, a pass that is moved by 2Δ at scale 4Δ/e as much again."""
    levels = Fraction(1), Fraction(1), Fraction(4)
    noise = RecordingNoise(ScriptedNoise([0, 0, 0, True, 0]))  # the threshold, then questions; it is kept at the third

    bills, verdicts = ask(ReducedAboveThreshold(QUESTION, levels), margins, noise)

    threshold, *queries = noise.parameters("discrete_laplace")
    assert threshold == 1 / (levels[0] / (2 * REACH))
    assert queries == [2 * REACH / (level / 2) for level in levels[: len(margins)]]
    expected = [
        Linear(level / 2 + (2 * REACH / query if verdict.passed else 0), Fraction(0))
        for level, query, verdict in zip(levels, queries, verdicts, strict=False)
    ]
    assert bills == expected


def test_reduced_above_threshold_reduces_its_threshold_to_the_rate_that_is_billed() -> None:
    """A threshold of noise 5 at rate e₁/(2Δ) stays, going down to e₂/(2Δ), with the chance of those rates."""
    levels = Fraction(1), Fraction(4)
    noise = RecordingNoise(ScriptedNoise([5, 0, True, 0]))

    ask(ReducedAboveThreshold(QUESTION, levels), [-FAR, -FAR], noise)

    (asked,) = noise.parameters("bernoulli_real")
    low, high = (level / (2 * REACH) for level in levels)
    assert noise.parameters("discrete_laplace")[0] == 1 / low
    assert float(asked) == pytest.approx(descent_chances(5, low, high)[0], rel=1e-12)


@ENDINGS
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 5)])
def test_renyi_reduced_above_threshold_has_the_noise_that_is_billed(margins: list[int], share: Fraction) -> None:
    """Each rise of the threshold costs ρ = Δ²/(2σ²), a pass 2Δ/b besides; a pass at a level costs just that level."""
    levels = budget(1), budget(2), budget(5)
    noise = quiet()

    bills, verdicts = ask(RenyiReducedAboveThreshold(QUESTION, levels, share), margins, noise)

    variances, scales = noise.parameters("discrete_gaussian"), noise.parameters("discrete_laplace")
    pairs = zip(variances, scales, strict=True)
    asked = [(Draw("discrete_gaussian", one, ()), Draw("discrete_laplace", other, ())) for one, other in pairs]
    assert noise.asked == [draw for pair in asked for draw in pair]
    rhos = list(accumulate(REACH**2 / (2 * variance) for variance in variances))
    expected = [
        Linear(2 * REACH / scale if verdict.passed else Fraction(0), rho)
        for rho, scale, verdict in zip(rhos, scales, verdicts, strict=True)
    ]
    assert bills == expected
    if verdicts[-1].passed:
        assert bills[-1].at(ALPHA) == levels[len(margins) - 1].epsilon
