"""Watching: how a job of Spark gets on, by how many of its tasks are done, for whoever waits for it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any, final

from pyspark import SparkContext

from expost.tabular.source import pace
from expost.tabular.source.pace import Progress, time_left


@final
@dataclass(frozen=True, slots=True, repr=False)
class Watch:
    """What is done, to how many rows if that is known, and who hears of it."""

    doing: str
    rows: int | None
    tell: Progress

    @contextmanager
    def over(self, context: SparkContext, tag: str) -> Iterator[None]:
        """While jobs of this tag run, tell of them every now and then, by a thread of its own: the other one waits."""
        ended = Event()
        watcher = Thread(target=self._look, args=(context, tag, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()

    def _look(self, context: SparkContext, tag: str, ended: Event) -> None:
        begun = monotonic()
        with suppress(Exception):  # Spark has ended, or does not say; a job does not fail for that
            while not ended.wait(pace.SILENT):
                done, tasks = _tasks(context, tag)
                if tasks and not ended.is_set():
                    self.tell(self.words(done, tasks, monotonic() - begun))

    def words(self, done: int, tasks: int, seconds: float) -> str:
        """How many of the tasks are done, or how many rows a second, after these seconds, and how long it will take.

        Before the first is done, nothing is known of that.
        """
        at = f", {done:,} of {tasks:,} tasks done"
        if not done:
            return f"{self.doing}{at}"
        if self.rows is not None:
            at = f" at {pace.pace(self.rows * done / tasks / seconds)}"
        return f"{self.doing}{at}, {time_left(seconds * (tasks - done) / done)}"


def _tasks(context: SparkContext, tag: str) -> tuple[int, int]:
    """How many tasks the newest job of this tag has done, and how many it has."""
    jvm: Any = context._jsc  # Python's own tracker knows of no tags
    jobs, tracker = jvm.sc().statusTracker().getJobIdsForTag(tag), context.statusTracker()
    job = tracker.getJobInfo(max(jobs, default=-1))
    stages = [] if job is None else [tracker.getStageInfo(stage) for stage in job.stageIds]
    known = [stage for stage in stages if stage is not None]
    return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)
