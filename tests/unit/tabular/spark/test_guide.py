"""What the page on large tables says of Spark is true: its code runs as it stands, on a table of the reader's own."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from expost.tabular.schema.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PAGE = (Path(__file__).parents[4] / "docs/large-tables.md").read_text(encoding="utf-8")
SCHEMA = Schema.load("""
reviewed = true
neighbours = "add-remove"
[[column]]
name = "country"
kind = "categorical"
values = ["CH", "FR", "IT"]
other = "other"
missing = true
[[column]]
name = "returned"
kind = "boolean"
missing = false
""")


def test_the_code_for_spark_runs_as_it_stands(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (_, section) = PAGE.split("\n## From Spark\n")
    (code,) = re.findall(r"^```python\n(.*?)^```", section.partition("\n## ")[0], re.DOTALL | re.MULTILINE)
    rows = [(["CH", "FR", "IT", None][place % 4], place % 4 < 2) for place in range(2000)]
    address = str(tmp_path / "events")
    spark.createDataFrame(rows, "country string, returned boolean").write.parquet(address)
    names: dict[str, Any] = {"schema": SCHEMA, "folder": str(tmp_path / "checkpoints"), "address": address}

    exec(code, names)

    assert names["done"].passed
    assert spark.read.parquet(f"{address}-synthetic").columns == ["country", "returned"]
    assert "country|" in capsys.readouterr().out
    names["answer"].table.createOrReplaceTempView("told")
    assert abs(spark.sql("SELECT estimate FROM told WHERE country = 'CH'").collect()[0].estimate - 500) < 200
