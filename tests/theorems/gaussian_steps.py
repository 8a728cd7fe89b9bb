"""Finite steps that are μ-GDP and no better, runs made of them, and tables whose μ depends on the output."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from expost.verify import FiniteMechanism

Bit: TypeAlias = FiniteMechanism[int, int]
Split: TypeAlias = tuple[int, int]


class Step(NamedTuple):
    part: int
    mu: float
    mechanism: Bit


class Taken(NamedTuple):
    part: int
    mu: float
    answer: int


History: TypeAlias = tuple[Taken, ...]
Program: TypeAlias = Callable[[History], Step | None]

SPLITS = [(a, b) for a in (0, 1) for b in (0, 1)]
ONE_PART = [(a, b) for a in SPLITS for b in SPLITS if sum(s != t for s, t in zip(a, b, strict=True)) == 1]


def bound(chance: float, mu: float) -> float:
    """The best chance under N(μ, 1) of an event that has this chance under N(0, 1)."""
    return float(ndtr(ndtri(chance) + mu))


def profile(epsilon: float, mu: float) -> float:
    """The δ of Gaussian noise at any real ε."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def needed(p: float, q: float) -> float:
    """The least μ at which an event may have chance p under X and q under X'."""
    return float(ndtri(p) - ndtri(q))


def response(mu: float) -> Bit:
    """Randomised response: the sign of a Gaussian release of the bit."""
    truth = float(ndtr(mu / 2))
    return FiniteMechanism({bit: {(bit, mu): truth, (1 - bit, mu): 1 - truth} for bit in (0, 1)})


def binned(mu: float, cuts: Sequence[float]) -> Bit:
    """Which of a few intervals a Gaussian release of the bit falls into."""
    ends = np.array([-math.inf, *cuts, math.inf])
    laws = {bit: np.diff(ndtr(ends - mu * bit)).tolist() for bit in (0, 1)}
    return FiniteMechanism({bit: {(y, mu): law[y] for y in range(len(law))} for bit, law in laws.items()})


def tight(rng: np.random.Generator, mu: float) -> Bit:
    return response(mu) if rng.uniform() < 0.5 else binned(mu, sorted(rng.normal(mu / 2, 1, 2)))


def random_program(seed: int, *, length: int = 3, parts: int = 1) -> Program:
    """A fixed choice for every history: which part, which μ, which step, or to stop."""
    rng = np.random.default_rng(seed)

    @cache
    def program(history: History) -> Step | None:
        if len(history) == length or (history and rng.uniform() < 0.2):
            return None
        mu = float(rng.uniform(0.1, 1.2))
        return Step(int(rng.integers(parts)), mu, tight(rng, mu))

    return program


def filtered(program: Program, admits: Callable[[History, Step], bool]) -> Program:
    """The program, ended before the first step that is not admitted."""

    def within(history: History) -> Step | None:
        step = program(history)
        return None if step is None or not admits(history, step) else step

    return within


def paths(program: Program, split: Split, history: History = ()) -> Iterator[tuple[History, float]]:
    step = program(history)
    if step is None:
        yield history, 1.0
        return
    for (answer, _), p in step.mechanism.table[split[step.part]].items():
        for longer, q in paths(program, split, (*history, Taken(step.part, step.mu, answer))):
            yield longer, p * q


def spent(history: History, part: int) -> float:
    """The root of the squares of one part."""
    return math.hypot(*(taken.mu for taken in history if taken.part == part))


def dearest(history: History) -> float:
    return max(spent(history, 0), spent(history, 1))


def run(program: Program, claim: Callable[[History], float] = dearest) -> FiniteMechanism[Split, History]:
    table = {split: {(h, claim(h)): p for h, p in paths(program, split)} for split in SPLITS}
    return FiniteMechanism(table, ONE_PART)


def random_claims(rng: np.random.Generator, kept: Callable[[Bit], bool], outputs: int = 3) -> Bit:
    """A table whose μ depends on the output, at the least multiple of random claims that keeps a notion."""
    p, q = (law.tolist() for law in rng.dirichlet(np.full(outputs, 1.5), 2))
    shares = rng.uniform(0, 1, outputs)
    shares[rng.integers(outputs)] = 1

    def claiming(scale: float) -> Bit:
        mus = (scale * shares).tolist()
        return FiniteMechanism({bit: {(y, mus[y]): law[y] for y in range(outputs)} for bit, law in enumerate((p, q))})

    low, high = 0.0, 1.0
    while not kept(claiming(high)):
        low, high = high, 2 * high
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(claiming(middle)) else (middle, high)
    return claiming(high)
