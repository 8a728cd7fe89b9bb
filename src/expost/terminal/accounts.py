"""What a steward sees of a ledger: totals with their bars, charges, runs that are open, and what a check found."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from expost.ledgers.overview import (
    Charge,
    Overview,
    Settlement,
    amount_word,
    amount_words,
    left_share,
    room_words,
    value_words,
)
from expost.ledgers.posting import Account
from expost.ledgers.proof import LedgerProof
from expost.ledgers.settling import Unsettled
from expost.report.digits import most
from expost.terminal.screen import paragraph
from expost.terminal.steady import spelled
from expost.text import printable

WIDE, NARROW = 32, 16
"""Cells of a bar."""
SHORT = 8
"""Characters of the identity of a run that are shown."""


def show_overview(overview: Overview) -> None:
    """One data set."""
    console, account = Console(highlight=False), overview.account
    terms = account.terms
    cap = value_words(terms, f"{float(terms.cap):g}")
    console.print(Text(printable(overview.name), style="bold"), Text(f"  cap {cap}, for {printable(overview.unit)}"))
    console.print(_bar(account, WIDE, console), Text(f"  {_shares(account)}"))
    console.print()
    lines = [("spent", f"{amount_words(terms, account.spent)} of {float(terms.cap):g}")]
    if overview.open_runs:
        runs = _counted(overview.open_runs, "run is open", "runs are open")
        lines.append(("held", f"{amount_words(terms, account.committed)} with what is held; {runs}"))
    for number, room in enumerate(room_words(terms, account.committed)):
        lines.append(("", f"or {room}") if number else ("left", room))
    facts = Table.grid(padding=(0, 3))
    for name, told in lines:
        facts.add_row(Text(name), Text(spelled(told, console.encoding)))
    console.print(facts)
    if overview.analysts:
        console.print()
        console.print(_analysts(overview.analysts, console))
    if overview.charges:
        console.print()
        console.print(_charges(overview.charges, console))
    if overview.settlements:
        console.print()
        console.print(_settlements(overview.settlements, console))
    if overview.earlier is not None:
        console.print(f"\nWhat came before: --before {overview.earlier}")
    console.print(f"\nIts chain ends with entry {overview.entries:,}:\n{overview.head}", soft_wrap=True)


def show_unsettled(runs: Sequence[Unsettled]) -> None:
    """Runs that are open."""
    console = Console(highlight=False)
    if not runs:
        console.print("No run is open.")
        return
    for run in runs:
        whose = "" if run.analyst is None else f" of {printable(run.analyst)}"
        console.print(Text(run.id[:SHORT], style="bold"), Text(f" {printable(run.what)}{whose}, on {run.dataset!r}"))
        ended = ", which has ended" if run.is_gone else ""
        captured, holds = (amount_words(run.terms, amount) for amount in (run.spent, run.committed))
        facts = Table.grid(padding=(0, 3))
        for name, told in (
            ("since", f"{_time(run.since)} UTC; its last entry is of {_time(run.latest)}"),
            ("where", f"process {run.process} on {printable(run.host)}{ended}"),
            ("captured", captured if any(run.spent) else "nothing"),
            ("holds", "nothing beyond that" if run.spent == run.committed else f"up to {holds}"),
        ):
            facts.add_row("", name, Text(spelled(told, console.encoding)))
        console.print(facts)


def show_proof(proof: LedgerProof) -> None:
    """What a check found."""
    console = Console(highlight=False)
    for chain in proof.chains:
        entries, runs = _counted(chain.entries, "entry", "entries"), _counted(chain.runs, "run", "runs")
        console.print(Text(printable(chain.dataset), style="bold"), Text(f"  {entries}, {runs}"), end="")
        console.print(f", from {_time(chain.since)} to {_time(chain.latest)} UTC\n{chain.head}\n", soft_wrap=True)
    for flaw in proof.flaws:
        console.print(Text("wrong", style="bold red"), Text(printable(flaw)), soft_wrap=True)
    if not proof.holds:
        return
    paragraph(console, "Every total is what the entries lead to, and no cap was passed.")
    if proof.compared:
        paragraph(console, "The entry that the receipt names is there, and was followed by all that came after it.")
    else:
        paragraph(
            console,
            "Whether the whole ledger was put back to an earlier state shows only beside a receipt that was written "
            "later: give one with --against.",
        )


def _analysts(analysts: dict[str, Account], console: Console) -> Table:
    table = _table("analyst", "spent", "with holds", "of", "", "left", console=console)
    for name, account in analysts.items():
        terms = account.terms
        spent, held = (amount_word(terms, amount) for amount in (account.spent, account.committed))
        words = printable(name), spent, held, f"{float(terms.cap):g}"
        cells = (Text(spelled(word, console.encoding)) for word in words)
        table.add_row(*cells, _bar(account, NARROW, console), left_share(terms, account.committed))
    return table


def _charges(charges: Sequence[Charge], console: Console) -> Table:
    table = _table("when (UTC)", "run", "analyst", "for", "step", "of the cap", console=console)
    for charge in charges:
        words = _time(charge.at), charge.run[:SHORT], charge.analyst or "—", charge.what
        step = charge.step if charge.finished else f"{charge.step}, not finished"
        cells = (*words, f"{step} on {charge.part}", most(charge.share) if charge.share <= 1 else "unknown")
        table.add_row(*(Text(spelled(printable(cell), console.encoding)) for cell in cells))
    return table


def _settlements(settlements: Sequence[Settlement], console: Console) -> Table:
    table = _table("settled (UTC)", "run", "statement", console=console)
    for each in settlements:
        statement = "none: all that it held counts as spent" if each.statement is None else each.statement
        cells = _time(each.at), each.run[:SHORT], statement
        table.add_row(*(Text(spelled(printable(cell), console.encoding)) for cell in cells))
    return table


def _table(*heads: str, console: Console) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(spelled(head, console.encoding), justify="right" if head in ("of the cap", "left") else "left")
    return table


def _shares(account: Account) -> str:
    terms, measure = account.terms, account.terms.kept_by(account.committed)
    spent, committed = (terms.share(amount, measure) for amount in (account.spent, account.committed))
    held = f"{most(committed - spent)} held, " if committed > spent else ""
    return f"{most(spent) if spent else 'nothing'} spent, {held}{left_share(terms, account.committed)} left"


def _bar(account: Account, width: int, console: Console) -> Text:
    """What is spent, held and left, as parts of a line; whatever is spent or held has a cell of its own."""
    terms, measure = account.terms, account.terms.kept_by(account.committed)
    spent, committed = (terms.share(each, measure) for each in (account.spent, account.committed))
    cells = [min(width, math.ceil(width * share)) for share in (spent, committed - spent)]
    ends = cells[0], min(width, sum(cells))
    full, half, empty = "#=." if console.options.ascii_only else "█▒░"
    parts = (
        (full * ends[0], "cyan"),
        (half * (ends[1] - ends[0]), "yellow"),
        (empty * (width - ends[1]), "bright_black"),
    )
    return Text.assemble(*parts)


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _time(at: str) -> str:
    if not at:  # of a chain that was wrong from its first entry
        return "the beginning"
    return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M}"
