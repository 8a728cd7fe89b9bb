"""What a command shows: a live table while it works, one line per rung, and the looks at held-out records of a plan."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self, final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from expost.checks.confidence import Confidence
from expost.protocols import Look
from expost.receipts.receipt import Commitment
from expost.report.answers import Reading
from expost.report.digits import apart, half_width, margin, plain, tied, with_minus
from expost.report.units import RECORDS, by_unit
from expost.terminal.steady import spelled
from expost.text import printable

WIDEST = 100
"""Characters in a line that is still easily read."""

VERDICTS = {True: "passed", False: "not yet", None: "not asked"}


class Concluded(Protocol):
    """What is told of a run at its end, all of it from releases. Implemented by Result and Answer."""

    @property
    def receipt(self) -> str:
        """The receipt, as the text of its file."""
        ...

    @property
    def closing(self) -> tuple[str, ...]:
        """How it ended and what was spent, a paragraph each."""
        ...


@final
class Screen:
    """The columns of a job, the first of which counts its lines, and the last of which is in words."""

    def __init__(self, columns: tuple[str, ...], *, doing: str, quiet: bool) -> None:
        self._columns, self._quiet, self.width = columns, quiet, 1.0
        self.asked: Fraction | None = None
        self.neighbours = RECORDS
        self._planned = 0
        self._kept: RenderableType | None = None
        self._console = Console(highlight=False)
        self._rows: list[tuple[str, ...]] = []
        self._below: RenderableType = self._spinner(doing)
        self._live = Live(console=self._console, refresh_per_second=8, transient=True)

    @property
    def encoding(self) -> str:
        """That of the terminal."""
        return self._console.encoding

    @property
    def _moving(self) -> bool:
        return self._console.is_terminal and not self._quiet

    def __enter__(self) -> Self:
        if self._moving:
            self._live.start()
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moving:
            self._live.stop()
            if self._columns:
                self._console.print(self._table())

    def pledge(self, fixed: Commitment, *remarks: str) -> None:
        """What is fixed before data is read, and remarks."""
        self.width = 1.0 if fixed.confidence is None else fixed.confidence.width
        self.asked, self.neighbours, self._planned = fixed.asked, fixed.neighbours, len(fixed.stops)
        self.announce(fixed.digest, *remarks)

    def announce(self, digest: str, *remarks: str) -> None:
        """The digest of what is fixed before data is read, and remarks; with the receipt on the output, beside it."""
        console = Console(highlight=False, stderr=True) if self._quiet else self._console
        for line in (f"pledged: sha256 {digest}", *remarks):
            console.print(line, markup=False, soft_wrap=True)

    def tell(self, text: str) -> None:
        """What is being done now."""
        self._below = self._spinner(text)
        self._show()

    def advance(self, taken: int, steps: int) -> None:
        """How far the line that is being worked on has got."""
        grid = Table.grid(padding=(0, 2))
        name = f"{self._columns[0]} {self._numbered(len(self._rows) + 1)}"
        bar = ProgressBar(steps, taken, width=30, complete_style="cyan", finished_style="cyan")
        grid.add_row(Text(name), bar, Text(f"{taken:,} of {steps:,} steps"))
        self._below = grid
        self._show()

    def _numbered(self, place: int) -> str:
        """A line by its number, and of how many that may come."""
        return f"{place} of {self._planned}" if place <= self._planned else str(place)

    @property
    def lines(self) -> int:
        """How many are done."""
        return len(self._rows)

    def add(self, *cells: str, keep: Callable[[Mapping[str, str]], None]) -> None:
        """A line is done: kept first, then shown."""
        row = (self._numbered(len(self._rows) + 1), *cells)
        keep(dict(zip(self._columns, row, strict=True)))
        self._rows.append(row)
        if not self._moving and not self._quiet:
            told = (f"{name}: {cell}" for name, cell in zip(self._columns, row, strict=True))
            self._console.print("  ".join(told), markup=False, soft_wrap=True)
        self._show()

    def keep(self, shown: RenderableType) -> None:
        """Have this shown at the end, above the closing words."""
        self._kept = shown

    def end(self, done: Concluded, out: Path) -> None:
        """What was kept for the end and the closing paragraphs, or the receipt."""
        if self._quiet:
            self._console.print(done.receipt, markup=False, soft_wrap=True, end="")
            return
        if self._kept is not None:
            self._console.print(self._kept)
        for told in done.closing:
            self._console.print()
            paragraph(self._console, told)
        written_to = printable(f"Written to {out}{'/' if not str(out).endswith('/') else ''}")
        self._console.print(f"\n{written_to}", markup=False)

    def _show(self) -> None:
        if self._moving:
            self._live.update(Group(self._table(), self._below))

    def _spinner(self, doing: str) -> Spinner:
        """A moving sign, in letters that the terminal has."""
        return Spinner("line" if self._console.options.ascii_only else "dots", Text(f" {doing} …"))

    def _table(self) -> Table:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in self._columns:
            side: Literal["left", "right"] = "left" if name == self._columns[-1] else "right"
            table.add_column(spelled(name, self._console.encoding), justify=side, min_width=8)
        for row in self._rows:
            table.add_row(*(spelled(cell, self._console.encoding) for cell in row))
        return table


def paragraph(console: Console, text: str) -> None:
    """The text in lines that end nowhere between a number and its sign."""
    lines = textwrap.fill(tied(text), min(console.width, WIDEST))
    console.print(lines.replace("\N{NO-BREAK SPACE}", " "), markup=False, soft_wrap=True)


def accuracy_cell(rung: Reading, width: float, asked: Fraction | None) -> str | None:
    """A noisy accuracy with half its range, in digits that tell it from what was asked for, where there is one."""
    half = rung.half(width)
    if rung.accuracy is None or half is None:
        return None
    shown = min(max(rung.accuracy, rung.least), 1.0)
    return f"{with_minus(apart(shown, None if asked is None else float(asked), 3))} ± {half_width(half, 3)}"


def answer_cell(rung: Reading, width: float, asked: Fraction | None, neighbours: str) -> str:
    """A noisy answer: a share with half its range where one can be told, a margin in records else, or none."""
    verdict, share = rung.line.verdict, accuracy_cell(rung, width, asked)
    if share is None and verdict is not None and verdict.margin is not None and verdict.std is not None:
        return f"{margin(verdict.margin, width * verdict.std)} {by_unit('records', neighbours)}"
    return share or "—"


def look_heads(held: float | None, measure: str = "accuracy") -> tuple[str, ...]:
    """The heads of the columns below; shares need a public number of records."""
    article = "an" if measure[0] in "aeiou" else "a"
    named = (f"that is {article}\n{measure} of",) if held is not None else ()
    return ("noise of\nthe check", "passes\nfrom", *named)


def look_cells(look: Look | None, target: Fraction, held: float | None, *, public: bool) -> tuple[str, ...]:
    """One rung: the standard error of the answer, the least margin that passes, and the same as an accuracy."""
    if look is None:
        return "none" if public else "not asked", "—", *(("—",) if held is not None else ())
    needed = 0.0 if held is None else float(target) + look.guard / held
    shown = () if held is None else (f"{needed:.4f}" if needed <= 1 else "above 1",)
    return f"{look.std:.1f}", f"{look.guard:+.1f}", *shown


def reach_words(looks: Sequence[Look | None], target: Fraction, held: float | None, neighbours: str = RECORDS) -> str:
    """That no guard can be met but by luck, where that is so; nothing else."""
    guards = [look.guard for look in looks if look is not None]
    if held is None or not guards or float(target) + min(guards) / held <= 1:
        return ""
    return (
        f"Nothing passes here but by luck, not even what is right for all held-out {by_unit('records', neighbours)}: "
        "there are too few of them for this noise. Raise the ladder, hold out a larger share, or ask for less."
    )


def look_words(
    asked: str,
    confidence: Confidence | None,
    *,
    share: Fraction,
    records: int | None,
    rung: str,
    told: bool = True,
    neighbours: str = RECORDS,
) -> str:
    """What the columns mean, and what a pass will promise; ``told`` if margins are accuracies of all held out."""
    unit = by_unit("records", neighbours)
    said = f"Asked for: {asked}."
    if not share:
        return f"{said} The check is on public records, without noise."
    said = f"{said} Noise is a standard deviation; it and the margin are in {unit}."
    if confidence is None:
        promised = (
            "This is the paper's check: a candidate passes when its noisy margin is at least 0, which does not promise "
            "that it is accurate enough."
        )
    else:
        looks = "one look" if confidence.looks == 1 else f"{confidence.looks} looks"
        promised = (
            f"A candidate passes when its noisy margin over the target is at least what the plan says; with "
            f"{plain(float(confidence.level))} confidence, over {looks}, none passes that is below the target on the "
            f"held-out {unit}."
        )
    if records is None:
        also = "; say --records to see margins as accuracies" if told else ""
        about = f"A share of {plain(float(share))} is held out{also}."
    else:
        about = f"A share of {plain(float(share))} of about {records:,} {unit} is held out."
        if confidence is not None:
            about += f" A {rung} whose guard would be too wide is not asked about."
    return f"{said} {promised} {about}"
