"""Relations of DuckDB that lie as codes in memory, and whose values are looked up as they are read."""

from collections.abc import Mapping

import numpy as np
from duckdb import DuckDBPyRelation

from expost.tabular.schema.column import Decoded, Listed, Values
from expost.tabular.source.home import connection


def relation_of(columns: Mapping[str, Decoded]) -> DuckDBPyRelation:
    """The columns as a relation: what is listed stays a place in its list until somebody reads it.

    It is read by one thread: each that writes Parquet holds a group of rows of all columns.
    """
    home = connection()
    home.execute("SET threads = 1")
    arrays, taken = dict[str, Values](), list[str]()
    for place, (name, values) in enumerate(columns.items()):
        own, column = f"c{place}", '"' + name.replace('"', '""') + '"'
        if isinstance(values, Listed):
            arrays[own] = values.places
            home.register("known", {"place": np.arange(len(values.known)), "value": values.known})
            home.execute(f"SET VARIABLE {own} = (SELECT list(value ORDER BY place) FROM known)")  # noqa: S608  ours
            home.unregister("known")
            taken.append(f"getvariable('{own}')[{own}::INTEGER + 1] AS {column}")
        else:
            arrays[own] = values
            taken.append(f"{own} AS {column}")
    home.register("columns", arrays)
    return home.view("columns").project(", ".join(taken))
