"""Fits and rows beside mbi (Private-PGM) on the Adult table with the demo's queries.

Both get the same noisy marginals of seven rungs, and every core. mbi runs in float64, as it advises: in float32 its
averaged iterates drift out of the polytope and their loss means nothing. It is given the benefit of the doubt: the
number of steps that brings a solver to our loss is found beforehand, it stops there, and one that would still have
to recover a model from its marginals (a minute of compilation) is not asked to. A solver that has not come within
our own tolerance after 5,000 steps stops too; where none has, the quickest one's time is the least that mbi would
need, and is told apart from the times at the same loss.

Ours and mbi are imported where they are used, so that the fresh process of one does not load the other.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmarks.harness import Progress, seconds
from benchmarks.synth.noisy import RUNGS, Floats, Noisy, measured
from benchmarks.synth.process import fresh

if TYPE_CHECKING:
    from expost.tabular.model.graphical import Model

Fit: TypeAlias = Callable[[Noisy, int], Sequence[Floats]]

SOLVERS = ("UniversalAcceleratedMethod", "MirrorDescent")
BLOCK, BLOCKS = 50, 100
"""mbi's steps between two callbacks, and how many times it may take them: 5,000 steps."""
WITHIN = 1e-3
"""The share by which a fit of ours may end above the smallest loss; mbi may end as far above ours."""
MILLION = 10**6


class _Enough(Exception):
    """Ends mbi's estimation from inside its callback."""


def figures(progress: Progress) -> dict[str, float]:
    """Ratios are mbi's time over ours, and our loss over mbi's."""
    progress("counting the marginals")
    noisy = measured()
    found, blocks = _losses(noisy, progress)
    found |= _warm(noisy, blocks, progress)
    found |= _cold(noisy, blocks, progress)
    return found | _sampling(noisy, progress)


def _model(noisy: Noisy, rung: int) -> "Model":
    from expost.tabular.model.graphical import Measured, fit  # noqa: PLC0415
    from expost.tabular.model.junction import Junction  # noqa: PLC0415

    pairs = zip(noisy.cliques, noisy.tables(rung), strict=True)
    variance = float(noisy.variances[rung])
    return fit(Junction.of(noisy.domain, noisy.cliques), [Measured(clique, table, variance) for clique, table in pairs])


def _ours(noisy: Noisy, rung: int) -> list[Floats]:
    model = _model(noisy, rung)
    return [model.marginal(clique) for clique in noisy.cliques]


def _mbi() -> Any:
    """Imported late: JAX reads its settings at import."""
    os.environ |= {"JAX_ENABLE_X64": "1", "JAX_ENABLE_COMPILATION_CACHE": "0", "JAX_PLATFORMS": "cpu"}
    return import_module("mbi")


def _arguments(noisy: Noisy, rung: int) -> tuple[Any, list[Any]]:
    """The domain and the measurements as mbi takes them."""
    mbi, std = _mbi(), float(np.sqrt(noisy.variances[rung]))
    pairs = zip(noisy.cliques, noisy.tables(rung), strict=True)
    measurements = [mbi.LinearMeasurement(table.ravel(), _columns(clique), stddev=std) for clique, table in pairs]
    return mbi.Domain(_columns(range(len(noisy.domain))), noisy.domain), measurements


def _columns(clique: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"column {place}" for place in clique)


def _watched(noisy: Noisy, rung: int, solver: str, enough: Callable[[Sequence[Floats]], bool], last: int) -> None:
    """Let mbi's solver go on until the marginals, shown from callback ``last`` on, are enough."""
    calls = 0

    def callback(marginals: Any) -> None:
        nonlocal calls
        calls += 1
        if calls >= last and enough([np.asarray(marginals.project(_columns(c)).values) for c in noisy.cliques]):
            raise _Enough

    with suppress(_Enough):
        estimator = getattr(_mbi().estimation, solver)()
        estimator.estimate(*_arguments(noisy, rung), iters=BLOCK * BLOCKS, callback_fn=callback)


def _theirs(solver: str, blocks: Sequence[int]) -> Fit:
    """What mbi has after the rung's number of blocks."""

    def fit(noisy: Noisy, rung: int) -> Sequence[Floats]:
        kept: list[Floats] = []

        def keep(tables: Sequence[Floats]) -> bool:
            kept.extend(tables)
            return True

        _watched(noisy, rung, solver, keep, blocks[rung])
        return kept

    return fit


def _course(noisy: Noisy, rung: int, solver: str) -> list[float]:
    """The loss after each block of 50 steps, up to 5,000."""
    losses: list[float] = []

    def note(tables: Sequence[Floats]) -> bool:
        losses.append(noisy.loss(rung, tables))
        return len(losses) == BLOCKS

    _watched(noisy, rung, solver, note, 1)
    return losses


def _losses(noisy: Noisy, progress: Progress) -> tuple[dict[str, float], dict[str, list[int]]]:
    """How far down each solver comes, and the blocks in which it comes down to our loss."""
    ratios, blocks = [], {solver: list[int]() for solver in SOLVERS}
    reached = dict.fromkeys(SOLVERS, 0)
    for rung in range(len(RUNGS)):
        ours, best = noisy.loss(rung, _ours(noisy, rung)), float("inf")
        for solver in SOLVERS:
            progress(f"the loss of mbi's {solver} over 5,000 steps, rung {rung + 1}")
            course = _course(noisy, rung, solver)
            there = [block for block, loss in enumerate(course, 1) if loss <= ours * (1 + WITHIN)]
            reached[solver] += bool(there)
            blocks[solver].append(there[0] if there else BLOCKS)
            best = min(best, *course)
        ratios.append(ours / best)
    figures = {"synth.loss_vs_mbi": max(ratios), "synth.loss_vs_mbi.best": min(ratios)}
    return figures | {f"synth.mbi_rungs_at_our_loss.{name}": float(count) for name, count in reached.items()}, blocks


def _warm(noisy: Noisy, blocks: dict[str, list[int]], progress: Progress) -> dict[str, float]:
    """One fit in a process that has fitted before, at the same loss; the worst rung, and the one in the middle."""
    mine, reached, bounds = [], list[float](), list[float]()
    for rung in range(len(RUNGS)):
        progress(f"warm fits, rung {rung + 1}")
        fits = _ours, *(_theirs(solver, blocks[solver]) for solver in SOLVERS)
        ours, *theirs = seconds(*(_fitting(fit, noisy, rung) for fit in fits), repeats=5)
        counts = [blocks[solver][rung] for solver in SOLVERS]
        there = [time for time, count in zip(theirs, counts, strict=True) if count < BLOCKS]
        mine.append(ours)
        (reached if there else bounds).append(min(there or theirs) / ours)
    found = {"synth.warm_fit_seconds": max(mine), "synth.warm_fit_vs_mbi.rungs": float(len(reached))}
    if reached:
        found |= {"synth.warm_fit_vs_mbi": min(reached), "synth.warm_fit_vs_mbi.median": median(reached)}
    return found | ({"synth.warm_fit_vs_mbi.not_at_our_loss": min(bounds)} if bounds else {})


def _fitting(fit: Fit, noisy: Noisy, rung: int) -> Callable[[], object]:
    return lambda: fit(noisy, rung)


def _cold(noisy: Noisy, blocks: dict[str, list[int]], progress: Progress) -> dict[str, float]:
    """The whole ladder in a fresh process: imports, compilation and seven fits."""
    progress("ladders from a cold start")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "noisy.npz"
        noisy.save(path)
        theirs = [fresh("ladder", str(path), solver, json.dumps(blocks[solver])) for solver in SOLVERS]
        ours, *times = seconds(fresh("ladder", str(path), "ours", "[]"), *theirs, repeats=3)
    figures = {"synth.cold_ladder_vs_mbi": min(times) / ours, "synth.cold_ladder_seconds": ours}
    return figures | {f"synth.mbi_cold_ladder_seconds.{name}": t for name, t in zip(SOLVERS, times, strict=True)}


def _sampling(noisy: Noisy, progress: Progress) -> dict[str, float]:
    """A million rows: rounded counts, which both take by default, and independent draws."""
    from expost.noise import SystemNoise  # noqa: PLC0415

    progress("a model of mbi's to draw from")
    noise, top = SystemNoise(), len(RUNGS) - 1
    ours, theirs = _model(noisy, top), _mbi().estimation.MirrorDescent().estimate(*_arguments(noisy, top))
    progress("a million rows")
    rounded, their_rounded, drawn, their_drawn = seconds(
        lambda: ours.round(MILLION, noise),
        lambda: theirs.synthetic_data(MILLION, method="round"),
        lambda: ours.sample(MILLION, noise),
        lambda: theirs.synthetic_data(MILLION, method="sample"),
        repeats=3,
    )
    return {
        "synth.sampling_vs_mbi": their_rounded / rounded,
        "synth.sampling_vs_mbi.independent": their_drawn / drawn,
        "synth.sampling_seconds": rounded,
        "synth.sampling_seconds.independent": drawn,
    }


def ladder(path: str, who: str, blocks: str) -> None:
    """Every rung's fit, as the only work of a process."""
    noisy = Noisy.load(Path(path))
    fit = _ours if who == "ours" else _theirs(who, json.loads(blocks))
    for rung in range(len(RUNGS)):
        fit(noisy, rung)
