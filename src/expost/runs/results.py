"""What other jobs than ours came to, as a folder: a search of any kind, a trained torch module, a tuning."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from expost.accounting.curve import AdpEpsilon
from expost.recorded import Record
from expost.report import of_search, of_training, of_tuning
from expost.report.searching import APART, AnyCheck
from expost.runs.folder import deliver
from expost.search import Outcome
from expost.training.score import Classifier
from expost.training.tuned import Tuned

if TYPE_CHECKING:
    from torch import Tensor, nn

    from expost.training.course import Stage
    from expost.training.module import Trainer


def save_search(
    outcome: Outcome[object],
    folder: Path,
    *,
    record: Record,
    check: AnyCheck,
    because: str = APART,
    title: str = "Search",
    cap: AdpEpsilon | None = None,
    overwrite: bool = False,
) -> None:
    """Write the report and the receipt of a search into a new folder; its value is the caller's to keep.

    ``record`` is the recorder that the search's odometer was made with, a journal or one in memory; ``check`` is that
    of the search.
    """
    facts = of_search(outcome, record, check=check, because=because, title=title, cap=cap)
    deliver(folder, facts, _nothing, overwrite=overwrite)


def save_module(
    trainer: "Trainer",
    found: "Outcome[nn.Module] | Stage",
    folder: Path,
    *,
    title: str = "Module",
    overwrite: bool = False,
) -> None:
    """Write the module's weights, the report and the receipt into a new folder, all or nothing.

    ``found`` is what the trainer's ``until`` or a callback came to, or the last stage of ``releases``. ``model.pt``
    holds the tensors of the module's state by their names, for ``torch.load(..., weights_only=True)``.
    """
    import torch  # noqa: PLC0415  whoever has a trainer has torch

    facts = of_training(trainer, found, title=title)
    weights = _tensors(found.release.value.state_dict())
    deliver(folder, facts, lambda fresh: torch.save(weights, fresh / "model.pt"), overwrite=overwrite)


def save_tuned(tuned: Tuned[object], folder: Path, *, title: str = "Tuning", overwrite: bool = False) -> None:
    """Write the report and the receipt of a tuning into a new folder, and the head if it made one.

    Any other value is the caller's to keep.
    """
    facts, value = of_tuning(tuned, title=title), tuned.value

    def put(fresh: Path) -> None:
        if isinstance(value, Classifier):
            value.save(fresh / "model.npz")

    deliver(folder, facts, put, overwrite=overwrite)


def _tensors(state: Mapping[str, object]) -> dict[str, "Tensor"]:
    """Copies in the computer's own memory; what is not a tensor is code, and no file of weights holds it."""
    from torch import Tensor  # noqa: PLC0415  as above

    return {name: each.detach().cpu().clone() for name, each in state.items() if isinstance(each, Tensor)}


def _nothing(fresh: Path) -> None:
    """What a search of unknown kind puts beside its report."""
