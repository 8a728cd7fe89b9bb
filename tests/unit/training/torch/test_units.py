"""A torch module trained by person: the sum of a person's gradients is clipped, as a naive loop would do it."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import grad
from torch.utils.data import Dataset

from expost.errors import ExpostError, InvalidValue, LedgerConflict, NotDisjoint
from expost.jobs import audit
from expost.jobs.modules.report import of_training
from expost.judge import OnPublic
from expost.noise import SeededNoise
from expost.persons.people import People, numbered
from expost.private import Neighbours
from expost.receipts.receipt import receipt, receipt_text
from expost.report.page import render
from expost.search import Line
from expost.training.head.score import accuracy
from expost.training.torch.callback import Callback
from expost.training.torch.clipping import SLACK, Clipper, Ghost, PerRecord, attached
from expost.training.torch.records import Examples
from expost.training.torch.trainer import CROSS_ENTROPY, Trainer
from expost.training.torch.units import packed
from tests.unit.examples import one_sentence
from tests.unit.tabular.source.telling import shown
from tests.unit.training.modules import Pair, flat, held, network, sgd, train, trainer

KINDS = pytest.mark.parametrize("kind", [PerRecord, Ghost])
pytestmark = pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
TOLERANCE = 2e-6
CLIP, BATCH = 1.0, 4
SIZES = (1, 3, 1, 2, 9, 1, 2, 4, 1, 1, 3, 2)
CANARY = "patient-4711"


def owners(sizes: Sequence[int] = SIZES) -> NDArray[np.int64]:
    """Whose records they are, those of different persons mixed, everybody's first one in order."""
    later = [place for turn in range(1, max(sizes)) for place, size in enumerate(sizes) if size > turn]
    return np.array([*range(len(sizes)), *later])


def whole_gradient(module: nn.Module, features: Tensor, labels: Tensor) -> Tensor:
    found = grad(CROSS_ENTROPY(module(features), labels).sum(), list(module.parameters()))
    return torch.cat([each.flatten() for each in found])


def naive_steps(seed: int, records: Pair, whose: NDArray[np.int64], steps: int) -> list[Tensor]:
    """The weights after each step: a coin per person, the gradient of all their records, its clip, noise, the rest."""
    noise, module = SeededNoise(seed), network()
    optimizer, persons, found = sgd(module), int(whose.max()) + 1, []
    for _ in range(steps):
        total = torch.zeros_like(flat(module))
        for person in np.flatnonzero(noise.coins(Fraction(BATCH, persons), persons)):
            rows = torch.from_numpy(whose == person)
            gradient = whole_gradient(module, records[0][rows], records[1][rows])
            total += gradient * min(1.0, CLIP / (float(gradient.norm()) + SLACK))
        start = 0
        for each in module.parameters():
            drawn = torch.from_numpy(noise.gaussian(CLIP, tuple(each.shape))).float()
            each.grad = (total[start : start + each.numel()].view_as(each) + drawn) / BATCH
            start += each.numel()
        optimizer.step()
        found.append(flat(module).clone())
    return found


@KINDS
@pytest.mark.parametrize("at_once", [1, 4, 7, 256])
def test_each_step_is_that_of_a_naive_loop_over_persons(kind: type[Clipper], at_once: int) -> None:
    """Also where a person has more records than may be on the device at a time."""
    records, whose = train(sum(SIZES)), owners()
    made = trainer(
        records, batch=BATCH, noise=SeededNoise(11), unit=whose, gradients=kind, max_physical_batch_size=at_once
    )

    ours = [flat(stage.module) for stage in made.releases(every="1 step", releases=6)]

    theirs = naive_steps(11, records, whose, 6)
    assert max(float((one - other).abs().max()) for one, other in zip(ours, theirs, strict=True)) < TOLERANCE


def test_records_clipped_one_by_one_show_in_that_comparison() -> None:
    """The negative twin."""
    records, whose = train(sum(SIZES)), owners()

    per_record = naive_steps(11, records, np.arange(len(whose)), 6)

    assert float((per_record[-1] - naive_steps(11, records, whose, 6)[-1]).abs().max()) > 100 * TOLERANCE


@KINDS
@pytest.mark.parametrize("sizes", [(30,), (5, 25), (1, 29), (3, 3, 24)])
def test_a_person_moves_the_sum_by_the_clip_and_no_more(kind: type[Clipper], sizes: tuple[int, ...]) -> None:
    features, labels = train(30)
    module = network()

    def summed(sizes: tuple[int, ...] | None) -> Tensor:
        with attached(kind, module, CROSS_ENTROPY, 0.3) as clipper:
            given = None if sizes is None else torch.tensor(sizes)
            return torch.cat([each.flatten() for each in clipper.sums(features * 50, labels, given)])

    assert float(summed(sizes).norm()) <= 0.3 * len(sizes) * (1 + 1e-5)
    assert float(summed(None).norm()) > 0.3 * len(sizes)


@KINDS
def test_a_person_whose_gradient_is_not_finite_adds_nothing(kind: type[Clipper]) -> None:
    features, labels = train(6)
    broken = features.clone()
    broken[2, 0] = float("nan")

    def summed(features: Tensor, labels: Tensor, sizes: tuple[int, ...]) -> Tensor:
        with attached(kind, network(), CROSS_ENTROPY, 0.3) as clipper:
            return torch.cat([each.flatten() for each in clipper.sums(features, labels, torch.tensor(sizes))])

    kept = [0, 4, 5]
    assert torch.allclose(summed(broken, labels, (1, 3, 2)), summed(features[kept], labels[kept], (1, 2)), atol=1e-7)
    with attached(kind, network(), CROSS_ENTROPY, 0.3) as clipper:
        assert all(not each.any() for each in clipper.whole([(broken[:2], labels[:2]), (broken[2:], labels[2:])]))


@KINDS
def test_with_one_record_each_the_weights_and_the_bill_are_those_without_a_unit(kind: type[Clipper]) -> None:
    def run(**unit: Any) -> Any:
        made = trainer(gradients=kind, **unit)
        told: dict[str, Any] = {"on_unit": [f"p{place}" for place in range(400)]} if unit else {}
        return made.until(accuracy(0.3), on=held(), releases=2, every="1 epoch", **told)

    one, other = run(), run(unit=[f"q{place}" for place in range(600)])

    assert torch.equal(flat(one.release.value), flat(other.release.value))
    assert one.release.epsilon == other.release.epsilon
    assert repr(one.history) == repr(other.history)
    assert other.release.neighbours is Neighbours.ADD_REMOVE_PERSON


class Named(Dataset[Mapping[str, Any]]):
    """Records that are mappings, with text that says whose they are."""

    def __init__(self, records: Pair, whose: Sequence[Any]) -> None:
        self.records, self.whose = records, whose

    def __len__(self) -> int:
        return len(self.whose)

    def __getitem__(self, place: int) -> Mapping[str, Any]:
        return {"input": self.records[0][place], "patient": self.whose[place], "labels": self.records[1][place]}


@pytest.mark.parametrize("columns", [False, True])
def test_a_field_is_the_same_unit_as_an_array_and_is_not_an_input(columns: bool) -> None:
    records, whose = train(sum(SIZES)), owners()
    named: Any = Named(records, [f"p{each}" for each in whose])
    if columns:
        named = {"input": records[0], "patient": torch.from_numpy(whose), "labels": records[1]}

    def weights(data: Any, unit: Any) -> Tensor:
        (stage,) = trainer(data, batch=BATCH, unit=unit).releases(every="3 steps", releases=1)
        return flat(stage.module)

    assert torch.equal(weights(named, "patient"), weights(records, whose))


def test_held_out_persons_are_read_from_the_same_field_and_judged_by_one_record_each() -> None:
    made = trainer(Named(train(), np.arange(600) // 2), unit="patient", noise_multiplier=0.5, batch=60)  # type: ignore[arg-type]

    outcome = made.until(accuracy(0.3), on=Named(held(), 1000 + np.arange(400) // 4), releases=2, every="2 epochs")  # type: ignore[arg-type]

    facts = of_training(made, outcome)
    assert facts.neighbours == "add or remove one person"
    assert {entry.neighbours for entry, _, _ in made.ledger.lines} == {"add or remove one person"}
    written = receipt_text(receipt(facts))
    assert audit(json.loads(written)).matches
    for said in ("replace one person", "replace one record"):
        assert not audit(json.loads(written.replace("add or remove one person", said))).matches
    assert "per person" in render(facts)


def test_a_score_looks_at_one_record_of_each_person() -> None:
    whose = 1000 + np.arange(400) // 4
    records = Examples.by_person(held(), whose, SeededNoise(2))

    places = records.judged

    assert (whose[places] - 1000).tolist() == list(range(100)) == list(range(len(records)))
    assert len({place % 4 for place in places.tolist()}) == 4


def refusal(kind: type[Exception], run: Any) -> str:
    with pytest.raises(kind) as refused:
        run()
    assert one_sentence(refused.value)
    assert CANARY not in shown(refused.value)
    return str(refused.value)


def test_a_person_on_both_sides_is_refused_without_being_named() -> None:
    made = trainer(unit=[CANARY, *map(str, range(599))])
    later = [*map(str, range(1000, 1399)), CANARY]

    told = refusal(
        NotDisjoint, lambda: made.until(accuracy(0.3), on=held(), on_unit=later, releases=1, every="1 epoch")
    )

    assert "persons" in told


@pytest.mark.parametrize("sides", [{"unit": range(600)}, {}])
def test_a_unit_on_one_side_alone_is_refused(sides: dict[str, Any]) -> None:
    settings: dict[str, Any] = {} if sides else {"on_unit": range(400)}

    told = refusal(
        InvalidValue,
        lambda: trainer(**sides).until(accuracy(0.3), on=held(), releases=1, every="1 epoch", **settings),
    )

    assert "on_unit" in told


def test_public_records_need_no_unit() -> None:
    made = trainer(unit=np.arange(600) // 2, batch=30)

    outcome = made.until(accuracy(0.05), check=OnPublic(held(100)), releases=1, every="1 epoch")

    assert outcome.release.neighbours is Neighbours.ADD_REMOVE_PERSON


BAD: dict[str, tuple[Any, Any, str]] = {
    "too few": (None, [CANARY] * 5, "one identifier per record"),
    "two columns": (None, [[CANARY, CANARY]] * 600, "single column"),
    "times": (None, [CANARY] * 599 + [datetime(2020, 1, 1)], "give it as text"),
    "no names": (None, "patient", "without names"),
    "no such field": (Named(train(), [CANARY] * 600), "nobody", "no field nobody"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_unit_that_does_not_fit_is_refused_in_one_sentence(name: str) -> None:
    data, unit, expected = BAD[name]

    assert expected in refusal(ExpostError, lambda: trainer(data, unit=unit))


def stopping(line: Line) -> NoReturn:
    """Somebody presses the interrupt key between two releases."""
    raise KeyboardInterrupt


ENDED: dict[str, dict[str, Any]] = {
    "an interrupt between two releases": {"on_step": stopping},
    "a cap": {"max_epsilon": 1e-9},
    "an absurd delta": {"delta": 2},
    "held-out persons without all identifiers": {"on_unit": [CANARY] * 5},
}


@pytest.mark.parametrize("settings", ENDED.values(), ids=ENDED)
def test_no_identifier_is_in_what_the_error_of_a_run_holds(settings: dict[str, Any]) -> None:
    """Also not in the local variables of our own frames, which some loggers print."""
    made = trainer(unit=[f"{CANARY}-{place // 2}" for place in range(600)], batch=30)
    usual: dict[str, Any] = {"on_unit": [f"{CANARY}+{place}" for place in range(400)], "releases": 2}

    with pytest.raises((ExpostError, KeyboardInterrupt)) as ended:
        made.until(accuracy(0.99), on=held(), every="1 epoch", **(usual | settings))

    assert CANARY not in shown(ended.value)


def test_no_identifier_is_in_what_the_error_of_a_resumed_run_or_of_a_callback_holds(tmp_path: Path) -> None:
    unit, module = [f"{CANARY}-{place}" for place in range(600)], network()
    later = [f"{CANARY}+{place}" for place in range(5)]

    with pytest.raises(ExpostError) as resumed:
        Trainer.resume(tmp_path / "nowhere.pt", module, sgd(module), train(), unit=unit)
    with pytest.raises(ExpostError) as called:
        Callback(trainer(unit=unit), accuracy(0.5), on=held(), on_unit=later, releases=1, every="1 epoch")

    assert CANARY not in shown(resumed.value) + shown(called.value)


def test_a_run_by_person_is_not_resumed_without_its_unit(tmp_path: Path) -> None:
    whose, path, module = np.arange(600) // 2, tmp_path / "run.pt", network()
    stages = trainer(unit=whose, batch=30, checkpoint=path).releases(every="1 epoch", releases=2)
    next(stages)

    with pytest.raises(LedgerConflict, match="unit"):
        Trainer.resume(path, module, sgd(module), train(), noise=SeededNoise(1))
    resumed = Trainer.resume(path, module, sgd(module), train(), unit=whose, noise=SeededNoise(1))
    *_, last = resumed.releases(every="1 epoch", releases=2)
    assert last.release.neighbours is Neighbours.ADD_REMOVE_PERSON
    assert audit(receipt(of_training(resumed, last))).believed == ()


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 100])
def test_groups_hold_all_persons_in_order_and_fit_unless_one_person_does_not(at_once: int) -> None:
    people, everyone = People.of(numbered(owners())), np.arange(len(SIZES))

    groups = [*packed(people, everyone, at_once)]

    assert np.concatenate(groups).tolist() == everyone.tolist()
    assert all(len(group) == 1 or people.sizes[group].sum() <= at_once for group in groups)
