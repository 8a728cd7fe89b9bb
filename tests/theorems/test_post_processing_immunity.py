"""Theorem (post-processing immunity): f(y, ε) may replace y, if f is blind to the data and ε is carried.

Claim: with ε carried unchanged, no f raises the pure excess, the approximate δ, the Rényi moment at any order or the
zero-concentrated moment. The probabilistic notion alone has no such immunity: merging two outputs can turn δ = 0.1
into 0.7. Raising ε keeps every promise; lowering it does not.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from expost.verify import FiniteMechanism

SEARCHES = 300
CLAIMS = (0.1, 0.3, 0.6, math.inf)

Mechanism = FiniteMechanism[str, int]
Kernel = Callable[[int, float], dict[int, float]]


def random_mechanism(rng: np.random.Generator, *, zeros: bool = False) -> Mechanism:
    """Eight outputs that share four values of ε, so that outputs can be merged without changing ε."""
    p, q = rng.dirichlet(np.ones(8), 2)
    if zeros:
        p[rng.integers(8)] = q[rng.integers(8)] = 0
    rows = zip(p / p.sum(), q / q.sum(), rng.choice(CLAIMS, 8, p=[0.3, 0.3, 0.3, 0.1]), strict=True)
    cells = [((y, float(epsilon)), float(a), float(b)) for y, (a, b, epsilon) in enumerate(rows)]
    return FiniteMechanism({"X": {o: a for o, a, _ in cells}, "X'": {o: b for o, _, b in cells}})


def random_kernel(rng: np.random.Generator) -> Kernel:
    """Every second kernel merges outputs without noise; the others also draw."""
    concentration = rng.choice([0.01, 1.0])

    def kernel(y: int, epsilon: float) -> dict[int, float]:
        return dict(enumerate(map(float, rng.dirichlet(np.full(3, concentration)))))

    return kernel


def largest_growth(
    measure: Callable[[Mechanism], float], *, seed: int, zeros: bool = False, searches: int = SEARCHES
) -> float:
    rng = np.random.default_rng(seed)
    tables = [random_mechanism(rng, zeros=zeros) for _ in range(searches)]
    return max(measure(each.post_process(random_kernel(rng))) - measure(each) for each in tables)


def with_offset(mechanism: Mechanism, offset: float) -> FiniteMechanism[str, tuple[int, float]]:
    return mechanism.raised(lambda y, epsilon: epsilon + max(offset, 0.0))


def pure_excess(mechanism: Mechanism) -> float:
    return max(atom.loss - atom.epsilon for loss in mechanism.losses() for atom in loss.atoms)


def test_the_pure_excess_never_grows() -> None:
    assert largest_growth(pure_excess, seed=1) <= 1e-12


def test_a_pure_mechanism_stays_pure() -> None:
    rng = np.random.default_rng(2)
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        pure = with_offset(mechanism, pure_excess(mechanism))
        assert pure.is_pure()
        assert pure.post_process(lambda y, epsilon: {int(rng.integers(2)): 1.0}).is_pure()


@pytest.mark.parametrize("alpha", [1.1, 2, 7, 40])
def test_the_renyi_moment_never_grows(alpha: float) -> None:
    assert largest_growth(lambda mechanism: math.log(mechanism.moment(alpha)), seed=3) <= 1e-12


@pytest.mark.parametrize("zeros", [False, True])
def test_the_approximate_delta_never_grows(zeros: bool) -> None:
    assert largest_growth(FiniteMechanism.approximate_delta, seed=4, zeros=zeros) <= 1e-12


@pytest.mark.parametrize("xi", [0.0, 0.4])
def test_the_zero_concentrated_moment_never_grows(xi: float) -> None:
    assert largest_growth(lambda each: math.log(each.zcdp_moment(xi)), seed=5, searches=100) <= 1e-9


def test_the_search_finds_that_the_probabilistic_delta_grows() -> None:
    assert largest_growth(FiniteMechanism.probabilistic_delta, seed=6) > 0.1


def test_merging_two_outputs_turns_a_probabilistic_delta_of_a_tenth_into_seven_tenths() -> None:
    claim = math.log(2)
    mechanism = FiniteMechanism(
        {
            "X": {("a", claim): 0.1, ("b", claim): 0.6, ("c", claim): 0.3},
            "X'": {("b", claim): 0.3, ("c", claim): 0.6, ("d", claim): 0.1},
        }
    )

    merged = mechanism.post_process(lambda y, epsilon: {"ab" if y in "ab" else y: 1.0})

    assert mechanism.probabilistic_delta() == pytest.approx(0.1, abs=1e-15)
    assert mechanism.approximate_delta() == pytest.approx(0.1, abs=1e-15)
    assert merged.probabilistic_delta() == pytest.approx(0.7, abs=1e-15)
    assert merged.approximate_delta() == pytest.approx(0.1, abs=1e-15)


def test_merging_hurts_the_probabilistic_notion_with_two_values_of_epsilon_too() -> None:
    low, high = math.log(2), math.log(3)
    mechanism = FiniteMechanism(
        {
            "X": {("a", low): 0.05, ("b", low): 0.4, ("c", high): 0.45, ("d", high): 0.1},
            "X'": {("b", low): 0.2, ("c", high): 0.5, ("d", high): 0.3},
        }
    )

    merged = mechanism.post_process(lambda y, epsilon: {"ab" if y in "ab" else y: 1.0})

    assert mechanism.probabilistic_delta() == pytest.approx(0.05, abs=1e-15)
    assert merged.probabilistic_delta() == pytest.approx(0.45, abs=1e-15)
    assert mechanism.approximate_delta() == pytest.approx(0.05, abs=1e-15)
    assert merged.approximate_delta() == pytest.approx(0.05, abs=1e-15)


def test_a_probabilistic_bound_taken_from_the_renyi_notion_after_merging_holds() -> None:
    """Post-process first, convert last: Markov's inequality on the moment of the merged mechanism."""
    alpha, delta, rng = 4.0, 0.05, np.random.default_rng(7)
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        offset = (math.log(mechanism.moment(alpha)) + math.log(1 / delta)) / (alpha - 1)
        converted = with_offset(mechanism.post_process(random_kernel(rng)), offset)
        assert converted.probabilistic_delta() <= delta


def test_raising_epsilon_keeps_every_promise() -> None:
    rng = np.random.default_rng(8)
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng, zeros=bool(rng.integers(2)))
        raised = mechanism.raised(lambda y, epsilon: epsilon + float(rng.exponential()))
        assert raised.probabilistic_delta() <= mechanism.probabilistic_delta() + 1e-15
        assert raised.approximate_delta() <= mechanism.approximate_delta() + 1e-15
        assert raised.moment(3) <= mechanism.moment(3)


def test_dropping_the_old_epsilon_after_raising_it_keeps_all_but_the_probabilistic_promise() -> None:
    rng = np.random.default_rng(9)
    grew = False
    for _ in range(SEARCHES):
        mechanism = random_mechanism(rng)
        kept = mechanism.raised(lambda y, epsilon: 0.6 if epsilon < math.inf else epsilon)
        dropped = kept.post_process(lambda y, epsilon: {y[0] % 3: 1.0})
        assert dropped.approximate_delta() <= kept.approximate_delta() + 1e-12
        assert dropped.moment(3) <= kept.moment(3) + 1e-12
        grew = grew or dropped.probabilistic_delta() > kept.probabilistic_delta() + 0.1
    assert grew


def test_a_map_that_lowers_epsilon_breaks_every_promise() -> None:
    claim = math.log(3)
    honest = {
        "X": {("yes", claim): 0.75, ("no", claim): 0.25},
        "X'": {("yes", claim): 0.25, ("no", claim): 0.75},
    }
    lowered = FiniteMechanism({x: {(y, claim / 4): p for (y, _), p in row.items()} for x, row in honest.items()})

    assert FiniteMechanism(honest).is_pure()
    assert not lowered.is_pure()
    assert lowered.approximate_delta() > 0.3
    assert lowered.moment(20) > 1
    assert not lowered.is_zcdp(0)


def test_choosing_a_lower_epsilon_from_the_output_breaks_the_promise_on_average_too() -> None:
    """The mean claim stays the same: only which output carries which ε has changed."""
    rows = {"X": {("yes", 1.5): 0.5, ("no", 0.5): 0.5}, "X'": {("yes", 1.5): 0.1, ("no", 0.5): 0.9}}
    swapped = {x: {(y, 2.0 - epsilon): p for (y, epsilon), p in row.items()} for x, row in rows.items()}

    assert FiniteMechanism(rows).is_renyi(2)
    assert FiniteMechanism(swapped).moment(2) > 1.5
