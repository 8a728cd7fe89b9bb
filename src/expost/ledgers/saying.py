"""Saying: what the entries of a run say besides its totals, as the inside of a table in JSON."""

import hashlib
from functools import lru_cache
from typing import final

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import Curve, Linear
from expost.errors import InvalidValue
from expost.ledger import Entry, Hold
from expost.ledgers.chain import spelled
from expost.receipts.costs import curve_out
from expost.text import printable

KEPT = 64
"""Kinds of steps whose text is remembered: those of one run are few."""


@final
class Sayings:
    """Spells what a run does, field by field, since one table for the general encoder would take twice as long.

    It remembers the curve that it spelled last, and the facts: most steps cost just what they promised.
    """

    __slots__ = ("_curve", "_facts")

    def __init__(self) -> None:
        self._curve: tuple[Curve | None, str] = None, ""
        self._facts: tuple[Entry | None, str] = None, ""

    def require(self, entry: Entry) -> None:
        """Refuse a step that its capture could not put on record, before it opens any data."""
        try:
            (_step(entry.what, entry.part, entry.neighbours) + self._facts_of(entry)).encode()
        except (TypeError, ValueError):
            raise InvalidValue(
                f"the facts of {printable(entry.what)} cannot be put on a ledger; give texts in Unicode, Python's own "
                "integers and truth values."
            ) from None

    def reserve(self, most: Promise, neighbours: str | None) -> str:
        """The most that a run may come to."""
        return f'"reserve":{self.curve(most.curve)},"neighbours":{spelled(neighbours)}'

    def hold(self, entry: Entry, promise: Promise) -> str:
        """The step that a hold is for."""
        return f'{_step(entry.what, entry.part, entry.neighbours)},"curve":{self.curve(promise.curve)}'

    def capture(self, hold: Hold, spent: Spent, payload: str | None, *, finished: bool) -> str:
        """What was done, what it cost, and the hash of what was stored."""
        entry = hold.entry
        stored = "null" if payload is None else f'"{hashlib.sha256(payload.encode()).hexdigest()}"'
        return (
            f'{_step(entry.what, entry.part, entry.neighbours)},"floating":{"true" if entry.floating else "false"},'
            f'"facts":{{{self._facts_of(entry)}}},"curve":{self.curve(spent.curve)},'
            f'"finished":{"true" if finished else "false"},"stored":{stored}'
        )

    def _facts_of(self, entry: Entry) -> str:
        last, text = self._facts
        if last is not entry:
            text = ",".join([
                f"{spelled(str(name))}:{value if type(value) is int else spelled(value)}"
                for name, value in entry.facts.items()
            ])  # fmt: skip
            self._facts = entry, text
        return text

    def curve(self, curve: Curve) -> str:
        """A curve in JSON."""
        last, text = self._curve
        if last is not curve:
            text = _line(curve) if isinstance(curve, Linear) else spelled(curve_out(curve))
            self._curve = curve, text
        return text


@lru_cache(maxsize=KEPT)
def _step(what: str, part: str, neighbours: str) -> str:
    return f'"what":{spelled(what)},"part":{spelled(part)},"neighbours":{spelled(neighbours)}'


def _line(line: Linear) -> str:
    profile = "null" if line.gaussian is None else f'"{line.gaussian}"'
    return f'{{"lines":[{{"xi":"{line.xi}","rho":"{line.rho}","gaussian":{profile}}}]}}'
