"""Checkpoints: the weights and the bill of a training run in one file, on disk before the steps they pay for."""

import hashlib
import os
import pickle
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, final

import torch
from torch import Tensor, nn

from expost.accounting.claim import Promise, Spent
from expost.accounting.pledge import Pledge
from expost.accounting.stops import PlannedStops
from expost.errors import LedgerConflict, Unreadable
from expost.ledger import Entry, Hold, MemoryLedger
from expost.noise import Noise
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.recorded import ReadableLedger
from expost.training.schedule import CARRIED
from expost.training.torch.progress import FORMAT, Facts, Paid, Progress
from expost.training.torch.weights import Weights

MARK = b"\nexpost sha256 "
"""What stands between the weights and the digest; torch reads a file that goes on behind its end."""

TAIL = len(MARK) + 2 * hashlib.sha256().digest_size
CHUNK = 2**20
UNREADABLE = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, EOFError, pickle.UnpicklingError)
"""What a file of another kind makes torch raise."""


def read_archive(path: Path) -> Any:
    """What the file holds, if not one bit of it has changed since it was written; of no other is anything decoded."""
    try:
        with path.open("rb") as file:
            _require_unchanged(path, file)
            return torch.load(file, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise Unreadable(f"there is no checkpoint {path}; begin with Trainer(..., checkpoint=...).") from None
    except Unreadable:
        raise
    except UNREADABLE:
        raise _stranger(path) from None


def write_archive(path: Path, stored: dict[str, Any]) -> None:
    """Write aside with the digest, flush to the disk, rename, and flush the name."""
    aside = path.with_name(f"{path.name}.new")
    with aside.open("w+b") as file:
        torch.save(stored, file)
        digest = _digest(file, file.seek(0, os.SEEK_END))
        file.write(MARK + digest)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def identity(path: Path) -> tuple[int, int, int] | None:
    """What changes when anybody rewrites the file; None while there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _require_unchanged(path: Path, file: BinaryIO) -> None:
    """Refuse a file that does not end with the digest of all that is before it."""
    content = file.seek(0, os.SEEK_END) - TAIL
    if content <= 0:
        raise _stranger(path)
    digest = _digest(file, content)
    if file.read(len(MARK)) != MARK:
        raise _stranger(path)
    if file.read() != digest:
        raise Unreadable(f"{path} was changed since it was written, and its bill with it; restore it from a copy.")
    file.seek(0)


def _stranger(path: Path) -> Unreadable:
    return Unreadable(f"{path} is not a checkpoint of expost; name the file that Trainer wrote.")


def _digest(file: BinaryIO, content: int) -> bytes:
    """Of the first bytes of the file, which stands behind them afterwards."""
    file.seek(0)
    digest = hashlib.sha256()
    while content:
        some = file.read(min(CHUNK, content))
        if not some:
            break
        digest.update(some)
        content -= len(some)
    return digest.hexdigest().encode()


def save_weights(module: nn.Module, path: Path) -> None:
    """Write the tensors of a module's state by their names; what is not a tensor is code, and is left out."""
    state = module.state_dict().items()
    torch.save({name: each.detach().cpu().clone() for name, each in state if isinstance(each, Tensor)}, path)


@final
class Checkpoint:
    """A ledger that survives its process: what is about to be spent is on disk before data is opened.

    Steps that were on their way when a process was killed stay on the bill for good, as they may have been seen, and
    those who resume take as many fewer. Every file is whole: it is written aside, then renamed, and one of which a bit
    has changed is refused. What goes on the bill goes on ``ledger`` as well, which is the caller's, if they keep one.
    """

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path, self._progress, self._written = path, progress, identity(path)
        self._schedule: Sequence[int] = ()
        self._kept: Weights | None = None
        self.ledger: ReadableLedger = MemoryLedger()

    @classmethod
    def new(cls, path: Path, settings: Facts, weights: Weights) -> "Checkpoint":
        """For a run that begins; a file that is there already is somebody's bill, and refused."""
        if path.exists():
            raise LedgerConflict(f"{path} already holds a run; continue it with Trainer.resume, or name another file.")
        return cls(path, Progress(settings=settings, weights=weights))

    @classmethod
    def load(cls, path: Path) -> "Checkpoint":
        """A run that was begun earlier."""
        stored = read_archive(path)
        if not isinstance(stored, dict) or "format" not in stored:
            raise Unreadable(f"{path} is not a checkpoint of expost; name the file that Trainer wrote.")
        if stored["format"] != FORMAT:
            raise Unreadable(f"{path} was written by another version of expost; resume with that one.")
        try:
            return cls(path, Progress.decoded(stored))
        except (ValueError, TypeError, KeyError, OverflowError):
            raise _strange(path) from None

    @property
    def progress(self) -> Progress:
        """Where the run stands, as it is on disk."""
        return self._progress

    def begin(self, plan: Facts, schedule: Sequence[int], *, ahead: bool) -> None:
        """Plan the run, or go on with the plan that is on file and no other: the pledge rests on it.

        ``schedule`` are the steps that will be billed at each release, and ``ahead`` says whether any is to be made: a
        run that is over makes none.
        """
        before = self._progress.plan
        if self._progress.over and ahead:
            raise LedgerConflict(f"the run in {self._path} is over and its weights are in the module; begin a new one.")
        if before and before != plan:
            changed = next(name for name in (*plan, *before) if before.get(name) != plan.get(name))
            raise LedgerConflict(
                f"the run in {self._path} was pledged with {changed} = {before.get(changed)}; resume it with that."
            )
        self._progress, self._schedule = replace(self._progress, plan=plan), schedule

    def require_like(self, noise: Noise, neighbours: Neighbours) -> None:
        """Refuse to go on with noise of another kind, or for other neighbours."""
        if self._progress.settings["seeded"] != noise.seeded:
            raise LedgerConflict(
                f"{self._path} and this run differ in whether noise is seeded; resume with the same kind."
            )
        if self._progress.settings["neighbours"] != neighbours.value:
            raise LedgerConflict(
                f"{self._path} and this run differ in whether a unit is given; resume with the same one."
            )

    def require_about(self, parts: Collection[str]) -> None:
        """Refuse a bill with a line about other parts than those of the run, which nothing would carry on."""
        if not {paid.part for paid in self._progress.bills} <= {*parts}:
            raise _strange(self._path)

    def keep(self, weights: Weights) -> None:
        """Put weights aside until their steps are billed."""
        self._kept = weights

    def show(self, verdict: Verdict | None) -> None:
        """Put on disk that the newest weights are about to be shown as a release, with what was answered about them."""
        self._put(replace(self._progress, judged=self._progress.weights.steps, verdict=verdict))

    def pledge(self, pledge: Pledge | None) -> None:
        """Put on record, before anything else, how the total will be stated."""
        self.ledger.pledge(pledge)
        stops = pledge.table if isinstance(pledge, PlannedStops) else ()
        planned = tuple((steps, stop.epsilon) for steps, stop in zip(self._schedule, stops, strict=True))
        self._put(replace(self._progress, planned=planned))

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on disk that at most this promise is about to be spent, on steps or on a question about the weights."""
        if entry.what != CARRIED:  # that is on disk already
            self._put(self._progress.billed(Paid(entry.part, promise, int(entry.facts.get("steps", 0)), 1)))
        return self.ledger.hold(entry, promise)

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Put the weights on disk that the hold has paid for; the file goes on billing it in full."""
        self.ledger.capture(hold, spent)
        if self._kept is not None:
            weights, self._kept = self._kept, None
            self._put(replace(self._progress, weights=weights))

    def end(self) -> None:
        """Put on disk that the run is over."""
        self._put(replace(self._progress, over=True))

    def _put(self, progress: Progress) -> None:
        self._progress = progress
        self._write()

    def _write(self) -> None:
        if identity(self._path) != self._written:
            raise LedgerConflict(
                f"another process has written {self._path}; let only one run at a time use a checkpoint."
            )
        try:
            write_archive(self._path, self._progress.encoded())
        except OSError as error:
            raise LedgerConflict(
                f"the checkpoint {self._path} cannot be written ({error.strerror}); make room, or name another file."
            ) from None
        self._written = identity(self._path)


def _strange(path: Path) -> Unreadable:
    return Unreadable(f"the bill in {path} is not one that expost writes; restore the file from a copy.")
