"""Tables on their way to be read: what kind of table one is follows from its class, and from nothing in it."""

import warnings

import polars as pl

from expost.tabular.hidden import HiddenTable
from expost.tabular.table import Kind


class Watched(pl.LazyFrame):
    """A lazy frame whose schema would have to be worked out."""

    @property
    def schema(self) -> pl.Schema:
        """Not to be asked for."""
        raise AssertionError("the query was resolved")


def test_nothing_of_a_lazy_frame_is_worked_out_to_tell_its_kind() -> None:
    watched = Watched({"age": [1, 2]})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind = HiddenTable(watched).kind

    assert kind is Kind.POLARS
