"""Drafts of small tables, and skewed numbers to draft for."""

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from expost.noise import Floats, SeededNoise
from expost.tabular.drafts.draft import draft
from expost.tabular.schema.schema import Schema

pl = import_module("polars")
ROWS = 20000


def seen(**columns: Sequence[object]) -> Schema:
    """The schema that is drafted for a small table."""
    return Schema.load(draft(pl.DataFrame(columns, strict=False)).text)


def shares(seed: int, count: int = ROWS) -> Floats:
    """Even draws between 0 and 1."""
    return SeededNoise(seed).uniform(count)


def log_normal(mean: float, std: float, seed: int, count: int = ROWS) -> list[float]:
    """Amounts in cents, whose logarithms are normal."""
    return [float(value) for value in np.round(np.exp(mean + SeededNoise(seed).gaussian(std, count)), 2)]


def amounts() -> list[float]:
    """Money that nine of ten do not spend."""
    return [float(value) for value in np.where(shares(4) < 0.9, 0.0, log_normal(6, 1.3, 5))]


def delays(count: int = ROWS) -> list[int]:
    """Whole days by an exponential law of mean 30."""
    return [int(value) for value in -30 * np.log(shares(6, count))]
