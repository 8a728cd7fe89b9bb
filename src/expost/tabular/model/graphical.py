"""A graphical model of a table, estimated from noisy marginals: post-processing of what was released."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import InvalidValue
from expost.noise import Floats, Integers, Noise
from expost.numerics import positive
from expost.tabular.model import sampling
from expost.tabular.model.estimation import Problem, minimise
from expost.tabular.model.inference import Allowed, Passes, held, shape
from expost.tabular.model.junction import Clique, Junction
from expost.tabular.model.sampling import Codes

Factor: TypeAlias = tuple[Clique, Floats]

TOLERANCE = 1e-3
"""A fit rests when the loss falls by less than this share: far less than the noise in the marginals moves it."""
ITERATIONS = 100
LARGEST = 10**7
"""Cells of a table that a marginal across cliques may need on the way."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One noisy marginal: counts over the clique's columns, and the variance of the noise in each cell."""

    clique: Clique
    values: Floats
    variance: float

    def __post_init__(self) -> None:
        positive(self.variance, "variance")
        if np.ndim(self.values) != len(self.clique) or not np.isfinite(self.values).all():
            raise InvalidValue(f"a marginal over columns {self.clique} needs one finite number per cell.")


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A distribution over the rows of a table, times an expected number of rows; ``fit`` makes it.

    ``loss`` is ½·Σ‖marginal − values‖²/variance at the fit; the smallest possible one is less than ``gap`` below it.
    What is not ``allowed`` has probability 0.
    """

    junction: Junction
    total: float
    loss: float
    gap: float
    potentials: tuple[Factor, ...]
    allowed: tuple[Allowed, ...]
    _conditionals: tuple[Floats, ...] = field(repr=False)
    joints: tuple[Floats, ...] = field(repr=False)

    @property
    def domain(self) -> tuple[int, ...]:
        """The number of values of each column."""
        return self.junction.domain

    def marginal(self, clique: Clique) -> Floats:
        """Expected counts over the columns, axes in the order given.

        Columns of one clique of the junction tree are read off; others need a table over all of them and what
        connects them, and are refused if that has more than ``LARGEST`` cells.
        """
        if len(set(clique)) != len(clique) or not set(clique) <= set(range(len(self.domain))):
            raise InvalidValue(f"the clique is {clique}; give distinct columns from 0 to {len(self.domain) - 1}.")
        place = self.junction.home(clique)
        if place is None:
            return self.total * _eliminate(self._ancestors(clique), clique, self.domain)
        columns = self.junction.nodes[place].columns
        return self.total * _sum_out([(columns, self.joints[place])], clique, self.domain)

    def _ancestors(self, clique: Clique) -> list[Factor]:
        """The conditional tables that bring in the columns and, repeatedly, what those are conditioned on."""
        wanted, factors = set(clique), []
        for node, table in zip(self.junction.nodes[::-1], self._conditionals[::-1], strict=True):
            if wanted & set(node.residual):
                wanted |= set(node.separator)
                factors.append((node.columns, table))
        return factors

    def sample(self, rows: int, noise: Noise) -> list[Codes]:
        """Independent rows from the model: one array of codes per column, in its smallest integer type."""
        return sampling.independent(self.junction, self._conditionals, rows, noise)

    def round(self, rows: int, noise: Noise) -> list[Codes]:
        """Rows whose counts follow the model clique by clique to within one: less variance than ``sample``."""
        return sampling.rounded(self.junction, self._conditionals, rows, noise)

    def conditional(self, column: int, rows: Sequence[Codes | Integers]) -> Floats:
        """P(column = v | the other columns), one line per row, one entry per v; the column's own codes are not read."""
        logs = self.log_odds(column, rows)
        odds = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def log_odds(self, column: int, rows: Sequence[Codes | Integers]) -> Floats:
        """Its logarithm up to a constant for each row, added up in the order of the potentials, whatever the rows.

        A value that is not allowed beside the others has −∞. Where none is allowed, the row is not one of the model's
        and is taken as if all were.
        """
        logs = np.zeros((len(rows[column - 1]), self.domain[column]))
        for clique, table in self.potentials:
            if column in clique:
                logs += np.moveaxis(table, clique.index(column), -1)[self._others(clique, column, rows)]
        possible = np.ones(logs.shape, dtype=np.bool_)
        for each in self.allowed:
            if column in each.clique:
                lines = np.moveaxis(each.table, each.clique.index(column), -1)
                possible &= lines[self._others(each.clique, column, rows)]
        possible |= ~possible.any(axis=1, keepdims=True)
        return np.where(possible, logs, -np.inf)

    def _others(self, clique: Clique, column: int, rows: Sequence[Codes | Integers]) -> tuple[Codes | Integers, ...]:
        """The codes of a clique's other columns."""
        others = [other for other in clique if other != column]
        for other in others:
            if rows[other].max(initial=0) >= self.domain[other] or rows[other].min(initial=0) < 0:
                raise InvalidValue(f"column {other} holds codes outside 0 … {self.domain[other] - 1}.")
        return tuple(rows[other] for other in others)


def fit(
    junction: Junction,
    measured: Sequence[Measured],
    *,
    allowed: Sequence[Allowed] = (),
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
    on_iteration: Callable[[int, float], None] | None = None,
) -> Model:
    """The distribution nearest to the measured marginals, by squares over variances, times their ``total``.

    It rests when two steps in a row lower the loss by less than ``tolerance`` of it, or when its gap is that small.
    Every fit starts from the uniform distribution: along a ladder of seven noise levels, starting from the model
    before took ten times as long, for cells driven to zero come back slowly; shrunk or clipped potentials gained
    nothing. Unmeasured interactions stay at largest entropy. What is not ``allowed`` has probability 0; counts of it
    are left to the loss. ``on_iteration`` is told the step and the loss.
    """
    _check(junction, [(each.clique, each.values) for each in measured])
    _check(junction, [(each.clique, each.table) for each in allowed])
    cliques, records = [each.clique for each in measured], record_count(measured)
    passes, empty = Passes(junction, cliques, allowed), np.zeros(0)
    weights = np.concatenate([empty, *(np.full(np.size(each.values), records**2 / each.variance) for each in measured)])
    targets = np.concatenate([empty, *(np.ravel(each.values) / records for each in measured)])
    # Nothing moves what is expected where nothing can be: potentials there would follow the noise for ever.
    problem = Problem(passes, np.where(passes.reachable, targets, 0.0), weights)
    lost = 0.5 * float(weights @ np.where(passes.reachable, 0.0, targets) ** 2)
    best = minimise(problem, tolerance=tolerance, iterations=iterations, told=on_iteration or (lambda step, loss: None))
    pieces = [best.potentials[i:j] for i, j in itertools.pairwise(passes.bounds)]
    tables = [piece.reshape(np.shape(each.values)) for piece, each in zip(pieces, measured, strict=True)]
    joints, conditionals = passes.split(best.beliefs.joint), passes.split(best.beliefs.conditional)
    gap, potentials = problem.gap(best.beliefs), tuple(zip(cliques, tables, strict=True))
    return Model(junction, records, best.value + lost, gap, potentials, tuple(allowed), conditionals, joints)


def _check(junction: Junction, tables: Sequence[tuple[Clique, NDArray[np.generic]]]) -> None:
    for clique, table in tables:
        held(junction, clique)
        expected = shape(junction.domain, clique)
        if np.shape(table) != expected:
            raise InvalidValue(
                f"the marginal over columns {clique} has shape {np.shape(table)}, "
                f"but the domain has {expected}; give one value per cell."
            )


def record_count(measured: Iterable[Measured]) -> float:
    """The number of records by the marginals' sums, each weighted by its inverse variance; at least 1."""
    pairs = [(float(np.sum(each.values)), each.variance * np.size(each.values)) for each in measured]
    weight = math.fsum(1 / variance for _, variance in pairs)
    return max(1.0, math.fsum(sums / variance for sums, variance in pairs) / weight) if pairs else 1.0


def total_std(measured: Iterable[Measured]) -> float:
    """The standard error of ``record_count``."""
    return 1 / math.sqrt(math.fsum(1 / (each.variance * np.size(each.values)) for each in measured) or 1)


def export(measured: Iterable[Measured], names: Sequence[str]) -> list[tuple[Floats, tuple[str, ...], float]]:
    """Flat values, column names and standard deviation: the arguments of mbi's ``LinearMeasurement``, in its order."""
    return [
        (np.ravel(each.values), tuple(names[column] for column in each.clique), math.sqrt(each.variance))
        for each in measured
    ]


def _eliminate(factors: list[Factor], keep: Clique, domain: Sequence[int]) -> Floats:
    """The product of the factors summed over every column but those kept, cheapest column first."""
    left = {column for columns, _ in factors for column in columns} - set(keep)

    def union(column: int) -> Clique:
        return tuple(sorted({other for columns, _ in factors if column in columns for other in columns}))

    while left:
        column = min(left, key=lambda each: (math.prod(shape(domain, union(each))), each))
        rest = tuple(other for other in union(column) if other != column)
        joined = [factor for factor in factors if column in factor[0]]
        factors = [factor for factor in factors if column not in factor[0]]
        factors.append((rest, _sum_out(joined, rest, domain)))
        left.remove(column)
    return _sum_out(factors, keep, domain)


def _sum_out(factors: Sequence[Factor], keep: Clique, domain: Sequence[int]) -> Floats:
    """The product of the factors summed over every column not kept."""
    columns = sorted({*keep, *itertools.chain.from_iterable(columns for columns, _ in factors)})
    cells = math.prod(shape(domain, tuple(columns)))
    if cells > LARGEST:
        raise InvalidValue(
            f"this marginal needs a table of {cells:,} cells over columns {tuple(columns)}; the limit is {LARGEST:,}. "
            "Ask for fewer columns, or for columns that were measured together."
        )
    product = np.ones([1] * len(columns))
    for names, table in factors:
        ordered = np.transpose(table, np.argsort(names))
        product = product * ordered.reshape([domain[column] if column in names else 1 for column in columns])
    kept = product.sum(axis=tuple(axis for axis, column in enumerate(columns) if column not in keep))
    return np.asarray(np.transpose(kept, np.argsort(np.argsort(keep))))
