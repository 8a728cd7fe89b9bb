"""A fitted classifier and what it tells of records, each by itself; it can be sent to where the records are."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from threadpoolctl import ThreadpoolController

from expost.noise import Integers
from expost.tabular.table import Table

FAILED = -(2**40)
"""Predicted where a classifier fails: wrong for every record, whatever the tolerance, and below every rank."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class FittedClassifier:
    """A fitted classifier and what it is asked; can be sent to where records are."""

    fitted: Any
    told: Callable[[Any, Integers], Integers]
    target: str

    def __call__(self, records: Table) -> Integers:
        """What a copy of it tells: what a classifier remembers of records is neither released nor asked again."""
        with one_thread():
            return told_by(copy.deepcopy(self.fitted), self.told, features_of(records, self.target))


def one_thread() -> AbstractContextManager[object]:
    """Several threads on busy cores wait for each other: one is never much slower and often ten times faster."""
    alone: AbstractContextManager[object] = ThreadpoolController().limit(limits=1)
    return alone


def told_by(fitted: Any, told: Callable[[Any, Integers], Integers], features: Integers) -> Integers:
    """What is told of each record, ``FAILED`` where the classifier fails.

    If it fails on several records they are tried in halves, since one record must not decide how another is scored.
    """
    if len(features) == 0:
        return np.zeros(0, dtype=np.int64)
    try:
        codes = told(fitted, features)
    except Exception:  # noqa: BLE001  whatever it is, what it says may quote a record
        codes = np.zeros(0, dtype=np.int64)
    if codes.shape == (len(features),):
        return codes
    if len(features) == 1:
        return np.array([FAILED])
    half = len(features) // 2
    return np.concatenate([told_by(fitted, told, features[:half]), told_by(fitted, told, features[half:])])


def features_of(table: Table, target: str) -> Integers:
    """The codes of all columns but the target, record by record."""
    return np.column_stack([table.codes(name).astype(np.int64) for name in table.schema.names if name != target])
