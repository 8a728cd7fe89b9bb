"""Releases: values that carry what they cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, final

from expost._seal import SEAL, Seal, require
from expost.accounting.claim import NOTHING, Promise, Spent
from expost.accounting.curve import AdpEpsilon
from expost.accounting.pledge import Pledge, Watching
from expost.accounting.statement import stated
from expost.errors import ForgedRelease, InvalidValue
from expost.private import Neighbours

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


@final
@dataclass(frozen=True, slots=True)
class Bill:
    """What one odometer had spent when a value left, for which neighbours, and the pledge it was made with."""

    spent: Spent
    neighbours: Neighbours | None
    pledge: Pledge | None

    def beside(self, other: "Bill") -> "Bill":
        """The larger of two running totals of the same odometer."""
        return Bill(self.spent.beside(other.spent), self.neighbours, self.pledge)


@final
class Release(Generic[T_co]):
    """A value and the ex-post bound on what making it revealed; neither can be replaced, the bound never lowered.

    ``seeded`` releases are not private: whoever has the seed can subtract the noise. ``floating`` ones were drawn
    in floating point, whose rounding the bound does not cover.
    """

    __slots__ = ("_bills", "_floating", "_seeded", "_value")

    _bills: Mapping[object, Bill]
    _floating: bool
    _seeded: bool
    _value: T_co

    def __init__(self, value: T_co, bills: Mapping[object, Bill], seal: Seal, *, seeded: bool, floating: bool) -> None:
        require(seal)
        for name, content in zip(self.__slots__, (bills, floating, seeded, value), strict=True):
            super().__setattr__(name, content)

    @property
    def value(self) -> T_co:
        """What was released; free to publish."""
        return self._value

    @property
    def spent(self) -> Spent:
        """The ex-post bound on everything that led to the value: all its odometers had spent by then."""
        return reduce(Spent.__add__, (bill.spent for bill in self._bills.values()), NOTHING.as_spent())

    @property
    def neighbours(self) -> Neighbours | None:
        """The neighbour relation that the bound refers to; None if no data led to the value."""
        return next((bill.neighbours for bill in self._bills.values() if bill.neighbours is not None), None)

    @property
    def pledge(self) -> Pledge | None:
        """What its odometer was pledged to before the first release; None unless all its odometers had the same.

        A pledge that watches one odometer says nothing of several.
        """
        first, *others = [bill.pledge for bill in self._bills.values()] or [None]
        alone = not others or not isinstance(first, Watching)
        return first if alone and all(other == first for other in others) else None

    @property
    def epsilon(self) -> AdpEpsilon:
        """The ε of (ε, δ) for everything that led to the value, under that pledge; infinite without one."""
        return stated(self.spent, self.pledge)

    @property
    def seeded(self) -> bool:
        """True when the noise can be repeated, so that the release is NOT PRIVATE."""
        return self._seeded

    @property
    def floating(self) -> bool:
        """True when floating-point noise took part."""
        return self._floating

    @property
    def brief(self) -> str:
        """The kind of value and its statement in a few words, whatever the size of the value."""
        told = "no pledge" if self.pledge is None else f"ε = {self.epsilon:.4g}, δ = {self.pledge.delta:g}"
        return f"{type(self._value).__name__[:80]}, {told}{', NOT PRIVATE' if self._seeded else ''}"

    def bills(self, seal: Seal) -> Mapping[object, Bill]:
        """What each odometer had spent by then, for the holder of the seal."""
        require(seal)
        return self._bills

    def map(self, f: Callable[[T_co], U]) -> "Release[U]":
        """Post-process the value; the bill does not change.

        ``f`` may be random but must not see private data again: it only ever gets the released value.

        Implements: post-processing immunity (Definition 3.2, Theorem 4.2).
        """
        return Release(f(self._value), self._bills, SEAL, seeded=self._seeded, floating=self._floating)

    def at_least(self, bound: Promise | Spent) -> "Release[T_co]":
        """The same value with the bill raised to the pointwise maximum; it can only rise.

        A pledge that watches how totals are reached says nothing of one that was raised.
        """
        raised = self.spent.beside(bound if isinstance(bound, Spent) else bound.as_spent())
        pledge = self.pledge
        bills = {object(): Bill(raised, self.neighbours, None if isinstance(pledge, Watching) else pledge)}
        return Release(self._value, bills, SEAL, seeded=self._seeded, floating=self._floating)

    def __repr__(self) -> str:
        return f"Release({self._value!r}{', NOT PRIVATE' if self._seeded else ''})"

    if not TYPE_CHECKING:  # a checker that knew these methods would let assignments pass

        def __setattr__(self, name: str, value: object) -> NoReturn:
            raise ForgedRelease(f"a release is final; {name} cannot be set. Use map to change the value.")

        def __delattr__(self, name: str) -> NoReturn:
            raise ForgedRelease(f"a release is final; {name} cannot be removed.")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a release cannot be pickled; publish its value, and let a ledger keep its bill.")


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Link(Generic[T_co]):
    """A release and all before it, by reference: how many they are, and the bill of them together."""

    release: Release[T_co]
    before: "_Link[T_co] | None"
    count: int
    together: Release[None]


@final
class Past(Generic[T_co]):
    """The releases of a run so far, in order: all that a selector or a later step may look at.

    A past never changes. One with a release more shares all the others with it and brings their joint bill along, so
    that a step costs the same however many came before. Bills for different neighbours mean different things and do
    not add up, so their releases are refused.
    """

    __slots__ = ("_last",)

    _last: _Link[T_co] | None

    def __init__(self, *steps: Release[T_co]) -> None:
        self._last = None
        for step in steps:
            self._last = _linked(self._last, step)

    def __len__(self) -> int:
        return 0 if self._last is None else self._last.count

    @property
    def neighbours(self) -> Neighbours | None:
        """The neighbour relation that the releases are billed for; None without any."""
        return self.together.neighbours

    @property
    def newest(self) -> Release[T_co] | None:
        """The latest release, which a step mostly goes on from; None without any."""
        return None if self._last is None else self._last.release

    @property
    def steps(self) -> tuple[Release[T_co], ...]:
        """The releases, oldest first, gathered anew: ``newest`` and the length are known without going through them."""
        found, link = list[Release[T_co]](), self._last
        while link is not None:
            found.append(link.release)
            link = link.before
        return tuple(reversed(found))

    @property
    def together(self) -> Release[None]:
        """The joint bill alone, as a release of nothing, which is known without going through them."""
        return UNBILLED if self._last is None else self._last.together

    def then(self: "Past[T]", release: Release[T]) -> "Past[T]":
        """The past with one more release."""
        grown = Past[T]()
        grown._last = _linked(self._last, release)
        return grown

    def joint(self) -> Release[tuple[T_co, ...]]:
        """All values as one release; the bills of different odometers add.

        Within one odometer the bill is a running total, of which the last and largest counts.

        Implements: adaptive composition (Theorem 4.4).
        """
        values, billed = tuple(step.value for step in self.steps), self.together
        return Release(values, billed.bills(SEAL), SEAL, seeded=billed.seeded, floating=billed.floating)


def _linked(before: _Link[T] | None, release: Release[T]) -> _Link[T]:
    """One more release, its bill merged into the joint one of those before."""
    count, billed = (0, UNBILLED) if before is None else (before.count, before.together)
    if len({billed.neighbours, release.neighbours} - {None}) > 1:
        raise InvalidValue("bounds for different neighbour relations do not add up; use one for all releases.")
    bills = merged(billed.bills(SEAL), release.bills(SEAL))
    seeded, floating = billed.seeded or release.seeded, billed.floating or release.floating
    return _Link(release, before, count + 1, Release(None, bills, SEAL, seeded=seeded, floating=floating))


UNBILLED: Release[None] = Release(None, {}, SEAL, seeded=False, floating=False)
"""A release of nothing that no data led to."""


def merged(*bills: Mapping[object, Bill]) -> dict[object, Bill]:
    """The larger running total of each odometer."""
    together: dict[object, Bill] = {}
    for each in bills:
        for odometer, bill in each.items():
            together[odometer] = together[odometer].beside(bill) if odometer in together else bill
    return together
