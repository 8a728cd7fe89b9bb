"""Noisy marginals of the Adult table at seven noise levels, with the queries that the demo mostly chooses."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from benchmarks.synth.process import TARGET

Floats: TypeAlias = NDArray[np.float64]

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


def measured() -> Noisy:
    """The pairs of the tree and of the target on a share of the records, with the noise of each rung."""
    from expost.datasets import adult  # noqa: PLC0415
    from expost.noise import SeededNoise  # noqa: PLC0415
    from expost.tabular.marginals import Marginals  # noqa: PLC0415
    from expost.tabular.selection import queries  # noqa: PLC0415

    noise, table = SeededNoise(SEED), adult.load()
    part = table[noise.uniform(len(table)) < SHARE]
    names, cliques = list(table.domain), queries(table.domain, (TARGET,), TREE)
    counts = Marginals(table.domain, cliques, table.schema.neighbours).statistic.evaluate(part)
    variances = ALPHA * len(cliques) / (2 * RUNGS)
    values = np.stack([counts + noise.gaussian(float(np.sqrt(variance)), counts.shape) for variance in variances])
    places = tuple(tuple(names.index(name) for name in clique) for clique in cliques)
    return Noisy(tuple(table.domain.values()), places, values, variances)
