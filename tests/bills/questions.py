"""Questions whose true answer is given, and answers far from the threshold."""

from dataclasses import dataclass

from expost.noise import Integers
from expost.private import Neighbours
from tests.unit.examples import ADD

REACH, UNIT = 3, 2
FAR = 10**6
"""A margin that no noise of these tests hides, nor any guard above zero."""


@dataclass(frozen=True)
class Given:
    """A question whose answer is the candidate, and that one record is said to move by REACH."""

    monotone: bool = False
    sensitivity: int = REACH
    unit: int = UNIT
    neighbours: Neighbours = ADD

    def ask(self, candidate: int, held: Integers) -> int:
        return candidate
