"""OpenDP's MST in an environment of its own: ``python peer.py CODES OUT RHO ALONE PAIRS``.

``CODES`` has an array for each column and the sizes of the columns under ``domain``.
"""

import sys

import numpy as np
import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi import MST


def main(codes: str, out: str, rho: str, alone: str, pairs: str) -> None:
    """Write a synthetic table of as many rows; ``pairs`` is the share of what the single columns leave."""
    dp.enable_features("contrib")
    with np.load(codes) as stored:
        sizes = stored["domain"]
        columns = {name: stored[name].astype(np.int64) for name in stored.files if name != "domain"}
    keys = {name: list(range(size)) for name, size in zip(columns, sizes.tolist(), strict=True)}
    context = dp.Context.compositor(
        data=pl.LazyFrame(columns),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=float(rho)),
    )
    algorithm = MST(oneway_split=float(alone), measure_split=float(pairs))
    table = context.query(rho=float(rho)).contingency_table(keys=keys, algorithm=algorithm).release()
    # independent draws: its rounded rows tie the columns that hang on a third to each other, at any privacy
    rows = table.synthesize(rows=len(next(iter(columns.values()))), method="sample")
    # OpenDP adds a missing value to every column; it is counted as a value that the table does not have
    made = {name: rows[name].fill_null(len(keys[name])).to_numpy() for name in keys}
    np.savez(out, allow_pickle=False, **made)


if __name__ == "__main__":
    main(*sys.argv[1:])
