"""Tables on their way to be read: what kind of table one is follows from its class, and from nothing in it."""

import polars as pl

from expost.tabular.hidden import HiddenTable
from expost.tabular.table import Kind


class Watched(pl.LazyFrame):
    """A lazy frame that is not to be asked for anything that frames do not have, nor for its schema."""

    def __getattr__(self, name: str) -> object:
        """Nobody may ask."""
        raise AssertionError(f"{name} was asked for")

    @property
    def schema(self) -> pl.Schema:
        """Not to be worked out."""
        raise AssertionError("the query was resolved")


def test_nothing_of_a_lazy_frame_is_worked_out_to_tell_its_kind() -> None:
    watched = Watched({"age": [1, 2]})

    kind = HiddenTable(watched).kind

    assert kind is Kind.POLARS
