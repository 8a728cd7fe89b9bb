"""What earlier questions have released, kept on a lasting ledger, so that nothing is paid for twice.

A run keeps the measurement that its answer was made of, with a keyed digest of the data that it counted. The same
question again is answered by it, bit for bit. Another question uses what is known of the tallies they share.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from expost.errors import Unreadable
from expost.jobs.asking.measuring import Keep
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.planning import covers
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.tallies import Tally
from expost.mechanisms.brownian import Estimate
from expost.receipts.notation import fraction, items, number, record, text, whole
from expost.tabular.persons import Rows
from expost.tabular.schema.column import Missing
from expost.text import Json

FORMAT = "expost answer 1"
MOST_BYTES = 2**28
FIELDS = ("format", "asked", "width", "sizes", "tallies")
TALLY = ("name", "most", "digest", "precision", "values")


class Recallable(Protocol):
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

    def recalled(self) -> Recallable:
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
            sizes = tuple(int(number(each)) for each in items(fields["sizes"]))
            return cls(text(fields["asked"]), number(fields["width"]), sizes, tallies)
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, MemoryError, zlib.error):
            raise Unreadable(
                "a stored answer of the ledger cannot be read; the file was changed or is damaged."
            ) from None


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


def keeping(ledger: Remembering, recipe: AskRecipe, digests: Mapping[Tally, str], most: Mapping[Tally, int]) -> Keep:
    """What stores a measurement that an answer is told by, with the bill of that measurement."""

    def keep(known: Mapping[Tally, Estimate], width: float, sizes: Sequence[int]) -> None:
        ledger.keep(payload_of(recipe, known, digests, most=most, width=width, sizes=sizes))

    return keep


def asked_in(recipe: AskRecipe) -> str:
    """What tells two requests apart: all that was asked, under which schema."""
    told = [
        *map(str, recipe.questions), str(recipe.confidence), recipe.together, recipe.fewer_than, recipe.rows_per_person,
        hashlib.sha256(recipe.schema.dumps().encode()).hexdigest(),
    ]  # fmt: skip
    return json.dumps(told)


def tallies_to_read(recipe: AskRecipe, kept: Recallable | None) -> tuple[Tally, ...]:
    """Those of the questions, and finer ones of earlier answers that they are sums of.

    A column that drops rows is not read for that, since it would change what is counted.
    """
    known = {name for each in (() if kept is None else kept.payloads) for name, _ in Memory.of(each).tallies}
    earlier = [Tally.of(query) for name in sorted(known) for query in queries_in(name, unit=recipe.schema.unit)]
    dropping = {each.name for each in recipe.schema.columns if each.missing is Missing.DROP}
    finer = [
        each
        for each in earlier
        if each not in recipe.tallies
        and {*each.by} <= {*recipe.schema.names} - dropping
        and any(covers(each, tally) for tally in recipe.tallies)
    ]
    return (*recipe.tallies, *finer)


@final
@dataclass(frozen=True, slots=True)
class Recollection:
    """What a ledger knows of a request and of the data it is about: an answer to the same, and measurements of it.

    ``digests`` tell the data apart, as far as each tally counts them.
    """

    digests: Mapping[Tally, str]
    memories: tuple[Memory, ...]

    @classmethod
    def of(cls, recipe: AskRecipe, rows: Rows, kept: Recallable, tallies: Sequence[Tally]) -> "Recollection":
        """What is known of these rows, and of tallies that they were read for."""
        digests = {tally: kept.digest(tally.fingerprint(recipe.schema, rows)) for tally in tallies}
        return cls(digests, tuple(map(Memory.of, kept.payloads)))

    def same(self, recipe: AskRecipe) -> Memory | None:
        """The newest answer to the same request about the same data."""
        asked = asked_in(recipe)
        for memory in reversed(self.memories):
            if memory.asked == asked and {*recipe.tallies} <= {*self._known(memory)}:
                return memory
        return None

    def most(self) -> dict[Tally, int]:
        """The bound on a person's rows that the latest answer had for each tally."""
        return {tally: most for memory in self.memories for tally, (most, _) in self._known(memory).items()}

    def estimates(self, most: Mapping[Tally, int], memories: Sequence[Memory] | None = None) -> dict[Tally, Estimate]:
        """What all answers, or some, say of each tally under these bounds, by their precisions."""
        known: dict[Tally, Estimate] = {}
        for memory in self.memories if memories is None else memories:
            for tally, (bound, estimate) in self._known(memory).items():
                if bound == most.get(tally, bound):
                    known[tally] = estimate if tally not in known else _together(known[tally], estimate)
        return known

    def _known(self, memory: Memory) -> dict[Tally, tuple[int, Estimate]]:
        """What one answer says of the tallies, where it was about the same data."""
        return {
            tally: (most, estimate)
            for tally, mine in self.digests.items()
            for (name, most), (digest, estimate) in memory.tallies.items()
            if (name, digest) == (tally.name, mine)
        }


def _together(one: Estimate, other: Estimate) -> Estimate:
    precision = one.precision + other.precision
    weight = float(other.precision / precision)
    return Estimate((1 - weight) * one.values + weight * other.values, precision)


def _values(kept: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    engine = zlib.decompressobj()
    return np.frombuffer(engine.decompress(base64.b85decode(kept), MOST_BYTES), dtype="<f8").astype(np.float64)
