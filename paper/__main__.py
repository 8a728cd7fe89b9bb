"""The command: ``python -m paper [--quick] [--only NAME ...] [--features FILE --named TEXT] [--redraw]``."""

import os
from pathlib import Path
from tempfile import mkdtemp

import click
from rich.console import Console

from paper.engine.headline import README, put
from paper.engine.item import ORDER, load
from paper.engine.page import figures, page
from paper.engine.record import HOME, Place, read, record
from paper.items.finetuning_on_features import on_file
from paper.show.markdown import duration


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@click.command()
@click.option("--quick", is_flag=True, help="A miniature of everything, never over the committed results.")
@click.option("--only", "chosen", multiple=True, metavar="NAME", help="This item only; may be given several times.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="A folder for results, figures and page.")
@click.option("--redraw", is_flag=True, help="Compute nothing: figures and page from the stored results.")
@click.option(
    "--features",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An .npz file to fine-tune on; by default scikit-learn's digits.",
)
@click.option("--named", help="What these features are: the images, and the network.")
@click.option("--workers", type=click.IntRange(min=1), default=cores, help="Processes for repeats.")
def main(
    *,
    quick: bool,
    chosen: tuple[str, ...],
    out: Path | None,
    redraw: bool,
    features: Path | None,
    named: str | None,
    workers: int,
) -> None:
    """Recompute the figures and tables of the paper."""
    if (features is None) != (named is None):
        raise click.UsageError("say with --named what the --features are; one needs the other.")
    if unknown := [name for name in chosen if name not in ORDER]:
        raise click.UsageError(f"{unknown[0]} is not an item; choose from {', '.join(ORDER)}.")
    place, told = _place(quick, out), Console(stderr=True)
    given = {} if features is None or named is None else on_file(features, named)
    for name in chosen or ORDER:
        item = given.get(name) or load(name)
        if not redraw:
            told.print(f"{name}: {item.TITLE}")
            told.print(f"{name}: {duration(record(name, item, place, quick=quick, workers=workers)['seconds'])}")
        if found := read(name, place):
            figures(item, found, place)
    place.page.parent.mkdir(parents=True, exist_ok=True)
    place.page.write_text(page(place), encoding="utf-8")
    if place is HOME:
        README.write_text(put(place), encoding="utf-8")
    click.echo(place.page)


def _place(quick: bool, out: Path | None) -> Place:
    """Where to write: the committed results, the named folder, or for a miniature a temporary one."""
    if out is None:
        return Place.under(Path(mkdtemp(prefix="expost-paper-"))) if quick else HOME
    place = Place.under(out)
    if place.page.resolve() == HOME.page or place.results.resolve() == HOME.results:
        raise click.UsageError(f"{out} holds the committed results; name another folder, or leave --out away.")
    return place


if __name__ == "__main__":
    main()
