"""What a fresh process does: one of the jobs that are timed from its start to its end."""

import sys
from collections.abc import Callable

from benchmarks.synth import demo, fits, mst

JOBS: dict[str, Callable[..., None]] = {"ladder": fits.ladder, "table": demo.table, "mst": mst.ours}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*sys.argv[2:])
