"""Saying: what the entries of a run say besides its totals, as the inside of a table in JSON."""

import hashlib
from typing import final

from expost.accounting.claim import Promise, Spent
from expost.accounting.curve import Curve, Linear
from expost.ledger import Entry, Hold
from expost.ledgers.chain import spelled
from expost.receipts.costs import curve_out


@final
class Sayings:
    """Spells what a run does, field by field, since one table for the general encoder would take twice as long.

    It remembers the curve that it spelled last: most steps cost just what they promised.
    """

    __slots__ = ("_curve",)

    def __init__(self) -> None:
        self._curve: tuple[Curve | None, str] = None, ""

    def reserve(self, most: Promise, neighbours: str | None) -> str:
        """The most that a run may come to."""
        return f'"reserve":{self._spelled(most.curve)},"neighbours":{spelled(neighbours)}'

    def hold(self, entry: Entry, promise: Promise) -> str:
        """The step that a hold is for."""
        return f'{_step(entry)},"curve":{self._spelled(promise.curve)}'

    def capture(self, hold: Hold, spent: Spent, payload: str | None, *, finished: bool) -> str:
        """What was done, what it cost, and the hash of what was stored."""
        entry = hold.entry
        stored = "null" if payload is None else f'"{hashlib.sha256(payload.encode()).hexdigest()}"'
        return (
            f'{_step(entry)},"floating":{"true" if entry.floating else "false"},"facts":{spelled(dict(entry.facts))},'
            f'"curve":{self._spelled(spent.curve)},"finished":{"true" if finished else "false"},"stored":{stored}'
        )

    def _spelled(self, curve: Curve) -> str:
        last, text = self._curve
        if last is not curve:
            text = _line(curve) if isinstance(curve, Linear) else spelled(curve_out(curve))
            self._curve = curve, text
        return text


def _step(entry: Entry) -> str:
    return f'"what":{spelled(entry.what)},"part":{spelled(entry.part)},"neighbours":{spelled(entry.neighbours)}'


def _line(line: Linear) -> str:
    profile = "null" if line.gaussian is None else f'"{line.gaussian}"'
    return f'{{"lines":[{{"xi":"{line.xi}","rho":"{line.rho}","gaussian":{profile}}}]}}'
