"""Exact integer samplers: every draw is made from bytes, and no generator is known here.

``reference`` is the readable truth, one value at a time; ``envelope`` draws the same laws at vector speed,
from the tables of ``tabulate``; ``bounds`` settles what the first bits of a draw leave open; ``inversion`` is
floating point; ``limits`` says what may be asked. Running time depends on the values drawn (a timing side
channel): whoever can time a single draw learns something about it.
"""

from typing import Protocol


class Bytes(Protocol):
    """A source of independent uniform bytes, given by the caller; implemented in ``expost.noise``."""

    def bytes(self, count: int, /) -> bytes:
        """The next ``count`` bytes."""
