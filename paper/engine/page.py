"""The page docs/paper.md and its figures, made from results files and nothing else."""

from paper.engine.headline import headline
from paper.engine.item import ORDER, Item, load
from paper.engine.record import Place, Record, read
from paper.show import style
from paper.show.markdown import duration, table

HEAD = """# The paper, recomputed

Figures and tables of [*Accuracy-First Rényi Differential Privacy and Post-Processing
Immunity*](https://arxiv.org/abs/2509.22213) (Räisä, Koskela, Honkela), computed with this library: the paper's
numbers, ours beside them, and what our improvements change. Proofs and errata are in [theory](theory.md). This page
and its figures are made from the files in `paper/results`, which also hold settings, seeds and versions.

```
make paper                              # everything, on all cores; an interrupted run goes on where it was
make paper-quick                        # a miniature of everything in minutes, in a temporary folder
.venv/bin/python -m paper --only orders # one item
```
"""

MINIATURE = """
**A miniature.** Some of these results come from a quick run: they show that it works, and are not to be quoted.
"""


def figures(item: Item, found: Record, place: Place) -> None:
    """Draw the figures of one item."""
    drawn = item.draw(found["result"])
    if set(drawn) != set(item.FIGURES):
        raise ValueError(f"{found['item']} drew {sorted(drawn)}; its FIGURES names {sorted(item.FIGURES)}.")
    for name, figure in drawn.items():
        style.save(figure, place.figures / f"{name}.svg")


def page(place: Place) -> str:
    """The page for the results that are there, in the order of the items."""
    records = [found for name in ORDER if (found := read(name, place))]
    head = [HEAD, MINIATURE] if any(found["quick"] for found in records) else [HEAD]
    short = f"In short:\n\n{told}\n" if (told := headline(place)) else ""
    return "\n".join([*head, short, _made(records), *(_section(load(found["item"]), found) for found in records)])


def _made(records: list[Record]) -> str:
    """When, where and how long: one row an item."""
    head = ("item", "repeats", "wall time", "core time of the repeats", "cores", "code")
    rows = [
        (
            f"`{found['item']}`",
            f"{found['repeats']['count']:g}" if found["repeats"]["count"] else "none: exact",
            duration(found["seconds"]),
            duration(found["repeats"]["seconds"]) if found["repeats"]["count"] else "",
            f"{found['machine']['workers']}",
            f"`{_short(found['commit'])}`",
        )
        for found in records
    ]
    return f"How the results shown here were computed:\n\n{table(head, rows)}\n"


def _short(commit: str) -> str:
    head, dash, changed = commit.partition("-")
    return f"{head[:10]}{dash}{changed}"


def _section(item: Item, found: Record) -> str:
    images = [f"![{alt}](figures/{name}.svg)" for name, alt in item.FIGURES.items()]
    return "\n\n".join([f"## {item.TITLE}", *images, item.text(found["result"]).strip()]) + "\n"
