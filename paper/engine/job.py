"""One run of an item: its settings, and seeded repeats on all cores that are kept as they finish."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, TypeVarTuple, final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")
R = TypeVar("R")
Case = TypeVarTuple("Case")
Task: TypeAlias = tuple[Callable[..., object], object, int, tuple[object, ...], Path]


@final
@dataclass(frozen=True)
class Job(Generic[S]):
    """What an item is run with; ``took`` collects the seconds of each repeat, also of those kept from before."""

    name: str
    version: int
    settings: S
    seed: int
    cache: Path
    workers: int
    took: list[float] = field(default_factory=list)

    def repeats(self, function: Callable[[S, int, *Case], R], count: int, *case: *Case) -> list[R]:
        """function(settings, seed, *case) for the seeds from the job's first on, in order.

        ``function`` is a module's own, draws from ``expost.SeededNoise(seed)`` only and returns what JSON can hold.
        Cases get the same seeds, so their differences are paired. Each finished repeat is kept, under a key of item,
        version, function, settings and case: an interrupted run goes on where it was.
        """
        folder = self.cache / self.name / self._key(function.__qualname__, case)
        folder.mkdir(parents=True, exist_ok=True)
        paths = {seed: folder / f"{seed}.json" for seed in range(self.seed, self.seed + count)}
        tasks: list[Task] = [
            (function, self.settings, seed, case, path) for seed, path in paths.items() if not path.exists()
        ]
        label = " ".join([self.name, function.__name__.strip("_"), *(str(part) for part in case)])
        with _bar(label, count, count - len(tasks)) as advance:
            for _ in _finished(tasks, self.workers):
                advance()
        kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths.values()]
        self.took.extend(each["seconds"] for each in kept)
        return [each["result"] for each in kept]

    def _key(self, function: str, case: tuple[object, ...]) -> str:
        parts = [self.name, self.version, function, asdict(self.settings), case]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _finished(tasks: list[Task], workers: int) -> Iterator[None]:
    """Yields once for each task as it ends, in this process if one worker is enough."""
    if min(workers, len(tasks)) <= 1:
        yield from map(_perform, tasks)
        return
    pool = ProcessPoolExecutor(min(workers, len(tasks)), get_context("spawn"), _one_thread)
    try:
        for done in as_completed([pool.submit(_perform, task) for task in tasks]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _perform(task: Task) -> None:
    """Run one repeat and keep it; the file appears whole or not at all."""
    function, settings, seed, case, path = task
    start = perf_counter()
    result = function(settings, seed, *case)
    text = json.dumps({"seconds": perf_counter() - start, "result": result}, allow_nan=False)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _one_thread() -> None:
    """Repeats fill the cores; threads inside each of them would only get in each other's way."""
    os.environ["OMP_NUM_THREADS"] = "1"
    threadpool_limits(1)


@contextmanager
def _bar(label: str, total: int, done: int) -> Iterator[Callable[[], None]]:
    """A progress bar on the error stream, and the function that moves it."""
    columns: Iterable[TextColumn | BarColumn | MofNCompleteColumn | TimeElapsedColumn | TimeRemainingColumn] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(label, total=total, completed=done)
        yield lambda: progress.advance(bar)
