"""OpenDP's MST or AIM with its defaults: ``python opendp_tables.py TABLE OUT RHO MST SHARE`` or ``... RHO AIM``.

The codes are given as cuts between whole numbers, which makes exactly the bins that all tools get; keys would add a bin
for missing values to each. Rows are made both ways that there are, since neither is always the better one.

One thing is done quicker than OpenDP does it. Every step of AIM scores each pair of columns by a projection of the
model, for which mbi sums columns out by single operations of JAX, each compiled anew for every shape that it meets.
Nearly all of AIM's time goes there: as published it does not end within half an hour on most tables. Here NumPy sums
out the same columns in the same order, so that the releases follow the same law.
"""

import sys
import warnings
from functools import reduce
from typing import Any, TypeAlias

import mbi
import numpy as np
import opendp.prelude as dp
import polars as pl
from mbi.junction_tree import greedy_order
from numpy.typing import NDArray
from opendp.extras.mbi import AIM, MST
from scipy.special import logsumexp

Part: TypeAlias = tuple[tuple[str, ...], NDArray[np.float64]]
"""Columns, and an array with an axis for each."""


def main(given: str, out: str, rho: str, algorithm: str, share: str = "") -> None:
    """Write as many rows as there are records, by each method."""
    dp.enable_features("contrib")
    with np.load(given) as stored:
        codes, sizes = stored["codes"], stored["sizes"].tolist()
    columns = {f"c{place}": codes[:, place] for place in range(len(sizes))}
    context = dp.Context.compositor(
        data=pl.LazyFrame(columns),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=float(rho)),
    )
    cuts = {name: list(range(size - 1)) for name, size in zip(columns, sizes, strict=True)}
    chosen = AIM() if algorithm == "AIM" else MST(measure_split=float(share))
    table = context.query(rho=float(rho)).contingency_table(cuts=cuts, algorithm=chosen).release()
    rows = {method: table.model.synthetic_data(len(codes), method).df for method in ("round", "sample")}
    made = {method: each[list(columns)].to_numpy().astype(np.int16) for method, each in rows.items()}
    np.savez(out, allow_pickle=False, **made)


def projected(model: Any, attrs: str | tuple[str, ...]) -> Any:
    """What ``MarkovRandomField.project`` returns: the model's counts of some columns."""
    clique = (attrs,) if isinstance(attrs, str) else tuple(attrs)
    if model.marginals.supports(clique):
        return model.marginals.project(clique)
    potentials, active = model.potentials, model.potentials.active_domain
    parts: list[Part] = [(each.domain.attributes, np.asarray(each.values)) for each in potentials.arrays.values()]
    order, _ = greedy_order(active, [*(names for names, _ in parts), clique], elim=active.invert(clique))
    for column in order:
        names, values = added([part for part in parts if column in part[0]])
        place = names.index(column)
        rest = (*names[:place], *names[place + 1 :])
        parts = [*(part for part in parts if column not in part[0]), (rest, logsumexp(values, axis=place))]
    shape = potentials.domain.project(clique)
    logarithms = aligned(added([(clique, np.zeros(shape.shape)), *parts]), clique)
    return mbi.Factor(shape, np.exp(logarithms - logsumexp(logarithms)) * float(model.total))


def added(parts: list[Part]) -> Part:
    """Their sum, with an axis for each column of any of them."""
    names = tuple(dict.fromkeys(name for each, _ in parts for name in each))
    return names, reduce(np.add, (aligned(part, names) for part in parts))


def aligned(part: Part, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The array with its axes in this order, and one of length 1 for each column that it lacks."""
    known = [name for name in names if name in part[0]]
    moved = np.transpose(part[1], [part[0].index(name) for name in known])
    sizes = dict(zip(known, moved.shape, strict=True))
    return moved.reshape([sizes.get(name, 1) for name in names])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    mbi.MarkovRandomField.project = projected
    main(*sys.argv[1:])
