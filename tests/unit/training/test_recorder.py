"""A trainer's journal states what its run does, however it is run, and beside its checkpoint."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from expost.accounting.curve import AdpEpsilon
from expost.errors import LedgerConflict
from expost.folders.journal import Journal
from expost.jobs import audit as check
from expost.jobs import save_module
from expost.jobs.modules.report import module_commitment, of_training
from expost.noise import SeededNoise
from expost.receipts.journal import Kept, read_journal
from expost.receipts.receipt import receipt
from expost.search import Outcome
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.course import Announced, Stage
from expost.training.torch.trainer import Trainer
from tests.unit.training.modules import held, network, sgd, train, trainer

PLAN: dict[str, Any] = {"every": "2 epochs", "releases": 2, "delta": 1e-5}


def kept(path: Path) -> Kept:
    return read_journal(path.read_text(encoding="utf-8"))


def until(job: Trainer) -> Outcome[Any]:
    return job.until(accuracy(0.99), on=held(), **PLAN)


def released(job: Trainer) -> Stage:
    return [*job.releases(**PLAN)][-1]


def called_back(job: Trainer) -> Outcome[Any]:
    callback, loop = Callback(job, accuracy(0.99), on=held(), **PLAN), SimpleNamespace(should_stop=False)
    while not loop.should_stop:
        callback.on_train_epoch_end(loop, job)
    assert callback.outcome is not None
    return callback.outcome


WAYS = pytest.mark.parametrize("train_by", [until, released, called_back])


@WAYS
@pytest.mark.parametrize("checkpoint", [None, "run.pt"])
def test_the_journal_states_what_the_run_does(
    tmp_path: Path, train_by: Callable[[Trainer], Any], checkpoint: str | None
) -> None:
    others: dict[str, Any] = {} if checkpoint is None else {"checkpoint": tmp_path / checkpoint}
    with Journal.at(tmp_path / "run.journal") as ledger:
        job = trainer(ledger=ledger, **others)
        found = train_by(job)
        save_module(job, found, tmp_path / "out")

    assert kept(tmp_path / "run.journal").epsilon == found.epsilon
    assert check(receipt(of_training(job, found))).differences == ()
    assert (tmp_path / "run.pt").exists() is (checkpoint is not None)


@WAYS
def test_the_digest_of_a_run_is_known_before_a_record_is_read(train_by: Callable[[Trainer], Any]) -> None:
    told: list[tuple[str, int]] = []

    def announced(found: Announced) -> None:
        told.append((module_commitment(found).digest, len(job.ledger.lines) + len(job.ledger.held)))

    job = trainer(on_announced=announced)
    outcome = train_by(job)

    ((digest, spent),) = told
    assert spent == 0
    assert receipt(of_training(job, outcome))["pledged"] == digest
    assert check(receipt(of_training(job, outcome)), pledged=digest).differences == ()
    assert check(receipt(of_training(job, outcome)), pledged=digest[::-1]).differences


@pytest.mark.parametrize("checkpoint", [None, "run.pt"])
def test_an_epoch_is_in_the_journal_before_it_runs(tmp_path: Path, checkpoint: str | None) -> None:
    path, seen = tmp_path / "run.journal", list[tuple[int, bool]]()

    class Watched(SeededNoise):  # type: ignore[misc]  # which is final
        def coins(self, *request: Any) -> Any:
            bill = kept(path).bill
            seen.append((len(bill), bill[-1].finished))
            return super().coins(*request)

    others: dict[str, Any] = {} if checkpoint is None else {"checkpoint": tmp_path / checkpoint}
    with Journal.at(path) as ledger:
        job = trainer(ledger=ledger, noise=Watched(3), **others)
        released(job)

    assert dict(seen) == dict.fromkeys(range(1, 5), False)


def test_a_resumed_run_tells_its_own_journal_what_was_spent_before(tmp_path: Path) -> None:
    stages = trainer(checkpoint=tmp_path / "run.pt").releases(**PLAN)
    first = next(stages)
    module = network()
    with Journal.at(tmp_path / "second.journal") as ledger:
        job = Trainer.resume(tmp_path / "run.pt", module, sgd(module), train(), ledger=ledger, noise=SeededNoise(4))
        (last,) = job.releases(**PLAN)

    carried, *_ = kept(tmp_path / "second.journal").bill
    assert (carried.entry.what, carried.spent.at(8)) == ("Carried", first.release.spent.at(8))
    assert kept(tmp_path / "second.journal").epsilon == last.epsilon
    assert job.ledger is ledger


def test_a_journal_of_another_run_is_refused_before_anything_is_billed(tmp_path: Path) -> None:
    with Journal.at(tmp_path / "run.journal") as ledger:
        released(trainer(ledger=ledger))
        spent = kept(tmp_path / "run.journal").epsilon

        with pytest.raises(LedgerConflict, match="only once"):
            released(trainer(ledger=ledger, checkpoint=tmp_path / "run.pt"))

    assert kept(tmp_path / "run.journal").epsilon == spent
    assert not (tmp_path / "run.pt").exists()


def test_many_epochs_are_told_once(tmp_path: Path) -> None:
    """Each has a table of costs, of thousands of characters; an auditor reads no file of many million."""
    with Journal.at(tmp_path / "run.journal") as ledger:
        stages = trainer(ledger=ledger, batch=600).releases(every="60 epochs", releases=1, delta=1e-5)
        (stage,) = stages

    assert (tmp_path / "run.journal").stat().st_size < 3 * 10**4
    assert kept(tmp_path / "run.journal").epsilon == pytest.approx(stage.epsilon)
    assert stage.epsilon > AdpEpsilon(0)
