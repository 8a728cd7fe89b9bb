"""A ledger agrees with a simple model of it, whatever is done to it in whatever order: totals and refusals.

The model adds fractions. All costs are of zCDP and multiples of 1/256, which the units of a ledger hold exactly.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from expost.accounting.claim import Promise
from expost.accounting.curve import Linear
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict
from expost.ledger import Hold
from expost.ledgers.amounts import as_fraction
from expost.ledgers.book import Book, home_of
from expost.ledgers.overview import overviews
from expost.ledgers.proof import verify_ledger
from expost.ledgers.run import LedgerRun
from expost.ledgers.settling import settle, unsettled
from expost.ledgers.terms import zcdp_terms
from tests.unit.ledgers.examples import begun, step

Slots: TypeAlias = dict[str, Fraction]

CAP, ALLOWED = Fraction(1), Fraction(1, 2)
PARTS = ("data", "data/train", "data/held")
ZERO = Fraction(0)
costs = st.integers(6, 40).map(lambda number: Fraction(number, 64))
shares = st.integers(1, 4).map(lambda number: Fraction(number, 4))
data_sets = st.sampled_from(["visits", "staff"])
people = st.sampled_from(["Ana", "Ben", None])
places = st.integers(0, 1000)


def of(rho: Fraction) -> Promise:
    return Promise(Linear(ZERO, rho))


@final
@dataclass(eq=False)
class Model:
    """A run: what it has captured by part, what its open steps may cost, and what is held for it.

    Where a step is like the one ``before``, the next of the kind is held as well, if there is room for it.
    """

    dataset: str
    analyst: str | None
    split: str | None
    request: str | None
    spent: dict[str, Fraction] = field(default_factory=dict)
    pending: list[tuple[str, Fraction]] = field(default_factory=list)
    reserved: Fraction = ZERO
    captured: Slots = field(default_factory=dict)
    held: Slots = field(default_factory=dict)
    stored: str | None = None
    before: tuple[str, Fraction] | None = None
    state: str = "open"

    def __post_init__(self) -> None:
        self.captured = self.held = self.slots({})

    def slots(self, parts: dict[str, Fraction]) -> Slots:
        """The two sides of a named split apart, and everything else together."""
        whole, train, held = (parts.get(part, ZERO) for part in PARTS)
        if self.split is None:
            return {"own": whole + max(train, held)}
        return {"own": whole, "train": train, "held": held}

    def wanted(self, *more: tuple[str, Fraction]) -> Slots:
        """What was captured with all steps that are open, and more, or what was reserved if that is larger."""
        parts = dict(self.spent)
        for part, rho in (*self.pending, *more):
            parts[part] = parts.get(part, ZERO) + rho
        return {name: max(rho, self.reserved) for name, rho in self.slots(parts).items()}


def alone(slots: Slots) -> Fraction:
    """What a run costs by itself."""
    return slots["own"] + max(slots.get("train", ZERO), slots.get("held", ZERO))


def together(pairs: list[tuple[str | None, Slots]]) -> Fraction:
    """What runs cost together: of each named split the dearer of its sides, over all runs on it."""
    splits = {split for split, _ in pairs if split is not None}
    sides = (
        max(sum((slots[side] for name, slots in pairs if name == split), ZERO) for side in ("train", "held"))
        for split in splits
    )
    return sum((slots["own"] for _, slots in pairs), ZERO) + sum(sides, ZERO)


class Ledgers(RuleBasedStateMachine):
    """Everything that can be done to a ledger, to one in a file and to its model."""

    @initialize()
    def begin(self) -> None:
        quick = Path("/dev/shm")
        self.folder = TemporaryDirectory(dir=quick if os.access(quick, os.W_OK) else None)
        self.path = Path(self.folder.name) / "ledger.db"
        self.book = Book(home_of(str(self.path), create=True))
        self.book.add("visits", zcdp_terms(CAP))
        self.known = {"visits"}
        self.tokens: dict[tuple[str, str], str] = {}
        self.splits: dict[tuple[str, str], str] = {}
        self.keys: dict[tuple[str, str], Model] = {}
        self.all: list[Model] = []
        self.runs: list[tuple[LedgerRun, Model]] = []
        self.steps: list[tuple[LedgerRun, Model, Hold, tuple[str, Fraction]]] = []

    def teardown(self) -> None:
        if hasattr(self, "book"):
            try:
                assert verify_ledger(self.book.home).flaws == ()
            finally:
                self.book.home.close()
                self.folder.cleanup()

    @rule(dataset=data_sets)
    def add(self, dataset: str) -> None:
        self.expect(LedgerConflict if dataset in self.known else None, lambda: self.book.add(dataset, zcdp_terms(CAP)))
        self.known.add(dataset)

    @rule(dataset=data_sets, name=st.sampled_from(["Ana", "Ben"]), cap=st.sampled_from([ALLOWED, CAP, 2 * CAP]))
    def add_analyst(self, dataset: str, name: str, cap: Fraction) -> None:
        taken = dataset not in self.known or (dataset, name) in self.tokens
        refused = LedgerConflict if dataset not in self.known else InvalidValue if cap > CAP else None
        allowed = ALLOWED if cap == CAP else cap

        def work() -> None:
            self.tokens[dataset, name] = self.book.add_analyst(dataset, name, allowed)

        self.expect(refused or (LedgerConflict if taken else None), work)

    @rule(
        dataset=data_sets, name=people, split=st.sampled_from(["halves", "thirds", None]),
        because=st.sampled_from(["by number", "by name", " ", " "]), key=st.sampled_from(["k", "l", None, None]),
        request=st.sampled_from(["one", "other"]),
    )  # fmt: skip
    def begin_run(
        self, *, dataset: str, name: str | None, split: str | None, because: str, key: str | None, request: str
    ) -> None:
        token = None if name is None else self.tokens.get((dataset, name), "a guess")
        earlier = None if key is None else self.keys.get((dataset, key))
        refused: type[Exception] | None = None
        if dataset not in self.known:
            refused = LedgerConflict
        elif earlier is not None:
            refused = LedgerConflict if earlier.request != request or earlier.stored is None else None
        elif token == "a guess":
            refused = LedgerConflict
        elif split is not None and not because.strip():
            refused = None if (dataset, split) in self.splits else InvalidValue
        elif split is not None and self.splits.get((dataset, split), because) != because:
            refused = LedgerConflict

        def work() -> None:
            run = begun(self.book, dataset, token=token, split=split, because=because, key=key, request=request)
            if earlier is not None:
                assert run.payload == earlier.stored
                with pytest.raises(LedgerConflict, match="stored release already"):
                    run.hold(step(), of(Fraction(1, 64)))
                return
            model = Model(dataset, name, split, request)
            self.all.append(model)
            self.runs.append((run, model))
            if split is not None:
                self.splits.setdefault((dataset, split), because)
            if key is not None:
                self.keys[dataset, key] = model

        self.expect(refused, work)

    @rule(place=places, part=st.sampled_from(PARTS), rho=costs)
    def hold(self, place: int, part: str, rho: Fraction) -> None:
        run, model = self.some_run(place)
        if model.state != "open":
            return  # within what it knows to be held nothing is written, and the capture will be refused
        after = {name: max(rho, model.held[name]) for name, rho in model.wanted((part, rho)).items()}
        refused = None if self.fits(model, after) else BudgetExceeded

        def work() -> None:
            hold = run.hold(step(part), of(rho))
            model.held = after
            model.pending.append((part, rho))
            self.steps.append((run, model, hold, (part, rho)))

        self.expect(refused, work)

    @rule(place=places, rho=costs)
    def reserve(self, place: int, rho: Fraction) -> None:
        run, model = self.some_run(place)
        after = {name: max(rho, held) for name, held in model.held.items()}
        refused = LedgerConflict if model.state != "open" else None if self.fits(model, after) else BudgetExceeded

        def work() -> None:
            assert run.reserve([of(rho)]) == 1
            model.held, model.reserved = after, rho

        self.expect(refused, work)

    @rule(place=places, share=shares, store=st.booleans())
    def capture(self, place: int, share: Fraction, store: bool) -> None:
        if not self.steps:
            return
        run, model, hold, (part, rho) = self.steps.pop(place % len(self.steps))

        def work() -> None:
            if store:
                run.keep(f"{len(self.all)}")
                model.stored = f"{len(self.all)}"
            run.capture(hold, of(rho * share).as_spent())
            model.pending.remove((part, rho))
            model.spent[part] = model.spent.get(part, ZERO) + rho * share
            ahead = model.wanted((part, rho))
            alike, model.before = model.before == (part, rho), (part, rho)
            model.captured = model.slots(model.spent)
            model.held = ahead if alike and self.fits(model, ahead) else model.wanted()

        if model.state != "open":
            with pytest.raises(LedgerConflict):
                run.capture(hold, of(rho * share).as_spent())
        else:
            work()
            with pytest.raises(LedgerConflict, match="captured before"):
                run.capture(hold, of(rho * share).as_spent())

    @rule(place=places, part=st.sampled_from(PARTS), share=shares)
    def reserve_and_take_a_step(self, place: int, part: str, share: Fraction) -> None:
        self.reserve(place, Fraction(1, 8))
        self.hold(place, part, Fraction(1, 16))
        self.capture(len(self.steps) - 1, share, False)

    @rule(place=places)
    def capture_more_than_all_that_is_held(self, place: int) -> None:
        if not self.steps:
            return
        run, _, hold, _ = self.steps[place % len(self.steps)]

        with pytest.raises(LedgerConflict):
            run.capture(hold, of(2 * CAP).as_spent())

    @rule(place=places)
    def close(self, place: int) -> None:
        run, model = self.some_run(place)
        self.runs.remove((run, model))
        self.steps = [each for each in self.steps if each[0] is not run]

        def work() -> None:
            run.close()
            for part, rho in model.pending:
                model.spent[part] = model.spent.get(part, ZERO) + rho
            model.captured = model.held = model.slots(model.spent)
            model.state = "closed"

        self.expect(LedgerConflict if model.state != "open" else None, work)

    @rule(place=places, in_full=st.booleans())
    def settle(self, place: int, in_full: bool) -> None:
        run, model = self.some_run(place)

        def work() -> None:
            settle(self.book, run.id, statement=None if in_full else "the power failed")
            model.captured = model.held = model.held if in_full else model.captured
            model.state = "settled"

        self.expect(LedgerConflict if model.state != "open" else None, work)

    @rule(place=places)
    def lose_all_processes(self, place: int) -> None:
        if place % 4:
            return
        self.book.home.close()
        self.book = Book(home_of(str(self.path)))
        self.runs, self.steps = [], []

    def some_run(self, place: int) -> tuple[LedgerRun, Model]:
        """A run, which is begun if there is none."""
        if not self.runs:
            self.all.append(Model("visits", None, None, None))
            self.runs.append((begun(self.book, "visits"), self.all[-1]))
        return self.runs[place % len(self.runs)]

    @invariant()
    def totals_agree(self) -> None:
        if not hasattr(self, "book"):
            return
        found = {each.name: each for each in overviews(self.book.home)}
        assert found.keys() == self.known
        for name, each in found.items():
            kept = as_fraction(each.account.spent[0]), as_fraction(each.account.committed[0])
            assert kept == self.totals(name)
            assert kept[0] <= kept[1] <= CAP
            for analyst, account in each.analysts.items():
                own = [model for model in self.all if (model.dataset, model.analyst) == (name, analyst)]
                assert as_fraction(account.spent[0]) == sum((alone(model.captured) for model in own), ZERO)
                assert as_fraction(account.committed[0]) == sum((alone(model.held) for model in own), ZERO) <= ALLOWED
        assert len(unsettled(self.book)) == sum(model.state == "open" for model in self.all)

    def totals(self, dataset: str) -> tuple[Fraction, Fraction]:
        runs = [model for model in self.all if model.dataset == dataset]
        return (
            together([(model.split, model.captured) for model in runs]),
            together([(model.split, model.held) for model in runs]),
        )

    def fits(self, model: Model, after: Slots) -> bool:
        """Whether what a run holds may become this."""
        before, former = self.totals(model.dataset)[1], model.held
        own = sum((alone(each.held) for each in self.all if _same(each, model)), ZERO)
        model.held = after
        total = self.totals(model.dataset)[1]
        own_after = sum((alone(each.held) for each in self.all if _same(each, model)), ZERO)
        model.held = former
        over = total > before and total > CAP
        return not over and not (model.analyst is not None and own_after > own and own_after > ALLOWED)

    @staticmethod
    def expect(refused: type[Exception] | None, work: Callable[[], object]) -> None:
        """The work is done, or is refused as the model says."""
        if refused is None:
            work()
        else:
            with pytest.raises(refused):
                work()


def _same(one: Model, other: Model) -> bool:
    return (one.dataset, one.analyst) == (other.dataset, other.analyst)


TestLedgers = Ledgers.TestCase
TestLedgers.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
