"""Fine-tuning on features from a file: ``python -m paper.on_features --features FILE --named TEXT``.

The file holds ``train_features``, ``train_labels``, ``test_features`` and ``test_labels``. The result takes the place
of that on digits; ``python -m paper --redraw`` then writes the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click
from matplotlib.figure import Figure

from expost.errors import ExpostError
from paper import finetuning
from paper.finetuning import run_on
from paper.images import Source, pool
from paper.job import Job
from paper.page import figures
from paper.recipes import Settings
from paper.record import HOME, Place, read, record
from paper.show.finetuning import Result

NAME = "finetuning"


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


@click.command()
@click.option(
    "--features", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True, help="An .npz file."
)
@click.option("--named", required=True, help="What the features are: the images, and the network.")
@click.option("--quick", is_flag=True, help="A miniature; needs --out.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="A folder for results and figures.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes for repeats.")
def main(*, features: Path, named: str, quick: bool, out: Path | None, workers: int) -> None:
    """Recompute the fine-tuning experiment on features from a file."""
    if quick and out is None:
        raise click.UsageError("a miniature would replace the committed results; name another folder with --out.")
    source = Source.file(features)
    try:
        pool(source)
    except ExpostError as problem:
        raise click.ClickException(str(problem)) from None
    place, item = HOME if out is None else Place.under(out), OnFile(source, named)
    record(NAME, item, place, quick=quick, workers=workers)
    if found := read(NAME, place):
        figures(item, found, place)
    click.echo(place.of(NAME))


if __name__ == "__main__":
    main()
