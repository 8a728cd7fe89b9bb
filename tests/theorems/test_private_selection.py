"""Theorem (private selection). Configurations M_j are ε_j-DP and give an output with a score. K follows the truncated
negative binomial law of η and γ. K times a configuration is drawn and run; of the runs that pass, the one with the
smallest ε_j is returned, then the one with the highest score, then the earliest. This is pure ex post with
(2+η)·ε_j, and with (2+η)·max ε_j where none passes.

Theorem (private selection, approximate). If M_j is (ε_j, δ_j)-DP instead, the same bills are δ-approximate ex post with
δ = 1 − f(1−d) ≤ E[K]·d, where f is the generating function of K and d the mean of the δ_j.

The law of what is returned is summed exactly, run by run.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from expost import FiniteMechanism, Neighbours
from expost.accounting.curve import AdpEpsilon
from expost.accounting.private_selection import SelectionBill, Statement, TruncatedNegativeBinomial
from expost.noise import Floats, Integers, Noise
from expost.release import Past
from expost.training.tune import UNREAD, Selection, draw_runs
from tests.theorems.enumeration import CoinPath

Output = tuple[int, int] | None
Law = dict[Output, float]
Rank = Callable[[int, int], tuple[float, ...]]
Weights = Mapping[int, float]

LAWS = [TruncatedNegativeBinomial(eta, gamma) for eta in (-0.5, 0.0, 0.5, 1.0) for gamma in (0.2, 0.6)]
SCORES = 4
"""The scores a run may get are 0 … 3; from 1 on it passes."""
LAST = 400
"""At γ = .2 more runs than these have a chance below 1e-35."""


@dataclass(frozen=True)
class Pair:
    """Configurations on two neighbouring data sets: for each, the chances of its scores here and there."""

    here: tuple[tuple[float, ...], ...]
    there: tuple[tuple[float, ...], ...]
    statements: tuple[Statement, ...]

    def run(self, laws: tuple[tuple[float, ...], ...]) -> Law:
        """The law of one run: a passing (configuration, score), or None."""
        share = 1 / len(laws)
        passing: Law = {
            (j, score): share * law[score] for j, law in enumerate(laws) for score in range(1, len(law)) if law[score]
        }
        return passing | {None: math.fsum(share * law[0] for law in laws)}

    def rank(self, j: int, score: int) -> tuple[float, ...]:
        """The smallest is best."""
        return self.statements[j].epsilon, -score


def epsilon_between(here: Iterable[float], there: Iterable[float]) -> float:
    """The least pure ε of the two laws."""
    return max(abs(math.log(p / q)) for p, q in zip(here, there, strict=True))


def delta_between(here: Iterable[float], there: Iterable[float], epsilon: float) -> float:
    """The least δ of the two laws at this ε."""
    ways = ((here, there), (there, here))
    return max(
        math.fsum(max(p - math.exp(epsilon) * q, 0) for p, q in zip(one, other, strict=True)) for one, other in ways
    )


def random_pair(seed: int, *, reveal: float = 0.0) -> Pair:
    """Two or three configurations tilted at random; with the chance ``reveal`` they show which data set it is."""
    draw = np.random.default_rng(seed)
    here, there, statements = [], [], []
    for _ in range(int(draw.integers(2, 4))):
        first = draw.dirichlet(np.ones(SCORES))
        second = first * np.exp(draw.choice([0.1, 0.5, 1.5]) * draw.choice([-1, 1], SCORES))
        epsilon = epsilon_between(first, second / second.sum())
        sure = np.eye(SCORES)[draw.permutation(SCORES)]
        laws = (1 - reveal) * first + reveal * sure[0], (1 - reveal) * second / second.sum() + reveal * sure[1]
        here.append(tuple(map(float, laws[0])))
        there.append(tuple(map(float, laws[1])))
        statements.append(Statement(AdpEpsilon(epsilon), delta_between(*laws, epsilon) if reveal else 0.0))
    return Pair(tuple(here), tuple(there), tuple(statements))


def best_of(runs: Weights, one: Law, rank: Rank) -> Law:
    """The law of the best of K runs, adding one run at a time; the earlier of two equals stays."""

    def better(kept: Output, new: Output) -> Output:
        if new is None or kept is None:
            return kept if new is None else new
        return new if rank(*new) < rank(*kept) else kept

    law: Law = {}
    best: Law = dict(one)
    for k in range(1, max(runs) + 1):
        for output, p in best.items():
            law[output] = law.get(output, 0.0) + runs.get(k, 0.0) * p
        grown: Law = {}
        for kept, p in best.items():
            for new, q in one.items():
                output = better(kept, new)
                grown[output] = grown.get(output, 0.0) + p * q
        best = grown
    return law


def in_closed_form(runs: TruncatedNegativeBinomial, one: Law, rank: Rank) -> Law:
    """The same by the generating function, for any γ."""
    passing = {output: q for output, q in one.items() if output is not None}
    law: Law = {None: runs.pgf(one[None])}
    for output, q in passing.items():
        above = math.fsum(p for other, p in passing.items() if rank(*other) < rank(*output))
        level = math.fsum(p for other, p in passing.items() if rank(*other) == rank(*output))
        law[output] = (runs.pgf(1 - above) - runs.pgf(1 - above - level)) * q / level
    return law


def weights(runs: TruncatedNegativeBinomial) -> Weights:
    return {k: runs.pmf(k) for k in range(1, LAST)}


Bill = Callable[[Output], float]


def billed(bill: SelectionBill) -> Bill:
    """The ε of the theorem, as the code makes it out."""
    return lambda output: (bill.none_passed if output is None else bill.passed(output[0])).epsilon


def table(pair: Pair, select: Callable[[Law], Law], bill: Bill) -> FiniteMechanism[str, Output]:
    sides = {"X": pair.here, "X'": pair.there}
    return FiniteMechanism(
        {x: {(y, bill(y)): p for y, p in select(pair.run(laws)).items()} for x, laws in sides.items()}
    )


@pytest.mark.parametrize("runs", LAWS, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_the_best_passing_run_costs_its_own_epsilon_times_two_plus_eta(
    runs: TruncatedNegativeBinomial, seed: int
) -> None:
    pair = random_pair(seed)

    selection = table(
        pair, partial(best_of, weights(runs), rank=pair.rank), billed(SelectionBill(runs, pair.statements))
    )

    assert selection.is_pure()


@pytest.mark.parametrize("runs", LAWS, ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_with_approximate_configurations_delta_is_that_some_run_fails(
    runs: TruncatedNegativeBinomial, seed: int
) -> None:
    pair = random_pair(seed, reveal=0.05)
    bill = SelectionBill(runs, pair.statements)

    selection = table(pair, partial(best_of, weights(runs), rank=pair.rank), billed(bill))

    assert selection.approximate_delta() <= bill.delta


def pure_core(here: Floats, there: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """Two laws within e^ε of each other which make up 1−δ of the given ones, as the proof builds them."""
    ours, theirs = np.minimum(here, math.exp(epsilon) * there), np.minimum(there, math.exp(epsilon) * here)
    if ours.sum() < theirs.sum():
        return pure_core(there, here, epsilon)[::-1]
    if ours.sum() > theirs.sum():
        level = brentq(lambda c: np.minimum(ours, c * theirs).sum() - theirs.sum(), 1, math.exp(epsilon), xtol=1e-15)
        ours = np.minimum(ours, level * theirs)
    return ours / ours.sum(), theirs / theirs.sum()


@pytest.mark.parametrize("seed", range(30))
def test_an_approximate_pair_is_a_pure_one_but_for_a_chance_of_delta(seed: int) -> None:
    draw = np.random.default_rng(seed)
    here, there, epsilon = *draw.dirichlet(np.ones(5), 2), draw.uniform(0.05, 2)
    delta = delta_between(here, there, epsilon)

    ours, theirs = pure_core(here, there, epsilon)

    assert epsilon_between(ours, theirs) <= epsilon + 1e-12
    assert np.all((1 - delta) * ours <= here + 1e-12)
    assert np.all((1 - delta) * theirs <= there + 1e-12)


@pytest.mark.parametrize("runs", LAWS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_is_the_sum_over_the_number_of_runs(runs: TruncatedNegativeBinomial, seed: int) -> None:
    pair = random_pair(seed)
    one = pair.run(pair.here)

    summed, closed = best_of(weights(runs), one, pair.rank), in_closed_form(runs, one, pair.rank)

    assert summed == pytest.approx(closed, abs=1e-12)


def leaning(epsilon: float, rare: float = 1e-3) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Scores 0, 1, 2: a high one is rarer here and a low one there, each by e^ε; the low one is rarest."""
    tilt = math.exp(epsilon)
    low, high = (rare**2 * tilt, rare**2), (rare, rare * tilt)
    here, there = ((1 - low[x] - high[x], low[x], high[x]) for x in (0, 1))
    return here, there


FEW = 1e-6
"""A γ so small that the number of runs hides nothing."""


@pytest.mark.parametrize("eta", [-0.5, 0.0, 1.0])
def test_the_bill_is_nearly_attained(eta: float) -> None:
    runs, (here, there) = TruncatedNegativeBinomial(eta, FEW), leaning(1.0)
    pair = Pair((here,), (there,), (Statement(AdpEpsilon(epsilon_between(here, there)), 0.0),))
    select = partial(in_closed_form, runs, rank=pair.rank)

    attained = math.log(select(pair.run(pair.here))[0, 1] / select(pair.run(pair.there))[0, 1])

    bound = SelectionBill(runs, pair.statements).passed(0).epsilon
    assert 0.998 * bound < attained <= bound


def test_a_bill_that_forgets_eta_is_too_low() -> None:
    runs, (here, there) = TruncatedNegativeBinomial(1.0, FEW), leaning(1.0)
    pair = Pair((here,), (there,), (Statement(AdpEpsilon(1.0), 0.0),))
    right = billed(SelectionBill(runs, pair.statements))
    select = partial(in_closed_form, runs, rank=pair.rank)

    assert table(pair, select, right).is_pure()
    assert not table(pair, select, lambda output: right(output) * 2 / 3).is_pure()


def two_prices() -> Pair:
    """A cheap configuration that ignores the data and scores low, and a dear one that scores high or fails."""
    cheap, here, there = (0.5, 0.5, 0.0), (0.1, 0.0, 0.9), (0.9, 0.0, 0.1)
    statements = Statement(AdpEpsilon(0.01), 0.0), Statement(AdpEpsilon(math.log(9)), 0.0)
    return Pair((cheap, here), (cheap, there), statements)


def test_none_passing_is_not_covered_by_the_smallest_epsilon() -> None:
    runs, pair = TruncatedNegativeBinomial(0.0, 0.2), two_prices()
    bill = SelectionBill(runs, pair.statements)
    select = partial(best_of, weights(runs), rank=pair.rank)

    assert table(pair, select, billed(bill)).is_pure()
    assert not table(pair, select, lambda output: bill.passed(0 if output is None else output[0]).epsilon).is_pure()


def test_a_ranking_by_score_alone_is_not_covered() -> None:
    runs, pair = TruncatedNegativeBinomial(0.0, 0.2), two_prices()
    bill = billed(SelectionBill(runs, pair.statements))

    assert table(pair, partial(best_of, weights(runs), rank=pair.rank), bill).is_pure()
    assert not table(pair, partial(best_of, weights(runs), rank=lambda j, score: (-score,)), bill).is_pure()


def test_a_fixed_number_of_runs_is_not_covered() -> None:
    here, there = (0.5, 0.2, 0.3), (0.3, 0.2, 0.5)
    pair = Pair((here,), (there,), (Statement(AdpEpsilon(epsilon_between(here, there)), 0.0),))
    bill = billed(SelectionBill(TruncatedNegativeBinomial(0.0, 0.2), pair.statements))

    assert not table(pair, partial(best_of, {10: 1.0}, rank=pair.rank), bill).is_pure()


def test_the_delta_of_one_run_does_not_cover_all_of_them() -> None:
    runs = TruncatedNegativeBinomial(0.0, 0.01)
    here, there = (0.99, 0.01), (1.0, 0.0)
    pair = Pair((here,), (there,), (Statement(AdpEpsilon(0.02), delta_between(here, there, 0.02)),))
    bill = SelectionBill(runs, pair.statements)

    delta = table(pair, partial(in_closed_form, runs, rank=pair.rank), billed(bill)).approximate_delta()

    assert pair.statements[0].delta < delta <= bill.delta


@pytest.mark.parametrize("runs", [*LAWS, TruncatedNegativeBinomial(0.3, 1e-9)], ids=str)
@pytest.mark.parametrize("chance", [0.0, 1e-12, 1e-3, 0.4, 1.0])
def test_delta_lies_above_its_formula_and_below_the_mean_number_of_runs(
    runs: TruncatedNegativeBinomial, chance: float
) -> None:
    with mpmath.workdps(50):
        eta, gamma = mpmath.mpf(runs.eta), mpmath.mpf(runs.gamma)
        inner = gamma + (1 - gamma) * mpmath.mpf(chance)
        ratio = mpmath.log(inner) / mpmath.log(gamma) if not eta else (inner**-eta - 1) / (gamma**-eta - 1)

    assert 1 - ratio <= runs.met(chance) <= (1 - ratio) * (1 + mpmath.mpf(1e-11))
    assert runs.met(chance) <= runs.mean * chance * (1 + 1e-11)


@pytest.mark.parametrize(
    ("eta", "gamma", "mean"),
    [(0, 0.1, 3.9087), (0, 0.01, 21.4976), (0, 0.001, 144.6201), (0.5, 0.05, 12.2361), (1, 0.25, 4)],
)
def test_the_mean_number_of_runs_is_as_tabulated(eta: float, gamma: float, mean: float) -> None:
    assert TruncatedNegativeBinomial(eta, gamma).mean == pytest.approx(mean, abs=5.1e-5)


@pytest.mark.parametrize(("eta", "gamma", "value"), [(0, 0.1, 0.4317982759), (0.5, 0.05, 0.2095934205)])
def test_the_generating_function_is_as_tabulated(eta: float, gamma: float, value: float) -> None:
    assert TruncatedNegativeBinomial(eta, gamma).pgf(0.7) == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("runs", LAWS, ids=str)
def test_chances_mean_and_generating_function_agree(runs: TruncatedNegativeBinomial) -> None:
    chances = weights(runs)

    assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-12)
    assert math.fsum(k * p for k, p in chances.items()) == pytest.approx(runs.mean, rel=1e-12)
    assert math.fsum(0.7**k * p for k, p in chances.items()) == pytest.approx(runs.pgf(0.7), rel=1e-12)


@pytest.mark.parametrize("runs", LAWS, ids=str)
def test_the_drawn_number_of_runs_has_exactly_this_law(runs: TruncatedNegativeBinomial) -> None:
    def straight(k: int) -> float:
        """The chance to walk from 1 to k without beginning again, and to stop there."""
        noise = CoinPath((False, True) * (k - 1) + (True,))
        assert draw_runs(runs, noise) == k
        return noise.weight

    odds = [straight(k) / straight(1) for k in range(1, 30)]

    assert odds == pytest.approx([runs.pmf(k) / runs.pmf(1) for k in range(1, 30)], rel=1e-12)


def test_a_walk_that_turns_back_begins_at_one() -> None:
    noise = CoinPath((False, True, False, False, False, True, True))

    assert draw_runs(LAWS[0], noise) == 2


FAINT = 5e-6
"""Paths of coins below this chance are not followed; all of them together are counted as lost."""


class Faint(Exception):
    """The path is not followed further."""


class Branches(CoinPath):
    """One path of coins and of choices between two."""

    def coins(self, probability: Fraction, count: int) -> NDArray[np.bool_]:
        if self.weight < FAINT:
            raise Faint
        return super().coins(probability, count)

    def below(self, bound: int) -> int:
        assert bound == 2
        return int(self.coins(Fraction(1, 2), 1)[0])


@dataclass(frozen=True)
class Response:
    """Tells the held-out bit with the chance ``truth``, and scores what it tells plus a coin."""

    name: str
    truth: Fraction
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    floating: bool = False

    @property
    def epsilon(self) -> float:
        return math.log(self.truth / (1 - self.truth))

    def run(self, train: Integers, held: Integers, noise: Noise) -> tuple[str, float]:
        honest, extra = noise.coins(self.truth, 1)[0], noise.coins(Fraction(1, 2), 1)[0]
        return self.name, float(int(held.sum() == honest) + extra)

    def scores(self, bit: int) -> tuple[float, ...]:
        """The chances of the scores 0, 1 and 2."""
        high = float(self.truth if bit else 1 - self.truth)
        return (1 - high) / 2, 0.5, high / 2


def followed(selection: Selection[Integers, str], data: Integers) -> tuple[Law, float]:
    """The law of what the code returns, over all paths of its coins but those too faint, and the chance of those."""
    law: Law = {}
    lost, path = 0.0, [False]
    while path:
        noise = Branches(tuple(path))
        try:
            best = selection.sample(data, UNREAD, Past(), noise)
        except Faint:
            lost += noise.weight
        else:
            output = None if best is None else (best.place, int(best.score))
            law[output] = law.get(output, 0.0) + noise.weight
        path = noise.path[: noise.used]
        while path and path[-1]:
            path.pop()
        path[-1:] = [True] if path else []
    return law, lost


@pytest.mark.parametrize("bit", [0, 1])
@pytest.mark.parametrize("eta", [-0.5, 1.0])
def test_the_code_returns_what_the_theorem_speaks_of(bit: int, eta: float) -> None:
    cheap, dear = Response("cheap", Fraction(3, 5)), Response("dear", Fraction(9, 10))
    runs = TruncatedNegativeBinomial(eta, 0.75)

    law, lost = followed(Selection((cheap, dear), 1.0, Fraction(1, 2), runs), np.array([bit]))

    expected: Law = {}
    for seen in (0, bit):  # the record is held out or not, and no record counts as 0
        laws = cheap.scores(seen), dear.scores(seen)
        pair = Pair(laws, laws, (Statement(AdpEpsilon(cheap.epsilon), 0.0), Statement(AdpEpsilon(dear.epsilon), 0.0)))
        for output, p in best_of(weights(runs), pair.run(laws), pair.rank).items():
            expected[output] = expected.get(output, 0.0) + p / 2
    assert lost < 0.01
    assert all(law[output] <= p + 1e-12 and p <= law[output] + lost for output, p in expected.items())
