"""Folders of snapshots: reachable by whoever works on them, entered by nobody else, and deleted."""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, final

from pyspark import SparkContext

from expost.errors import InvalidValue
from expost.tabular.source.spill import spill_folder

_NUMBERS = count(1)
OWNER_ONLY = 0o700


@final
@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """A folder by its address, and what deletes it with all that is in it."""

    address: str
    delete: Callable[[], object]


def snapshot_folder(context: SparkContext) -> SnapshotFolder:
    """A new folder: on this machine if all of Spark is, else where the session keeps its checkpoints."""
    if str(context.master).startswith("local"):
        path = Path(tempfile.mkdtemp(prefix="spark-", dir=spill_folder(os.getpid())))
        return SnapshotFolder(f"file://{path}", lambda: shutil.rmtree(path, ignore_errors=True))
    checkpoints = context.getCheckpointDir()
    if checkpoints is None:
        raise InvalidValue(
            "a cluster needs a folder that all its machines reach for the coded rows; name one that only you can read "
            "by spark.sparkContext.setCheckpointDir(...)."
        )
    return _on_cluster(context, f"{checkpoints}/expost-{os.getpid()}-{next(_NUMBERS)}")


def _on_cluster(context: SparkContext, address: str) -> SnapshotFolder:
    jvm: Any = context._jvm  # the only way to the cluster's files
    path = jvm.org.apache.hadoop.fs.Path(address)
    files = path.getFileSystem(context._jsc.hadoopConfiguration())
    permission = jvm.org.apache.hadoop.fs.permission.FsPermission
    files.mkdirs(path)
    files.setPermission(path, permission.createImmutable(OWNER_ONLY))
    files.deleteOnExit(path)
    return SnapshotFolder(address, lambda: files.delete(path, True))
