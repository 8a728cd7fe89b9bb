"""What earlier questions have released, kept on a lasting ledger, so that nothing is paid for twice.

A run keeps what it measured itself, with a digest of the columns that it counted by. The same question again is
answered by it, bit for bit, and so is one for longer distances. Another question uses what is known of the tallies they
share. All of this is found by what is public: whether data has changed since is not looked at, because that an answer
is known would then tell of it.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from expost.errors import Unreadable
from expost.jobs.asking.measuring import Keep, pool_estimates
from expost.jobs.asking.overlap import covers
from expost.jobs.asking.phrases import queries_in
from expost.jobs.asking.question import AskRecipe
from expost.jobs.asking.request import Request
from expost.jobs.asking.sharing import measurable
from expost.jobs.asking.tallies import Tally, read_under
from expost.mechanisms.brownian import Estimate
from expost.receipts.notation import fraction, items, number, record, text, truth, whole
from expost.tabular.schema.column import Missing
from expost.tabular.schema.schema import Schema
from expost.text import Json

FORMAT = "expost answers 1"
MOST_BYTES = 2**28
ANSWERS = ("format", "answers")
FIELDS = ("asked", "afresh", "last", "width", "sizes", "tallies")
TALLY = ("name", "most", "columns", "precision", "values")


class Recallable(Protocol):
    """What a ledger recalls. Implemented by Recalled."""

    @property
    def payloads(self) -> tuple[str, ...]:
        """What earlier runs have kept, the oldest first."""


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
    """What was kept of one answer: what it was asked, how its error bars were made, and the measurements.

    Unless ``last`` is true, the run went on from there if that fell short, or was stopped before it could.
    """

    asked: Request
    afresh: bool
    last: bool
    width: float
    sizes: tuple[int, ...]
    tallies: Mapping[tuple[str, int], tuple[str, Estimate]]

    @classmethod
    def all_in(cls, payload: str) -> tuple["Memory", ...]:
        """From what a ledger has of a run, the first answer first; refused unless it is what a run writes."""
        try:
            return tuple(map(cls._of, items(record(json.loads(payload), ANSWERS)["answers"])))
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, MemoryError, zlib.error):
            raise Unreadable(
                "a stored answer of the ledger cannot be read; the file was changed or is damaged."
            ) from None

    @classmethod
    def _of(cls, kept: Json) -> "Memory":
        fields = record(kept, FIELDS)
        found = [record(each, TALLY) for each in items(fields["tallies"])]
        tallies = {
            (text(each["name"]), whole(each["most"])): (
                text(each["columns"]),
                Estimate(_values(text(each["values"])), fraction(each["precision"])),
            )
            for each in found
        }
        sizes = tuple(int(number(each)) for each in items(fields["sizes"]))
        asked, afresh, last = Request.loads(text(fields["asked"])), truth(fields["afresh"]), truth(fields["last"])
        return cls(asked, afresh, last, number(fields["width"]), sizes, tallies)


def answer_kept(
    recipe: AskRecipe,
    known: Mapping[Tally, Estimate],
    columns: Mapping[Tally, str],
    *,
    most: Mapping[Tally, int],
    afresh: bool,
    last: bool,
    width: float,
    sizes: Sequence[int],
) -> dict[str, Json]:
    """What a run keeps of one of its answers."""
    tallies: list[Json] = [
        {
            "name": tally.name,
            "most": most[tally],
            "columns": columns[tally],
            "precision": str(estimate.precision),
            "values": base64.b85encode(zlib.compress(estimate.values.astype("<f8").tobytes())).decode(),
        }
        for tally, estimate in known.items()
    ]
    return {
        "asked": Request.of(recipe).dumps(),
        "afresh": afresh,
        "last": last,
        "width": width,
        "sizes": [*sizes],
        "tallies": tallies,
    }


def keeping(ledger: Remembering, columns: Mapping[Tally, str], *, most: Mapping[Tally, int], afresh: bool) -> Keep:
    """What stores a measurement that an answer is told by, with the bill of that measurement.

    An answer that is refined is another one beside the first: it was measured anew.
    """
    answers: dict[str, Json] = {}

    def keep(
        recipe: AskRecipe, known: Mapping[Tally, Estimate], width: float, sizes: Sequence[int], last: bool
    ) -> None:
        asked = Request.of(recipe).dumps()
        begins = afresh and asked == next(iter(answers), asked)
        answers[asked] = answer_kept(
            recipe, known, columns, most=most, afresh=begins, last=last, width=width, sizes=sizes
        )
        ledger.keep(json.dumps({"format": FORMAT, "answers": [*answers.values()]}, allow_nan=False))

    return keep


def columns_counted(recipe: AskRecipe, memories: Sequence[Memory]) -> dict[Tally, str]:
    """For each tally of the questions, and each finer one that was measured, a digest of what it is counted by.

    Rows that a column drops are missing from whatever is read beside it, so that a finer tally drops no others.
    """
    schema = recipe.schema
    left_out = {each.name for each in schema.columns if each.missing is Missing.DROP}
    dropping = left_out & {*read_under(schema, recipe.tallies).names}
    names = sorted({name for memory in memories for name, _ in memory.tallies})
    earlier = [Tally.of(query) for name in names for query in queries_in(name, unit=schema.unit)]
    finer = [
        each
        for each in earlier
        if {*each.columns} <= {*schema.names} - (left_out - dropping)
        and any(covers(schema, each, tally) for tally in recipe.tallies)
    ]
    own = measurable(recipe.tallies) if recipe.bounded else recipe.tallies
    return {tally: _digest_of(schema, dropping | {*tally.columns}) for tally in (*own, *finer)}


def _digest_of(schema: Schema, names: set[str]) -> str:
    columns = tuple(each for each in schema.columns if each.name in names)
    told = [repr(columns), schema.neighbours.value, schema.unit]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


@final
@dataclass(frozen=True, slots=True)
class Recollection:
    """What a ledger knows of a request: an answer to the same, and measurements of what it is about.

    ``columns`` has for each tally the digest of what it is counted by.
    """

    columns: Mapping[Tally, str]
    memories: tuple[Memory, ...]

    @classmethod
    def of(cls, recipe: AskRecipe, kept: Recallable, *, afresh: bool) -> "Recollection":
        """What is known of the tallies of a request and of finer ones, since it was last asked afresh."""
        memories = () if afresh else tuple(each for payload in kept.payloads for each in Memory.all_in(payload))
        begun = max((place for place, each in enumerate(memories) if each.afresh), default=0)
        found = cls(columns_counted(recipe, memories[begun:]), memories[begun:])
        for memory in found.memories:
            for tally, (_, estimate) in found.known_in(memory).items():
                if estimate.values.shape != (tally.cells(recipe.schema),):
                    raise Unreadable("a stored answer of the ledger has other groups; the file was changed.")
        return found

    def same(self, recipe: AskRecipe) -> tuple[Memory, ...]:
        """The newest answer to the same request, and those before it that it may have gone on from; none without.

        One release that answered a request for no less is as good: what its noise came to does not choose it.
        """
        asked = Request.of(recipe)
        return self._newest(recipe, asked.__eq__) or self._newest(recipe, asked.asks_no_more_than)

    def _newest(self, recipe: AskRecipe, fits: Callable[[Request], bool]) -> tuple[Memory, ...]:
        for place in reversed(range(len(self.memories))):
            memory = self.memories[place]
            if fits(memory.asked) and _tells(self.known_in(memory), recipe):
                return self.memories[: place + 1]
        return ()

    def most(self, memories: Sequence[Memory] | None = None) -> dict[Tally, int]:
        """The bound on a person's rows that the latest answer had for each tally."""
        chosen = self.memories if memories is None else memories
        return {tally: most for memory in chosen for tally, (most, _) in self.known_in(memory).items()}

    def estimates(self, most: Mapping[Tally, int], memories: Sequence[Memory] | None = None) -> dict[Tally, Estimate]:
        """What all answers, or some, say of each tally under these bounds, by their precisions."""
        known: dict[Tally, Estimate] = {}
        for memory in self.memories if memories is None else memories:
            found = self.known_in(memory)
            known = pool_estimates(
                known, {tally: each for tally, (bound, each) in found.items() if bound == most.get(tally)}
            )
        return known

    def known_in(self, memory: Memory) -> dict[Tally, tuple[int, Estimate]]:
        """What one answer says of the tallies, where it counted by the same columns."""
        return {
            tally: (most, estimate)
            for tally, mine in self.columns.items()
            for (name, most), (counted, estimate) in memory.tallies.items()
            if (name, counted) == (tally.name, mine)
        }


def _tells(known: Collection[Tally], recipe: AskRecipe) -> bool:
    """Whether measurements are of all tallies, or such that these are sums of theirs."""
    return all(tally in known or any(covers(recipe.schema, each, tally) for each in known) for tally in recipe.tallies)


def _values(kept: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    engine = zlib.decompressobj()
    return np.frombuffer(engine.decompress(base64.b85decode(kept), MOST_BYTES), dtype="<f8").astype(np.float64)
