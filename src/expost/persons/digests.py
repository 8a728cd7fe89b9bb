"""Whose rows they are, where there are too many to be compared: a keyed digest in place of each identifier.

Two rows are of one person if their identifiers have the same spelling, as ``Register`` has it. Of 128 bits, two persons
among a thousand million have the same with a chance of 2⁻⁶⁹; they would then be protected as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import final

import numpy as np
from numpy.typing import NDArray

from expost.noise import Integers
from expost.persons.identifiers import identifier_text

SIZE = 16
"""Bytes of a digest."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Digests:
    """Digests of identifiers under a secret key, without which they say nothing; shows none of them.

    A missing identifier is that of a person of its own, by the place of its row.
    """

    key: bytes
    absent: frozenset[str | None]

    def __repr__(self) -> str:
        return "Digests"

    def of(self, identifiers: Sequence[object], first: int) -> NDArray[np.uint64]:
        """Two numbers for each of some rows in a row, the first of which has this place."""
        known: dict[object, bytes] = {}
        found = []
        for place, each in enumerate(identifiers, start=first):
            text = each.strip() if type(each) is str else identifier_text(each)
            if text in self.absent or text is None:
                found.append(self._digest(b"row", str(place)))
            elif (digest := known.get(text)) is not None:
                found.append(digest)
            else:
                found.append(known.setdefault(text, self._digest(b"person", text)))
        return np.frombuffer(b"".join(found), "<u8").reshape(-1, 2).astype(np.uint64)

    def _digest(self, what: bytes, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE, key=self.key, person=what).digest()


def numbered_digests(digests: NDArray[np.uint64]) -> Integers:
    """A number for each row, the same where the digest is."""
    order = np.lexsort((digests[:, 0], digests[:, 1]))
    ordered = digests[order]
    new = np.concatenate([[False], (ordered[1:] != ordered[:-1]).any(axis=1)]) if len(order) else np.zeros(0, np.bool_)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers
