"""Fine-tuning on features from a file: ``python -m paper --features FILE --named TEXT``.

The file holds ``train_features``, ``train_labels``, ``test_features`` and ``test_labels``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click
from matplotlib.figure import Figure

from expost.errors import ExpostError
from paper.engine.item import Item, load
from paper.engine.job import Job
from paper.heads.images import Source, pool
from paper.heads.recipes import Settings
from paper.items import finetuning, full_batch

RUNS: Mapping[str, Callable[[Job[Settings], Source, str], Any]] = {
    "finetuning": finetuning.run_on,
    "full_batch": full_batch.run_on,
}
"""The items that can be run on other features, and how."""


@final
@dataclass(frozen=True)
class OnFile:
    """An item on features from a file; ``named`` says of what images they are, and by which network."""

    name: str
    source: Source
    named: str

    @property
    def item(self) -> Item:
        """The item as the page has it."""
        return load(self.name)

    @property
    def TITLE(self) -> str:  # noqa: N802
        """The item's."""
        return self.item.TITLE

    @property
    def VERSION(self) -> int:  # noqa: N802
        """The item's."""
        return self.item.VERSION

    @property
    def FULL(self) -> Any:  # noqa: N802
        """The item's."""
        return self.item.FULL

    @property
    def QUICK(self) -> Any:  # noqa: N802
        """The item's."""
        return self.item.QUICK

    @property
    def FIGURES(self) -> Mapping[str, str]:  # noqa: N802
        """The item's."""
        return self.item.FIGURES

    def run(self, job: Job[Settings], /) -> Any:
        """The item's, on these features."""
        return RUNS[self.name](job, self.source, self.named)

    def draw(self, result: Any, /) -> Mapping[str, Figure]:
        """The item's."""
        return self.item.draw(result)

    def text(self, result: Any, /) -> str:
        """The item's."""
        return self.item.text(result)


def on_file(path: Path, named: str) -> dict[str, OnFile]:
    """The items by name on a file's features, refused by a sentence if they are not what is needed."""
    source = Source.file(path)
    try:
        pool(source)
    except ExpostError as problem:
        raise click.ClickException(str(problem)) from None
    return {name: OnFile(name, source, named) for name in RUNS}
