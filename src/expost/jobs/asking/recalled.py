"""What earlier questions have released, kept on a lasting ledger, so that nothing is paid for twice.

A run keeps the measurement that its answer was made of, with a keyed digest of the data that it counted. The same
question again is answered by it, bit for bit. Another question uses what is known of the tallies they share.
"""

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final, runtime_checkable

import numpy as np

from expost.errors import Unreadable
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.rows import fingerprint_of
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.brownian import Estimate
from expost.receipts.notation import fraction, items, number, record, text, whole
from expost.tabular.persons import Rows
from expost.text import Json

FORMAT = "expost answer 1"
MOST_BYTES = 2**28
FIELDS = ("format", "asked", "width", "sizes", "tallies")
TALLY = ("name", "most", "digest", "precision", "values")


class Kept(Protocol):
    """What a ledger recalls. Implemented by Recalled."""

    @property
    def payloads(self) -> tuple[str, ...]:
        """What earlier runs have kept, the oldest first."""

    def digest(self, printed: bytes) -> str:
        """A keyed digest of data."""


@runtime_checkable
class Remembering(Protocol):
    """A ledger that keeps what was released beside what it cost. Implemented by LedgerRun."""

    def keep(self, payload: str) -> None:
        """What the next capture stores with its bill."""

    def recalled(self) -> Kept:
        """What earlier runs of this kind on the data set have kept, as far as this one may see it."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What was kept of one answer: what it was asked, how its error bars were made, and the measurements."""

    asked: str
    width: float
    sizes: tuple[int, ...]
    tallies: Mapping[tuple[str, int], tuple[str, Estimate]]

    @classmethod
    def of(cls, payload: str) -> "Memory":
        """From what a ledger has; refused unless it is what a run writes."""
        try:
            fields = record(json.loads(payload), FIELDS)
            found = [record(each, TALLY) for each in items(fields["tallies"])]
            tallies = {
                (text(each["name"]), whole(each["most"])): (
                    text(each["digest"]),
                    Estimate(_values(text(each["values"])), fraction(each["precision"])),
                )
                for each in found
            }
            sizes = tuple(whole(each) for each in items(fields["sizes"]))
            return cls(text(fields["asked"]), number(fields["width"]), sizes, tallies)
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, MemoryError, zlib.error):
            raise Unreadable("a stored answer of the ledger cannot be read; the file was changed or is damaged.") from None


def payload_of(
    recipe: AskRecipe,
    known: Mapping[Tally, Estimate],
    digests: Mapping[Tally, str],
    *,
    most: Mapping[Tally, int],
    width: float,
    sizes: Sequence[int],
) -> str:
    """What a run keeps of its answer."""
    tallies: list[Json] = [
        {
            "name": tally.name,
            "most": most[tally],
            "digest": digests[tally],
            "precision": str(estimate.precision),
            "values": base64.b85encode(zlib.compress(estimate.values.astype("<f8").tobytes())).decode(),
        }
        for tally, estimate in known.items()
    ]
    found: dict[str, Json] = {
        "format": FORMAT, "asked": asked_in(recipe), "width": width, "sizes": [*sizes], "tallies": tallies,
    }  # fmt: skip
    return json.dumps(found, allow_nan=False)


def asked_in(recipe: AskRecipe) -> str:
    """What tells two requests apart: all that was asked, under which schema."""
    told = [
        *map(str, recipe.questions), str(recipe.confidence), recipe.together, recipe.fewer_than, recipe.rows_per_person,
        hashlib.sha256(recipe.schema.dumps().encode()).hexdigest(),
    ]  # fmt: skip
    return json.dumps(told)


def digests_of(recipe: AskRecipe, rows: Rows, kept: Kept) -> dict[Tally, str]:
    """A keyed digest of what each tally counts, and of nothing else in the table."""
    return {tally: kept.digest(fingerprint_of(recipe.schema, tally, rows)) for tally in recipe.tallies}


def memories(kept: Kept) -> list[Memory]:
    """All that is kept, the newest last."""
    return [Memory.of(each) for each in kept.payloads]


def same_answer(
    recipe: AskRecipe, found: Sequence[Memory], digests: Mapping[Tally, str]
) -> tuple[Memory, dict[Tally, Estimate], dict[Tally, int]] | None:
    """The newest answer to the same request about the same data, with its measurements."""
    for memory in reversed(found):
        if memory.asked != asked_in(recipe):
            continue
        mine = {tally: kept for tally in recipe.tallies for kept in _of(memory, tally)}
        if all(digests[tally] == digest for tally, (_, digest, _) in mine.items()):
            known = {tally: estimate for tally, (_, _, estimate) in mine.items()}
            return memory, known, {tally: most for tally, (most, _, _) in mine.items()}
    return None


def known_before(
    recipe: AskRecipe, found: Sequence[Memory], digests: Mapping[Tally, str], most: Mapping[Tally, int]
) -> dict[Tally, Estimate]:
    """What all answers so far say of each tally of this data, by their precisions."""
    known: dict[Tally, Estimate] = {}
    for memory in found:
        for tally in recipe.tallies:
            for bound, digest, estimate in _of(memory, tally):
                if (bound, digest) == (most[tally], digests[tally]):
                    known[tally] = estimate if tally not in known else _together(known[tally], estimate)
    return known


def _of(memory: Memory, tally: Tally) -> list[tuple[int, str, Estimate]]:
    return [(most, *kept) for (name, most), kept in memory.tallies.items() if name == tally.name]


def _together(one: Estimate, other: Estimate) -> Estimate:
    precision = one.precision + other.precision
    weight = float(other.precision / precision)
    return Estimate((1 - weight) * one.values + weight * other.values, precision)


def lasting_width(precision: float, least: float, chance: float) -> float:
    """Standard errors on either side that hold at every precision, however it came about.

    For sums S of noise of variance T, |S| ≤ √((T+r) ln((T+r)/(r·a²))) for all T with probability 1−a; r is the least
    precision that is worth telling.

    Implements: error bars that nobody planned.
    """
    ratio = least / precision
    return math.sqrt((1 + ratio) * (math.log1p(1 / ratio) - 2 * math.log(chance)))


def _values(kept: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    engine = zlib.decompressobj()
    return np.frombuffer(engine.decompress(base64.b85decode(kept), MOST_BYTES), dtype="<f8").astype(np.float64)


LEAST_RHO = Fraction(1, 2**14)
"""What the least precision that is worth telling costs."""
