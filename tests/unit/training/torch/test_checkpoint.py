"""Checkpoints: weights and bill go on together, and nothing that may have been seen is forgotten."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim import SGD, Adam

from expost.accounting.claim import NOTHING, Promise
from expost.accounting.curve import Highest, Linear, Tabulated
from expost.accounting.descent import Descent
from expost.accounting.stops import PlannedStops
from expost.checks.confidence import Confidence
from expost.checks.gaussian import BalancedCheck
from expost.checks.question import CentredSum
from expost.errors import BudgetExceeded, InvalidValue, LedgerConflict, MechanismFailed, SpentCheck, Unreadable
from expost.judge import Balanced, Budgeted, OnPublic
from expost.ledger import Entry
from expost.noise import SeededNoise, SystemNoise
from expost.private import Neighbours
from expost.search import Ended
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.checkpoint import Checkpoint, write_archive
from expost.training.torch.resumption import Continued, Remaining, Standing, remaining
from expost.training.torch.trainer import Trainer
from expost.training.torch.weights import Weights
from tests.unit.training.modules import against, flat, held, network, sgd, train, trainer

SETTINGS: dict[str, Any] = {
    "optimizer": "SGD",
    "batch": 1,
    "clip": "1",
    "neighbours": "add or remove one record",
    "noise_multiplier": "3/2",
    "records": 2,
    "seeded": True,
}
PLAN: dict[str, Any] = {"every": "2 epochs", "releases": 3, "delta": 1e-5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.pt"


def resumed(path: Path, **others: Any) -> Trainer:
    """The run of a new process: a fresh module, a fresh optimiser."""
    module = network()
    return Trainer.resume(path, module, sgd(module), train(), **{"noise": SeededNoise(4), **others})


def planned(job: Trainer) -> list[float]:
    pledge = job.ledger.pledged
    assert isinstance(pledge, PlannedStops)
    return [stop.epsilon for stop in pledge.table]


class Fails:
    """Seeded noise that breaks down after so many steps."""

    def __init__(self, flips: int) -> None:
        self._noise, self._flips = SeededNoise(3), flips

    def __getattr__(self, name: str) -> Any:
        return getattr(self._noise, name)

    def coins(self, probability: Fraction, count: int) -> Any:
        self._flips -= 1
        if self._flips < 0:
            raise RuntimeError("the process would be gone here")
        return self._noise.coins(probability, count)


def broken_off(path: Path, steps: int) -> None:
    """A run that ends in the middle of an epoch of ten steps."""
    job = trainer(checkpoint=path, noise=Fails(steps))
    with pytest.raises(MechanismFailed):
        list(job.releases(**PLAN))


def test_a_run_that_was_left_between_releases_goes_on_as_if_it_had_not_been(path: Path) -> None:
    whole = list(trainer(noise=SystemNoise()).releases(**PLAN))
    job = trainer(checkpoint=path)
    left = list(islice(job.releases(**PLAN), 1))

    rest = list(resumed(path).releases(**PLAN))

    assert [stage.epsilon for stage in left + rest] == [stage.epsilon for stage in whole]


def test_the_weights_and_the_optimiser_go_on_from_the_file(path: Path) -> None:
    job = trainer(checkpoint=path, make=lambda module: Adam(module.parameters(), lr=0.03))
    (stage,) = islice(job.releases(**PLAN), 1)
    module = network()
    optimizer = Adam(module.parameters(), lr=0.5)

    Trainer.resume(path, module, optimizer, train(), noise=SeededNoise(4)).releases(**PLAN)

    assert torch.equal(flat(module), flat(stage.module))
    assert optimizer.param_groups[0]["lr"] == 0.03
    assert {int(state["step"]) for state in optimizer.state.values()} == {20}


def test_no_weights_are_in_the_module_before_a_run_begins_that_bills_them(path: Path) -> None:
    list(islice(trainer(checkpoint=path).releases(**PLAN), 1))
    module = network()
    optimizer = sgd(module)

    Trainer.resume(path, module, optimizer, train(), noise=SeededNoise(4))

    assert torch.equal(flat(module), flat(network()))
    assert not optimizer.state


def all_but_ended(path: Path, goal: dict[str, Any]) -> list[float]:
    """A run that is killed after its last release, before it is over; the stops that it had pledged."""
    steps = iter(range(PLAN["releases"]))

    def stop_at_last(line: object) -> None:
        if next(steps) == PLAN["releases"] - 1:
            raise KeyboardInterrupt

    job = trainer(checkpoint=path)
    with pytest.raises(KeyboardInterrupt):
        job.until(accuracy(0.99), **goal, on_step=stop_at_last)
    return planned(job)


GOALS = pytest.mark.parametrize("on", [held(), OnPublic(held())], ids=["private", "public"])


@GOALS
def test_a_run_of_which_every_step_was_taken_comes_to_its_last_release_and_bill(path: Path, on: Any) -> None:
    expected = trainer().until(accuracy(0.99), **against(on), **PLAN)
    stops = all_but_ended(path, {**against(on), **PLAN})

    outcome = resumed(path).until(accuracy(0.99), **against(on), **PLAN)

    assert outcome.ended is Ended.EXHAUSTED
    assert outcome.epsilon == stops[-1]
    assert torch.equal(flat(outcome.release.value), flat(expected.release.value))
    (last,) = outcome.history
    assert last.verdict == expected.history[-1].verdict
    assert last.spent.at(8) == pytest.approx(expected.history[-1].spent.at(8))


def test_a_loop_of_which_every_release_was_made_gives_the_last_one_again(path: Path) -> None:
    seen = list(islice(trainer(checkpoint=path).releases(**PLAN), 3))

    (again,) = resumed(path).releases(**PLAN)

    assert again.epsilon == seen[-1].epsilon
    assert torch.equal(flat(again.module), flat(seen[-1].module))


@GOALS
def test_a_callback_with_no_step_left_stops_the_loop_with_the_bill(path: Path, on: Any) -> None:
    stops = all_but_ended(path, {**against(on), **PLAN})
    callback = Callback(resumed(path), accuracy(0.99), **against(on), **PLAN)
    host = SimpleNamespace(should_stop=False)

    callback.on_train_epoch_end(host, None)

    assert host.should_stop
    assert callback.outcome is not None
    assert callback.outcome.epsilon == stops[-1]


def test_resuming_draws_the_same_weights_as_not_stopping(path: Path) -> None:
    """The second process goes on with the noise of the first, so the two runs must agree to the last bit."""
    noise = SeededNoise(3)
    undisturbed = list(trainer().releases(**PLAN))[-1]
    list(islice(trainer(checkpoint=path, noise=noise).releases(**PLAN), 1))

    last = list(resumed(path, noise=noise).releases(**PLAN))[-1]

    assert torch.equal(flat(last.module), flat(undisturbed.module))


def test_an_epoch_that_was_broken_off_is_billed_and_the_rest_of_the_run_is_shorter_by_as_much(path: Path) -> None:
    broken_off(path, 14)  # in the second epoch
    job = resumed(path)

    stages = list(job.releases(**PLAN))

    step = Descent(Fraction(1, 10), Fraction(1)).step
    assert [stage.release.spent.at(8) for stage in stages] == pytest.approx(
        [step.times(steps).at(8) for steps in (20, 40, 60)], rel=1e-12
    )
    assert torch.load(path, weights_only=True)["steps"] == 50


def test_after_a_crash_every_release_is_stated_as_the_stop_that_was_planned_for_it(path: Path) -> None:
    broken_off(path, 14)
    job = resumed(path)

    stages = list(job.releases(**PLAN))

    assert [stage.epsilon for stage in stages] == planned(job)


def test_a_run_that_repeated_what_was_lost_would_come_to_no_claim(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative twin: the plan less what was kept, not less what was billed."""
    broken_off(path, 14)
    job = resumed(path)

    def as_kept(rungs: Any, descent: Any, standing: Standing) -> Remaining:
        return remaining(rungs, descent, replace(standing, billed=standing.kept))

    monkeypatch.setattr("expost.training.torch.run.remaining", as_kept)
    stages = list(job.releases(**PLAN))

    assert [stage.epsilon for stage in stages] == [*planned(job)[1:], math.inf]


def test_a_stretch_that_is_lost_to_its_end_leaves_a_release_of_fewer_steps(path: Path) -> None:
    broken_off(path, 14)  # one epoch of two is kept, and none is left to be billed before the first release
    list(islice(resumed(path, noise=Fails(0)).releases(**PLAN), 1))

    stored = torch.load(path, weights_only=True)

    assert (stored["steps"], stored["judged"]) == (10, 10)
    assert [stage.epsilon for stage in resumed(path).releases(**PLAN)] == planned(trained_whole())[1:]


def trained_whole() -> Trainer:
    job = trainer()
    list(job.releases(**PLAN))
    return job


def test_resuming_says_what_can_still_be_stated(path: Path) -> None:
    broken_off(path, 24)
    job = resumed(path)
    prospect = job.prospect
    assert prospect is not None

    stages = list(job.releases(**PLAN))

    assert [each.epsilon for each in prospect.releases] == [stage.epsilon for stage in stages]
    assert [each.steps for each in prospect.releases] == [30, 50]
    assert str(prospect).startswith("30 steps are billed and 20 of them are in the weights. What can still be stated")
    assert trainer().prospect is None


def test_a_resumed_run_ends_below_its_cap(path: Path) -> None:
    broken_off(path, 14)
    second = planned(trained_whole())[1]

    stages = list(resumed(path).releases(**PLAN, max_epsilon=second))

    assert [stage.epsilon for stage in stages] == planned(trained_whole())[:2]


def test_a_bill_that_passes_the_cap_already_is_refused(path: Path) -> None:
    broken_off(path, 54)

    with pytest.raises(BudgetExceeded, match="would be stated as"):
        resumed(path).releases(**PLAN, max_epsilon=planned(trained_whole())[0])


def test_questions_asked_by_an_earlier_process_stay_on_the_bill_of_the_held_out_part(path: Path) -> None:
    goal = {"on": held(), **PLAN}
    steps = iter(range(2))

    def stop_after_two(line: object) -> None:
        if next(steps) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer(checkpoint=path).until(accuracy(0.99), **goal, on_step=stop_after_two)
    job = resumed(path)
    outcome = job.until(accuracy(0.99), **goal)

    carried = {entry.part for entry, _, _ in job.ledger.lines if entry.what == "Carried"}
    assert carried == {"data/train", "data/held"}
    assert outcome.ended is Ended.EXHAUSTED
    assert outcome.epsilon == planned(job)[-1]


def looks_on_file(path: Path) -> int:
    return sum(times for _, _, steps, times in torch.load(path, weights_only=True)["bills"] if not steps)


class Interrupted:
    """Seeded noise that ends the process when a question is answered."""

    def __getattr__(self, name: str) -> Any:
        return getattr(SeededNoise(3), name)

    def discrete_gaussian(self, variance: Fraction, shape: Any) -> Any:
        raise KeyboardInterrupt


@pytest.mark.parametrize("check", [Balanced(), Budgeted()])
def test_a_question_that_was_being_answered_is_over_and_counts_as_a_look(path: Path, check: Any) -> None:
    goal: dict[str, Any] = {"on": held(), "check": check, **PLAN}
    with pytest.raises(KeyboardInterrupt):
        trainer(checkpoint=path, noise=Interrupted()).until(accuracy(0.99), **goal)
    assert looks_on_file(path) == 1

    job = resumed(path)
    outcome = job.until(accuracy(0.99), **goal)

    assert [line.verdict is None for line in outcome.history] == [False, False]
    assert looks_on_file(path) == PLAN["releases"]
    assert outcome.epsilon == planned(job)[-1]


def test_no_more_looks_are_taken_than_were_planned_over_all_processes(path: Path) -> None:
    """A check whose plan is used up refuses, which a run of the check that begins anew in each process would not."""
    check: BalancedCheck[Any, Any] = BalancedCheck(
        CentredSum(lambda module, held: np.ones(len(held)), Fraction(1, 2), Neighbours.ADD_REMOVE),
        Confidence.of(0.95, looks=2),
    )
    trained, asked = Promise(Linear(Fraction(0), Fraction(1))).as_spent(), NOTHING.as_spent()

    check.price(1, trained, asked)
    Continued(check, 1).price(0, trained, asked)

    with pytest.raises(SpentCheck, match="for 2 looks"):
        Continued(check, 2).price(0, trained, asked)


def test_a_release_that_nobody_had_judged_is_judged_by_the_next_process(path: Path) -> None:
    job = trainer(checkpoint=path)
    run = job.begin(accuracy(0.05), on=held(), **PLAN)
    running = run.search(None)
    for _ in range(2):
        running.step()  # and then the process is gone, before it asks
    before = looks_on_file(path)

    outcome = resumed(path).until(accuracy(0.05), on=held(), **PLAN)

    assert (before, looks_on_file(path)) == (0, 1)
    assert outcome.ended is Ended.HALTED
    assert outcome.epsilon == planned(job)[0]
    assert [line.verdict is not None and line.verdict.passed for line in outcome.history] == [True]


@GOALS
def test_a_callback_judges_it_as_well(path: Path, on: Any) -> None:
    job = trainer(checkpoint=path)
    run = job.begin(accuracy(0.05), **against(on), **PLAN)
    running = run.search(None)
    for _ in range(2):
        running.step()
    callback = Callback(resumed(path), accuracy(0.05), **against(on), **PLAN)
    host = SimpleNamespace(should_stop=False)

    callback.on_train_epoch_end(host, None)

    assert host.should_stop
    assert callback.outcome is not None
    assert callback.outcome.ended is Ended.HALTED


def test_what_is_about_to_be_spent_is_on_disk_before_it_is_and_the_weights_after(path: Path) -> None:
    broken_off(path, 14)

    stored = torch.load(path, weights_only=True)

    ((part, _, steps, times),) = stored["bills"]
    assert (part, steps, times, stored["steps"]) == ("data", 10, 2, 10)


def test_the_file_is_always_whole_and_alone(path: Path) -> None:
    broken_off(path, 14)

    assert [each.name for each in path.parent.iterdir()] == ["run.pt"]


def test_a_file_that_is_there_already_is_not_overwritten(path: Path) -> None:
    broken_off(path, 3)
    before = path.read_bytes()

    with pytest.raises(LedgerConflict, match=r"already holds a run; continue it with Trainer\.resume"):
        trainer(checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "name"), [({"releases": 4}, "releases"), ({"every": "1 epoch"}, "every"), ({"delta": 1e-6}, "delta")]
)
def test_another_plan_than_the_pledged_one_is_refused(path: Path, changed: dict[str, Any], name: str) -> None:
    broken_off(path, 3)

    with pytest.raises(LedgerConflict, match=f"was pledged with {name} = .*; resume it with that"):
        resumed(path).releases(**{**PLAN, **changed})


def test_another_accuracy_than_the_pledged_one_is_refused(path: Path) -> None:
    job = trainer(checkpoint=path, noise=Fails(25))
    with pytest.raises(MechanismFailed):
        job.until(accuracy(0.99), on=held(), **PLAN)

    with pytest.raises(LedgerConflict, match="was pledged with threshold = 99/100"):
        resumed(path).until(accuracy(0.9), on=held(), **PLAN)


def bills_on_file(path: Path) -> list[Any]:
    return [(part, steps, times) for part, _, steps, times in torch.load(path, weights_only=True)["bills"]]


def test_a_run_that_is_over_gives_its_last_release_again_and_takes_no_step(path: Path) -> None:
    last, before = list(trainer(checkpoint=path).releases(**PLAN))[-1], bills_on_file(path)
    module = network()

    job = Trainer.resume(path, module, sgd(module), train(), noise=SeededNoise(4))

    assert torch.equal(flat(module), flat(last.module))
    (again,) = job.releases(**PLAN)
    assert torch.equal(flat(again.module), flat(last.module))
    assert (again.epsilon, len(again.history)) == (last.epsilon, 1)
    assert bills_on_file(path) == before


@pytest.mark.parametrize("told", [True, False], ids=["and said so", "and was killed first"])
def test_a_run_that_halted_comes_to_the_same_outcome_again(
    path: Path, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once an answer is on disk nobody trains on behind it, though rungs remain."""
    if not told:
        monkeypatch.setattr(Checkpoint, "end", lambda checkpoint: None)
    outcome, before = trainer(checkpoint=path).until(accuracy(0.05), on=held(), **PLAN), bills_on_file(path)
    monkeypatch.undo()

    job = resumed(path)
    again = job.until(accuracy(0.05), on=held(), **PLAN)

    assert job.prospect is not None
    assert [each.epsilon for each in job.prospect.releases] == [outcome.epsilon]
    assert (again.epsilon, again.ended) == (outcome.epsilon, Ended.HALTED)
    assert [line.verdict for line in again.history] == [line.verdict for line in outcome.history]
    assert torch.equal(flat(again.release.value), flat(outcome.release.value))
    assert bills_on_file(path) == before


def test_a_run_that_a_cap_ended_is_not_gone_on_with(path: Path) -> None:
    """Whoever were let on by a larger cap would void the one that was promised."""
    cap = planned(trained_whole())[0]
    outcome = trainer(checkpoint=path).until(accuracy(0.99), on=held(), **PLAN, max_epsilon=1.01 * cap)
    assert outcome.ended is Ended.CAPPED

    with pytest.raises(LedgerConflict, match="is over and its weights are in the module"):
        resumed(path).until(accuracy(0.99), on=held(), **PLAN, max_epsilon=10 * cap)


def test_a_rehearsal_is_not_gone_on_with_in_earnest(path: Path) -> None:
    broken_off(path, 3)

    with pytest.raises(LedgerConflict, match="differ in whether noise is seeded"):
        resumed(path, noise=SystemNoise())


def test_two_processes_cannot_go_on_with_one_file(path: Path) -> None:
    broken_off(path, 3)
    first, second = resumed(path), resumed(path)
    list(islice(first.releases(**PLAN), 1))

    with pytest.raises(LedgerConflict, match="another process has written"):
        next(second.releases(**PLAN))


def test_a_module_or_an_optimiser_of_another_shape_is_refused(path: Path) -> None:
    broken_off(path, 3)
    small = torch.nn.Sequential(torch.nn.Linear(64, 10))
    module = network()
    grouped = SGD([{"params": module[0].parameters()}, {"params": module[2].parameters()}], lr=1)
    other = Adam(module.parameters())

    with pytest.raises(InvalidValue, match="do not fit this module"):
        Trainer.resume(path, small, sgd(small), train(), noise=SeededNoise(4))
    for optimizer in (grouped, other):
        with pytest.raises(InvalidValue, match="another optimiser"):
            Trainer.resume(path, module, optimizer, train(), noise=SeededNoise(4))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "there is no checkpoint"), (b"", "is not a checkpoint of"), (b"PK", "is not a checkpoint")],
)
def test_a_file_that_is_no_checkpoint_is_said_to_be_none(path: Path, content: bytes | None, sentence: str) -> None:
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(Unreadable, match=sentence):
        resumed(path)


def test_other_weights_are_no_checkpoint(path: Path) -> None:
    torch.save(network().state_dict(), path)

    with pytest.raises(Unreadable, match="is not a checkpoint of"):
        resumed(path)


def test_a_checkpoint_of_another_version_is_said_to_be_one(path: Path) -> None:
    broken_off(path, 3)
    write_archive(path, {**torch.load(path, weights_only=True), "format": 0})

    with pytest.raises(Unreadable, match="was written by another version of expost"):
        resumed(path)


def test_a_folder_that_is_not_there_is_said_before_a_record_is_read(tmp_path: Path) -> None:
    job = trainer(checkpoint=tmp_path / "absent/run.pt", noise=Fails(0))

    with pytest.raises(LedgerConflict, match="cannot be written"):
        job.releases(**PLAN)


@pytest.mark.parametrize(
    "curve",
    [
        Linear(Fraction(0), Fraction(1, 3), Fraction(2, 5)),
        Linear(Fraction(1, 7), Fraction(1, 3)),
        Highest((Linear(Fraction(3), Fraction(0)), Linear(Fraction(0), Fraction(1)))),
        Tabulated.of([2.0, 3.5], [0.1, math.inf]),
    ],
)
def test_every_kind_of_curve_comes_back_from_the_file_as_it_was(path: Path, curve: Any) -> None:
    module = network()
    kept = Checkpoint.new(path, SETTINGS, Weights.of(module, sgd(module), 0))
    kept.hold(Entry("a step", "data", "add or remove one record", True, True), Promise(curve))

    back = Checkpoint.load(path).progress.carried("data").curve

    assert [back.at(alpha) for alpha in (2, 3, 4)] == [curve.at(alpha) for alpha in (2, 3, 4)]
    assert back.gaussian == curve.gaussian
