"""Four tables to choose pairs of columns in: Adult, one that is wide, one with few columns, and one that is skewed."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from expost.datasets import adult
from expost.private import Neighbours
from expost.tabular.schema.column import Missing
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.schema import Schema
from expost.tabular.table import Table

TARGET = "income"
FEW = ("education", "marital-status", "hours-per-week", "gender")


def wide() -> Table:
    """10,000 records, 24 columns of four values: five tell of the target, five repeat those, and 14 are noise."""
    from sklearn.datasets import make_classification  # noqa: PLC0415

    features, labels = make_classification(
        10_000, 24, n_informative=5, n_redundant=5, class_sep=0.8, shuffle=False, random_state=1
    )
    cuts = np.quantile(features, (0.25, 0.5, 0.75), axis=0)
    codes = {f"x{place}": np.digitize(each, cuts[:, place]) for place, each in enumerate(features.T)}
    return _table(codes | {TARGET: labels})


def few() -> Table:
    """8,000 records of Adult with four columns beside the target."""
    whole = adult.load()
    return _table({name: whole.codes(name)[:8_000] for name in (*FEW, TARGET)})


def skewed() -> Table:
    """12,000 records, ten columns of eight values that fall like 1/v², each in part a copy of an earlier column."""
    draw = np.random.Generator(np.random.PCG64(1))
    records, odds = 12_000, 1 / np.arange(1, 9) ** 2.0
    codes: dict[str, NDArray[np.int64]] = {}
    for place in range(10):
        fresh = draw.choice(8, size=records, p=odds / odds.sum())
        parent = codes[f"x{draw.integers(place)}"] if place else fresh
        codes[f"x{place}"] = np.where(draw.random(records) < 0.1 + 0.02 * place, parent, fresh)
    label = (codes["x2"] + codes["x9"] >= 2) ^ (draw.random(records) < 0.1)
    return _table(codes | {TARGET: label.astype(np.int64)})


TABLES: Final[Mapping[str, Callable[[], Table]]] = {"adult": adult.load, "wide": wide, "few": few, "skewed": skewed}


def _table(codes: Mapping[str, NDArray[np.integer]]) -> Table:
    columns = tuple(Integer(name, tuple(range(int(each.max()) + 1)), Missing.FALLBACK) for name, each in codes.items())
    return Table(
        Schema(columns, True, Neighbours.ADD_REMOVE), {name: each.astype(np.uint8) for name, each in codes.items()}
    )
