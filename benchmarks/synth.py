"""Fits and rows beside mbi (Private-PGM) on the Adult table with the demo's queries, and how long the demo takes.

Both get the same noisy marginals of seven rungs, and every core. mbi runs in float64, as it advises: in float32 its
averaged iterates drift out of the polytope and their loss means nothing. It is given the benefit of the doubt: the
number of steps that brings a solver to our loss is found beforehand, it stops there, and one that would still have
to recover a model from its marginals (a minute of compilation) is not asked to. A solver that has not come within
our own tolerance after 5,000 steps stops too; a rung at which none has is charged the quickest one's time.

Ours and mbi are imported where they are used, so that the fresh process of one does not load the other.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import HERE, Progress, seconds

if TYPE_CHECKING:
    from expost.tabular.model import Model

Floats: TypeAlias = NDArray[np.float64]
Fit: TypeAlias = Callable[["Noisy", int], Sequence[Floats]]

TARGET = "income"
TREE = (
    ("age", "marital-status"),
    ("workclass", "occupation"),
    ("education", "occupation"),
    ("marital-status", "relationship"),
    ("occupation", "race"),
    ("occupation", "gender"),
    ("occupation", "hours-per-week"),
    ("relationship", "gender"),
    ("relationship", "capital-gain"),
    ("relationship", "capital-loss"),
    ("race", "native-country"),
)
"""The pairs that independent columns explain worst: what the demo's selection mostly chooses."""
SHARE, SEED = 0.4, 1
ALPHA, RUNGS = 20, np.geomspace(0.01, 1, 7)
SOLVERS = ("UniversalAcceleratedMethod", "MirrorDescent")
BLOCK, BLOCKS = 50, 100
"""mbi's steps between two callbacks, and how many times it may take them: 5,000 steps."""
WITHIN = 1e-3
"""The share by which a fit of ours may end above the smallest loss; mbi may end as far above ours."""
MILLION = 10**6
NOT_REACHED = 3
"""The demo's exit status when no rung passed the noisy check: it has done all its work then too."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """The marginals of every rung: one line of values, joined, and one variance for each."""

    domain: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    values: Floats
    variances: Floats

    @classmethod
    def load(cls, path: Path) -> "Noisy":
        """What ``save`` wrote."""
        with np.load(path) as stored:
            cliques = tuple(tuple(clique) for clique in stored["cliques"].tolist())
            return cls(tuple(stored["domain"].tolist()), cliques, stored["values"], stored["variances"])

    def save(self, path: Path) -> None:
        """Write everything to a file, for fresh processes."""
        np.savez(path, domain=self.domain, cliques=self.cliques, values=self.values, variances=self.variances)

    def tables(self, rung: int) -> list[Floats]:
        """The rung's marginals, an axis for each column."""
        shapes = [tuple(self.domain[column] for column in clique) for clique in self.cliques]
        bounds = pairwise(accumulate((int(np.prod(shape)) for shape in shapes), initial=0))
        return [self.values[rung, i:j].reshape(shape) for shape, (i, j) in zip(shapes, bounds, strict=True)]

    def loss(self, rung: int, fitted: Iterable[Floats]) -> float:
        """½·Σ‖fitted − values‖²/variance: the one function that judges both."""
        pairs = zip(fitted, self.tables(rung), strict=True)
        return 0.5 * sum(float(np.sum((mine - given) ** 2)) for mine, given in pairs) / float(self.variances[rung])


class _Enough(Exception):
    """Ends mbi's estimation from inside its callback."""


def run(progress: Progress) -> dict[str, float]:
    """Ratios are mbi's time over ours, and our loss over mbi's."""
    progress("counting the marginals")
    noisy = _measured()
    figures, blocks = _losses(noisy, progress)
    figures |= _warm(noisy, blocks, progress)
    figures |= _cold(noisy, blocks, progress)
    figures |= _sampling(noisy, progress)
    return figures | _demo(progress)


def _measured() -> Noisy:
    """The pairs of the tree and of the target on a share of the records, with the noise of each rung."""
    from expost.datasets import adult  # noqa: PLC0415
    from expost.noise import SeededNoise  # noqa: PLC0415
    from expost.tabular.marginals import Marginals  # noqa: PLC0415
    from expost.tabular.selection import queries  # noqa: PLC0415

    noise, table = SeededNoise(SEED), adult.load()
    part = table[noise.uniform(len(table)) < SHARE]
    names, cliques = list(table.domain), queries(table.domain, TARGET, TREE)
    counts = Marginals(table.domain, cliques, table.schema.neighbours).statistic.evaluate(part)
    variances = ALPHA * len(cliques) / (2 * RUNGS)
    values = np.stack([counts + noise.gaussian(float(np.sqrt(variance)), counts.shape) for variance in variances])
    places = tuple(tuple(names.index(name) for name in clique) for clique in cliques)
    return Noisy(tuple(table.domain.values()), places, values, variances)


def _model(noisy: Noisy, rung: int) -> "Model":
    from expost.tabular.junction import Junction  # noqa: PLC0415
    from expost.tabular.model import Measured, fit  # noqa: PLC0415

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
    """One fit in a process that has fitted before; the ratio of the worst rung, and the one in the middle."""
    mine, ratios = [], []
    for rung in range(len(RUNGS)):
        progress(f"warm fits, rung {rung + 1}")
        fits = _ours, *(_theirs(solver, blocks[solver]) for solver in SOLVERS)
        ours, *theirs = seconds(*(_fitting(fit, noisy, rung) for fit in fits), repeats=5)
        counts = [blocks[solver][rung] for solver in SOLVERS]
        there = [time for time, count in zip(theirs, counts, strict=True) if count < BLOCKS]
        mine.append(ours)
        ratios.append(min(there or theirs) / ours)
    return {
        "synth.warm_fit_vs_mbi": min(ratios),
        "synth.warm_fit_vs_mbi.median": median(ratios),
        "synth.warm_fit_seconds": max(mine),
    }


def _fitting(fit: Fit, noisy: Noisy, rung: int) -> Callable[[], object]:
    return lambda: fit(noisy, rung)


def _cold(noisy: Noisy, blocks: dict[str, list[int]], progress: Progress) -> dict[str, float]:
    """The whole ladder in a fresh process: imports, compilation and seven fits."""
    progress("ladders from a cold start")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "noisy.npz"
        noisy.save(path)
        theirs = [_process(str(path), solver, json.dumps(blocks[solver])) for solver in SOLVERS]
        ours, *times = seconds(_process(str(path), "ours", "[]"), *theirs, repeats=3)
    figures = {"synth.cold_ladder_vs_mbi": min(times) / ours, "synth.cold_ladder_seconds": ours}
    return figures | {f"synth.mbi_cold_ladder_seconds.{name}": t for name, t in zip(SOLVERS, times, strict=True)}


def _process(*arguments: str) -> Callable[[], object]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.synth", *arguments]
    return lambda: subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.DEVNULL)


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


def _demo(progress: Progress) -> dict[str, float]:
    """The demo from start to exit, and a fresh process up to the first synthetic table."""
    progress("the demo")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("expost")), "demo", "--overwrite", "--out", folder]

        def demo() -> None:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode not in {0, NOT_REACHED}:
                raise RuntimeError(f"the demo ended with status {done.returncode}: {done.stderr}")

        whole, first = seconds(demo, _process("table"), repeats=5)
    return {"synth.demo_seconds": whole, "synth.first_table_seconds": first}


def _ladder(path: str, who: str, blocks: str) -> None:
    """Every rung's fit, as the only work of a process."""
    noisy = Noisy.load(Path(path))
    fit = _ours if who == "ours" else _theirs(who, json.loads(blocks))
    for rung in range(len(RUNGS)):
        fit(noisy, rung)


def _table() -> None:
    """The demo's job up to its first synthetic table, where learning would begin."""
    from expost.datasets import adult  # noqa: PLC0415
    from expost.runs import synthesize  # noqa: PLC0415

    def learner(table: object, model: object, target: str, noise: object) -> NoReturn:
        sys.exit()

    synthesize(adult.load(), schema=adult.schema(), target=TARGET, accuracy=0.825, learner=learner)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        _table()
    else:
        _ladder(*sys.argv[1:])
