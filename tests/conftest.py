"""Bytes that are known beforehand, to force a sampler down every branch."""

from collections.abc import Callable, Iterator

import pytest

from expost.sampling import Bytes


class ScriptedBytes:
    """Hands out the given bytes in order; EOFError when more are asked."""

    def __init__(self, script: bytes) -> None:
        self.left = script

    def bytes(self, count: int, /) -> bytes:
        if count > len(self.left):
            raise EOFError("the script of bytes ran out")
        head, self.left = self.left[:count], self.left[count:]
        return head


@pytest.fixture
def script() -> Iterator[Callable[[bytes], Bytes]]:
    """Makes sources from scripts, each of which the test must use up."""
    sources: list[ScriptedBytes] = []

    def source(script: bytes) -> Bytes:
        sources.append(ScriptedBytes(script))
        return sources[-1]

    yield source
    assert not any(source.left for source in sources)
