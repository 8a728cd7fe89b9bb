"""A checkpoint is a bill: one of which a bit has changed is refused, and so is one that no trainer would write."""

import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import SGD

from expost.errors import Unreadable
from expost.noise import SeededNoise
from expost.training.head.score import accuracy
from expost.training.torch.checkpoint import Checkpoint, read_archive, write_archive
from expost.training.torch.progress import Paid, stored_fraction
from expost.training.torch.trainer import Trainer
from tests.unit.examples import one_sentence

PLAN: dict[str, Any] = {"every": "1 epoch", "releases": 2, "delta": 1e-5}


def records(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    features = torch.from_numpy(SeededNoise(seed).gaussian(1.0, (count, 3))).float()
    return features, (features[:, 0] > 0).long()


def parts() -> dict[str, Any]:
    module = nn.Linear(3, 2)
    return {"model": module, "optimizer": SGD(module.parameters(), lr=0.5), "data": records(40, 1)}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with lines for steps and for questions, of a run that is not over."""
    path = tmp_path_factory.mktemp("checkpoint") / "run.pt"
    job = Trainer(**parts(), batch=10, max_grad_norm=1.0, noise_multiplier=1.0, noise=SeededNoise(1), checkpoint=path)

    def stop(line: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job.until(accuracy(0.99), on=records(30, 2), on_step=stop, **PLAN)
    return path


@pytest.fixture
def path(intact: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(intact, tmp_path / "run.pt"))


def test_the_file_is_read_as_it_was_written(path: Path) -> None:
    loaded = Checkpoint.load(path)

    assert [(paid.part, paid.steps, paid.times) for paid in loaded.progress.bills] == [
        ("data/train", 4, 1),
        ("data/held", 0, 1),
    ]


def test_a_bit_that_has_changed_anywhere_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(Unreadable):
            read_archive(path)


def test_without_the_digest_such_a_bit_can_change_a_bill_in_silence(path: Path) -> None:
    """The negative twin: torch reads the file, to another number."""
    whole, before = bytearray(path.read_bytes()), torch.load(path, weights_only=True)["bills"][0][1][0]
    table = before.numpy().tobytes()
    whole[whole.index(table) + len(table) - 2] ^= 1  # in the exponent of the last one
    path.write_bytes(whole)

    after = torch.load(path, weights_only=True)["bills"][0][1][0]

    assert not torch.equal(before, after)
    with pytest.raises(Unreadable, match="was changed since it was written"):
        Checkpoint.load(path)


@pytest.mark.parametrize("cut", [1, 20, 80, 500])
def test_a_file_that_was_cut_off_is_refused(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])

    with pytest.raises(Unreadable):
        Checkpoint.load(path)


def line(part: Any = "data/held", curve: Any = None, steps: Any = 0, times: Any = 1) -> list[Any]:
    return [part, [["0", "1/3", "None"]] if curve is None else curve, steps, times]


LIST = torch.full((2, 1), 2.0)


def table(values: torch.Tensor, kinds: Any = None) -> list[Any]:
    return [values.double(), kinds]


HOSTILE: dict[str, Callable[[dict[str, Any]], object]] = {
    "times of 0": lambda stored: stored["bills"].append(line(times=0)),
    "times of -5": lambda stored: stored["bills"].append(line(times=-5)),
    "times for ever": lambda stored: stored["bills"].append(line(times=10**12)),
    "times of true": lambda stored: stored["bills"].append(line(times=True)),
    "times of 1.5": lambda stored: stored["bills"].append(line(times=1.5)),
    "steps below 0": lambda stored: stored["bills"].append(line(steps=-4)),
    "many lines": lambda stored: stored["bills"].extend([line(times=10**5)] * 2),
    "an exponent": lambda stored: stored["bills"].append(line(curve=[["0", "1e99999999", "None"]])),
    "a long number": lambda stored: stored["bills"].append(line(curve=[["0", "9" * 10**6, "None"]])),
    "a rho below 0": lambda stored: stored["bills"].append(line(curve=[["0", "-1/3", "None"]])),
    "over 0": lambda stored: stored["bills"].append(line(curve=[["0", "1/0", "None"]])),
    "not a number": lambda stored: stored["bills"].append(line(curve=[["0", "nan", "None"]])),
    "no line": lambda stored: stored["bills"].append(line(curve=[])),
    "a profile below its curve": lambda stored: stored["bills"].append(line(curve=[["0", "1/3", "1/4"]])),
    "a table below 0": lambda stored: stored["bills"].append(line(curve=table(torch.tensor([[2.0], [-1.0]])))),
    "a table of nan": lambda stored: stored["bills"].append(line(curve=table(torch.tensor([[2.0], [float("nan")]])))),
    "a table of one row": lambda stored: stored["bills"].append(line(curve=table(torch.ones(1, 3)))),
    "a table without kinds": lambda stored: stored["bills"].append(line(curve=[torch.ones(2, 1).double() * 2])),
    "a bare table": lambda stored: stored["bills"].append(line(curve=torch.ones(2, 1).double() * 2)),
    "kinds of no step": lambda stored: stored["bills"].append(line(curve=table(LIST, [[["1/9", "2", 0]], "0"]))),
    "kinds below 0": lambda stored: stored["bills"].append(line(curve=table(LIST, [[["1/9", "-2", 4]], "0"]))),
    "kinds without noise": lambda stored: stored["bills"].append(line(curve=table(LIST, [[["1/9", 4]], "0"]))),
    "a rho of kinds below 0": lambda stored: stored["bills"].append(line(curve=table(LIST, [[], "-1/9"]))),
    "a part without a name": lambda stored: stored["bills"].append(line(part=3)),
    "a shorter line": lambda stored: stored["bills"].append(["data/held", 1]),
    "no bill for the weights": lambda stored: stored["bills"].clear(),
    "no bill at all": lambda stored: stored.pop("bills"),
    "weights ahead of their bill": lambda stored: stored.update(steps=400),
    "steps as text": lambda stored: stored.update(steps="4"),
    "judged ahead of the weights": lambda stored: stored.update(judged=5),
    "an answer before the question": lambda stored: stored.update(judged=0, verdict=[True, 9.0, 1.0, 1.0]),
    "no answer": lambda stored: stored.pop("verdict"),
    "an answer as text": lambda stored: stored.update(verdict="passed"),
    "an answer that is not one": lambda stored: stored.update(verdict=[1, None, None, None]),
    "an answer of nan": lambda stored: stored.update(verdict=[True, float("nan"), 1.0, 1.0]),
    "a longer answer": lambda stored: stored.update(verdict=[True, 1.0, 1.0, 1.0, 1.0]),
    "over as text": lambda stored: stored.update(over="no"),
    "a plan that is none": lambda stored: stored.update(plan=[]),
    "a clip with an exponent": lambda stored: stored["settings"].update(clip="1e99999999"),
    "a noise multiplier below 0": lambda stored: stored["settings"].update(noise_multiplier="-1"),
    "a noise multiplier of 0": lambda stored: stored["settings"].update(noise_multiplier="0"),
    "a noise multiplier next to 0": lambda stored: stored["settings"].update(noise_multiplier=f"1/{10**300}"),
    "a noise multiplier without end": lambda stored: stored["settings"].update(noise_multiplier=str(10**300)),
    "a clip of 0": lambda stored: stored["settings"].update(clip="0"),
    "a batch beyond the records": lambda stored: stored["settings"].update(batch=41),
    "a batch of 0": lambda stored: stored["settings"].update(batch=0),
    "records as text": lambda stored: stored["settings"].update(records="40"),
    "seeded as text": lambda stored: stored["settings"].update(seeded="no"),
    "no settings": lambda stored: stored.update(settings={}),
    "an ε that is no float": lambda stored: stored.update(planned=[[1, 10**400]]),
    "sparse weights": lambda stored: stored.update(
        parameters={name: each.to_sparse() for name, each in stored["parameters"].items()}
    ),
    "weights that are none": lambda stored: stored.update(parameters={"weight": 3}),
    "an optimiser that is none": lambda stored: stored.update(optimizer={}),
}


@pytest.mark.parametrize("harm", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_no_trainer_writes_is_refused_in_one_sentence_though_its_digest_is_right(
    path: Path, harm: Callable[[dict[str, Any]], object]
) -> None:
    stored = read_archive(path)
    harm(stored)
    write_archive(path, stored)

    with pytest.raises(Unreadable, match="is not one that expost writes") as refused:
        Trainer.resume(path, **parts(), noise=SeededNoise(1))

    assert one_sentence(refused.value)


@pytest.mark.parametrize("part", ["data", "data/train/held", "elsewhere"])
def test_a_bill_about_a_part_that_the_run_does_not_read_is_refused(path: Path, part: str) -> None:
    """What nothing reads nothing would carry on: the run would be stated as if the steps were never taken."""
    stored = read_archive(path)
    for each in stored["bills"]:
        each[0] = part
    write_archive(path, stored)
    job = Trainer.resume(path, **parts(), noise=SeededNoise(1))

    with pytest.raises(Unreadable, match="is not one that expost writes") as refused:
        job.until(accuracy(0.99), on=records(30, 2), **PLAN)

    assert one_sentence(refused.value)


def test_fractions_are_read_as_python_writes_them() -> None:
    assert [stored_fraction(str(each)) for each in (Fraction(0), Fraction(7), Fraction(1, 3))] == [0, 7, Fraction(1, 3)]


def test_a_line_of_a_bill_comes_back_from_its_file(path: Path) -> None:
    paid = Paid.decoded(line(steps=3, times=2))

    assert Paid.decoded(paid.encoded()) == paid
