"""The figure of docs/large-tables.md, drawn from the recorded figures: ``python -m benchmarks.scale.plot``."""

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parents[2]
ROWS = {"1e5": 10**5, "1e6": 10**6, "1e7": 10**7, "1e8": 10**8}


def draw(figures: dict[str, float], place: Path) -> None:
    """Seconds and memory by the number of rows."""
    known = {name: rows for name, rows in ROWS.items() if f"scale.seconds.{name}" in figures}
    with plt.rc_context({"svg.hashsalt": "expost", "font.size": 10}):
        drawn, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        for axes, figure, label in ((left, "seconds", "seconds"), (right, "peak_gb", "memory, GB")):
            axes.plot([*known.values()], [figures[f"scale.{figure}.{name}"] for name in known], "o-", color="#2a6f97")
            axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
            axes.grid(visible=True, alpha=0.3)
        drawn.savefig(place, metadata={"Date": None})
        plt.close(drawn)


if __name__ == "__main__":
    draw(json.loads((HERE / "benchmarks/results/scale.json").read_text())["figures"], HERE / "docs/figures/scale.svg")
