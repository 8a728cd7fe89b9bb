"""One nursery for all processes of a session, and a folder for each of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.faults.jobs import Job
from tests.faults.processes import Nursery, Scene, nursery

Setting: TypeAlias = Callable[[Job], Scene]


@pytest.fixture(scope="session")
def kept_nursery() -> Iterator[Nursery]:
    """The process that is forked for every run."""
    with nursery() as found:
        yield found


@pytest.fixture
def setting(tmp_path: Path, kept_nursery: Nursery) -> Setting:
    """A folder in which a job is run."""
    return lambda job: Scene(tmp_path, job, kept_nursery)
