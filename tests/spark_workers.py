"""What Spark forks its Python workers from in tests: with what their tasks need imported once and not by each."""

from importlib import import_module

from pyspark.daemon import manager

for name in ("expost.tabular.spark.rows", "sklearn.ensemble", "tests.unit.tabular.spark.crowds"):
    import_module(name)

if __name__ == "__main__":
    manager()
