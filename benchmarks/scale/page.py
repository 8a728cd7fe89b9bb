"""What it takes, in docs/large-tables.md: words, a table and a figure from what was recorded.

``python -m benchmarks.scale.page`` puts them there, once ``make bench NAME=scale`` has recorded.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib

from benchmarks.harness import RESULTS
from benchmarks.scale.ends import COLUMNS

matplotlib.use("svg")
from matplotlib import pyplot as plt

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE, FIGURE = DOCS / "large-tables.md", DOCS / "pictures/scale.svg"
RECORD: Final = RESULTS / "scale.json"
HEAD: Final = "\n## What it takes\n"
SIZES: Final = {"1e5": 10**5, "1e6": 10**6, "1e7": 10**7, "1e8": 10**8}
RUNS: Final = {
    **{name: (f"{rows:,}", "13") for name, rows in SIZES.items()},
    "1e8.memory_4gb": ("100,000,000, with `--memory 4GB`", "13"),
    **{f"1e6.{columns}_columns": ("1,000,000", f"{columns}") for columns in COLUMNS},
}
TOGETHER: Final = {
    "start": ("starting",),
    "read and code": ("reading",),
    "choose and count": ("counting",),
    "fit and draw": ("fitting", "drawing"),
    "learn": ("learning",),
    "score": ("scoring",),
    "write": ("writing",),
}
RUN_HEADS: Final = ("rows", "columns", "rungs", "scan", "all", *TOGETHER, "memory, GB")
ALT: Final = (
    "Seconds by phase and memory against the number of rows, on logarithmic scales: reading and counting grow with the "
    "rows, the rest hardly."
)
PASSES_FIRST, PASSES_A_RUNG = 3, 10
"""Over the records: for their number, for columns alone and for the tree; then on a rung that adds pairs."""
ROWS, CORES, RUNGS = 10**11, 1_000, 7
"""Of the estimate."""


def section(record: Mapping[str, Any]) -> str:
    """The words and the tables."""
    found = {name.removeprefix("scale."): _told(value) for name, value in record["figures"].items()}
    measured = {name.removeprefix("scale."): value for name, value in record["figures"].items()}
    machine = record["machine"]
    return f"""{HEAD}
Measured on {machine["cores"]} cores ({machine["cpu"]}) by `make bench NAME=scale`: `expost synth` from a Parquet file
with the columns of a census, in a process of its own with nothing chosen but a seed, from its start until the release
is written. A run ends on the first rung that passes. *Scan* is the floor: what DuckDB alone takes to read and cast the
13 columns. All times are in seconds.

{_table(RUN_HEADS, [_run(measured, name, shown) for name, shown in RUNS.items()])}

![{ALT}](pictures/scale.svg)

{_table(("what", "grows with", "measured"), _growth(found, measured))}

### A hundred billion rows on a thousand cores

{_estimate(measured)}
"""


def put(text: str, record: Mapping[str, Any]) -> str:
    """The page with the section at its end."""
    return text.partition(HEAD)[0] + section(record)


def draw(record: Mapping[str, Any], place: Path) -> None:
    """Seconds by phase, and memory, by the number of rows."""
    found = record["figures"]
    rows, phases = [*SIZES.values()], ("reading", "counting", "fitting", "drawing", "learning", "scoring", "writing")
    with plt.rc_context({"svg.hashsalt": "expost", "font.size": 10}):
        drawn, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        left.plot(rows, [found[f"scale.seconds.{name}"] for name in SIZES], "o-", color="black", label="all")
        for phase in phases:
            left.plot(rows, [found[f"scale.{phase}_seconds.{name}"] for name in SIZES], ".-", label=phase)
        left.plot(rows, [found[f"scale.scan_seconds.{name}"] for name in SIZES], "k:", label="DuckDB's scan")
        left.legend(fontsize=7, ncols=2)
        right.plot(rows, [found[f"scale.peak_gb.{name}"] for name in SIZES], "o-", color="black")
        for axes, label in ((left, "seconds"), (right, "memory, GB")):
            axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
            axes.grid(visible=True, alpha=0.3)
        drawn.savefig(place, metadata={"Date": None})
        plt.close(drawn)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def _run(found: Mapping[str, float], name: str, shown: Sequence[str]) -> list[str]:
    """A line of the first table."""
    scan = found.get(f"scan_seconds.{name}")
    parts = [sum(found[f"{phase}_seconds.{name}"] for phase in phases) for phases in TOGETHER.values()]
    figures = [found[f"seconds.{name}"], *parts, found[f"peak_gb.{name}"]]
    return [*shown, f"{found[f'rungs.{name}']:.0f}", "" if scan is None else _told(scan), *map(_told, figures)]


def _growth(found: Mapping[str, str], measured: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """The lines of the second."""
    names = {"polars": "polars", "pandas": "pandas", "duckdb": "DuckDB"}
    peers = ", ".join(f"{found[f'counts_vs_{each}']} times in {name}" for each, name in names.items())
    return [
        ("a run", "rows, beyond a million or so", _by_row(measured)),
        (
            "reading and coding",
            "rows × columns",
            f"{found['code_over_scan']} times DuckDB's own scan of Parquet, {found['code_over_scan.csv']} of CSV",
        ),
        (
            "counting all pairs",
            "rows × pairs",
            f"{found['counts_ns']} ns per row and pair; a group-by for each pair takes longer: {peers}",
        ),
        (
            "memory for codes",
            "rows × columns, up to a quarter of `--memory`",
            f"{found['peak_gb.1e8']} GB in all for 10⁸ rows, {found['peak_gb.1e8.memory_4gb']} GB with `--memory 4GB`",
        ),
        (
            "choosing pairs",
            f"columns to the power of {found['columns_exponent']}",
            f"{found['selection_cpu.500']} s for 500 columns",
        ),
        (
            "a run of 10,000 records, two rungs",
            "columns, as long as noise lets pairs be added",
            f"{found['columns_seconds.125']} s for 125 columns, {found['columns_seconds.500']} s for 500",
        ),
        ("a step of the odometer", "nothing", f"{found['odometer_growth']} times as long after 10⁵ steps as after 10³"),
        ("memory of a fine-tuning", "features", f"{found['finetuning_memory.full-batch']} times what they take"),
    ]


def _by_row(measured: Mapping[str, float]) -> str:
    """What a row takes among ten and a hundred million, over what it takes among a million."""
    ten, hundred = (measured[f"seconds.1e{zeros}"] / measured["seconds.1e6"] / 10 ** (zeros - 6) for zeros in (7, 8))
    return f"{_told(ten)} times as long per row for 10⁷ as for 10⁶, {_told(hundred)} times for 10⁸"


def _estimate(found: Mapping[str, float]) -> str:
    code, count = found["spark_code_core_seconds"], found["spark_count_core_seconds"]
    passes = PASSES_FIRST + PASSES_A_RUNG * RUNGS
    coding, each = (per * ROWS / 10**6 / CORES / 60 for per in (code, count))
    rung = sum(found[f"{phase}_seconds.1e8"] for phase in ("fitting", "drawing", "learning")) / found["rungs.1e8"]
    driver = rung * RUNGS / 60
    together = (coding + passes * each + driver) / 60
    return f"""This was not run; it follows from the figures above and from ten million of the same rows in Spark on
this machine, where a core took {_told(code)} s to code a million rows into the snapshot and {_told(count)} s to count
all 78 pairs of them in one pass. 10¹¹ rows on {CORES:,} such cores then take {_told(coding)} minutes to code and
{_told(each)} minutes for such a pass. A run makes {PASSES_FIRST} passes before its first rung and about {PASSES_A_RUNG}
on a rung that adds pairs and triples: on a ladder of {RUNGS} such rungs about {passes} passes, or
{_told(passes * each)} minutes. The driver fits, draws and learns for {_told(driver)} minutes besides, however many rows
there are. Together that is about {_told(together)} hours. The snapshot takes {13 * ROWS / 10**12:.1f} TB for 13 columns
of at most 256 codes each. What a task sends for all pairs of these columns is some tens of kilobytes, whatever the
number of rows. Not counted is what the cluster adds: storage that is slower than a local disk, waiting for the last
tasks, and tasks that are run again."""


def _told(value: float) -> str:
    """Two digits, or all of those before the point."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:#.2g}"


def main() -> None:
    """Put it all where it belongs."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), record), encoding="utf-8", newline="\n")
    draw(record, FIGURE)


if __name__ == "__main__":
    main()
