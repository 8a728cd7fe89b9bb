"""What the page on large tables says it takes is what was recorded, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.scale import page
from benchmarks.scale.page import HEAD, PAGE, RECORD, draw, put, section
from benchmarks.scale.timed import PHASES

RUN = ("seconds", "peak_gb", "rungs", *(f"{phase}_seconds" for phase in PHASES))
OTHERS = (
    "code_over_scan", "code_over_scan.csv", "counts_ns", "counts_vs_polars", "counts_vs_pandas",
    "counts_vs_duckdb", "columns_exponent", "selection_cpu.500", "columns_seconds.125", "columns_seconds.500",
    "odometer_growth", "finetuning_memory.full-batch", "spark_code_core_seconds", "spark_count_core_seconds",
    *(f"scan_seconds.{size}" for size in page.SIZES),
)  # fmt: skip


def record(**changed: float) -> dict[str, Any]:
    names = [*(f"{each}.{name}" for name in page.RUNS for each in RUN), *OTHERS]
    figures = {f"scale.{name}": 2.0 for name in names} | {f"scale.{name}": value for name, value in changed.items()}
    return {"machine": {"cores": 2, "cpu": "a processor"}, "figures": figures}


def test_the_page_says_what_was_recorded() -> None:
    text, there = PAGE.read_text(encoding="utf-8"), RECORD.exists()

    assert (HEAD in text) is there
    if there:
        assert text == put(text, json.loads(RECORD.read_text(encoding="utf-8")))


def test_the_section_is_put_at_the_end_once() -> None:
    once = put("# A page\n", record())

    assert once.startswith("# A page\n\n## What it takes\n")
    assert put(once, record()) == once
    assert put(once, record(code_over_scan=1.26)) != once


def test_the_estimate_follows_from_what_a_core_takes() -> None:
    """10¹¹ rows at 10 s a million are 1000 s of a thousand cores; and a pass at 1 s a million is 100 s, 73 times."""
    told = section(record(spark_code_core_seconds=10, spark_count_core_seconds=1)).replace("\n", " ")

    assert "take 17 minutes to code and 1.7 minutes for such a pass" in told
    assert "about 73 passes, or 122 minutes" in told
    assert "Together that is about 2.3 hours" in told


def test_what_a_row_takes_is_told_of_each_size_beyond_a_million() -> None:
    told = section(record(**{"seconds.1e6": 4.0, "seconds.1e7": 60.0, "seconds.1e8": 80.0}))

    assert "1.5 times as long per row for 10⁷ as for 10⁶, 0.20 times for 10⁸" in told


def test_a_figure_is_drawn_without_a_date(tmp_path: Path) -> None:
    for name in ("one", "other"):
        draw(record(), tmp_path / f"{name}.svg")

    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_figure_that_was_not_recorded_is_missed() -> None:
    found = record()
    del found["figures"]["scale.odometer_growth"]

    with pytest.raises(KeyError, match="odometer_growth"):
        section(found)
