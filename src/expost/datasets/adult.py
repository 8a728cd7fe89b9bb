"""The Adult table: census records of 45,222 people with 13 columns, and its public schema.

Becker, B. and Kohavi, R. (1996), Adult, UCI Machine Learning Repository, CC BY 4.0; see ADULT.md.
"""

from importlib.resources import as_file, files

from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from expost.tabular.table import Table


def adult_schema() -> Schema:
    """The public domain: 13 columns, whether the income is above 50K as the target."""
    return Schema.load(files("expost.datasets").joinpath("adult.toml").read_text(encoding="utf-8"))


def load() -> Table:
    """The records without a missing value, coded by the schema."""
    with as_file(files("expost.datasets").joinpath("adult.csv.gz")) as path:
        return read_table(path, adult_schema())
