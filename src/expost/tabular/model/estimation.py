"""Least squares over the distributions of a junction tree: the model nearest to noisy marginals.

The problem is convex in the marginals μ and has its solution on the boundary, where potentials are infinite. It is
solved by proximal steps in relative entropy, f(μ) + τ·KL(μ, μ_k), with τ falling. Each step is a smooth problem in the
potentials, log Z(θ_k + δ) − ⟨δ, y⟩ + τ/2·Σ δ²/w, a maximum likelihood with a ridge, solved by Newton's method with
conjugate gradients. An exact step never raises f; a step that does is undone, and solved more closely if it seemed to
be solved, or with a larger τ if not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from expost.noise import Floats
from expost.tabular.model.inference import Beliefs, Passes

SHRINK, GROW, TIGHTEN = 0.6, 3.0, 0.1
"""Factors of τ after a step that was solved and one that was not; of the tolerance after one solved too loosely."""
DECREMENT, SHARE = 0.1, 0.1
"""Newton's method stops when its model promises less than this, in units of τ and as a share of the loss."""
NEWTON_STEPS = 8
RESIDUAL, GRADIENT_STEPS = 0.1, 200
"""The conjugate gradients' relative residual far from the solution, and their longest run."""
SMALLEST_STEP = 1e-3
NATS = 0.1
"""A step leaves the loss at most τ·KL(solution, before) above the smallest; near the solution KL is below this, and
far below it where counts are precise."""
FAILURES = 6
"""Steps in a row that may fail before the fit rests."""
FLOOR = 1e-13
"""The smallest τ, relative to the first: below it the ridge is lost in rounding."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Potentials, their distribution, and the value of whatever is being minimised."""

    potentials: Floats
    beliefs: Beliefs
    value: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """½·Σ weights·(expected − targets)² over the distributions that the passes describe."""

    passes: Passes
    targets: Floats
    weights: Floats

    def at(self, potentials: Floats) -> Point:
        """The distribution of these potentials and its loss."""
        beliefs = self.passes.infer(potentials)
        return Point(potentials, beliefs, self.loss(beliefs))

    def loss(self, beliefs: Beliefs) -> float:
        """Half the weighted squares."""
        return 0.5 * float(self.weights @ (beliefs.expected - self.targets) ** 2)

    def slope(self, beliefs: Beliefs) -> Floats:
        """The derivative of the loss by the marginals."""
        slope: Floats = self.weights * (beliefs.expected - self.targets)
        return slope

    def gap(self, beliefs: Beliefs) -> float:
        """How far the smallest loss is below this one, at most: a convex loss lies above its tangent."""
        slope = self.slope(beliefs)
        return max(0.0, float(slope @ beliefs.expected) - self.passes.least(slope))

    def hidden(self, tau: float) -> float:
        """The loss that may be left where no step of this τ moves much.

        A cell off by more than τ/w moves by a factor of e, and all cells together lose no more than τ·NATS.
        """
        return min(NATS * tau, 0.5 * tau**2 * float(np.sum(1 / self.weights)))


def minimise(problem: Problem, *, tolerance: float, iterations: int, told: Callable[[int, float], None]) -> Point:
    """The best point found from potentials of zero.

    It rests when the gap, or the last two decreases and what τ can hide, are below ``tolerance`` times the loss. A
    decrease as small as that counts only if the step was solved as closely; if not, the next one is solved more so. A
    loss below half the number of targets, which is what noise of the stated variance leaves, counts as that much.
    """
    nothing = np.zeros_like(problem.targets)
    best, step = problem.at(nothing), nothing
    first = tau = float(np.max(np.abs(problem.slope(best.beliefs)), initial=0.0))
    failures, small, care = 0, 0, 1.0
    for iteration in range(iterations):
        told(iteration, best.value)
        enough = tolerance * max(best.value, len(nothing) / 2)
        rests = small >= 2 and problem.hidden(tau) <= enough
        if rests or failures == FAILURES or tau <= FLOOR * first or problem.gap(best.beliefs) <= enough:
            break
        moved, solved = _proximal(problem, best, step, tau, care)
        if moved.value >= best.value:
            failures += 1
            care, tau, step = (care * TIGHTEN, tau, step) if solved else (care, tau * GROW, nothing)
            continue
        factor = SHRINK if solved else 1.0
        little, close = solved and best.value - moved.value <= enough, care * SHARE * best.value <= enough
        small = small + 1 if little and close else 0
        care *= TIGHTEN if little and not close else 1.0
        tau, step, failures = tau * factor, (moved.potentials - best.potentials) / factor, 0
        best = moved
    return best


def _proximal(problem: Problem, centre: Point, step: Floats, tau: float, care: float) -> tuple[Point, bool]:
    """The minimum of f + τ·KL to the centre, and whether Newton's method came to rest there.

    It starts from the last step, scaled: where the solution is on the boundary, steps grow as 1/τ.
    """
    ridge = tau / problem.weights

    def dual(move: Floats) -> Point:
        beliefs = problem.passes.infer(centre.potentials + move)
        return Point(
            move, beliefs, beliefs.log_partition - float(move @ problem.targets) + 0.5 * float(ridge @ move**2)
        )

    now = Point(np.zeros_like(step), centre.beliefs, centre.beliefs.log_partition)
    enough = care * min(DECREMENT, SHARE * centre.value / tau)
    if step.any():
        now = min(now, dual(step), key=lambda point: point.value)
    solved = False
    for _ in range(NEWTON_STEPS):
        slope = now.beliefs.expected - problem.targets + ridge * now.potentials
        direction = _newton(problem.passes, now.beliefs, ridge, slope, enough)
        decrement, scale = -float(slope @ direction), 1.0
        moved = dual(now.potentials + direction)
        while moved.value > now.value - 1e-4 * scale * decrement and scale > SMALLEST_STEP:
            scale /= 2
            moved = dual(now.potentials + scale * direction)
        if moved.value > now.value:
            break
        now, solved = moved, decrement <= enough
        if solved:
            break
    return Point(centre.potentials + now.potentials, now.beliefs, problem.loss(now.beliefs)), solved


def _newton(passes: Passes, beliefs: Beliefs, ridge: Floats, slope: Floats, enough: float) -> Floats:
    """−(Cov + ridge)⁻¹·slope by conjugate gradients, preconditioned by the diagonal: the closer, the more exact."""
    diagonal = beliefs.expected * (1 - beliefs.expected) + ridge
    found, residual = np.zeros_like(slope), -slope
    scaled = residual / diagonal
    direction, size = scaled, float(residual @ scaled)
    goal = min(RESIDUAL**2, max(size, enough)) * size
    for _ in range(GRADIENT_STEPS):
        if size <= goal:
            break
        image = passes.covariance(beliefs, direction) + ridge * direction
        length = size / float(direction @ image)
        found, residual = found + length * direction, residual - length * image
        scaled = residual / diagonal
        before, size = size, float(residual @ scaled)
        direction = scaled + (size / before) * direction
    return found
