"""Noisy gradient descent (Song, Chaudhuri, Sarwate 2013; Abadi et al. 2016).

Each step every record joins by its own coin of chance q, contributes a gradient clipped to norm C, noise of standard
deviation σC goes on the sum, and a public number divides it. Then a step has the Rényi curve of the Poisson-subsampled
Gaussian, whatever the weights, and T steps have T times that curve.
"""

import logging
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, final

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.rdp.rdp_privacy_accountant import _compute_rdp_poisson_subsampled_gaussian
from numpy.typing import NDArray

from expost.accounting.claim import Budget
from expost.accounting.descent import Descent
from expost.noise import Floats, Noise, ScriptedNoise, SeededNoise
from expost.release import Past
from expost.training.head.arrays import Array, Arrays
from expost.training.head.gradient import FloatSums, IntegerSums, Summation
from expost.training.head.labelled import Labelled
from expost.training.head.mechanism import Head, Trained
from expost.training.head.optimizer import Momentum
from tests.theorems.published import PUBLISHED
from tests.unit.examples import released

CLASSES, WIDTH = 3, 4
ENTRIES = CLASSES * (WIDTH + 1)
ORDER = Fraction(8)
ANY = Descent(Fraction(1, 4), Fraction(1))


def steps(descent: Descent, count: int) -> Budget:
    """What so many steps cost."""
    return Budget(Fraction(descent.step.at(ORDER)) * count, ORDER)


@pytest.fixture
def quiet() -> Iterator[None]:
    """dp-accounting logs every order it gives up on."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def by_quadrature(alpha: float, rate: float, noise: float) -> float:
    """ln E[((1−q) + q e^{(2x−1)/(2σ²)})^α]/(α−1) in high precision."""
    with mp.workdps(25):
        a, q, s = mp.mpf(alpha), mp.mpf(rate), mp.mpf(noise)

        def integrand(x: mp.mpf) -> mp.mpf:
            return mp.npdf(x, 0, s) * (1 - q + q * mp.exp((2 * x - 1) / (2 * s * s))) ** a

        panels = mp.linspace(-12 * s, max(a, 2) + 12 * s, 16)
        return float(mp.log(mp.quad(integrand, panels, maxdegree=5)) / (a - 1))


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("rate", "noise"), [(0.1, 4.0), (0.1, 5.662096666), (0.01, 1.1), (0.5, 2.0)])
def test_integer_orders_of_many_steps_agree_with_dp_accounting(rate: float, noise: float) -> None:
    orders, taken = [2, 3, 5, 8, 16, 32, 64, 256], 500
    theirs = taken * np.asarray(_compute_rdp_poisson_subsampled_gaussian(rate, noise, orders))

    ours = Descent(Fraction(rate), Fraction(noise)).promise(taken)

    assert [ours.at(alpha) for alpha in orders] == pytest.approx(theirs.tolist(), rel=1e-9)


@pytest.mark.parametrize(("rate", "noise", "alpha"), [(0.1, 4.0, 1.5), (0.1, 5.662096666, 9.6), (0.5, 2.0, 3.3)])
def test_real_orders_of_many_steps_agree_with_quadrature(rate: float, noise: float, alpha: float) -> None:
    ours = Descent(Fraction(rate), Fraction(noise)).promise(500)

    assert ours.at(alpha) == pytest.approx(500 * by_quadrature(alpha, rate, noise), rel=1e-11)


@pytest.mark.parametrize(("rate", "noise", "alpha", "value"), PUBLISHED)
def test_a_step_has_the_published_values(rate: float, noise: float, alpha: float, value: float) -> None:
    assert Descent(Fraction(rate), Fraction(noise)).step.at(alpha) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize("taken", [1, 10, 500])
def test_forgetting_the_last_step_disagrees_with_quadrature(taken: int) -> None:
    """The negative twin of composition."""
    descent, exact = Descent(Fraction(1, 10), Fraction(4)), taken * by_quadrature(2.5, 0.1, 4.0)

    assert descent.promise(taken).at(2.5) >= exact * (1 - 1e-13)
    assert descent.promise(taken - 1).at(2.5) < exact * (1 - 1e-3)


@final
class Roll:
    """Arrays that note which records join; features tell them apart, the first being the record's number."""

    __slots__ = ("present",)
    name = "roll"
    functions: Any = np
    at_once = 2**21

    def __init__(self) -> None:
        self.present: list[NDArray[np.int64]] = []

    def put(self, array: NDArray[Any]) -> Array:
        """The array itself."""
        return array

    def get(self, array: Array) -> NDArray[Any]:
        """The array itself."""
        return np.asarray(array)

    def scores(self, weights: Array, rows: Array) -> Array:
        """All alike."""
        return np.zeros((len(weights), len(rows)), np.float32)

    def weighted(self, factors: Array, rows: Array) -> Array:
        """Nothing: only who is there matters."""
        self.present.append(rows[:, 0].astype(np.int64))
        return np.zeros((len(factors), rows.shape[1]))

    def whole(self, width: int) -> Any:
        """Of no consequence."""
        return np.float64

    def kept(self, width: int) -> Any:
        """Nor is that."""
        return np.float64

    def weighted_exactly(self, factors: Array, rows: Array) -> Array:
        """The same."""
        return self.weighted(factors, rows)


RECORDS, TAKEN, RATE = 12, 10_000, Fraction(1, 4)
BEYOND = 6.0
"""Standard errors: exceeded with probability 2e−9, and there are fewer than 100 looks."""


def joined_by_the_head() -> NDArray[np.bool_]:
    """Who joined each step of a real run, a row a step."""
    roll, descent = Roll(), Descent(RATE, Fraction(1))
    head = Head(width=1, classes=CLASSES, descent=descent, summation=Unclipped(), arrays=roll)
    data = Labelled.of(np.arange(RECORDS)[:, None], np.zeros(RECORDS, np.int64), classes=CLASSES)
    head.sample(data, steps(descent, TAKEN), Past(), SeededNoise(1))
    table = np.zeros((TAKEN, RECORDS), np.bool_)
    for row, present in zip(table, roll.present, strict=True):
        row[present] = True
    return table


def shuffled_batches() -> NDArray[np.bool_]:
    """A sampler that deals all records out in batches of equal size, then shuffles and deals again."""
    size, noise = int(RATE * RECORDS), SeededNoise(1)
    table = np.zeros((TAKEN, RECORDS), np.bool_)
    for start in range(0, TAKEN, RECORDS // size):
        order = np.argsort(noise.uniform(RECORDS))
        for place in range(RECORDS // size):
            table[start + place, order[place * size : (place + 1) * size]] = True
    return table


def off(share: float | Floats, chance: float, draws: int) -> float:
    """How many standard errors an observed share of independent coins lies from their chance, at worst."""
    return float(np.max(np.abs(share - chance))) / math.sqrt(chance * (1 - chance) / draws)


def deviations(table: NDArray[np.bool_]) -> dict[str, float]:
    """How far a table of who joined is from independent coins, in standard errors."""
    q = float(RATE)
    pairs = [(table[:, i] & table[:, j]).mean() for i in range(RECORDS) for j in range(i)]
    sizes = table.sum(axis=1)
    variance = RECORDS * q * (1 - q)
    fourth = 3 * variance**2 + variance * (1 - 6 * q * (1 - q))
    return {
        "each record": off(table.mean(axis=0), q, TAKEN),
        "two records": off(np.array(pairs), q * q, TAKEN),
        "one after the other": off(float((table[1:] & table[:-1]).mean()), q * q, RECORDS * (TAKEN - 1) // 3),
        "batch size": abs(float(sizes.var()) - variance) / math.sqrt((fourth - variance**2) / TAKEN),
    }


@pytest.mark.statistical
def test_records_join_by_independent_coins() -> None:
    """False alarms: below 1e−6. Successive pairs share records, so a third of them count as independent."""
    found = deviations(joined_by_the_head())

    assert max(found.values()) < BEYOND, found


@pytest.mark.statistical
def test_shuffled_batches_of_equal_size_are_noticed() -> None:
    """The negative twin: every record joins as often, but not by itself."""
    found = deviations(shuffled_batches())

    assert found["each record"] < BEYOND
    assert min(found["two records"], found["one after the other"], found["batch size"]) > BEYOND


POOL: list[tuple[list[float], int]] = [
    ([3e38, -3e38, 3e38, 3e38], 0),
    ([1e30, 0.0, 0.0, 1.0], 1),
    ([-1e5, 2e5, 1e-3, 7.0], 2),
    ([0.5, -0.25, 0.125, 1.0], 1),
    ([1.0, 1.0, -1.0, 2.0], 0),
    ([1e-20, -1e-30, 1e-40, 0.0], 2),
    ([1e-45, 0.0, 0.0, 0.0], 1),
    ([0.0, 0.0, 0.0, 0.0], 0),
]
"""Records of every size: at the end of single precision, ordinary, below its normal numbers, zero."""

Record = tuple[list[float], int]


def labelled(records: list[Record]) -> Labelled:
    """The records as data."""
    features = np.array([row for row, _ in records], np.float32).reshape(-1, WIDTH)
    return Labelled.of(features, np.array([label for _, label in records], np.int64), classes=CLASSES)


def noiseless_sum(records: list[Record], weights: Floats, summation: Summation, *, clip: float = 1.0) -> Floats:
    """The sum of one step that all records join, without noise: what the velocity of a first step remembers."""
    head = Head(
        width=WIDTH,
        classes=CLASSES,
        descent=ANY,
        summation=summation,
        optimizer=Momentum(),
        clip=clip,
        batch=clip,
    )
    before = Trained(weights, (np.zeros_like(weights),), 0)
    silence = ScriptedNoise([1] * len(records) + [0] * ENTRIES)
    trained = head.sample(labelled(records), steps(ANY, 1), Past(released(before, 1)), silence)
    return trained.moments[0] * summation.reach


def moved(summation: Summation, *, clip: float = 1.0) -> Iterator[Floats]:
    """How far the sum moves when a record is added, over pools, records and weights of several sizes."""
    for seed, size in enumerate((0.0, 1e-3, 1.0, 100.0)):
        weights = size * SeededNoise(seed).gaussian(1.0, (CLASSES, WIDTH + 1)) if size else np.zeros((CLASSES, 5))
        for start in range(len(POOL)):
            others = [POOL[(start + place) % len(POOL)] for place in range(start % 4)]
            here = noiseless_sum(others, weights, summation, clip=clip)
            for record in POOL:
                yield noiseless_sum([*others, record], weights, summation, clip=clip) - here


def squared_norm(difference: Floats) -> int:
    """The squared Euclidean length of whole numbers, in Python's integers."""
    assert np.array_equal(difference, np.round(difference))
    return sum(int(entry) ** 2 for entry in difference.ravel())


@pytest.mark.parametrize("clip", [1.0, 0.25, 8.0])
def test_a_record_moves_an_exact_sum_by_the_reach_at_most(clip: float) -> None:
    """The squared norm in integers: no tolerance."""
    assert max(map(squared_norm, moved(IntegerSums(), clip=clip))) <= IntegerSums.reach**2


@pytest.mark.parametrize("clip", [1.0, 0.3, 8.0])
def test_a_record_moves_a_floating_sum_by_the_reach_up_to_rounding(clip: float) -> None:
    assert max(float(np.linalg.norm(each)) for each in moved(FloatSums(), clip=clip)) <= FloatSums.reach * (1 + 1e-6)


@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
@pytest.mark.parametrize("record", POOL[:3])
def test_a_long_record_counts_in_full_however_long(summation: Summation, record: Record) -> None:
    alone = noiseless_sum([record], np.zeros((CLASSES, WIDTH + 1)), summation, clip=0.5)

    assert 0.99 * summation.reach < float(np.linalg.norm(alone)) <= summation.reach * (1 + 1e-6)


@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
def test_clipping_binds(summation: Summation) -> None:
    """Some record comes close to the reach, so the bound above is no empty one."""
    assert max(float(np.linalg.norm(each)) for each in moved(summation)) > 0.99 * summation.reach


@final
class Unclipped:
    """A summation that adds up gradients as they are."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    reach: ClassVar[int] = 1

    def prepare(self, rows: Array, norms: Array, arrays: Arrays) -> Array:
        """Features of any norm."""
        return rows

    def scores(self, weights: Array, rows: Array, arrays: Arrays) -> Array:
        """Products."""
        return arrays.scores(weights, rows)

    def total(self, pulls: Array, rows: Array, arrays: Arrays) -> Array:
        """A product."""
        return arrays.weighted(pulls, rows)

    def pulls(self, scores: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """The errors of predicting every class alike, of any length."""
        return (1 / len(scores) - truth).astype(np.float32)

    def together(
        self, scores: Array, norms: Array, truth: Array, rows: Array, *, size: int, clip: float, arrays: Arrays
    ) -> Array:
        """Never: records are not persons here."""
        raise AssertionError("nobody has several rows")

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """None."""
        return np.zeros(shape, np.float32)


@final
class Averaged:
    """A summation that divides by the records that joined, and multiplies by the number expected."""

    __slots__ = ()
    floating: ClassVar[bool] = True
    reach: ClassVar[int] = 1
    expected: ClassVar[float] = 4.0

    def prepare(self, rows: Array, norms: Array, arrays: Arrays) -> Array:
        """Features of norm 1."""
        return FloatSums().prepare(rows, norms, arrays)

    def scores(self, weights: Array, rows: Array, arrays: Arrays) -> Array:
        """Products."""
        return arrays.scores(weights, rows)

    def total(self, pulls: Array, rows: Array, arrays: Arrays) -> Array:
        """A product."""
        return arrays.weighted(pulls, rows)

    def pulls(self, scores: Array, norms: Array, truth: Array, clip: float, xp: Any) -> Array:
        """Those of a mean, in units of a batch."""
        return FloatSums().pulls(scores, norms, truth, clip, xp) * (self.expected / max(1, scores.shape[1]))

    def together(
        self, scores: Array, norms: Array, truth: Array, rows: Array, *, size: int, clip: float, arrays: Arrays
    ) -> Array:
        """Never: records are not persons here."""
        raise AssertionError("nobody has several rows")

    def noise(self, multiplier: Fraction, shape: tuple[int, ...], noise: Noise) -> NDArray[Any]:
        """None."""
        return np.zeros(shape, np.float32)


@pytest.mark.parametrize("summation", [Unclipped(), Averaged()], ids=["without clipping", "by the true batch size"])
def test_sums_without_clipping_or_over_the_true_batch_are_moved_further(summation: Summation) -> None:
    """The negative twins."""
    assert max(float(np.linalg.norm(each)) for each in moved(summation)) > 1.5 * summation.reach


@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
def test_weights_that_left_the_floats_show_no_record(summation: Summation) -> None:
    """A sum that is no number just when somebody joined would tell that somebody did."""
    wild = np.full((CLASSES, WIDTH + 1), math.inf)
    wild[0] = math.nan

    sums = [noiseless_sum(records, wild, summation) for records in ([], POOL[2:3], POOL)]

    assert np.array_equal(sums[0], np.zeros((CLASSES, WIDTH + 1)))
    assert np.linalg.norm(sums[1]) <= summation.reach
    assert np.linalg.norm(sums[2]) <= len(POOL) * summation.reach


@pytest.mark.parametrize("summation", [IntegerSums(), FloatSums()])
def test_an_empty_batch_is_a_step_of_pure_noise_that_counts(summation: Summation) -> None:
    draws = list(range(1, ENTRIES + 1))
    head = Head(
        width=WIDTH, classes=CLASSES, descent=ANY, summation=summation, optimizer=Momentum(), clip=1.0, batch=2.0
    )

    def step(joins: int) -> Trained:
        return head.sample(labelled(POOL[2:5]), steps(ANY, 1), Past(), ScriptedNoise([joins] * 3 + draws))

    nobody, everybody = step(0), step(1)

    noise = np.reshape(draws, (CLASSES, WIDTH + 1)) / (2 * summation.reach)
    assert nobody.steps == 1
    assert np.array_equal(nobody.moments[0], noise)
    assert not np.array_equal(everybody.moments[0], noise)


def test_no_records_at_all_are_trained_on_like_any_other() -> None:
    head = Head(width=WIDTH, classes=CLASSES, descent=ANY)

    assert head.sample(labelled([]), steps(ANY, 20), Past(), SeededNoise(1)).steps == 20
