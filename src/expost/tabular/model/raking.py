"""Raking: rows drawn from a model, weighted and drawn again until marginals fit that it was not fitted to.

These are pairs that no junction tree holds together, and triples. Weights are exp(Σ θ_c) for tables θ_c over them, so
that they are one more factor of the model. They make PRIOR·KL(weighted rows, rows) + ½·Σ‖counts − values‖²/variance
small: marginal by marginal, as iterative proportional fitting does, and only as far as the noise in the values allows.
It is post-processing of what was released.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from expost.noise import Floats, Integers, Noise
from expost.tabular.coverings import CHUNK, Together, covering, joint_cells, joint_codes
from expost.tabular.model.graphical import Factor, Measured, Model
from expost.tabular.model.sampling import Codes
from expost.tabular.model.triangles import EMPTY

PRIOR = 0.1
"""How many records' worth of evidence each row of the model is at most: with 1, interactions that many records show
were held back by a model that knows nothing of them; with 0.01, rows of tens of thousands of records were given the
noise of pairs that were hardly measured. Of a million records it held pairs back: it is less where these say so."""
SHARED = 2.0
"""By how much the squares by which pairs are off count less than they say: pairs overlap, and are off together."""
PASSES = 12
"""How often all of them are gone through: more lowers the misfit by less than the noise in the counts."""
SPREAD, MOST_TIMES, MOST_DRAWN = 0.5, 4, 2**18
"""Where the weights leave less than this share of the rows in effect, more are drawn to choose from: at most this many
times the rows, and this many altogether, since the work grows with them."""
STEPS_TO_A_COUNT = 16
"""What a cell costs in fitting, over what it costs in counting."""
NEWTON_STEPS = 20
SETTLED = 1e-9
"""A step of Newton's method after which the next one is lost in rounding: it squares the error."""
SMALL = 1e-3
"""A step of all cells, in log weight, that is not worth another pass."""
LARGEST = 10.0
"""The farthest that one marginal moves a log weight."""


def raked(model: Model, measured: Sequence[Measured], rows: int, noise: Noise) -> tuple[Model, list[Codes]]:
    """Rows from the model whose marginals fit those measured, and the model with the factors that weighted them.

    Those that the model was fitted to are to stay as they are in it: it has less noise than the counts of each alone.
    Triples come before pairs, and so do not move these from where they were put last: summed up, they have more noise.
    """
    known = {clique for clique, _ in model.potentials}
    wanted = [replace(each, values=model.marginal(each.clique)) if each.clique in known else each for each in measured]
    wanted.sort(key=lambda each: -len(each.clique))
    codes = model.round(rows, noise)
    weights, factors = _weights(model, codes, wanted)
    times = min(MOST_TIMES, MOST_DRAWN // rows)
    if times > 1 and weights.sum() ** 2 < SPREAD * rows * (weights @ weights):
        codes = model.round(times * rows, noise)
        weights, factors = _weights(model, codes, wanted)
    picked = _systematic(codes, weights, rows, noise)
    return replace(model, potentials=(*model.potentials, *factors)), [column[picked] for column in codes]


def _weights(model: Model, codes: Sequence[Codes], wanted: Sequence[Measured]) -> tuple[Floats, list[Factor]]:
    """A weight for each row, their sum about the model's total, and its logarithm as tables over the marginals."""
    weights = np.full(len(codes[0]), model.total / len(codes[0]))
    tables = [np.zeros(np.shape(each.values)) for each in wanted]
    blocks, held = _blocks(model.domain, wanted, len(weights)), _held(model, codes, wanted)
    for _ in range(PASSES):
        farthest = 0.0
        for block in blocks:
            columns = [int(name) for name in block.columns]
            cells, before = _counted(model, codes, columns, weights)
            joint = before.copy()
            for place in block.places:
                step = _fitted(joint, columns, wanted[place], tables[place], held=held[place], total=model.total)
                farthest = max(farthest, step)
            _multiply(weights, cells, np.divide(joint, before, out=np.ones_like(before), where=before > EMPTY).ravel())
        if farthest <= SMALL:
            break
    return weights, [(each.clique, table) for each, table in zip(wanted, tables, strict=True)]


def _held(model: Model, codes: Sequence[Codes], wanted: Sequence[Measured]) -> list[float]:
    """How strongly the cells of each marginal are held where the model has them: its variance times a prior.

    By the prior, the count m of a cell is off by m/prior in squares. Where the pairs that the model was not fitted to
    are off by more, the prior of pairs is what they say. Triples, which are off by what their pairs are, say little.
    """
    known, weights = {clique for clique, _ in model.potentials}, np.full(len(codes[0]), model.total / len(codes[0]))
    pairs = [each for each in wanted if len(each.clique) == 2 and each.clique not in known]
    excess = 0.0
    for block in _blocks(model.domain, pairs, len(weights)):
        columns = [int(name) for name in block.columns]
        _, joint = _counted(model, codes, columns, weights)
        for each in (pairs[place] for place in block.places):
            off = each.values - _marginal(joint, columns, each.clique).reshape(np.shape(each.values))
            excess += float(np.sum(off**2)) - each.variance * off.size
    prior = min(PRIOR, SHARED * len(pairs) * model.total / excess) if excess > 0 else PRIOR
    return [(prior if len(each.clique) == 2 else PRIOR) * each.variance for each in wanted]


def _counted(model: Model, codes: Sequence[Codes], columns: Sequence[int], weights: Floats) -> tuple[Codes, Floats]:
    """The cell of each row, and the weight in each cell, with an axis for each column."""
    shape = [model.domain[column] for column in columns]
    cells = joint_codes([codes[column] for column in columns], shape, len(weights))
    return cells, _summed(weights, cells, math.prod(shape)).reshape(shape)


def _blocks(domain: Sequence[int], wanted: Sequence[Measured], rows: int) -> list[Together]:
    """Marginals that are fitted in one pass over the rows, those of more columns still before those of fewer.

    Rows of one cell of all columns of a block are weighted alike, so that fitting one of its marginals after another
    needs no more of the rows than the weight of each cell. Every marginal is a dozen steps over all of these cells, so
    that fewer of them pay than for counting.
    """
    cliques = [tuple(map(str, each.clique)) for each in wanted]
    most = joint_cells(rows // STEPS_TO_A_COUNT)
    sizes, found = tuple((str(column), size) for column, size in enumerate(domain)), list[Together]()
    for _, alike in groupby(range(len(cliques)), lambda place: len(cliques[place])):
        places = tuple(alike)
        blocks = covering(sizes, tuple(cliques[place] for place in places), most)
        found += [Together(each.columns, tuple(places[place] for place in each.places)) for each in blocks]
    return found


def _fitted(
    joint: Floats, columns: Sequence[int], each: Measured, table: Floats, *, held: float, total: float
) -> float:
    """Weight the cells of some columns such that one marginal fits, and tell its largest step."""
    counts = _marginal(joint, columns, each.clique)
    step = _step(counts.ravel(), table.ravel(), np.ravel(each.values), held).reshape(table.shape)
    table += step
    joint *= _spread(np.exp(step), each.clique, columns)
    scale = total / joint.sum()
    if not 0.5 < scale < 2.0:  # so that they neither vanish nor overflow, however noisy the values are
        joint *= scale
    return float(np.abs(step).max())


def _marginal(joint: Floats, columns: Sequence[int], clique: Sequence[int]) -> Floats:
    """The sums over all columns but the clique's, in its order; columns of one value have no axis."""
    kept = [column for column in columns if column in clique]
    sums = joint.sum(axis=tuple(axis for axis, column in enumerate(columns) if column not in kept))
    return np.transpose(sums, [kept.index(column) for column in clique if column in kept])


def _summed(weights: Floats, cells: Codes, size: int) -> Floats:
    """The weight of the rows in each cell."""
    found = np.zeros(size)
    for rows in _chunks(len(weights)):
        found += np.bincount(cells[rows], weights=weights[rows], minlength=size)
    return found


def _multiply(weights: Floats, cells: Codes, factors: Floats) -> None:
    """Multiply each row's weight by the factor of its cell."""
    for rows in _chunks(len(weights)):
        weights[rows] *= factors[cells[rows]]


def _chunks(rows: int) -> Iterator[slice]:
    """Rows that are gone through at a time: what is made of them stays in the processor's cache."""
    return (slice(start, start + CHUNK) for start in range(0, rows, CHUNK))


def _spread(table: Floats, clique: Sequence[int], columns: Sequence[int]) -> Floats:
    """The table with the axes of these columns, of length one for those that it is not over."""
    kept = [column for column in columns if column in clique]
    order = [clique.index(column) for column in (*kept, *(each for each in clique if each not in kept))]
    sizes = dict(zip(clique, table.shape, strict=True))
    return np.transpose(table, order).reshape([sizes.get(column, 1) for column in columns])


def _step(counts: Floats, table: Floats, values: Floats, held: float) -> Floats:
    """The step d of each cell's log weight with counts·exp(d) + held·(θ + d) = values, by Newton's method."""
    step = np.zeros_like(counts)
    for _ in range(NEWTON_STEPS):
        reached = counts * np.exp(step)
        move = (reached + held * (table + step) - values) / (reached + held)
        step -= np.clip(move, -1.0, 1.0)
        if np.abs(move).max() < SETTLED:
            break
    bounded: Floats = np.clip(table + step, -LARGEST, LARGEST) - table
    return np.where(counts > 0, bounded, 0.0)


def _systematic(codes: Sequence[Codes], weights: Floats, rows: int, noise: Noise) -> Integers:
    """One place per row, each as often as its share of the weights demands, up or down to a whole number at random.

    They are rounded in the order of their codes, so that rows of like codes make up for each other: in a random order
    the counts of a million rows were off by twice as much.
    """
    order = np.lexsort(codes[::-1])
    ends = np.cumsum(weights[order])
    ends = np.minimum(ends * (rows / ends[-1]), rows)
    ends[-1] = rows
    counts = np.empty(len(weights), dtype=np.int64)
    counts[order] = np.diff(np.floor(ends + noise.uniform(1)), prepend=0.0).astype(np.int64)
    return np.repeat(np.arange(len(weights)), counts)
