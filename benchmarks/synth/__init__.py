"""Synthetic tables: fits and rows beside mbi, the demo, and MST beside OpenDP's, all on the Adult table."""

from benchmarks.harness import Progress
from benchmarks.synth import demo, fits, mst


def run(progress: Progress) -> dict[str, float]:
    """What each part measures says its module."""
    return fits.figures(progress) | demo.figures(progress) | mst.figures(progress)
