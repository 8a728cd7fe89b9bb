"""The ε at δ of steps of known kinds together, by the distribution of their loss, errors upwards. EX ANTE ONLY."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from scipy.special import logsumexp, ndtri

from expost.accounting.curve import AdpEpsilon, Floats
from expost.accounting.gaussian import DELTA_SLACK, EPSILON_SLACK, gaussian_epsilon
from expost.accounting.kinds import Kinds, Known, sides
from expost.accounting.loss_distribution import (
    ROUNDING,
    LossDistribution,
    log_ratio,
    multiples,
    plain_gaussian,
    sampled_gaussian,
)
from expost.numerics import down, probability, up

CELLS, WIDEST_CELL = 24, 2.0**-4
"""Cells for the standard deviation of one step: the grid adds about a 3500th to the variance of the loss."""
MOST_CELLS, MOST_OF_A_STEP = 2**18, 2**16
"""Cells of a composition and of one step: more would keep an auditor waiting, wider cells are as safe."""
LEAST_RATE = 1e-9
"""A smaller rate counts as this one, so that a loss keeps enough digits."""
LEAST_NOISE, MOST_NOISE = 2.0**-4, 2.0**20
"""Noise multipliers outside get no claim: the ratios leave the floats."""
FARTHEST, WIDEST = 36.0, 500.0
"""Standard deviations of noise, and losses of plain noise and differences of all, beyond which there is no claim for
the same reason."""
NEGLIGIBLE = 2.0**-24
"""The share of δ that may lie above a composition's window, and of its tilted mass that may lie below."""
EXPONENT = 500.0
"""Half of the largest logarithm of a mass, to which the tilt is added: what an exponential loses, in roundings."""
MOST_ADDED = 0.5
"""The logarithm of the total mass, 0 but for the bounds on errors: above this too little is left of a claim."""
LATTICE_LOSS = 2e-18
"""What integer noise on 10⁷ entries adds to the loss of a step: 2·10⁷·8e−26 at most."""
TRANSFORM_ERROR = 16 * ROUNDING
"""Relative error in the 2-norm of a transform of 2^k cells is at most k times this (Higham 2002, Theorem 24.2).

Beside it, all masses together that are too small for a float are nothing."""
TILTS: Floats = np.geomspace(0.05, 50.0, 32)
"""The tilts tried, in units of one over the standard deviation of the composed loss."""

Steps: TypeAlias = Sequence[tuple[LossDistribution, int]]
Spectrum: TypeAlias = NDArray[np.complex128]


def composed_epsilon(known: Known, delta: float) -> AdpEpsilon:
    """The least ε found at δ for steps of these kinds, for a record on either side, added or removed; ∞: no claim.

    Implements: composed loss distributions.
    Uses: connecting the dots; exact Gaussian profile; sampled sums with integer noise.
    """
    probability(delta, "delta")
    both = sides(known)
    return AdpEpsilon(max(_epsilon(both.train, delta), _epsilon(both.held, delta)))


@lru_cache(maxsize=256)
def _epsilon(kinds: Kinds, delta: float) -> float:
    sampled, whole = list[tuple[float, float, int]](), kinds.rho
    for (rate, noise), steps in kinds.sampled:
        # A larger rate and less noise dominate. Records that all join are a plain sum, with Gaussian noise.
        if up(rate) < 1:
            sampled.append((max(up(rate), LEAST_RATE), down(noise), steps))
        else:
            whole += steps / (2 * noise * noise)
    rho = up(whole)
    if not sampled:
        return gaussian_epsilon(rho, delta)
    count = sum(steps for _, _, steps in sampled) + (rho > 0)
    reach = math.ceil(-float(ndtri(max(NEGLIGIBLE * delta / count, 1e-300))))
    if not all(LEAST_NOISE <= noise <= MOST_NOISE and reach + 1 / noise <= FARTHEST for _, noise, _ in sampled):
        return math.inf
    if not rho + reach * math.sqrt(2 * rho) <= WIDEST:
        return math.inf
    width = _width(sampled, rho, count, reach)
    return max(_one_way(sampled, rho, reach, width, delta, removing=way) for way in (True, False))


def _one_way(
    sampled: Sequence[tuple[float, float, int]], rho: float, reach: int, width: float, delta: float, *, removing: bool
) -> float:
    """The ε of adding or of removing a record, on cells that are widened until they are few enough."""
    while True:
        steps = [
            (sampled_gaussian(width, rate, noise, reach, removing=removing), count) for rate, noise, count in sampled
        ]
        steps += [(plain_gaussian(width, rho, reach), 1)] if rho > 0 else []
        window = window_of(steps, delta)
        if window is None:
            return math.inf
        if window.cells <= MOST_CELLS:
            return least_epsilon(steps, window, delta)
        width *= 2


def _width(sampled: Sequence[tuple[float, float, int]], rho: float, count: int, reach: int) -> float:
    """A width with so few digits that its multiples are exact."""
    variance = 2 * rho + math.fsum(steps * _variance(rate, noise) for rate, noise, steps in sampled)
    longest = max(
        log_ratio(rate, noise, reach * noise + 1) - log_ratio(rate, noise, -reach * noise) for rate, noise, _ in sampled
    )
    finest = min(math.sqrt(variance / count) / CELLS, WIDEST_CELL)
    spread = 2 * reach * math.sqrt(variance) / MOST_CELLS  # plain noise, and about what a composition spans
    mantissa, exponent = math.frexp(max(finest, spread, longest / MOST_OF_A_STEP))
    return math.ldexp(math.ceil(mantissa * 1024), exponent - 10)


def _variance(rate: float, noise: float) -> float:
    """The variance of the loss of one step, roughly: it only decides how wide cells are."""
    points = np.linspace(-8.0, 8.0 + 1 / noise, 1001)
    losses = np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * points * noise - 1) / (2 * noise * noise))
    weights = np.exp(losses - points**2 / 2)
    mean = np.average(losses, weights=weights)
    return float(np.average((losses - mean) ** 2, weights=weights))


@final
@dataclass(frozen=True, slots=True)
class Window:
    """Where a composition is looked at, in cells from ``start`` on, tilted so that what decides δ weighs most."""

    start: int
    cells: int
    tilt: float


def window_of(steps: Steps, delta: float) -> Window | None:
    """The window above which Chernoff leaves a negligible share of δ, and below which one of the tilted mass."""
    width = steps[0][0].width
    moments = [(np.average(each.losses, weights=each.masses), each, count) for each, count in steps]
    deviation = math.sqrt(
        sum(count * np.average((each.losses - mean) ** 2, weights=each.masses) for mean, each, count in moments)
    )
    tilts = TILTS / max(deviation, width)
    logs = sum((count * _log_moments(each, tilts) for each, count in steps), np.zeros_like(tilts))
    by_order = (logs - math.log(delta) - np.log1p(tilts)) / tilts + np.log(tilts / (1 + tilts))  # α = 1 + tilt
    best = int(np.argmin(by_order))
    top = float(np.min((logs - math.log(delta * NEGLIGIBLE)) / tilts))
    milder, below = np.append(tilts[:best], 0.0), np.append(logs[:best], 0.0)
    bottoms = (math.log(NEGLIGIBLE) + logs[best] - below) / (tilts[best] - milder)
    bottom = min(float(np.max(bottoms)), top - width)
    if not top - bottom <= WIDEST:
        return None
    # What is above is folded to the bottom, where its tilt weighs it up: as little of the tilted mass is left there.
    tops = (logs[best + 1 :] - logs[best] - math.log(NEGLIGIBLE)) / (tilts[best + 1 :] - tilts[best])
    top = max(top, min([*tops.tolist(), bottom + WIDEST, top + 3 * (top - bottom)])) if len(tops) else top
    start, cells = math.floor(bottom / width), math.ceil((top - bottom) / width) + 2
    return Window(start, 1 << (cells - 1).bit_length(), float(tilts[best]))


def _log_moments(step: LossDistribution, tilts: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs = np.log(step.masses)
    tilted = (logs + tilt * step.losses for tilt in tilts)  # one at a time: all together leave the cache
    return np.array([top + math.log(np.exp(each - top).sum()) for each in tilted for top in [each.max()]])


def least_epsilon(steps: Steps, window: Window, delta: float) -> float:
    """The least ε at which the composition is found to have δ(ε) ≤ δ, infinite if there is none in the window."""
    width, tilt, count = steps[0][0].width, window.tilt, sum(times for _, times in steps)
    masses, error, scale = _composed(steps, window)
    losses = multiples(width, window.start, window.cells)
    with np.errstate(over="ignore"):
        weights = np.exp(scale - tilt * losses)
    masses = np.maximum(masses, 0.0) * weights
    above = _reversed_sums(masses)
    discounted = _reversed_sums(masses * np.exp(losses[0] - losses))
    largest = max(float(np.max(np.abs(each))) for each in (losses, *(step.losses for step, _ in steps)))
    rounding = 8 * ROUNDING * (EXPONENT + largest + tilt * largest)  # of one mass, and of integer noise in one step
    slack = 8 * window.cells * ROUNDING + rounding
    unseen = error * weights / math.sqrt(-math.expm1(-2 * tilt * width))
    if not math.fsum(times * math.log(math.fsum(each.masses)) for each, times in steps) <= MOST_ADDED:
        return math.inf
    lost = 2 * (math.fsum(times * each.lost for each, times in steps) + NEGLIGIBLE * delta)
    target = (delta * (1 - DELTA_SLACK) - lost) * math.exp(-rounding * (count + 1))
    with np.errstate(over="ignore", invalid="ignore"):  # far beyond the window; NaN is never within the target
        discount = np.exp(losses - losses[0]) * discounted[1:] * (1 - slack)
    found = above[1:] * (1 + slack) - discount + unseen
    enough = np.flatnonzero(found <= target)
    if not len(enough) or not np.isfinite(found[enough[0]]):
        return math.inf
    place = int(enough[0])
    loss = float(losses[place])
    if place > 0:  # δ is linear in e^ε between two multiples of the width
        rest = above[place] * (1 + slack) + unseen[place - 1] - target
        with np.errstate(divide="ignore"):
            loss = min(loss, float(losses[0] + np.log(rest / (discounted[place] * (1 - slack)))))
    excess = math.fsum(times * (each.excess + LATTICE_LOSS) for each, times in steps)
    return max(0.0, (loss + excess) * (1 + DELTA_SLACK) + EPSILON_SLACK)


def _composed(steps: Steps, window: Window) -> tuple[Floats, float, float]:
    """The tilted masses in the window, a bound on their error in the 2-norm, and the logarithm of what they lack.

    What lies outside the window is folded into it: from below that only adds, and what is above is counted as lost.
    """
    kappa = TRANSFORM_ERROR * math.log2(window.cells)
    spectrum = np.ones(window.cells // 2 + 1, dtype=np.complex128)
    magnitude, ratio, scale = np.zeros(len(spectrum)), np.zeros(len(spectrum)), 0.0
    for step, times in steps:
        with np.errstate(divide="ignore"):
            logs = np.log(step.masses) + window.tilt * step.losses
        log_total = float(logsumexp(logs))
        places = (step.start + np.arange(len(step.masses))) % window.cells
        folded = np.bincount(places, weights=np.exp(logs - log_total), minlength=window.cells)
        transform = rfft(folded)
        error = kappa * math.sqrt(window.cells) * float(np.linalg.norm(folded))
        size = np.abs(transform) + 2 * error
        spectrum = spectrum * _power(transform, times)
        magnitude, ratio = magnitude + times * np.log(size), ratio + times * (error / size + 4 * ROUNDING)
        scale += times * log_total
    wrong = np.linalg.norm(np.exp(magnitude) * ratio)
    inverted = kappa * np.linalg.norm(spectrum)
    error = math.sqrt(2 / window.cells) * float(wrong + inverted) * (1 + DELTA_SLACK)
    masses = np.roll(irfft(spectrum, window.cells), -window.start)
    return masses, error, scale


def _power(base: Spectrum, exponent: int) -> Spectrum:
    """The power by squaring, whose relative error is at most that of ``exponent`` multiplications."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        base, exponent = base * base, exponent >> 1
    return result


def _reversed_sums(values: Floats) -> Floats:
    """The sum from each place on, and 0 beyond the last."""
    sums: Floats = np.append(np.cumsum(values[::-1])[::-1], 0.0)
    return sums
