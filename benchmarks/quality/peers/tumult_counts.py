"""Tumult Analytics' counts by group with its defaults: ``python tumult_counts.py OUT EPSILON DELTA GROUPS CONFIDENCE``.

One query, released once with all of the budget. Every group has one row, so that what an answer is off by is noise
alone, and there are as many groups as it takes to know the standard deviation of that and its quantile.
"""

import json
import os
import sys
from pathlib import Path

os.environ["PYSPARK_PYTHON"] = sys.executable  # before pyspark is there, whose workers need the same packages

import numpy as np
from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, ApproxDPBudget, KeySet, QueryBuilder, Session


def main(out: str, epsilon: str, delta: str, groups: str, confidence: str) -> None:
    """Write the standard deviation of the noise, and the distance that this share of it lies within."""
    many, budget = int(groups), ApproxDPBudget(float(epsilon), float(delta))
    begun = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", "1")
    # Tumult keeps its tables in the warehouse, which Spark makes in the working folder unless it is told where.
    spark = begun.config("spark.sql.warehouse.dir", str(Path(out).with_name("warehouse"))).getOrCreate()
    session = Session.from_dataframe(budget, "rows", spark.range(many), protected_change=AddOneRow())
    query = QueryBuilder("rows").groupby(KeySet.from_dict({"id": list(range(many))})).count()
    noise = session.evaluate(query, budget).toPandas()["count"].to_numpy() - 1.0
    half = float(np.quantile(np.abs(noise), float(confidence)))
    Path(out).write_text(json.dumps({"groups": len(noise), "std": float(noise.std()), "half": half}))


main(*sys.argv[1:])
