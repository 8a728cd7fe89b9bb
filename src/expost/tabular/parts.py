"""Parts: which columns are joined by now, directly or by way of others."""

from collections.abc import Iterable
from typing import final


@final
class Parts:
    """Columns, each at first a part by itself; parts are joined two by two, and looked up in nearly no time."""

    __slots__ = ("_above",)

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def apart(self, one: str, other: str) -> bool:
        """Whether they are in two parts."""
        return self._root(one) != self._root(other)

    def join(self, one: str, other: str) -> bool:
        """Make one part of the two that they are in; false if it was one before."""
        left, right = self._root(one), self._root(other)
        self._above[right] = left
        return left != right

    def _root(self, name: str) -> str:
        above = self._above
        while above[name] != name:
            above[name] = name = above[above[name]]
        return name
