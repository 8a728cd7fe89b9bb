"""Protocols: what a mechanism and a check are, which an odometer runs, and the run of a check."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, final, runtime_checkable

from expost.accounting.claim import Budget, Promise, Spent
from expost.errors import InvalidValue, LedgerConflict, SpentCheck
from expost.ledger import Fact
from expost.noise import Noise
from expost.private import Neighbours, Private, keep_secret
from expost.release import Past

D = TypeVar("D")
T = TypeVar("T")
U = TypeVar("U")
D_contra = TypeVar("D_contra", contravariant=True)
U_contra = TypeVar("U_contra", contravariant=True)


class Mechanism(Protocol[D_contra, T]):
    """M_i(X, ε_i, y_{1:i−1}): a random function of the data whose cost is fixed before it runs.

    What must hold: for every past and budget, ``sample`` on two data sets that are neighbours under ``neighbours``
    has the Rényi divergences of ``promise(budget)``; ``promise`` and ``facts`` look at no data and raise whatever
    there is to raise. ``sample`` is total: it returns a value whatever the records hold, because a failure would tell
    of the record behind it. ``floating`` says that noise is drawn in floating point. Implemented in mechanisms/.
    """

    @property
    def name(self) -> str:
        """What goes on record: a name that stays when the class is renamed, for receipts are read by it."""

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the promise."""

    @property
    def floating(self) -> bool:
        """Whether floating-point noise is used."""

    def promise(self, budget: Budget) -> Promise:
        """What a step with this budget costs at most."""

    def sample(self, data: D_contra, budget: Budget, past: Past[T], noise: Noise) -> T:
        """Draw the value; called by an odometer with the data open."""

    def facts(self, budget: Budget) -> Mapping[str, Fact]:
        """What goes on record: enough to recompute the cost."""


@final
class Bond:
    """Ties secret state to one odometer and one body of data, and ends it with the first step that does not finish.

    Such a step may have moved the state, or drawn what the next one counts on, and nobody knows which.
    """

    __slots__ = ("_owner", "_unfinished", "_what")

    def __init__(self, what: str) -> None:
        self._what, self._unfinished = what, False
        self._owner: object = None

    def require(self, owner: object) -> None:
        """Refuse another owner than the first one, and everything after a step that did not finish."""
        if self._owner not in (None, owner):
            raise LedgerConflict(f"this {self._what} belongs to another odometer or other data; begin a new one.")
        if self._unfinished:
            raise SpentCheck(f"a step of this {self._what} did not finish, which ends it; begin a new one.")

    def bind(self, owner: object) -> None:
        """Stay with the owner, for whom alone the bills add up."""
        self.require(owner)
        self._owner = owner

    def __enter__(self) -> None:
        self._unfinished = True

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        self._unfinished = kind is not None


@runtime_checkable
class Stateful(Protocol):
    """A mechanism with secret state, as a run of a check has it. Implemented by NoiseReduction."""

    @property
    def bond(self) -> Bond:
        """Whose state it is."""


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """A check's released answer; the rest is in records, where the check reveals it.

    ``margin`` is how far the candidate lies above the target, ``std`` the standard error of its noise, and ``guard``
    the least margin that passes.
    """

    passed: bool
    margin: float | None = None
    std: float | None = None
    guard: float | None = None

    @property
    def answer(self) -> tuple[float, float] | None:
        """The noisy margin and its standard error; None where only yes or no is known."""
        return None if self.margin is None or self.std is None else (self.margin, self.std)


@final
@dataclass(frozen=True, slots=True)
class Look:
    """What is known of an answer beforehand, in records: its standard error, and the least margin that passes."""

    std: float
    guard: float


@final
@dataclass(frozen=True, slots=True)
class Price:
    """What one question of a check costs, by its answer; a fail never costs more than a pass."""

    passed: Promise
    failed: Promise


class Answers(Protocol[D_contra, U_contra]):
    """The secret state of one run of a check."""

    def answer(self, index: int, price: Price, held: D_contra, candidate: U_contra, noise: Noise) -> Verdict:
        """Judge the candidate, as question number ``index`` from 0; called with the held-out data open."""


class Check(Protocol[D_contra, U_contra]):
    """A threshold check: the stopping rule of a search. Implemented in checks/.

    What must hold: whatever candidates are asked about in one run, up to the first pass, the answers have an ex-post
    bound equal to the sum of their prices. ``price`` looks at no data and changes nothing.
    """

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of its prices."""

    @property
    def name(self) -> str:
        """What goes on record."""

    def price(self, index: int, trained: Spent, asked: Spent) -> Price:
        """Of the question number ``index``, given what training and held-out part have spent; or SpentCheck."""

    def begin(self) -> Answers[D_contra, U_contra]:
        """The state of a fresh run."""

    def facts(self) -> Mapping[str, Fact]:
        """What goes on record: enough to recompute the cost."""


@final
class Inquiry(Generic[D, U]):
    """One run of a check: counts its questions, and stays with one odometer and part.

    It ends with the first pass, and with a question that did not finish.
    """

    __slots__ = ("__answers", "_asked", "_check", "_passed", "bond")

    def __init__(self, check: Check[D, U]) -> None:
        self._check, self.bond = check, Bond("run of the check")
        self.__answers = check.begin()
        self._asked = 0
        self._passed = False

    @property
    def check(self) -> Check[D, U]:
        """The check this is a run of."""
        return self._check

    def price(self, trained: Spent, asked: Spent) -> Price:
        """Of the next question."""
        if self._passed:
            raise SpentCheck("this run of the check has passed a candidate and is over; begin a new one.")
        return self._check.price(self._asked, trained, asked)

    def answer(self, price: Price, held: D, candidate: U, noise: Noise) -> Verdict:
        """Judge the candidate; called by an odometer with the held-out data open."""
        verdict = self.__answers.answer(self._asked, price, held, candidate, noise)
        self._asked, self._passed = self._asked + 1, verdict.passed
        return verdict

    __reduce__ = keep_secret


def recorded_name(mechanism: Mechanism[D, T]) -> str:
    """The name that steps of the mechanism go on record with, refused where its author gave none."""
    name = getattr(mechanism, "name", None)
    if not isinstance(name, str) or not name:
        raise TypeError(f"{type(mechanism).__name__} has no name to go on record with; give its class a name.")
    return name


def agree(neighbours: Neighbours | None, data: Private[D]) -> None:
    """Refuse a promise or a bill for another neighbour relation than the data's; None stands for no bill yet."""
    if neighbours is not None and neighbours is not data.neighbours:
        raise InvalidValue(
            f"the bound is for neighbours that {neighbours.value}, the data's that {data.neighbours.value}; use one, "
            "and an odometer for each."
        )
