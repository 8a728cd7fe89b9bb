"""The benchmarks of large tables measure what their names say, on the path that a user takes."""

import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.scale.cluster import cluster
from benchmarks.scale.columns import domains
from benchmarks.scale.counts import by_duckdb, by_pandas, by_polars, census
from benchmarks.scale.ends import growth, power, synthesized, told
from benchmarks.scale.tables import columns_of, write_table
from benchmarks.scale.timed import PHASES, held, phases, rungs

from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table


def test_every_peer_counts_every_record_once_for_every_pair() -> None:
    table = census(500)
    pairs = tuple(combinations(table.domain, 2))

    assert [peer(table, pairs)() for peer in (by_polars, by_pandas, by_duckdb)] == 3 * [78 * [500]]


@pytest.mark.parametrize("columns", [13, 40])
def test_the_table_is_what_its_schema_says_and_the_same_every_time(columns: int, tmp_path: Path) -> None:
    file, declared = write_table(tmp_path, 300, columns)
    other = tmp_path / "other"
    other.mkdir()

    assert columns_of(columns) == list(Schema.load(declared).names)
    table = read_table(file, Schema.load(declared))
    again = read_table(write_table(other, 300, columns)[0], Schema.load(declared))
    assert (table.columns["c0"] == again.columns["c0"]).all()
    assert {*table.columns["income"].tolist()} == {0, 1}
    assert [each.suffix for each in tmp_path.iterdir() if each.is_file()].count(".parquet") == 1


def test_a_table_whose_writing_was_interrupted_is_written_again(tmp_path: Path) -> None:
    file, _ = write_table(tmp_path, 10)
    written = file.read_bytes()
    file.rename(file.with_suffix(".begun"))

    assert write_table(tmp_path, 10)[0].read_bytes() == written


def test_growth_is_the_worst_between_any_two_sizes_and_not_hidden_by_the_largest() -> None:
    assert growth({10**5: 0.1, 10**6: 4.0, 10**7: 6.0, 10**8: 2.0}) == 1.5
    assert growth({10**6: 4.0, 10**7: 2.0, 10**8: 3.0}) == 1.5


def test_phases_are_those_of_the_process_from_its_beginning_to_its_end() -> None:
    lines = "2 pledged\n5 reading the table at 7 rows per second\n6 selecting columns\n"
    lines += "6.5 passing over the table at 7 rows per second, nearly done\n7 fitting the model\n"
    lines += "8 drawing a table\n9 learning from it\n11 learnt\n12 rung\n13 fitting the model\n14 learning\n15 rung\n"
    lines += "17 held 4096\n"

    taken = phases(1, lines, 18)

    assert taken == {
        "starting": 1, "reading": 4, "counting": 2, "fitting": 2, "drawing": 1, "learning": 3, "scoring": 1,
        "writing": 3,
    }  # fmt: skip
    assert sum(taken.values()) == 17
    assert rungs(lines) == 2
    assert held(lines) == 4096


def test_what_is_timed_is_the_command_with_every_phase(tmp_path: Path) -> None:
    ours = np.ones(10**8)  # what the benchmark itself held before, which Linux counts with what it starts
    del ours
    taken = synthesized(*write_table(tmp_path, 2_000), "--estimator", "model", "--ladder", "renyi:0.5:1:2")

    assert set(taken.phases) == set(PHASES)
    assert all(spent > 0 for spent in taken.phases.values())
    assert sum(taken.phases.values()) == pytest.approx(taken.wall, rel=0.01)
    assert taken.rungs in (1, 2)
    assert 0.05 < told(taken, power(10**3))["scale.peak_gb.1e3"] < 0.8


def test_what_spark_takes_is_left_out_where_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = list[str]()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)

    assert cluster(tmp_path, told.append) == {}
    assert len(told) == 1
    assert told[0].startswith("leaving out what Spark takes: ")


def test_columns_of_many_values_are_measured_too() -> None:
    found = domains(lambda text: None, values=30, rows=300)

    assert {name for name, seconds in found.items() if seconds > 0} == {
        "scale.domains_seconds.30", "scale.domains_cpu.30",
    }  # fmt: skip
