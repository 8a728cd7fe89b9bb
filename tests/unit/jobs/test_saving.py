"""Saving searches, modules and tunings: exactly these files, all or nothing; and one line for whoever prints one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import nn

from expost.accounting.stops import PlannedStops
from expost.checks.question import PublicCheck
from expost.cli import main
from expost.errors import ExpostError, LedgerConflict
from expost.jobs import audit as check
from expost.jobs import save_module, save_search, save_tuned
from expost.jobs.tunings.receipt import PRICES
from expost.judge import OnPublic
from expost.ledger import MemoryLedger
from expost.noise import Integers, Noise, SeededNoise, SystemNoise
from expost.odometer import Odometer
from expost.private import Neighbours
from expost.search import Ended, Outcome, planned_stops, search
from expost.training.head.score import Classifier, accuracy
from expost.training.torch.trainer import Trainer
from expost.training.tune import tune
from expost.training.tuned import Tuned
from tests.unit.examples import ADD, Says, one_sentence, people, rehearsal
from tests.unit.jobs.searches import CHECKS, LADDER, ONES, run
from tests.unit.jobs.synthesis.customers import SCHEMA, made
from tests.unit.report.examples import customers, trained
from tests.unit.report.examples import run as synthesis
from tests.unit.training.modules import against, held, network, sgd, train, trainer
from tests.unit.training.tunings import Commonest, tuned


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def audit(folder: Path) -> int:
    return CliRunner().invoke(main, ["audit", str(folder / "receipt.json")]).exit_code


def said(folder: Path) -> str:
    return CliRunner().invoke(main, ["audit", str(folder / "receipt.json")]).output


def forge(folder: Path) -> None:
    path = folder / "receipt.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    found["statement"]["epsilon"] *= 0.9
    path.write_text(json.dumps(found), encoding="utf-8")


def test_a_search_leaves_report_and_receipt(tmp_path: Path) -> None:
    outcome, ledger, _ = run(CHECKS["balanced"])

    save_search(outcome, tmp_path / "out", ledger=ledger, check=CHECKS["balanced"], because=ONES.because)

    assert names(tmp_path / "out") == ["receipt.json", "report.html"]
    found = json.loads((tmp_path / "out/receipt.json").read_text(encoding="utf-8"))
    assert check(found).differences == ()
    found["statement"]["epsilon"] *= 0.9
    assert check(found).differences


def test_a_trained_module_leaves_weights_report_and_receipt(tmp_path: Path) -> None:
    made_by = trainer()
    outcome = made_by.until(accuracy(0.3), on=held(), releases=2, every="2 epochs")

    save_module(made_by, outcome, tmp_path / "out")

    assert names(tmp_path / "out") == ["model.pt", "receipt.json", "report.html"]
    weights = torch.load(tmp_path / "out/model.pt", weights_only=True)
    assert type(weights) is dict
    module = network()
    module.load_state_dict(weights)
    state = outcome.release.value.state_dict()
    assert all(torch.equal(each, state[name]) for name, each in module.state_dict().items())
    assert audit(tmp_path / "out") == 0
    forge(tmp_path / "out")
    assert audit(tmp_path / "out") != 0


@pytest.mark.parametrize("share", [0.05, 0.99], ids=["reached", "missed"])
def test_a_run_that_was_over_when_its_process_was_killed_is_resumed_and_saved(tmp_path: Path, share: float) -> None:
    plan: dict[str, Any] = {"on": held(), "releases": 2, "every": "2 epochs"}
    outcome = trainer(checkpoint=tmp_path / "run.pt").until(accuracy(share), **plan)
    module = network()

    again = Trainer.resume(tmp_path / "run.pt", module, sgd(module), train(), noise=SeededNoise(4))
    save_module(again, again.until(accuracy(share), **plan), tmp_path / "out")

    weights, state = torch.load(tmp_path / "out/model.pt", weights_only=True), outcome.release.value.state_dict()
    assert all(torch.equal(each, state[name]) for name, each in weights.items())
    found = json.loads((tmp_path / "out/receipt.json").read_text(encoding="utf-8"))
    assert found["statement"]["epsilon"] == pytest.approx(outcome.epsilon)
    assert found["ended"]["reached"] is (outcome.ended is Ended.HALTED)
    assert audit(tmp_path / "out") == 0
    forge(tmp_path / "out")
    assert audit(tmp_path / "out") != 0


def halve(module: nn.Module) -> None:
    with torch.no_grad():
        next(module.parameters()).mul_(0.5)


CHANGES: dict[str, Callable[[nn.Module], object]] = {
    "a weight": halve,
    "all weights": lambda module: module.load_state_dict(network().state_dict()),
    "the precision": lambda module: module.half(),
    "a layer": lambda module: module.add_module("more", nn.Linear(10, 10)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_module_that_was_changed_since_it_was_released_is_refused(tmp_path: Path, what: str) -> None:
    """Its receipt would be about other weights."""
    made_by = trainer()
    stage = next(made_by.releases(every="5 steps", releases=2))
    CHANGES[what](stage.module)

    with pytest.raises(LedgerConflict, match="was changed since it was released") as refused:
        save_module(made_by, stage, tmp_path / "out")

    assert one_sentence(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_module_of_another_trainer_is_refused_though_it_cost_the_same(tmp_path: Path) -> None:
    made_by, other = trainer(), trainer(noise=SeededNoise(4))
    stage, another = (next(each.releases(every="5 steps", releases=2)) for each in (made_by, other))

    with pytest.raises(LedgerConflict) as refused:
        save_module(made_by, another, tmp_path / "out")
    with pytest.raises(LedgerConflict, match="another trainer"):
        made_by.run.require_released(another.module)

    assert one_sentence(refused.value)
    save_module(made_by, stage, tmp_path / "out")


def test_what_leaves_the_weights_of_a_module_as_they_were_does_not_matter(tmp_path: Path) -> None:
    made_by = trainer()
    stage = next(made_by.releases(every="5 steps", releases=2))
    stage.module.train().requires_grad_(False)(held()[0])

    save_module(made_by, stage, tmp_path / "out")

    assert audit(tmp_path / "out") == 0


def test_a_release_that_a_cap_left_behind_its_last_epoch_is_saved(tmp_path: Path) -> None:
    """The newest weights are then not those of the last release."""
    plan: dict[str, Any] = {**against(OnPublic(held())), "releases": 3, "every": "2 epochs"}
    stops = trainer().begin(accuracy(0.99), **plan).pledge.table
    made_by = trainer()
    outcome = made_by.until(accuracy(0.99), **plan, max_epsilon=stops[0].epsilon)
    assert outcome.ended is Ended.CAPPED

    save_module(made_by, outcome, tmp_path / "out")

    assert audit(tmp_path / "out") == 0


def test_a_stage_is_saved_as_an_outcome_is(tmp_path: Path) -> None:
    made_by = trainer()
    stage = next(made_by.releases(every="5 steps", releases=2))

    save_module(made_by, stage, tmp_path / "out")

    assert names(tmp_path / "out") == ["model.pt", "receipt.json", "report.html"]
    assert audit(tmp_path / "out") == 0


@dataclass(frozen=True)
class Head:
    """Makes a head without looking at anything."""

    name: str = "head"
    neighbours: Neighbours = ADD
    floating: bool = False
    epsilon: float = 1.0
    delta: float = 0.0

    def run(self, train: object, held: object, noise: Noise) -> tuple[Classifier, float]:
        return Classifier(np.zeros((2, 3))), 1.0


TUNED: dict[str, Callable[[], Tuned[object]]] = {
    "a code": lambda: tuned([Commonest("only", 0.5)]),
    "a head": lambda: tune(
        people(0, 1), [Head()], at_least=0.5, delta=1e-6, mean_runs=2, noise=SeededNoise(3), odometer=rehearsal()
    ),
}


@pytest.mark.parametrize(("kind", "product"), [("a code", []), ("a head", ["model.npz"])])
def test_a_tuning_leaves_report_and_receipt_and_its_head(tmp_path: Path, kind: str, product: list[str]) -> None:
    save_tuned(TUNED[kind](), tmp_path / "out")

    assert names(tmp_path / "out") == [*product, "receipt.json", "report.html"]
    assert said(tmp_path / "out") == f"{PRICES}\n"
    forge(tmp_path / "out")
    assert said(tmp_path / "out") != f"{PRICES}\n"


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ExpostError):
        save_tuned(tuned([Commonest("only", 0.5)]), tmp_path)

    assert names(tmp_path) == ["mine.txt"]


def test_a_module_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_by = trainer()
    stage = next(made_by.releases(every="5 steps", releases=2))

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="no space left"):
        save_module(made_by, stage, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_a_module_replaces_another_and_keeps_its_receipt(tmp_path: Path) -> None:
    for overwrite in (False, True):
        made_by = trainer()
        stage = next(made_by.releases(every="5 steps", releases=2))
        save_module(made_by, stage, tmp_path / "out", overwrite=overwrite)

    assert names(tmp_path / "out") == ["earlier", "model.pt", "receipt.json", "report.html"]
    assert names(tmp_path / "out" / "earlier") == ["receipt-1.json"]


LARGE = np.arange(10**5)


def never(value: Integers) -> bool:
    return False


def large(*, seeded: bool = True) -> Outcome[Integers]:
    """A search that released something large, without a check that could pass."""
    check, ledger = PublicCheck(never), MemoryLedger()
    pledge = PlannedStops(planned_stops(Says(1), LADDER, check), 1e-5)
    odometer = Odometer(pledge=pledge, ledger=ledger, rehearsal=seeded)
    noise = SeededNoise(3) if seeded else SystemNoise()
    return search(ONES, Says(1), LADDER, lambda _: LARGE, check, noise=noise, odometer=odometer)


def results() -> dict[str, object]:
    stages = trainer().releases(every="5 steps", releases=2)
    return {
        "Outcome": large(),
        "Outcome of a module": trainer().until(accuracy(0.3), on=held(), releases=2, every="2 epochs"),
        "Outcome of a table": synthesis()[0].outcome,
        "Stage": next(stages),
        "Result": made(customers(SCHEMA)),
        "Result of a training": trained(0.8),
        "Tuned": tuned([Commonest("x" * 1000, 0.5)]),
    }


def test_a_result_is_told_in_one_line_without_its_value() -> None:
    for name, result in results().items():
        told = repr(result)

        assert told.startswith(name.split()[0] + "(")
        assert len(told) < 200
        assert "\n" not in told
        assert not any(word in told for word in ("array(", "tensor", "Linear(", "Table(", "0, 1, 2"))
        assert "ε = " in told and "NOT PRIVATE" in told


def test_a_private_outcome_is_not_said_to_be_otherwise() -> None:
    assert "NOT PRIVATE" not in repr(large(seeded=False))
    assert repr(large(seeded=False)).endswith(", exhausted)")
    assert large().ended is Ended.EXHAUSTED


def test_an_outcome_without_a_pledge_states_no_epsilon() -> None:
    outcome = search(
        ONES, Says(1), LADDER, len, PublicCheck(lambda _: True), noise=SeededNoise(3), odometer=rehearsal()
    )

    assert repr(outcome) == "Outcome(int, no pledge, NOT PRIVATE, halted)"
