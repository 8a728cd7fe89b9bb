"""Fine-tuning on features from a file: ``python -m paper --features FILE --named TEXT``.

The file holds ``train_features``, ``train_labels``, ``test_features`` and ``test_labels``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click
from matplotlib.figure import Figure

from expost.errors import ExpostError
from paper.engine.job import Job
from paper.heads.images import Source, pool
from paper.heads.recipes import Settings
from paper.items import finetuning
from paper.items.finetuning import run_on
from paper.show.finetuning import Result


@final
@dataclass(frozen=True)
class OnFile:
    """The item on features from a file; ``named`` says of what images they are, and by which network."""

    source: Source
    named: str
    TITLE: str = finetuning.TITLE
    VERSION: int = finetuning.VERSION
    FULL: Settings = finetuning.FULL
    QUICK: Settings = finetuning.QUICK

    @property
    def FIGURES(self) -> Mapping[str, str]:  # noqa: N802
        """The item's."""
        return finetuning.FIGURES

    def run(self, job: Job[Settings], /) -> Result:
        """The item's, on these features."""
        return run_on(job, self.source, self.named)

    def draw(self, result: Any, /) -> Mapping[str, Figure]:
        """The item's."""
        return finetuning.draw(result)

    def text(self, result: Any, /) -> str:
        """The item's."""
        return finetuning.text(result)


def on_file(path: Path, named: str) -> OnFile:
    """The item on a file's features, refused by a sentence if they are not what is needed."""
    source = Source.file(path)
    try:
        pool(source)
    except ExpostError as problem:
        raise click.ClickException(str(problem)) from None
    return OnFile(source, named)
