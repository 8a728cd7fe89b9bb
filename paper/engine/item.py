"""What an item of the paper is, and which there are."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from matplotlib.figure import Figure

from paper.engine.job import Job

ORDER = (
    "definitions",
    "brownian",
    "conversions",
    "orders",
    "adult",
    "validation_size",
    "finetuning",
    "full_batch",
    "baselines",
)
"""The items in the order of the page; each is a module of ``paper.items``."""


class Item(Protocol):
    """A figure or table of the paper: a module of ``paper.items`` with these names.

    Only ``run`` computes. ``draw`` and ``text`` see what ``run`` returned after it went through JSON, and nothing else,
    so that figures and page can be made again from the stored results; an item declares it as a TypedDict. Raise
    ``VERSION`` with every change of code that changes results: finished repeats of other versions are not used. An item
    too long for one file keeps the form of its result, ``draw`` and ``text`` in ``paper.show`` and imports them.
    """

    @property
    def TITLE(self) -> str:  # noqa: N802
        """The heading of the section."""
        ...

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Counts the changes of the item's results."""
        ...

    @property
    def FULL(self) -> Any:  # noqa: N802
        """A frozen dataclass of JSON-able settings, as in the paper."""
        ...

    @property
    def QUICK(self) -> Any:  # noqa: N802
        """The settings of a miniature that takes some seconds."""
        ...

    @property
    def FIGURES(self) -> Mapping[str, str]:  # noqa: N802
        """The files it draws, without ending, and what they show to who cannot see them."""
        ...

    def run(self, job: Job[Any], /) -> Any:
        """The results: numbers, strings, lists and dictionaries only, none of them infinite or NaN."""
        ...

    def draw(self, result: Any, /) -> Mapping[str, Figure]:
        """One figure for each name in ``FIGURES``, made with ``paper.show.style``."""
        ...

    def text(self, result: Any, /) -> str:
        """What to see, in two sentences, and the tables, as Markdown; every number comes from the result."""
        ...


def load(name: str) -> Item:
    """The module of an item; only what is asked for is imported, since some need PyTorch."""
    return import_module(f"paper.items.{name}")
