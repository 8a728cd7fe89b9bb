"""A trained torch module as a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

from expost.jobs.job import save_facts
from expost.jobs.modules.report import of_training

if TYPE_CHECKING:
    from expost.training.torch.course import Found
    from expost.training.torch.trainer import Trainer


def save_module(
    trainer: "Trainer",
    found: "Found",
    folder: Path,
    *,
    title: str = "Module",
    overwrite: bool = False,
) -> None:
    """Write the module's weights, the report and the receipt into a new folder, all or nothing.

    ``found`` is what the trainer's ``until`` or a callback came to, or the last stage of ``releases``. ``model.pt``
    holds the tensors of the module's state by their names, for ``torch.load(..., weights_only=True)``.
    """
    from expost.training.torch.checkpoint import save_weights  # noqa: PLC0415  whoever has a trainer has torch

    facts = of_training(trainer, found, title=title)
    module = found.release.value
    save_facts(facts, lambda fresh: save_weights(module, fresh / "model.pt"), folder, overwrite=overwrite)
