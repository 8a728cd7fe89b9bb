"""Bytes that are known beforehand, to force a sampler down every branch; a server for ledgers; a session of Spark."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from expost.sampling import Bytes
from tests.server import NoServer, Server, memory, server
from tests.spark import lacking_java, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server that the tests of this process share."""
    pytest.importorskip("psycopg", reason="psycopg is not installed; install expost[postgres].")
    running = server(memory())
    try:
        found = running.__enter__()
    except NoServer as why:
        pytest.skip(f"there is no PostgreSQL server to test with: {why}")
    yield found
    running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A session of Spark that the tests of this process share; those of one file are run in one process."""
    pytest.importorskip("pyspark", reason="PySpark is not installed; install expost[spark].")
    lacking = lacking_java()
    if lacking is not None:
        pytest.skip(lacking)
    with session() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def ledger_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The name of a ledger that is still to be made, in each home."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    running: Server = request.getfixturevalue("postgres")
    return running.emptied()
