"""SmartNoise's AIM with its defaults: ``python smartnoise_aim.py TABLE OUT EPSILON DELTA``.

The codes go to it as they are: its own transformer reads values row by row in Python and would find the bins from the
records. Rows are made both ways that there are, since neither is always the better one.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from mbi import Dataset, Domain
from snsynth.aim import AIMSynthesizer
from snsynth.utils import cdp_rho


def main(given: str, out: str, epsilon: str, delta: str) -> None:
    """Write as many rows as there are records, by each method."""
    with np.load(given) as stored:
        codes, sizes = stored["codes"], stored["sizes"].tolist()
    names = [f"c{place}" for place in range(len(sizes))]
    made = AIMSynthesizer(epsilon=float(epsilon), delta=float(delta))
    made.rho = cdp_rho(made.epsilon, made.delta)
    data = Dataset(pd.DataFrame(codes, columns=names), domain=Domain(names, sizes))
    workload = made.get_workload(data, made.degree, made.max_cells, made.num_marginals)
    made.AIM(data, workload)
    rows = {method: made.synthesizer.synthetic_data(len(codes), method).df for method in ("round", "sample")}
    tables = {method: each[names].to_numpy().astype(np.int16) for method, each in rows.items()}
    np.savez(out, allow_pickle=False, **tables)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
