"""Checkpoints: the weights and the bill of a training run in one file, on disk before the steps they pay for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, final

from torch import Tensor, strided

from expost.accounting.claim import NOTHING, Budget, Promise, Spent
from expost.accounting.descent import Descent
from expost.accounting.pledge import PlannedStops, Pledge
from expost.errors import LedgerConflict, Unreadable
from expost.ledger import Entry, Fact, Hold, MemoryLedger
from expost.noise import Noise
from expost.numerics import positive
from expost.private import Neighbours
from expost.protocols import Verdict
from expost.recorded import ReadableLedger
from expost.release import Past
from expost.training.steps import CARRIED
from expost.training.torch.archive import identity, read_archive, write_archive
from expost.training.torch.paid import MOST, Paid, count, stored_fraction, stored_verdict, verdict_in
from expost.training.torch.resumption import Prospect, Standing
from expost.training.torch.weights import Weights

Facts: TypeAlias = Mapping[str, Fact]

FORMAT = 4
"""The version of the file's layout."""


@final
@dataclass(frozen=True, slots=True)
class Carried:
    """What earlier processes of the run spent on a part: reads nothing, and goes on the bill before all else."""

    carried: Promise
    weights: Weights
    name: ClassVar[str] = CARRIED
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
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
    """A ledger that survives its process: what is about to be spent is on disk before data is opened.

    Steps that were on their way when a process was killed stay on the bill for good, as they may have been seen, and
    those who resume take as many fewer. Every file is whole: it is written aside, then renamed, and one of which a bit
    has changed is refused. What goes on the bill goes on ``ledger`` as well, which is the caller's, if they keep one.
    """

    def __init__(self, path: Path, settings: Facts, weights: Weights) -> None:
        self._path, self._settings, self._weights = path, settings, weights
        self._plan: Facts = {}
        self._schedule: Sequence[int] = ()
        self._planned: list[tuple[int, float]] = []
        self._bills: list[Paid] = []
        self._earlier: tuple[Paid, ...] = ()
        self._kept: Weights | None = None
        self._judged, self._over = 0, False
        self._verdict: Verdict | None = None
        self._written = identity(path)
        self.ledger: ReadableLedger = MemoryLedger()

    @classmethod
    def new(cls, path: Path, settings: Facts, weights: Weights) -> "Checkpoint":
        """For a run that begins; a file that is there already is somebody's bill, and refused."""
        if path.exists():
            raise LedgerConflict(f"{path} already holds a run; continue it with Trainer.resume, or name another file.")
        return cls(path, settings, weights)

    @classmethod
    def load(cls, path: Path) -> "Checkpoint":
        """A run that was begun earlier."""
        stored = read_archive(path)
        if not isinstance(stored, dict) or "format" not in stored:
            raise Unreadable(f"{path} is not a checkpoint of expost; name the file that Trainer wrote.")
        if stored["format"] != FORMAT:
            raise Unreadable(f"{path} was written by another version of expost; resume with that one.")
        try:
            return cls._decoded(path, stored)
        except (ValueError, TypeError, KeyError, OverflowError):
            raise _strange(path) from None

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

    @property
    def verdict(self) -> Verdict | None:
        """What was answered about the newest weights; None where nobody was asked, or the answer was lost."""
        return self._verdict

    @property
    def standing(self) -> Standing:
        """How many steps are billed and kept, and how many questions were asked."""
        billed = sum(paid.steps * paid.times for paid in self._bills)
        looks = sum(paid.times for paid in self._bills if not paid.steps)
        return Standing(billed, self._weights.steps, self._judged, looks)

    @property
    def earlier(self) -> tuple[Paid, ...]:
        """What earlier processes of the run have paid, in order; nothing for a run that begins here."""
        return self._earlier

    @property
    def prospect(self) -> Prospect:
        """What can still be stated of the run."""
        over = self._over or (self._verdict is not None and self._verdict.passed)
        return Prospect.of(self.standing, self._planned, str(self._plan.get("delta")), over=over)

    def begin(self, plan: Facts, schedule: Sequence[int], *, ahead: bool) -> None:
        """Plan the run, or go on with the plan that is on file and no other: the pledge rests on it.

        ``schedule`` are the steps that will be billed at each release, and ``ahead`` says whether any is to be made: a
        run that is over makes none.
        """
        if self._over and ahead:
            raise LedgerConflict(f"the run in {self._path} is over and its weights are in the module; begin a new one.")
        if self._plan and self._plan != plan:
            changed = next(name for name in (*plan, *self._plan) if self._plan.get(name) != plan.get(name))
            raise LedgerConflict(
                f"the run in {self._path} was pledged with {changed} = {self._plan.get(changed)}; resume it with that."
            )
        self._plan, self._schedule = plan, schedule

    def require_about(self, parts: Collection[str]) -> None:
        """Refuse a bill with a line about other parts than those of the run, which nothing would carry on."""
        if not {paid.part for paid in self._bills} <= {*parts}:
            raise _strange(self._path)

    def carried(self, part: str) -> Promise:
        """What is on file for a part, added up as an odometer does, to the last bit."""
        steps = [paid.promise for paid in self._bills if paid.part == part for _ in range(paid.times)]
        return reduce(Promise.__add__, steps, NOTHING)

    def keep(self, weights: Weights) -> None:
        """Put weights aside until their steps are billed."""
        self._kept = weights

    def show(self, verdict: Verdict | None) -> None:
        """Put on disk that the newest weights are about to be shown as a release, with what was answered about them."""
        self._judged, self._verdict = self._weights.steps, verdict
        self._write()

    def pledge(self, pledge: Pledge | None) -> None:
        """Put on record, before anything else, how the total will be stated."""
        self.ledger.pledge(pledge)
        stops = pledge.table if isinstance(pledge, PlannedStops) else ()
        self._planned = [(steps, stop.epsilon) for steps, stop in zip(self._schedule, stops, strict=True)]
        self._write()

    def hold(self, entry: Entry, promise: Promise) -> Hold:
        """Put on disk that at most this promise is about to be spent, on steps or on a question about the weights."""
        if entry.what != CARRIED:  # that is on disk already
            steps = int(entry.facts.get("steps", 0))
            self._bill(Paid(entry.part, promise, steps, 1))
            self._verdict = None  # an answer is about the weights before these steps, or about to be given
            if not steps:
                self._judged = self._weights.steps
            self._write()
        return self.ledger.hold(entry, promise)

    def capture(self, hold: Hold, spent: Spent) -> None:
        """Put the weights on disk that the hold has paid for; the file goes on billing it in full."""
        self.ledger.capture(hold, spent)
        if self._kept is not None:
            self._weights, self._kept = self._kept, None
            self._write()

    def end(self) -> None:
        """Put on disk that the run is over."""
        self._over = True
        self._write()

    def _bill(self, paid: Paid) -> None:
        if self._bills and self._bills[-1].again(paid):
            paid = replace(paid, times=self._bills.pop().times + 1)
        self._bills.append(paid)

    def _write(self) -> None:
        if identity(self._path) != self._written:
            raise LedgerConflict(
                f"another process has written {self._path}; let only one run at a time use a checkpoint."
            )
        stored = {
            "format": FORMAT,
            "settings": dict(self._settings),
            "plan": dict(self._plan),
            "planned": [list(each) for each in self._planned],
            "bills": [paid.encoded() for paid in self._bills],
            "parameters": dict(self._weights.parameters),
            "optimizer": dict(self._weights.optimizer),
            "steps": self._weights.steps,
            "judged": self._judged,
            "verdict": stored_verdict(self._verdict),
            "over": self._over,
        }
        try:
            write_archive(self._path, stored)
        except OSError as error:
            raise LedgerConflict(
                f"the checkpoint {self._path} cannot be written ({error.strerror}); make room, or name another file."
            ) from None
        self._written = identity(self._path)

    @classmethod
    def _decoded(cls, path: Path, stored: dict[str, Any]) -> "Checkpoint":
        """What ``_write`` stored; ValueError, TypeError or KeyError for what it never stores."""
        weights = Weights(stored["parameters"], stored["optimizer"], count(stored["steps"], 0))
        loaded = cls(path, _settings(stored["settings"]), weights)
        loaded._plan, loaded._over = stored["plan"], stored["over"]
        loaded._planned = [(count(steps, 1), float(epsilon)) for steps, epsilon in stored["planned"]]
        loaded._earlier = tuple(Paid.decoded(each) for each in stored["bills"])
        loaded._bills = [*loaded._earlier]
        loaded._judged = count(stored["judged"], 0, weights.steps)
        loaded._verdict = verdict_in(stored["verdict"])
        if type(stored["plan"]) is not dict or type(stored["over"]) is not bool or loaded.standing.lost < 0:
            raise ValueError("weights are never ahead of their bill.")
        if loaded._verdict is not None and loaded._judged < weights.steps:
            raise ValueError("an answer is about the newest weights.")
        if sum(paid.times for paid in loaded._bills) > MOST:
            raise ValueError("no run has as many lines.")
        groups = [len(each["params"]) for each in weights.optimizer["param_groups"]]
        tensors: list[Any] = [*dict(weights.parameters).values()]
        if not groups or not all(isinstance(each, Tensor) and each.layout is strided for each in tensors):
            raise ValueError("weights are tensors, and an optimiser has groups of them.")
        return loaded


def _strange(path: Path) -> Unreadable:
    return Unreadable(f"the bill in {path} is not one that expost writes; restore the file from a copy.")


def _settings(stored: Any) -> Facts:
    """The settings of a trainer, or ValueError, TypeError or KeyError."""
    batch, records = (count(stored[name], 1) for name in ("batch", "records"))
    clip, noise = (stored_fraction(stored[name]) for name in ("clip", "noise_multiplier"))
    positive(clip, "clip")
    Descent(Fraction(batch, records), noise)
    if type(stored["seeded"]) is not bool or not isinstance(stored["optimizer"], str):
        raise ValueError("settings say the kind of noise and of optimiser.")
    return dict(stored)
