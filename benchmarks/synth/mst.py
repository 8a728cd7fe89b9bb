"""MST (McKenna, Miklau and Sheldon 2021) beside OpenDP's, from the Adult table to as many synthetic rows.

Both measure every column, choose a spanning tree of pairs and measure those, at the same ρ and with the same shares
of it. Ours starts from the compressed file, OpenDP's from columns that are coded already. Each run is a fresh process.
OpenDP needs other versions of libraries, so it has an environment of its own; where that cannot be installed, the
figures say so and nothing else. Its own check of the draws refuses most shares by a rounding error; these it takes.
"""

import subprocess
import sys
import tempfile
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import HERE, Progress
from benchmarks.synth.process import fresh

PEER = ("opendp[mbi]==0.16.0", "pandas")
NAME = "opendp-0.16.0"
HOME = HERE.parent / ".venv" / "peer"
RHO = Fraction(1, 20)
ALONE, PAIRS = Fraction(1, 3), Fraction(3, 5)
"""The share of ρ for single columns, and of the rest for the chosen pairs; choosing them gets what is left."""
TURNS = 2


def figures(progress: Progress) -> dict[str, float]:
    """Seconds, OpenDP's over ours, and the mean total variation over all pairs of columns."""
    progress("installing OpenDP's MST")
    python = _installed()
    if python is None:
        return {"synth.mst_peer_could_not_be_installed": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        codes, mine, theirs = (Path(folder) / f"{name}.npz" for name in ("codes", "mine", "theirs"))
        _save(codes)
        peer = [str(python), "-W", "ignore", str(Path(__file__).with_name("peer.py")), str(codes), str(theirs)]
        shares = [str(float(each)) for each in (RHO, ALONE, PAIRS)]
        times = []
        for turn in range(TURNS):
            progress(f"MST, turn {turn + 1}")
            start = perf_counter()
            fresh("mst", str(mine))()
            between = perf_counter()
            subprocess.run([*peer, *shares], check=True, capture_output=True)
            times.append((between - start, perf_counter() - between))
        ours, other = (median(each) for each in zip(*times, strict=True))
        distances = _variation(codes, mine), _variation(codes, theirs)
    return {
        "synth.mst_seconds": ours,
        "synth.mst_peer_seconds": other,
        "synth.mst_vs_peer": other / ours,
        "synth.mst_two_way_tv.expost": distances[0],
        f"synth.mst_two_way_tv.{NAME}": distances[1],
    }


def ours(out: str) -> None:
    """Our MST, as the only work of a process."""
    from expost.accounting.claim import Budget  # noqa: PLC0415
    from expost.datasets import adult  # noqa: PLC0415
    from expost.mechanisms.gaussian import Gaussian  # noqa: PLC0415
    from expost.noise import SystemNoise  # noqa: PLC0415
    from expost.numerics import up  # noqa: PLC0415
    from expost.odometer import Odometer  # noqa: PLC0415
    from expost.private import Private  # noqa: PLC0415
    from expost.release import Past  # noqa: PLC0415
    from expost.tabular.marginals import Marginals  # noqa: PLC0415
    from expost.tabular.model.graphical import Measured, fit  # noqa: PLC0415
    from expost.tabular.model.junction import Junction  # noqa: PLC0415
    from expost.tabular.selection import SpanningTree  # noqa: PLC0415

    table, noise, odometer = adult.load(), SystemNoise(), Odometer()
    data, neighbours, names = Private(table, table.schema.neighbours), table.schema.neighbours, list(table.domain)
    single, chosen, paired = (Budget.of(2 * RHO * share, alpha=2) for share in _shares())
    alone = Marginals(table.domain, tuple((name,) for name in names), neighbours)
    ones = odometer.spend(Gaussian(alone.statistic), data, single, Past(), noise).value
    counts = {clique[0]: values for clique, values in alone.apart(ones.values).items()}
    selection = SpanningTree(counts, tuple(combinations(names, 2)), neighbours)
    tree = odometer.spend(selection, data, chosen, Past(), noise).value
    pairs = Marginals(table.domain, tree, neighbours)
    twos = odometer.spend(Gaussian(pairs.statistic), data, paired, Past(), noise).value
    measured = [
        Measured(tuple(names.index(name) for name in clique), values, up(each.variance))
        for marginals, each in ((alone, ones), (pairs, twos))
        for clique, values in marginals.apart(each.values).items()
    ]
    junction = Junction.of(tuple(table.domain.values()), [each.clique for each in measured])
    rows = fit(junction, measured).round(len(table), noise)
    np.savez(out, allow_pickle=False, **dict(zip(names, rows, strict=True)))


def _shares() -> tuple[Fraction, Fraction, Fraction]:
    """Of ρ: for single columns, for choosing pairs, for the pairs."""
    return ALONE, (1 - ALONE) * (1 - PAIRS), (1 - ALONE) * PAIRS


def _installed() -> Path | None:
    """The interpreter of the environment that has OpenDP's MST, or nothing if it could not be made."""
    python = HOME / "bin" / "python"
    venv = [sys.executable, "-m", "venv", str(HOME)]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PEER]
    for command in (venv, pip):
        if subprocess.run(command, check=False, capture_output=True).returncode:
            return None
    return python


def _save(path: Path) -> None:
    """The coded table, and the sizes of its columns."""
    from expost.datasets import adult  # noqa: PLC0415

    table = adult.load()
    sizes = np.array(list(table.domain.values()))
    np.savez(path, allow_pickle=False, domain=sizes, **{name: table.codes(name) for name in table.domain})


def _variation(real: Path, made: Path) -> float:
    """The mean over all pairs of columns of the total variation distance between two tables."""
    with np.load(real) as stored, np.load(made) as found:
        sizes = dict(zip((name for name in stored.files if name != "domain"), stored["domain"].tolist(), strict=True))
        tables = [{name: each[name].astype(np.int64) for name in sizes} for each in (stored, found)]

    def shares(table: dict[str, NDArray[np.int64]], left: str, right: str) -> NDArray[np.float64]:
        wide = sizes[right] + 1
        counts = np.bincount(table[left] * wide + table[right], minlength=(sizes[left] + 1) * wide)
        return np.asarray(counts / counts.sum())

    pairs = list(combinations(sizes, 2))
    distances = (np.abs(shares(tables[0], *pair) - shares(tables[1], *pair)).sum() / 2 for pair in pairs)
    return float(sum(distances) / len(pairs))
