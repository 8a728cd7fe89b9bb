"""Moments of persons with several rows: all that one person adds, shrunk as one vector to what a single row may add.

Everything is an integer in double precision. A sum of squares of such is exact up to 2**53, in whatever order, and one
that exceeds it stays above every limit here; so who is within a limit is decided exactly. How much others are shrunk
follows from lengths that are added up in an order of their own.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from expost.noise import Floats, Integers
from expost.norms import row_norms

SLACK = (63 / 64, 7 / 8, 1 / 2)
"""Of the length that is left, what is tried in turn: rows that are shrunk and rounded may end a little longer."""


def sums_of_persons(rows: Floats, labels: Integers, size: int, classes: int, constant: int) -> Floats:
    """The class sums of each person, of ``size`` rows one after the other, and beside them what the rows count for."""
    width = rows.shape[1]
    truth = (labels[:, None] == np.arange(classes)).astype(np.float64).reshape(-1, size, classes)
    longer = np.column_stack([rows, np.full(len(rows), float(constant))]).reshape(-1, size, width + 1)
    return np.asarray(truth.swapaxes(1, 2) @ longer)


def shrunk_sums(vectors: Floats, limit: int) -> Integers:
    """The sum of the class sums of persons, each of squared length ``limit`` at most.

    Implements: moments of persons.
    """
    flat = vectors.reshape(len(vectors), -1)
    room = sqrt(limit) - sqrt(flat.shape[1]) / 2  # rounding moves a vector by half the root of its width at most
    shares = np.where(_squared(flat) <= limit, 1.0, room / np.maximum(row_norms(flat), 1.0))
    grid = np.round(flat * shares[:, None])
    kept = np.where((_squared(grid) <= limit)[:, None], grid, 0.0)
    return np.asarray(kept.sum(axis=0).reshape(vectors.shape[1:]), np.int64)


def shrunk_moments(vectors: Floats, rows: Floats, limit: int, beside: int, diagonal: int) -> tuple[Integers, Integers]:
    """The sums of class sums and of second moments of persons, each person's by one share of both.

    With class sums times ``beside`` and the second moments A times ``diagonal`` each person has a squared length of
    ``limit`` at most, where ‖A‖² is the sum over pairs of rows of their squared products. Those of few rows are shrunk
    row by row, by the root of the share; those of more rows than features entry by entry.
    """
    persons, size, width = rows.shape
    flat, tall = vectors.reshape(persons, -1), size > width
    sums, squares = np.zeros(flat.shape[1], np.int64), np.zeros((width, width), np.int64)
    products = rows.swapaxes(1, 2) @ rows if tall else rows @ rows.swapaxes(1, 2)
    lengths = np.sqrt((beside * row_norms(flat)) ** 2 + (diagonal * row_norms(products.reshape(persons, -1))) ** 2)
    for share in (None, *SLACK):
        shares = np.ones(len(flat)) if share is None else np.minimum(1.0, share * sqrt(limit) / lengths)
        first = np.round(flat * shares[:, None])
        lines = rows if tall else np.round(rows * np.sqrt(shares)[:, None, None])
        second = np.round(products * shares[:, None, None]) if tall else lines @ lines.swapaxes(1, 2)
        fits = _fit(first, second, limit, beside, diagonal)
        sums += first[fits].sum(axis=0).astype(np.int64)
        kept = lines[fits].reshape(-1, width)
        squares += (second[fits].sum(axis=0) if tall else kept.T @ kept).astype(np.int64)
        flat, rows, products, lengths = flat[~fits], rows[~fits], products[~fits], lengths[~fits]
    return sums.reshape(vectors.shape[1:]), squares


def _fit(first: Floats, second: Floats, limit: int, beside: int, diagonal: int) -> NDArray[np.bool_]:
    """Whether both together are short enough, exactly."""
    one = np.minimum(_squared(first), limit // beside**2 + 1).astype(np.int64)
    other = np.minimum(np.einsum("ijk,ijk->i", second, second), limit // diagonal**2 + 1).astype(np.int64)
    return np.asarray(beside**2 * one + diagonal**2 * other <= limit)


def _squared(vectors: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
