"""Jobs of Spark of which nothing shows: neither errors nor log lines quote rows, and the interrupt key ends them."""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, final

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.logger import PySparkLogger

from expost.errors import ExpostError
from expost.tabular.source.reading import Withheld, revealed
from expost.tabular.spark.watching import Watch

T = TypeVar("T")

LOGS = "org.apache.spark"
"""The loggers that print why a task failed, with what it failed on."""
TOLD = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Python's loggers that print the same."""
BRIDGE = "py4j"
"""The package that speaks with the virtual machine, and logs by the root logger that an interrupt cut it off."""
_NUMBERS = count(1)


def quiet_job(context: SparkContext, run: Callable[[], T], complaint: str, watch: Watch) -> T:
    """What ``run`` returns, or why not: its own words if they are ours, else the complaint.

    Whatever ends it before its time, jobs that it started are cancelled. Meanwhile it is told how they get on.
    """
    tag = f"expost-{os.getpid()}-{next(_NUMBERS)}"
    context.addJobTag(tag)
    with watch.over(context, tag):
        result = _outcome(context, run, tag, complaint)
    context.removeJobTag(tag)
    return revealed(result)


def _outcome(context: SparkContext, run: Callable[[], T], tag: str, complaint: str) -> T | Withheld:
    with Hush(context):
        try:
            return run()
        except ExpostError as refusal:
            withheld = Withheld(str(refusal), type(refusal))
        except KeyboardInterrupt:
            withheld = Withheld("interrupted while Spark worked on the table.", KeyboardInterrupt)
        except SystemExit:
            withheld = Withheld("stopped while Spark worked on the table.", SystemExit)
        except BaseException:  # noqa: BLE001  whatever it is, it may quote rows
            withheld = Withheld(complaint)
        with suppress(Exception):  # it has ended, or Spark has
            context.cancelJobsWithTag(tag)
    return withheld


@final
class Hush:
    """No log lines of Spark in this process while one of our jobs runs; the last one out restores them.

    Executors on other machines have logs of their own, which belong to whoever runs the cluster.
    """

    _lock, _inside = Lock(), 0
    _loud: Callable[[], None]

    def __init__(self, context: SparkContext) -> None:
        self._jvm: Any = context._jvm  # the only way to its logs

    def __enter__(self) -> None:
        with Hush._lock:
            if Hush._inside == 0:
                Hush._loud = _hushed(self._jvm)
            Hush._inside += 1

    def __exit__(self, *failure: object) -> None:
        with Hush._lock:
            Hush._inside -= 1
            if Hush._inside == 0:
                with suppress(Exception):  # Spark has ended, and prints no more
                    Hush._loud()


def _hushed(jvm: Any) -> Callable[[], None]:
    """Turn the logs off; what turns them on again."""
    told = [PySparkLogger.getLogger(name) for name in TOLD]
    loud = _hushed_log4j(jvm)
    disabled = [each.disabled for each in told]
    for each in told:
        each.disabled = True
    logging.getLogger().addFilter(_not_of_bridge)

    def restored() -> None:
        logging.getLogger().removeFilter(_not_of_bridge)
        for each, before in zip(told, disabled, strict=True):
            each.disabled = before
        loud()

    return restored


def _not_of_bridge(line: logging.LogRecord) -> bool:
    return BRIDGE not in Path(line.pathname).parts


def _hushed_log4j(jvm: Any) -> Callable[[], None]:
    """The same in the virtual machine, unless this Spark logs by something other than Log4j."""
    try:
        log4j = jvm.org.apache.logging.log4j
        logs = log4j.LogManager.getContext(False)
        settings = logs.getConfiguration()
        before = settings.getLoggers().get(LOGS)
        level = None if before is None else before.getLevel()
        log4j.core.config.Configurator.setLevel(LOGS, log4j.Level.OFF)
    except (TypeError, Py4JError):
        return lambda: None

    def restored() -> None:
        if level is not None:
            log4j.core.config.Configurator.setLevel(LOGS, level)
        else:
            settings.removeLogger(LOGS)
            logs.updateLoggers()

    return restored
