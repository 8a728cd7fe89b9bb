"""A secret threshold dies with its process: a run that can be resumed takes no check that has one.

The attack: kill a run between two questions of a sparse vector check, and resume it. Each process draws a threshold of
its own, and only the first one pays for it.
"""

from contextlib import suppress
from pathlib import Path

import pytest

from expost.errors import InvalidValue
from expost.judge import Balanced, Budgeted, Judge, SparseVector
from expost.search import Line
from expost.training.head.score import accuracy
from expost.training.torch.trainer import Trainer
from tests.faults.modules import Killed, asking, begun, blobs
from tests.unit.examples import one_sentence
from tests.unit.training.modules import held, trainer


def killed_after_a_look(job: Trainer, check: Judge) -> None:
    """A process that ends once it was answered."""

    def end(line: Line) -> None:
        raise Killed

    with suppress(Killed):
        job.until(accuracy(0.99), on=blobs(30), check=check, releases=3, every="5 steps", on_step=end)


def test_no_process_asks_of_a_threshold_that_another_paid_for(tmp_path: Path) -> None:
    path = tmp_path / "run.pt"

    with pytest.raises(InvalidValue, match="sparse vector check") as refused:
        killed_after_a_look(begun(path), SparseVector())

    assert one_sentence(refused.value)
    assert not path.exists()  # nothing was billed


def test_a_run_that_was_begun_with_another_check_does_not_go_on_with_one(tmp_path: Path) -> None:
    path = tmp_path / "run.pt"
    killed_after_a_look(begun(path), Budgeted())
    before = path.read_bytes()

    with pytest.raises(InvalidValue, match="sparse vector check"):
        killed_after_a_look(begun(path), SparseVector())

    assert path.read_bytes() == before


@pytest.mark.parametrize("check", [Balanced(), Budgeted()])
def test_checks_that_draw_afresh_for_every_question_go_on(check: Judge, tmp_path: Path) -> None:
    path = tmp_path / "run.pt"
    killed_after_a_look(begun(path), check)

    asking(check, "5 steps")(begun(path))


def test_without_a_checkpoint_a_threshold_is_as_good_as_any() -> None:
    outcome = trainer().until(accuracy(0.99), on=held(), check=SparseVector(), releases=3, every="5 steps")

    assert outcome.epsilon < float("inf")
