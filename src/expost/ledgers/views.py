"""Views: what is known of a statistic at one precision, and where a new one lies on the path through the others."""

import base64
import hashlib
import json
import math
import zlib
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from expost.accounting.claim import Spent
from expost.accounting.gaussian import lattice_line
from expost.errors import LedgerConflict, Unreadable
from expost.ledgers.amounts import Amount, minus
from expost.ledgers.home import Writing
from expost.ledgers.terms import Terms
from expost.mechanisms.brownian import Estimate
from expost.noise import Noise
from expost.numerics import up
from expost.receipts.notation import fraction, items, record, whole
from expost.tabular.table import Table
from expost.text import Json

MOST_BYTES = 2**28
VIEW = ("values", "shape", "precision")


@final
@dataclass(frozen=True, slots=True, eq=False)
class View:
    """An estimate and its level, the ρ of zCDP that a Gaussian release of its precision costs."""

    level: Fraction
    estimate: Estimate


def along_path(views: Sequence[View], level: Fraction, l2_squared: Fraction, noise: Noise) -> View:
    """A view that is coarser than the finest, drawn given all others: it reads no data.

    With T the variance of a view, the estimates are f + B_T for one Brownian motion B. Between two views it is a
    Brownian bridge, beyond the coarsest it goes on freely; all others say nothing more.

    Implements: views along one path.
    """
    place = bisect([view.level for view in views], level)
    finer, variance = views[place], l2_squared / (2 * level)
    above = variance - 1 / finer.estimate.precision
    shape, values = finer.estimate.values.shape, finer.estimate.values
    if place == 0:
        drawn = values + noise.gaussian(math.sqrt(up(above)), shape)
        return View(level, Estimate(drawn, 1 / variance))
    coarser = views[place - 1].estimate
    width = 1 / coarser.precision - 1 / finer.estimate.precision
    share = float(above / width)
    spread = math.sqrt(up(above * (width - above) / width))
    drawn = (1 - share) * values + share * coarser.values + noise.gaussian(spread, shape)
    return View(level, Estimate(drawn, 1 / variance))


def view_charge(terms: Terms, l2_squared: Fraction, size: int, before: Fraction, level: Fraction) -> Amount:
    """What a view of a level costs who saw no finer one than that of the level before, which is 0 if there is none."""
    costs = (
        terms.amount(Spent(lattice_line(l2_squared / (2 * each), l2_squared, size))) if each else terms.nothing
        for each in (level, before)
    )
    return minus(*costs)


def view_text(view: View) -> str:
    """A view as the ledger keeps it: JSON, compressed."""
    values = view.estimate.values
    found = {"values": values.ravel().tolist(), "shape": values.shape, "precision": str(view.estimate.precision)}
    return base64.b85encode(zlib.compress(json.dumps(found, allow_nan=False).encode())).decode()


def view_in(level: str, text: str) -> View:
    """The view that ``view_text`` wrote."""
    try:
        engine = zlib.decompressobj()
        found = record(json.loads(engine.decompress(base64.b85decode(text), MOST_BYTES)), VIEW)
        values = np.array(found["values"], dtype=np.float64).reshape([*map(whole, items(found["shape"]))])
        return View(fraction(level), Estimate(values, fraction(found["precision"])))
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, MemoryError, zlib.error):
        raise Unreadable("a stored release of the ledger cannot be read; the file was changed or is damaged.") from None


def store_view(writing: Writing, release: str, view: View) -> dict[str, Json]:
    """Keep a view for good; what its entry says of it."""
    text = view_text(view)
    writing.later("INSERT INTO views (release, level, payload) VALUES (?, ?, ?)", release, str(view.level), text)
    return {"level": str(view.level), "stored": hashlib.sha256(text.encode()).hexdigest()}


def views_of(writing: Writing, release: str) -> list[View]:
    """All views of a release, in the order of their levels."""
    found = writing.rows("SELECT level, payload FROM views WHERE release = ?", release)
    return sorted((view_in(str(level), str(payload)) for level, payload in found), key=lambda view: view.level)


def fingerprint(records: object) -> bytes:
    """What tells two bodies of data apart: an array or a coded table, to the last bit."""
    if isinstance(records, np.ma.MaskedArray):  # by its array alone, a changed mask is not noticed
        raise LedgerConflict("a masked array has no digest; give an array with a value of its own for what is missing.")
    arrays = records.columns if isinstance(records, Table) else {"": np.asarray(records)}
    total = hashlib.sha256()
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise LedgerConflict("data of Python objects has no digest; give an array of numbers or a coded table.")
        total.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.digest()
