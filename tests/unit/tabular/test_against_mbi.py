"""Fits beside mbi, the reference implementation of Private-PGM, which runs live on the same noisy marginals."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from expost.datasets import adult
from expost.noise import Noise, SeededNoise
from expost.tabular.marginals import Marginals
from expost.tabular.model.graphical import Measured, export, fit
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.selection import queries
from tests.unit.tabular.model.graphs import measure, truth

MBI = """
import json
import sys

import mbi
import numpy as np


def loss(domain, measured):
    names = [str(column) for column in range(len(domain))]
    given = [mbi.LinearMeasurement(np.array(values), tuple(clique), stddev=std) for values, clique, std in measured]
    model = mbi.estimation.MirrorDescent().estimate(mbi.Domain(names, domain), given, iters=5000)
    fitted = [np.ravel(model.project(tuple(clique)).values) for _, clique, _ in measured]
    return 0.5 * sum(np.sum((f - v) ** 2) / std**2 for f, (v, _, std) in zip(fitted, measured, strict=True))


json.dump([float(loss(*case)) for case in json.load(sys.stdin)], sys.stdout)
"""
"""It has a process of its own: JAX starts threads, after which no other test could fork."""
SETTINGS = {"JAX_ENABLE_X64": "1", "JAX_ENABLE_COMPILATION_CACHE": "0", "JAX_PLATFORMS": "cpu"}
PATIENCE = 300.0
ALLOWED = 1.01
"""Our loss over mbi's, at most."""

Case = tuple[tuple[int, ...], list[Measured]]


def parents(columns: int, noise: Noise) -> list[int]:
    """Of every column after the first, one that comes before it."""
    return [int(noise.uniform(1)[0] * column) for column in range(1, columns)]


def tree(noise: Noise) -> list[Clique]:
    return [(parent, column) for column, parent in enumerate(parents(7, noise), 1)]


def triangulated(noise: Noise) -> list[Clique]:
    """Each further column is tied to both ends of an earlier edge, so every cycle is of triangles."""
    edges: list[Clique] = [(0, 1)]
    for column in range(2, 7):
        left, right = edges[int(noise.uniform(1)[0] * len(edges))]
        edges += [(left, column), (right, column)]
    return edges


def made_up(graph: Callable[[Noise], list[Clique]], seed: int) -> list[Case]:
    """Marginals of a small made-up table at two noise levels: with no counts below zero, two steps would be enough."""
    noise = SeededNoise(seed)
    domain = tuple(int(size) for size in 2 + noise.uniform(7) * 4)
    cliques, table = graph(noise), truth(list(domain), 500, noise)
    return [(domain, measure(table, cliques, variance, noise)) for variance in (400.0, 2500.0)]


def census() -> list[Case]:
    """The pairs of the target and of a tree, as a synthetic Adult table is made from them, at three noise levels."""
    table, noise = adult.load(), SeededNoise(1)
    *others, target = names = list(table.domain)
    pairs = queries(table.domain, (target,), tuple(itertools.pairwise(others)))
    marginals = Marginals(table.domain, pairs, table.schema.neighbours)
    counts = marginals.statistic.evaluate(table)

    def noisy(std: float) -> list[Measured]:
        apart = marginals.apart(counts + noise.gaussian(std, counts.shape))
        return [Measured(tuple(map(names.index, pair)), values, std**2) for pair, values in apart.items()]

    return [(tuple(table.domain.values()), noisy(std)) for std in (15.0, 50.0, 150.0)]


CASES: dict[str, Callable[[], list[Case]]] = {
    "a random tree": lambda: made_up(tree, 1),
    "a triangulated graph": lambda: made_up(triangulated, 3),
    "the Adult queries": census,
}


def reference(cases: Sequence[Case]) -> list[float]:
    """The losses that mbi reaches."""
    given = []
    for domain, measured in cases:
        names = [str(column) for column in range(len(domain))]
        given.append((domain, [(values.tolist(), clique, std) for values, clique, std in export(measured, names)]))
    done = subprocess.run(
        [sys.executable, "-c", MBI],
        input=json.dumps(given),
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [float(loss) for loss in json.loads(done.stdout)]


@pytest.mark.parametrize("kind", CASES)
def test_a_fit_reaches_the_loss_of_mbi_and_one_cut_short_does_not(kind: str) -> None:
    cases = CASES[kind]()
    theirs = np.array(reference(cases))

    junctions = [Junction.of(domain, [each.clique for each in measured]) for domain, measured in cases]
    pairs = [(junction, measured) for junction, (_, measured) in zip(junctions, cases, strict=True)]
    whole = np.array([fit(junction, measured).loss for junction, measured in pairs])
    short = np.array([fit(junction, measured, iterations=2).loss for junction, measured in pairs])

    assert (whole <= ALLOWED * theirs).all()
    assert (short > ALLOWED * theirs).all()
