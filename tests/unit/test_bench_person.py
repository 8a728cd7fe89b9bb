"""The benchmark of persons: the file that is timed is one of rows with patients."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from benchmarks import person

from expost.tabular.schema.schema import Schema


def test_the_file_that_is_timed_has_whose_row_each_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "TIMED", 50)

    file, schemas = person.write_visits(tmp_path)

    written = pq.read_table(file)
    assert written.num_rows == 50
    assert written.column_names == ["patient", *Schema.load(schemas["with"]).names]
