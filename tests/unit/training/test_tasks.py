"""Every task trains a tiny module, and is judged by its own score: it passes where it should, and nowhere else."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss
from torch.optim import SGD
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset

from expost.errors import InvalidValue, LedgerConflict, NotDisjoint
from expost.jobs import audit as audited
from expost.jobs import save_module
from expost.jobs.modules.report import of_training
from expost.judge import OnPublic
from expost.noise import SeededNoise
from expost.receipts.receipt import receipt, receipt_text
from expost.search import Ended, Outcome
from expost.training.head.score import accuracy
from expost.training.torch.clipping import Ghost, PerRecord
from expost.training.torch.inputs import outputs_of, transform
from expost.training.torch.records import Examples
from expost.training.torch.scores import (
    Accuracy,
    BalancedAccuracy,
    MultiLabel,
    OneLogit,
    OwnScore,
    PerToken,
    Score,
    Within,
)
from expost.training.torch.trainer import CROSS_ENTROPY, Trainer
from tests.unit.examples import one_sentence
from tests.unit.training.modules import against

PLAN: dict[str, Any] = {"every": "6 epochs", "releases": 2, "delta": 1e-5}
pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")


def numbers(count: int, seed: int, width: int = 3) -> Tensor:
    return torch.from_numpy(SeededNoise(seed).gaussian(1.0, (count, width))).float()


def one_logit(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Nine of ten labels are 0, so that whoever says 0 to all of them is right as often."""
    features = numbers(count, seed)
    return features, (features[:, 0] > 1.28).float()


def measured(count: int, seed: int) -> tuple[Tensor, Tensor]:
    features = numbers(count, seed)
    return features, features @ torch.tensor([1.0, -1.0, 0.5])


def several(count: int, seed: int) -> tuple[Tensor, Tensor]:
    features = numbers(count, seed)
    return features, (features > 0).float()


def rare(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """One of ten records is of class 1."""
    features, labels = one_logit(count, seed)
    return features, labels.long()


def two_inputs(count: int, seed: int) -> tuple[Tensor, ...]:
    features = numbers(count, seed)
    return features[:, :1], features[:, 1:], (features[:, 0] > features[:, 1]).long()


class Named(Dataset[Mapping[str, Tensor]]):
    """Sentences as Hugging Face has them: a mapping per record, padded, a label per token."""

    def __init__(self, count: int, seed: int) -> None:
        self.tokens = (numbers(count, seed, 4) > 0).long() + 2 * (numbers(count, seed + 50, 4) > 0).long()
        self.mask = torch.ones_like(self.tokens)
        self.mask[:, 3] = 0

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, place: int) -> dict[str, Tensor]:
        labels = torch.where(self.mask[place] == 1, self.tokens[place] % 2, -100)
        return {"input_ids": self.tokens[place], "attention_mask": self.mask[place], "labels": labels}


class Tagger(nn.Module):
    """Two classes for each token, in an answer with logits."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(4, 6), nn.Linear(6, 2)

    def forward(self, *, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.head(self.embedding(input_ids) * attention_mask.unsqueeze(-1)))


class Pairwise(nn.Module):
    """Reads two tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(1, 2), nn.Linear(2, 2)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        output: Tensor = self.one(first) + self.other(second)
        return output


def binary_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(outputs.squeeze(1), labels, reduction="none")


def token_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(outputs.transpose(1, 2), labels, reduction="none", ignore_index=-100).mean(dim=1)


def multi_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    return binary_cross_entropy_with_logits(outputs, labels, reduction="none").mean(dim=1)


def squared(outputs: Tensor, labels: Tensor) -> Tensor:
    return mse_loss(outputs.squeeze(1), labels, reduction="none")


def weighted_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(outputs, labels, weight=torch.tensor([0.1, 0.9]).to(outputs), reduction="none")


def closeness(output: Tensor, label: Tensor) -> Tensor:
    return 1 - (output[0] - label).abs().clamp(max=1)


@dataclass(frozen=True)
class Task:
    """What is trained, on what, and how it is judged; ``wrong`` makes held-out labels that no such module predicts."""

    make: Callable[[], nn.Module]
    records: Callable[[int, int], Any]
    loss: Callable[[Tensor, Tensor], Tensor]
    score: Score
    goal: float
    wrong: Callable[[Tensor], Tensor]
    right: Callable[[Tensor, Tensor], Tensor]
    """The score of each record, as anybody would compute it."""


def opposite(labels: Tensor) -> Tensor:
    return torch.where(labels >= 0, 1 - labels, labels)


TASKS = {
    "one logit": Task(
        lambda: nn.Linear(3, 1), one_logit, binary_loss, OneLogit(), 0.93, opposite,
        lambda outputs, labels: ((outputs[:, 0] > 0) == (labels == 1)).double(),
    ),
    "regression": Task(
        lambda: nn.Linear(3, 1), measured, squared, Within(0.5), 0.8, lambda labels: labels + 9,
        lambda outputs, labels: ((outputs[:, 0] - labels).abs() <= 0.5).double(),
    ),
    "multi-label": Task(
        lambda: nn.Linear(3, 3), several, multi_loss, MultiLabel(), 0.85, opposite,
        lambda outputs, labels: ((outputs > 0) == (labels == 1)).double().mean(dim=1),
    ),
    "named fields and tokens": Task(
        Tagger, Named, token_loss, PerToken(), 0.85, opposite,
        lambda outputs, labels: (outputs.argmax(dim=2) == labels)[:, :3].double().mean(dim=1),
    ),
    "two inputs": Task(
        Pairwise, two_inputs, CROSS_ENTROPY, Accuracy(), 0.85, opposite,
        lambda outputs, labels: (outputs.argmax(dim=1) == labels).double(),
    ),
    "a score of one's own": Task(
        lambda: nn.Linear(3, 1), measured, squared, OwnScore(closeness, "closeness"), 0.7, lambda labels: labels + 9,
        lambda outputs, labels: 1 - (outputs[:, 0] - labels).abs().clamp(max=1),
    ),
    "balanced accuracy": Task(
        lambda: nn.Linear(3, 2), rare, weighted_loss, BalancedAccuracy.of([0.9, 0.1]), 0.8, opposite,
        lambda outputs, labels: (outputs.argmax(dim=1) == labels).double(),
    ),
}  # fmt: skip
EACH = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def job(task: Task, **others: Any) -> Trainer:
    torch.manual_seed(1)
    module = task.make()
    optimizer = SGD(module.parameters(), lr=others.pop("rate", 1.0), momentum=0.5)
    settings = {"batch": 200, "max_grad_norm": 1.0, "noise_multiplier": 1.0, "noise": SeededNoise(2), "loss": task.loss}
    return Trainer(module, optimizer, task.records(1000, 1), **{**settings, **others})


def judged(task: Task, held: Any, **others: Any) -> Outcome[nn.Module]:
    return job(task, **others).until(accuracy(task.goal), **against(held), score=task.score, **PLAN)


class Wrong(Dataset[Any]):
    """The same records with labels that are wrong."""

    def __init__(self, task: Task, count: int) -> None:
        self.batches = Examples.of(task.records(count, 2)), task.wrong

    def __len__(self) -> int:
        return len(self.batches[0])

    def __getitem__(self, place: int) -> Any:
        records, wrong = self.batches
        (batch,) = records.batches(torch.tensor([place]).numpy(), 1)
        inputs, label = transform(batch.inputs, lambda each: each[0]), wrong(batch.labels[0])
        if isinstance(inputs, dict):
            return {**inputs, "labels": label}
        return (*inputs, label) if isinstance(inputs, tuple) else (inputs, label)


@EACH
@pytest.mark.parametrize("kind", [PerRecord, Ghost])
def test_a_task_trains_and_passes_by_its_own_score(task: Task, kind: Any) -> None:
    outcome = judged(task, task.records(2000, 2), gradients=kind)

    (batch,) = Examples.of(task.records(2000, 2)).batches(torch.arange(2000).numpy(), 2000)
    with torch.no_grad():
        reached = task.right(outputs_of(outcome.release.value, batch.inputs), batch.labels)
    weights = torch.ones(2000)
    if isinstance(task.score, BalancedAccuracy):
        weights = torch.where(batch.labels == 1, 9.0, 1.0)
    assert outcome.ended is Ended.HALTED
    assert float((weights * reached).sum() / weights.sum()) >= task.goal


@EACH
def test_a_task_does_not_pass_on_records_that_it_gets_wrong(task: Task) -> None:
    outcome = judged(task, Wrong(task, 300))

    assert outcome.ended is Ended.EXHAUSTED
    assert not any(line.verdict is not None and line.verdict.passed for line in outcome.history)


@EACH
def test_a_task_leaves_a_report_and_a_receipt_that_name_its_score(task: Task, tmp_path: Any) -> None:
    made = job(task)
    outcome = made.until(accuracy(task.goal), on=task.records(2000, 2), score=task.score, **PLAN)

    save_module(made, outcome, tmp_path / "out")

    found = json.loads((tmp_path / "out" / "receipt.json").read_text(encoding="utf-8"))
    audit = audited(found)
    assert audit.matches, str(audit)
    assert (found["asked"]["measure"], found["training"]["resolution"]) == (task.score.name, task.score.resolution)
    assert task.score.name in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_receipt_with_another_grid_than_that_of_its_score_is_found_out() -> None:
    task = TASKS["multi-label"]
    made = job(task)
    outcome = made.until(accuracy(task.goal), on=task.records(2000, 2), score=task.score, **PLAN)
    found = json.loads(receipt_text(receipt(of_training(made, outcome))))
    found["training"]["resolution"] = 1

    assert not audited(found).matches


def test_a_module_that_always_says_the_frequent_class_is_accurate_and_not_balanced() -> None:
    """What the label share decides must not pass as accuracy of every class."""
    task = TASKS["balanced accuracy"]
    said = {"rate": 1e-6}  # so that nothing is learnt, and the bias decides

    def constant() -> nn.Module:
        module = nn.Linear(3, 2)
        with torch.no_grad():
            module.weight.zero_()
            module.bias.copy_(torch.tensor([3.0, -3.0]))
        return module

    fixed = Task(constant, task.records, task.loss, task.score, task.goal, task.wrong, task.right)
    plain = Task(constant, task.records, task.loss, Accuracy(), task.goal, task.wrong, task.right)

    assert judged(fixed, OnPublic(task.records(2000, 2)), **said).ended is Ended.EXHAUSTED
    assert judged(plain, OnPublic(task.records(2000, 2)), **said).ended is Ended.HALTED


@pytest.mark.parametrize("name", ["one logit", "regression", "multi-label", "named fields and tokens"])
def test_accuracy_is_refused_where_it_would_judge_by_chance_and_the_cause_is_shown(name: str) -> None:
    task = TASKS[name]
    trainer = job(task)

    with pytest.raises(InvalidValue, match=r"the score \(accuracy\) fails on a made-up record .*use OneLogit") as said:
        trainer.until(accuracy(0.9), on=task.records(50, 2), **PLAN)

    assert one_sentence(said.value)
    assert not trainer.ledger.held
    assert not trainer.ledger.lines


@dataclass(frozen=True)
class Mixing:
    """A score in which each record is compared with those beside it."""

    name: str = "above the mean"
    resolution: int = 1

    def steps(self, outputs: Tensor, labels: Tensor, threshold: object) -> Any:
        return (outputs[:, 0] >= outputs[:, 0].mean()).long().numpy()


def test_a_score_that_mixes_records_is_refused_before_anything_is_billed() -> None:
    trainer = job(TASKS["two inputs"])

    with pytest.raises(InvalidValue, match="changes with the records beside it"):
        trainer.until(accuracy(0.9), on=two_inputs(50, 2), score=Mixing(), **PLAN)
    assert not trainer.ledger.held


def test_a_score_of_ones_own_that_fails_is_refused_with_its_cause() -> None:
    score = OwnScore(lambda output, label: output[7], "the eighth")

    with pytest.raises(InvalidValue, match=r"the score \(the eighth\) fails .*index 7 is out of bounds"):
        job(TASKS["regression"]).until(accuracy(0.9), on=measured(50, 2), score=score, **PLAN)


def test_another_score_than_the_planned_one_is_refused_on_resuming(tmp_path: Any) -> None:
    task, path = TASKS["regression"], tmp_path / "run.pt"

    def stop(line: object) -> None:
        raise KeyboardInterrupt

    first = job(task, checkpoint=path)
    with pytest.raises(KeyboardInterrupt):
        first.until(accuracy(0.99), on=measured(50, 2), score=Within(0.5), on_step=stop, **PLAN)
    module = nn.Linear(3, 1)
    again = Trainer.resume(
        path, module, SGD(module.parameters(), lr=1.0), measured(1000, 1), loss=squared, noise=SeededNoise(2)
    )

    assert (first.plan["score"], first.plan["threshold"]) == ("share within 0.5", "99/100")
    with pytest.raises(LedgerConflict, match=r"was pledged with score = share within 0\.5"):
        again.until(accuracy(0.99), on=measured(50, 2), score=Within(5.0), **PLAN)


UNREADABLE: dict[str, tuple[Any, str]] = {
    "no label": ([{"text": 1.0}], "a mapping without a label"),
    "text": ([{"text": "a", "labels": 1}], "the field text of a record is not a tensor or a number"),
    "lists": ([{"input_ids": [1, 2], "labels": 1}], "the field input_ids .*with_format"),
    "nothing but a label": ([{"labels": 1}], "holds nothing but its label"),
    "one tensor": ([torch.ones(3)], "is not \\(features, label\\)"),
}


class Items(Dataset[Any]):
    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return 300

    def __getitem__(self, place: int) -> Any:
        return self.items[0]


@pytest.mark.parametrize(("items", "sentence"), UNREADABLE.values(), ids=UNREADABLE)
def test_records_that_no_module_can_read_are_refused_by_their_structure(items: list[Any], sentence: str) -> None:
    module = nn.Linear(3, 2)
    trainer = Trainer(
        module, SGD(module.parameters(), lr=1), Items(items), batch=10, max_grad_norm=1.0, noise_multiplier=1.0
    )

    with pytest.raises(InvalidValue, match=sentence) as said:
        trainer.releases(**PLAN)

    assert one_sentence(said.value)
    assert not trainer.ledger.held


WHOLE = TensorDataset(*rare(300, 1))
TWICE: dict[str, Any] = {
    "repeated indices": Subset(WHOLE, [0, 1, 2, 2]),
    "counted from the end": Subset(WHOLE, [0, -300]),
    "the same twice": ConcatDataset([WHOLE, WHOLE]),
    "the same tensors twice": ConcatDataset([TensorDataset(*WHOLE.tensors), TensorDataset(*WHOLE.tensors)]),
    "overlapping parts": ConcatDataset([Subset(WHOLE, range(200)), Subset(WHOLE, range(199, 300))]),
}


@pytest.mark.parametrize("data", TWICE.values(), ids=TWICE)
def test_a_record_that_comes_twice_is_refused(data: Any) -> None:
    module = nn.Linear(3, 2)

    with pytest.raises(NotDisjoint, match="a record occurs several times"):
        Trainer(module, SGD(module.parameters(), lr=1), data, batch=2, max_grad_norm=1.0, noise_multiplier=1.0)


def test_a_record_that_is_held_out_twice_is_refused_and_one_that_is_public_is_not() -> None:
    task = TASKS["balanced accuracy"]
    twice: Any = ConcatDataset([WHOLE, WHOLE])

    with pytest.raises(NotDisjoint, match="a record occurs several times"):
        job(task).until(accuracy(0.9), on=twice, score=task.score, **PLAN)
    job(task).begin(accuracy(0.9), check=OnPublic(twice), score=task.score, **PLAN)


def test_parts_that_do_not_meet_are_taken_together() -> None:
    module = nn.Linear(3, 2)
    data: Any = ConcatDataset([Subset(WHOLE, range(150)), Subset(WHOLE, range(150, 300))])

    Trainer(module, SGD(module.parameters(), lr=1), data, batch=2, max_grad_norm=1.0, noise_multiplier=1.0)


def test_tensors_by_name_train_as_a_dataset_of_mappings_does() -> None:
    whole = Named(200, 1)
    labels = torch.stack([whole[place]["labels"] for place in range(200)])
    columns = {"input_ids": whole.tokens, "attention_mask": whole.mask, "labels": labels}

    def trained(data: Any) -> nn.Module:
        task = Task(Tagger, lambda count, seed: data, token_loss, PerToken(), 0.9, opposite, torch.eq)
        return next(job(task, batch=20).releases(**PLAN)).module

    one, other = trained(whole), trained(columns)

    assert all(torch.equal(mine, theirs) for mine, theirs in zip(one.parameters(), other.parameters(), strict=True))
