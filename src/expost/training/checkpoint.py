"""Checkpoints: the weights and the bill of a training run in one file, on disk before the steps they pay for."""

import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
import torch

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.curve import Curve, Highest, Linear, Table
from expost.accounting.pledge import Pledge
from expost.errors import LedgerConflict, SchemaMismatch
from expost.noise import Noise
from expost.private import Neighbours
from expost.record import Entry, Fact, Hold, Memory
from expost.release import Past
from expost.training.weights import Weights

Facts: TypeAlias = Mapping[str, Fact]

FORMAT = 1
"""The version of the file's layout."""


@final
@dataclass(frozen=True, slots=True)
class Carried:
    """What earlier processes of the run spent on a part: reads nothing, and goes on the bill before all else."""

    carried: Promise
    weights: Weights
    relation: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    floating: ClassVar[bool] = True

    def promise(self, budget: Budget) -> Promise:
        """The whole of it."""
        return self.carried

    def sample(self, data: object, budget: Budget, past: Past[Weights], noise: Noise) -> Weights:
        """The weights that were released then."""
        return self.weights

    def facts(self, budget: Budget) -> Facts:
        """None but the bill."""
        return {}


@final
class Checkpoint:
    """A recorder that survives its process: what is about to be spent is on disk before data is opened.

    Steps that were on their way when a process was killed stay on the bill for good, as they may have been seen;
    those who resume run them again and pay again. Every file is whole: it is written aside, then renamed.
    """

    def __init__(self, path: Path, settings: Facts, weights: Weights) -> None:
        self._path, self._settings, self._weights = path, settings, weights
        self._plan: Facts = {}
        self._bills: list[tuple[str, Promise, int]] = []
        self._kept: Weights | None = None
        self._over = False
        self._written = _identity(path)
        self.record = Memory()

    @classmethod
    def new(cls, path: Path, settings: Facts, weights: Weights) -> "Checkpoint":
        """For a run that begins; a file that is there already is somebody's bill, and refused."""
        if path.exists():
            raise LedgerConflict(f"{path} holds a run already; go on with it by Trainer.resume, or name another file.")
        return cls(path, settings, weights)

    @classmethod
    def load(cls, path: Path) -> "Checkpoint":
        """A run that was begun earlier."""
        stored = _read(path)
        loaded = cls(path, stored["settings"], Weights(stored["parameters"], stored["optimizer"], stored["steps"]))
        loaded._plan, loaded._over = stored["plan"], stored["over"]
        loaded._bills = [(part, Promise(_decoded(curve)), times) for part, curve, times in stored["bills"]]
        return loaded

    @property
    def settings(self) -> Facts:
        """What the trainer was made with."""
        return self._settings

    @property
    def weights(self) -> Weights:
        """The newest ones whose steps are all billed."""
        return self._weights

    @property
    def over(self) -> bool:
        """Whether the run has ended, and its outcome was stated."""
        return self._over

    def begin(self, plan: Facts) -> None:
        """Plan the run, or go on with the plan that is on file and no other: the pledge rests on it."""
        if self._over:
            raise LedgerConflict(f"the run in {self._path} is over, its weights are in the module; begin a new one.")
        if self._plan and self._plan != plan:
            changed = next(name for name in plan if self._plan.get(name) != plan[name])
            raise LedgerConflict(
                f"the run in {self._path} was pledged with {changed} = {self._plan.get(changed)}; resume it with that."
            )
        self._plan = plan

    def carried(self, part: str) -> Promise:
        """What is on file for a part, added up as an odometer does, to the last bit."""
        steps = [promise for label, promise, times in self._bills if label == part for _ in range(times)]
        return reduce(Promise.__add__, steps, NOTHING)

    def keep(self, weights: Weights) -> None:
        """Put weights aside until their steps are billed."""
        self._kept = weights

    def pledge(self, pledge: Pledge) -> None:
        """Put on record, before anything else, how the total will be stated."""
        self.record.pledge(pledge)
        self._write()

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on disk that at most this promise is about to be spent."""
        if entry.what != Carried.__name__:  # that is on disk already
            self._bill(entry.part, promise)
            self._write()
        return self.record.hold(entry, promise)

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Put the weights on disk that the hold has paid for; the file goes on billing it in full."""
        self.record.capture(hold, spent)
        if self._kept is not None:
            self._weights, self._kept = self._kept, None
            self._write()

    def end(self) -> None:
        """Put on disk that the run is over."""
        self._over = True
        self._write()

    def _bill(self, part: str, promise: Promise) -> None:
        if self._bills and self._bills[-1][0] == part and _same(self._bills[-1][1].curve, promise.curve):
            self._bills[-1] = (part, promise, self._bills[-1][2] + 1)
        else:
            self._bills.append((part, promise, 1))

    def _write(self) -> None:
        if _identity(self._path) != self._written:
            raise LedgerConflict(f"another process has written {self._path}; let one run at a time have a checkpoint.")
        stored = {
            "format": FORMAT,
            "settings": dict(self._settings),
            "plan": dict(self._plan),
            "bills": [(part, _encoded(promise.curve), times) for part, promise, times in self._bills],
            "parameters": dict(self._weights.parameters),
            "optimizer": dict(self._weights.optimizer),
            "steps": self._weights.steps,
            "over": self._over,
        }
        try:
            _replace(self._path, stored)
        except OSError as error:
            raise LedgerConflict(
                f"the checkpoint {self._path} cannot be written ({error.strerror}); make room, or name another file."
            ) from None
        self._written = _identity(self._path)


def _read(path: Path) -> dict[str, Any]:
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise SchemaMismatch(f"there is no checkpoint {path}; begin with Trainer(..., checkpoint=...).") from None
    except (OSError, RuntimeError, pickle.UnpicklingError, EOFError):
        stored = None
    if not isinstance(stored, dict) or "format" not in stored:
        raise SchemaMismatch(f"{path} is no checkpoint of expost; name the file that Trainer wrote.")
    if stored["format"] != FORMAT:
        raise SchemaMismatch(f"{path} was written by another version of expost; resume with that one.")
    return stored


def _replace(path: Path, stored: dict[str, Any]) -> None:
    """Write aside, flush to the disk, rename, and flush the name."""
    aside = path.with_name(f"{path.name}.new")
    with aside.open("wb") as file:
        torch.save(stored, file)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _identity(path: Path) -> tuple[int, int, int] | None:
    """What changes when anybody writes the file anew; None while there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _same(one: Curve, other: Curve) -> bool:
    if isinstance(one, Table) and isinstance(other, Table):
        return one.orders == other.orders and np.array_equal(one.values, other.values)
    return one == other


def _encoded(curve: Curve) -> Any:
    """A curve in what a file of weights may hold; fractions as text, which is exact."""
    if isinstance(curve, Table):
        return torch.tensor([curve.orders, curve.values.tolist()], dtype=torch.float64)
    return [[str(line.xi), str(line.rho), str(line.gaussian)] for line in curve.lines]


def _decoded(stored: Any) -> Curve:
    if isinstance(stored, torch.Tensor):
        orders, values = stored.tolist()
        return Table.of(orders, values)
    lines = tuple(
        Linear(Fraction(xi), Fraction(rho), None if gaussian == str(None) else Fraction(gaussian))
        for xi, rho, gaussian in stored
    )
    return lines[0] if len(lines) == 1 else Highest(lines)
