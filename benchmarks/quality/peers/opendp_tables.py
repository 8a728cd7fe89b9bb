"""OpenDP's MST or AIM with its defaults: ``python opendp_tables.py TABLE OUT RHO MST SHARE`` or ``... RHO AIM``.

The codes are given as cuts between whole numbers, which makes exactly the bins that all tools get; keys would add a bin
for missing values to each. Rows are made both ways that there are, since neither is always the better one.
"""

import sys
import warnings

import numpy as np
import opendp.prelude as dp
import polars as pl
from opendp.extras.mbi import AIM, MST


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


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
