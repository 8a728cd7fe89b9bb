"""The receipt of a trained torch module follows from its settings and the answers of its check, resumed or not."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings

from expost.jobs import audit as check
from expost.jobs.modules.report import of_training
from expost.receipts.receipt import receipt, receipt_text
from expost.receipts.replay import Replay
from expost.training.torch.checkpoint import Checkpoint
from tests.faults.forger import (
    cheaper_throughout,
    first_that_fools,
    fools,
    forgeries,
    lowered,
    one_stop,
    retrained,
    shorter,
)
from tests.faults.forgeries import Receipt, changed, looking, measuring, receipt_of, restate
from tests.faults.modules import MODULES, WAYS, Killed, Way, begun

NAMES = tuple(MODULES)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_run_wrote_is_believed(name: str) -> None:
    audit = check(receipt_of(name), pledged=receipt_of(name)["pledged"])

    assert audit.matches, str(audit)
    assert audit.epsilon == pytest.approx(receipt_of(name)["statement"]["epsilon"])


FORGERIES: dict[str, tuple[str, Callable[[Receipt], object]]] = {
    "fewer steps": ("module", lambda found: retrained(measuring(found)[-1], 2, 1)),
    "fewer steps throughout, looks in balance": ("module", lambda found: cheaper_throughout(found, 2)),
    "more noise by hand": ("module, by hand", lambda found: retrained(measuring(found)[0], 1, 2)),
    "the last release forgotten": ("module, called back", shorter),
    "a release counted once": ("module, public", lambda found: measuring(found)[0].update(count=1)),
    "a pledge of one stop": ("module, a score of one's own", one_stop),
    "a finer score": ("module, a score of one's own", lambda found: found["training"].update(resolution=1)),
    "a smaller rate": ("module", lambda found: found["training"].update(rate="1/20")),
    "training on the held-out part": ("module", lambda found: measuring(found)[-1].update(part="data/held")),
    "a look at no price": ("module, Gaussian check", lambda found: found["bill"].remove(looking(found)[0])),
    "a pass at a margin of −500": (
        "module, the paper's check",
        lambda found: found["history"][-1].update(passed=True, margin=-500.0),
    ),
}


@pytest.mark.parametrize("how", FORGERIES)
@pytest.mark.parametrize("restated", [False, True])
def test_a_forgery_is_noticed(how: str, restated: bool) -> None:
    name, forge = FORGERIES[how]

    found = changed(name, forge)

    assert not check(restate(found) if restated else found).matches


@settings(derandomize=True, deadline=None, max_examples=60)
@given(forgeries(NAMES))
def test_no_forgery_of_a_module_lowers_epsilon(forgery: tuple[str, Receipt]) -> None:
    assert not fools(*forgery)


def test_the_generator_finds_what_an_audit_without_a_replay_lets_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: were lines compared with their own facts only, the same forgeries would be believed."""
    monkeypatch.setattr(Replay, "faults", lambda replay: iter(()))

    name, forged = first_that_fools(("module, reached", "module, by hand"))

    assert lowered(name, forged)


def stop_after(writes: int) -> Callable[[Checkpoint], None]:
    """A checkpoint that is written so often, and no more."""
    write = Checkpoint._write

    def stop(checkpoint: Checkpoint) -> None:
        nonlocal writes
        write(checkpoint)
        writes -= 1
        if not writes:
            raise Killed

    return stop


def killed(way: Way, path: Path, writes: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a process ended with this write of its checkpoint, or had come to its end before."""
    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Checkpoint, "_write", stop_after(writes))
        way(begun(path))
        return False
    return True


FIRST = (2, 4, 6, 7)
"""Writes with which a process ends: with the first steps, those before a release, a question, and its answer."""
LAST = {"balanced, an epoch at a time": 20, "Gaussian, a release at a time": 14, "by hand": 17}
"""The last write of all; the four before are the last steps, their weights, the last question and its answer."""


@pytest.mark.parametrize("way", WAYS)
def test_wherever_a_process_ended_the_receipt_of_the_resumed_run_is_worked_out_again(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps whose weights were lost are on the bill, and so is a question that was never answered."""
    told: list[Receipt] = []
    for writes in (*FIRST, *range(LAST[way] - 4, LAST[way] + 1)):
        path = tmp_path / f"{writes}.pt"
        assert killed(WAYS[way], path, writes, monkeypatch)
        again = begun(path)
        told.append(json.loads(receipt_text(receipt(of_training(again, WAYS[way](again))))))

    assert [str(check(each)) for each in told if not check(each).matches] == []
    assert not killed(WAYS[way], tmp_path / "whole.pt", LAST[way] + 1, monkeypatch)
    assert max(each["training"]["earlier"] for each in told) == 2
    assert len({each["statement"]["epsilon"] for each in told}) == 1
