"""Small graphs of columns, and their models worked out the long way."""

import math

import numpy as np

from expost.noise import Floats, Noise
from expost.tabular.model.graphical import Measured, Model
from expost.tabular.model.inference import project
from expost.tabular.model.junction import Clique

GRAPHS: dict[str, tuple[list[int], list[Clique]]] = {
    "tree": ([3, 2, 4, 2], [(0, 1), (1, 2), (1, 3)]),
    "tree given a target": ([3, 2, 3, 2, 2], [(0, 1), (1, 2), (1, 3), (0, 4), (1, 4), (2, 4), (3, 4)]),
    "cycle": ([2, 3, 2, 3], [(0, 1), (1, 2), (2, 3), (0, 3)]),
    "cycle with threes": ([2, 3, 2, 2, 3], [(0, 1, 2), (2, 3), (3, 4), (0, 4), (2,)]),
    "apart": ([2, 3, 2, 4], [(0, 1), (3,)]),
    "one column": ([5], [(0,)]),
    "a column of one value": ([1, 3, 2], [(0, 1), (0, 2)]),
    "twice the same": ([2, 3], [(0, 1), (0, 1), (0,)]),
    "nothing asked": ([2, 3], []),
}


def everything(domain: list[int], cliques: list[Clique], potentials: Floats) -> Floats:
    """The logarithm of the full table, before normalisation."""
    logs, start = np.zeros(math.prod(domain)), 0
    for clique in cliques:
        places = project(domain, tuple(range(len(domain))), clique)
        logs += potentials[start:][places]
        start += math.prod(domain[column] for column in clique)
    return logs


def asked(domain: list[int], cliques: list[Clique], table: Floats) -> Floats:
    """The marginals of a full table, one after the other."""
    cells = table.reshape(domain)
    others = [tuple(set(range(len(domain))) - set(clique)) for clique in cliques]
    return np.concatenate([np.zeros(0), *(cells.sum(axis=axes).ravel() for axes in others)])


def truth(domain: list[int], rows: float, noise: Noise) -> Floats:
    """A full table of counts with strong interactions."""
    weights = noise.uniform(tuple(domain)) ** 4
    return np.asarray(rows * weights / weights.sum())


def measure(table: Floats, cliques: list[Clique], variance: float, noise: Noise) -> list[Measured]:
    exact = [table.sum(axis=tuple(set(range(table.ndim)) - set(clique))) for clique in cliques]
    return [
        Measured(clique, values + noise.gaussian(math.sqrt(variance), values.shape), variance)
        for clique, values in zip(cliques, exact, strict=True)
    ]


def full(model: Model) -> Floats:
    """The model's table over all columns, from its potentials alone."""
    flat = np.concatenate([np.zeros(0), *(table.ravel() for _, table in model.potentials)])
    logs = everything(list(model.domain), [clique for clique, _ in model.potentials], flat)
    table = np.exp(logs - logs.max())
    return np.asarray(model.total * table / table.sum()).reshape(model.domain)
