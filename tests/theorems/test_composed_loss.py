"""Claim (connecting the dots; composed loss distributions). Masses put on a grid so that both laws keep their mass in
every cell dominate the pair they come from, and the ε that their composition has at δ holds of the composed pair.

Claim (planned stops, by kinds). A run whose steps stay within a fixed multiset of kinds, in an order chosen by looking,
is a post-processing of the product of their pairs; so the ε of stop i may be claimed on every run within its kinds if
the δ of the stops add up.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as peer
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from expost.accounting.claim import best_statement
from expost.accounting.composed_loss import Steps, composed_epsilon, least_epsilon, window_of
from expost.accounting.descent import Descent
from expost.accounting.gaussian import gaussian_epsilon
from expost.accounting.kinds import Kinds, Known, Sides, stays_within
from expost.accounting.loss_distribution import LossDistribution, connect_the_dots, plain_gaussian, sampled_gaussian
from expost.accounting.stops import PlannedStops
from expost.verify import FiniteMechanism

Pair = tuple[tuple[float, ...], tuple[float, ...]]
WIDTH = 2.0**-7

COIN: Pair = ((0.6, 0.4), (0.4, 0.6))
DIE: Pair = ((0.2, 0.25, 0.15, 0.4), (0.1, 0.3, 0.3, 0.3))
RARE: Pair = ((0.1, 0.9), (0.001, 0.999))
NAMES = {"coin": COIN, "die": DIE, "rare": RARE}


def kinds(**steps: int) -> Kinds:
    """Kinds of finite pairs, named by fractions that stand for them."""
    places = {name: Fraction(place + 1) for place, name in enumerate(NAMES)}
    return Kinds(tuple(sorted(((places[name], Fraction(1)), count) for name, count in steps.items())), Fraction(0))


def on_grid(pair: Pair, width: float = WIDTH) -> LossDistribution:
    """A finite pair by our own rule, its outputs sorted into cells."""
    cells = [math.floor(math.log(p / q) / width) for p, q in zip(*pair, strict=True)]
    start, count = min(cells), max(cells) - min(cells) + 1
    masses = np.zeros((2, count))
    for cell, p, q in zip(cells, *pair, strict=True):
        masses[:, cell - start] += p, q
    none = np.zeros(count)
    return connect_the_dots(width, start, (masses[0], none), (masses[1], none), below=0.0, lost=0.0, excess=0.0)


def swapped(pair: Pair) -> Pair:
    return pair[1], pair[0]


def hockey_stick(pairs: Sequence[Pair], epsilon: float) -> float:
    """The exact δ(ε) of a product, output by output."""
    return math.fsum(
        max(0.0, math.prod(p for p, _ in outputs) - math.exp(epsilon) * math.prod(q for _, q in outputs))
        for outputs in product(*(tuple(zip(*pair, strict=True)) for pair in pairs))
    )


def solved(steps: Steps, delta: float) -> float:
    window = window_of(steps, delta)
    assert window is not None
    return least_epsilon(steps, window, delta)


def epsilon_of(steps: Kinds, delta: float) -> float:
    """By our own composition, for both directions."""
    pairs = [(list(NAMES.values())[int(kind[0]) - 1], count) for kind, count in steps.sampled]
    ways = [[(on_grid(turn(pair)), count) for pair, count in pairs] for turn in (lambda pair: pair, swapped)]
    return max(solved(way, delta) for way in ways)


@pytest.mark.parametrize("pair", [COIN, DIE, RARE, swapped(DIE), swapped(RARE)])
@pytest.mark.parametrize("width", [2.0**-3, WIDTH])
def test_the_grid_has_the_true_profile_at_its_points_and_lies_above_between(pair: Pair, width: float) -> None:
    step = on_grid(pair, width)

    for epsilon in np.linspace(-2, 5, 57):
        on_it = math.fsum(step.masses * np.maximum(0, -np.expm1(np.minimum(epsilon - step.losses, 0))))
        assert hockey_stick([pair], epsilon) <= on_it + 1e-15
    for epsilon in step.losses[:: max(1, len(step.losses) // 20)]:
        on_it = math.fsum(step.masses * np.maximum(0, -np.expm1(np.minimum(epsilon - step.losses, 0))))
        assert on_it == pytest.approx(hockey_stick([pair], epsilon), abs=1e-11)


def test_rounding_losses_down_to_the_grid_would_lie_below() -> None:
    """The negative twin: all mass of a cell at its lower end."""
    p, q = DIE
    lower = [math.floor(math.log(a / b) / 0.5) * 0.5 for a, b in zip(p, q, strict=True)]

    claimed = math.fsum(a * max(0.0, -math.expm1(0.1 - loss)) for a, loss in zip(p, lower, strict=True))

    assert claimed < hockey_stick([DIE], 0.1) - 1e-3


@given(
    counts=st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)).filter(any),
    exponent=st.floats(-9, -2),
)
@settings(max_examples=40, deadline=None)
def test_the_epsilon_of_a_product_holds_and_is_hardly_too_large(counts: tuple[int, int, int], exponent: float) -> None:
    pairs = [pair for pair, count in zip(NAMES.values(), counts, strict=True) for _ in range(count)]
    delta = 10.0**exponent

    for turn in (lambda pair: pair, swapped):
        turned = [turn(pair) for pair in pairs]
        found = solved([(on_grid(pair), count) for pair, count in Counter(turned).items()], delta)
        assert hockey_stick(turned, found) <= delta
        if found > 0.1:
            assert hockey_stick(turned, found - (1 + len(turned)) * WIDTH) > delta


Policy = Callable[[tuple[int, ...], Kinds], str | None]


def runs(policy: Policy, claim: Callable[[Kinds], float]) -> FiniteMechanism[str, tuple[int, ...]]:
    """Every run of steps whose kinds the policy chooses by looking at all that was released."""
    laws: dict[str, dict[tuple[tuple[int, ...], float], float]] = {"X": {}, "X'": {}}

    def walk(history: tuple[int, ...], taken: Kinds, p: float, q: float) -> None:
        name = policy(history, taken)
        if name is None:
            laws["X"][history, claim(taken)], laws["X'"][history, claim(taken)] = p, q
            return
        for output, (a, b) in enumerate(zip(*NAMES[name], strict=True)):
            walk((*history, output), taken + kinds(**{name: 1}), p * a, q * b)

    walk((), Kinds((), Fraction(0)), 1.0, 1.0)
    return FiniteMechanism(laws)


def cheapest(stops: Mapping[Known, float]) -> Callable[[Kinds], float]:
    return lambda taken: min(
        (epsilon for plan, epsilon in stops.items() if stays_within(taken, plan)), default=math.inf
    )


PLAN = [kinds(coin=1), kinds(coin=1, die=1), kinds(coin=2, die=1, rare=1), kinds(coin=2, die=2, rare=1)]
CLAIMED: dict[Known, float] = {stop: epsilon_of(stop, 0.08 / len(PLAN)) for stop in PLAN}


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_any_order_within_planned_kinds_may_be_claimed_if_delta_is_split(seed: int) -> None:
    delta = 0.08
    claim = cheapest(CLAIMED)

    def policy(history: tuple[int, ...], taken: Kinds) -> str | None:
        generator = np.random.default_rng((seed, *history))
        left = [name for name in NAMES if (taken + kinds(**{name: 1})).within(PLAN[-1])]
        if not left or (history and generator.random() < 0.25):
            return None
        return str(generator.choice(left))

    assert runs(policy, claim).approximate_delta() <= delta


def greedy(epsilons: Sequence[float]) -> Policy:
    """Coins until the loss exceeds what is claimed there."""

    def policy(history: tuple[int, ...], taken: Kinds) -> str | None:
        loss = math.log(1.5) * sum(1 if output == 0 else -1 for output in history)
        done = len(history) == len(epsilons) or (bool(history) and loss > epsilons[len(history) - 1])
        return None if done else "coin"

    return policy


@pytest.mark.parametrize(("share", "holds"), [(8, True), (1, False)])
def test_the_delta_of_all_stops_is_needed(share: int, holds: bool) -> None:
    """The negative twin claims at each of eight stops what holds at that stop alone."""
    delta = 0.05
    plan: dict[Known, float] = {
        kinds(coin=count): epsilon_of(kinds(coin=count), delta / share) for count in range(1, 9)
    }

    worst = runs(greedy(list(plan.values())), cheapest(plan)).approximate_delta()

    assert (worst <= delta) is holds


def test_kinds_that_were_chosen_by_looking_are_not_covered_and_would_break_the_claim() -> None:
    """Two alternatives have δ = .1104 at ε = .5 each; who picks one after the first coin reaches .15."""
    alternatives = Sides(kinds(coin=3), kinds(coin=1, rare=1))
    delta = max(hockey_stick(pairs, 0.5) for pairs in ([COIN] * 3, [COIN, RARE]))

    def policy(history: tuple[int, ...], taken: Kinds) -> str | None:
        if not history:
            return "coin"
        if history[0] == 0:
            return "coin" if len(history) < 3 else None
        return "rare" if len(history) < 2 else None

    assert runs(policy, lambda taken: 0.5).approximate_delta() > 1.3 * delta
    assert runs(policy, cheapest({alternatives: 0.5})).approximate_delta() == 0
    assert not stays_within(kinds(coin=1, rare=1), alternatives)
    assert stays_within(alternatives, alternatives)


Q, Z = Fraction(1, 10), Fraction("4.406831168")
FIVE = [1.5657, 2.9885, 4.0679, 5.0014, 5.8480]
TEN = [1.6741, 2.4980, 3.1688, 3.7590, 4.2971, 4.7979, 5.2703, 5.7199, 6.1510, 6.5665]


def steps_of(rate: Fraction, noise: Fraction, count: int, rho: Fraction = Fraction(0)) -> Kinds:
    return Kinds((((rate, noise), count),), rho)


@pytest.mark.parametrize(
    ("counts", "delta", "published"),
    [(range(500, 4501, 1000), 4e-4, FIVE), (range(500, 5001, 500), 2e-4, TEN)],
)
def test_the_stops_of_a_training_run_come_out(counts: range, delta: float, published: list[float]) -> None:
    """By dp-accounting at a width of 1e−4; the Rényi rule states 1.768 … 6.469 and 1.873 … 7.209."""
    descent = Descent(Q, Z)

    found = [composed_epsilon(steps_of(Q, Z, count), delta) for count in counts]

    assert found == pytest.approx(published, rel=5e-4)
    assert all(ours > each * (1 - 1e-5) for ours, each in zip(found, published, strict=True))
    assert all(
        ours < 0.92 * best_statement(descent.promise(count), delta)[0]
        for ours, count in zip(found, counts, strict=True)
    )


def oracle(rate: float, noise: float, count: int, delta: float, *, upper: bool) -> float:
    law = peer.from_gaussian_mechanism(
        noise,
        sampling_prob=rate,
        value_discretization_interval=1e-3,
        pessimistic_estimate=upper,
        use_connect_dots=upper,
    )
    return float(law.self_compose(count).get_epsilon_for_delta(delta))


@example(rate=0.02, noise=2.0, count=45, delta=1e-7)  # whose losses reach far beyond where δ is decided
@given(
    rate=st.floats(0.02, 0.9),
    noise=st.floats(2, 12),
    count=st.integers(1, 300),
    delta=st.floats(-7, -2).map(lambda exponent: 10.0**exponent),
)
@settings(max_examples=20, deadline=None)
def test_another_implementation_brackets_ours(rate: float, noise: float, count: int, delta: float) -> None:
    found = composed_epsilon(steps_of(Fraction(rate), Fraction(noise), count), delta)

    assert oracle(rate, noise, count, delta, upper=False) <= found
    assert found <= 1.005 * oracle(rate, noise, count, delta, upper=True) + 1e-3


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize(("rate", "noise"), [(0.1, 4.4), (0.01, 0.7), (0.7, 1.5), (1e-3, 1.0), (0.999, 2.0)])
def test_one_step_lies_just_above_its_exact_profile(rate: float, noise: float, removing: bool) -> None:
    step = sampled_gaussian(2.0**-10 * min(1, rate * 10), rate, noise, 9, removing=removing)

    for epsilon in np.linspace(float(step.losses[0]) / 2, float(step.losses[-1]) / 2, 21):
        exact = profile(rate, noise, epsilon, removing=removing)
        on_it = math.fsum(step.masses * np.maximum(0, -np.expm1(np.minimum(epsilon - step.losses, 0)))) + step.lost
        assert exact * (1 - 1e-9) - 1e-15 <= on_it <= exact * (1 + 1e-3) + 1e-6


def profile(rate: float, noise: float, epsilon: float, *, removing: bool) -> float:
    """The exact hockey-stick divergence of one step, from where the densities cross."""
    ratio = math.exp(epsilon if removing else -epsilon)
    if ratio <= 1 - rate:
        return max(0.0, -math.expm1(epsilon)) if removing else 0.0
    point = noise * noise * math.log((ratio - (1 - rate)) / rate) + 0.5
    null, one = ndtr(point / noise), ndtr((point - 1) / noise)
    mixed = (1 - rate) * null + rate * one
    if removing:
        null, one = ndtr(-point / noise), ndtr((1 - point) / noise)
        return float((1 - rate) * null + rate * one - math.exp(epsilon) * null)
    return float(null - math.exp(epsilon) * mixed)


def test_gaussian_noise_beside_sampled_steps_adds_up() -> None:
    """A step of rate close to 0 leaves the exact Gaussian profile, and every bit of noise beside steps counts."""
    nothing, rho = (Fraction(1, 10**9), Fraction(4)), Fraction(1, 8)

    alone = composed_epsilon(Kinds(((nothing, 1),), rho), 1e-5)
    beside = [composed_epsilon(steps_of(Q, Z, 500, Fraction(share, 8)), 4e-4) for share in (0, 1, 2)]

    assert gaussian_epsilon(rho, 1e-5) <= alone <= 1.002 * gaussian_epsilon(rho, 1e-5)
    assert beside[0] < beside[1] < beside[2]
    both = peer.from_gaussian_mechanism(float(Z), sampling_prob=0.1).self_compose(500)
    both = both.compose(peer.from_gaussian_mechanism(2.0))  # ρ = 1/8
    assert beside[1] == pytest.approx(both.get_epsilon_for_delta(4e-4), rel=2e-3)


def test_several_kinds_compose() -> None:
    other = (Fraction(1, 50), Fraction(3, 2))
    mixed = Kinds((((Q, Z), 200), (other, 300)), Fraction(0))
    law = peer.from_gaussian_mechanism(float(Z), sampling_prob=0.1).self_compose(200)
    law = law.compose(peer.from_gaussian_mechanism(1.5, sampling_prob=0.02).self_compose(300))

    assert composed_epsilon(mixed, 1e-5) == pytest.approx(law.get_epsilon_for_delta(1e-5), rel=2e-3)


def integer_laws(rate: float, variance: float, shift: int) -> Pair:
    """A sampled sum that one record moves by ``shift``, with exact integer noise."""
    points = np.arange(-60, 61)

    def law(centre: int) -> np.ndarray:
        weights = np.exp(-((points - centre) ** 2) / (2 * variance))
        return np.asarray(weights / weights.sum())

    return tuple((1 - rate) * law(0) + rate * law(shift)), tuple(law(0))


@pytest.mark.parametrize(("variance", "holds"), [(3.0**2 + 3, True), (3.0**2 - 3, False)])
def test_integer_noise_of_three_more_in_variance_is_within_the_sampled_gaussian(variance: float, holds: bool) -> None:
    """Two sampled sums of which one record moves 3, at a noise multiplier of 1; the twin has too little noise."""
    rate, delta = 0.4, 1e-3
    epsilon = composed_epsilon(steps_of(Fraction(rate), Fraction(1), 2), delta)
    pair = integer_laws(rate, variance, 3)

    worst = max(hockey_stick([way] * 2, epsilon) for way in (pair, swapped(pair)))

    assert (worst <= delta) is holds


@pytest.mark.parametrize(
    ("rate", "noise", "count", "delta"),
    [(0.1, 4.4, 100, 1e-300), (0.1, 2.0**-6, 3, 1e-5), (0.1, 2.0**18, 10**6, 1e-5)],
)
def test_where_floats_end_there_is_no_claim_and_one_order_speaks(
    rate: float, noise: float, count: int, delta: float
) -> None:
    promise = Descent(Fraction(rate), Fraction(noise)).promise(count)

    assert composed_epsilon(steps_of(Fraction(rate), Fraction(noise), count), delta) == math.inf
    (stop,) = PlannedStops((promise,), delta).table
    assert stop.kinds is None
    assert stop.epsilon == pytest.approx(promise.approx(delta), rel=1e-12)


def test_a_tiny_rate_counts_as_one_that_keeps_its_digits() -> None:
    """Ten steps at a chance of 10⁻³⁰⁰ are stated as ten at 10⁻⁹; for thousands of them the bounds on errors add up."""
    tiny, smallest = Fraction(1, 10**300), Fraction(1e-9)

    found = [composed_epsilon(steps_of(rate, Fraction(1), 10), 1e-9) for rate in (tiny, smallest, Fraction(1, 10**6))]

    assert 0 < found[0] == found[1] < 1e-4 < found[2] < 0.1
    assert composed_epsilon(steps_of(tiny, Fraction(1), 10**4), 1e-9) == math.inf


def test_more_of_anything_never_costs_less() -> None:
    """More steps, a larger rate, less noise, a smaller δ."""
    base = composed_epsilon(steps_of(Q, Z, 500), 1e-5)

    assert composed_epsilon(steps_of(Q, Z, 510), 1e-5) > base
    assert composed_epsilon(steps_of(Q * 11 / 10, Z, 500), 1e-5) > base
    assert composed_epsilon(steps_of(Q, Z * 10 / 11, 500), 1e-5) > base
    assert composed_epsilon(steps_of(Q, Z, 500), 0.9e-5) > base
    assert composed_epsilon(Sides(steps_of(Q, Z, 500), steps_of(Q, Z, 1)), 1e-5) == base
    assert composed_epsilon(Sides(steps_of(Q, Z, 1), steps_of(Q, Z, 500)), 1e-5) == base


def test_a_rate_of_one_is_plain_gaussian_noise() -> None:
    whole = steps_of(Fraction(1), Fraction(4), 32)

    assert composed_epsilon(whole, 1e-5) == gaussian_epsilon(1.0, 1e-5)
    assert composed_epsilon(Kinds((), Fraction(1)), 1e-5) == gaussian_epsilon(1.0, 1e-5)


def test_the_first_law_keeps_its_mass() -> None:
    """No more is added than the bounds on errors: with too few cells mass would be lost, with double ends doubled."""
    sampled = [sampled_gaussian(2.0**-9, 0.1, 4.4, 8, removing=way) for way in (True, False)]

    for step in (*sampled, plain_gaussian(2.0**-9, 0.1, 8)):
        assert math.fsum(step.masses) + step.lost == pytest.approx(1, abs=1e-8)
        assert math.fsum(step.masses) + step.lost >= 1
        assert np.all(step.masses >= 0)
