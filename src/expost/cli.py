"""The command line: the commands of the jobs, and those that any receipt or statement can be given to."""

import sys
from pathlib import Path

import click

from expost.errors import InvalidValue
from expost.jobs import JOBS
from expost.jobs import audit as audited
from expost.ledgers.billing import billing_faults
from expost.ledgers.book import open_ledger
from expost.receipts.journal import is_journal, read_journal
from expost.receipts.notation import table
from expost.receipts.untrusted import receipt_in, text_from
from expost.report.meaning import explain
from expost.tabular.schema.schema import RELATIONS
from expost.terminal.ending import NOT_REACHED, Program, plainly
from expost.terminal.ledger import ledger_commands
from expost.text import Json, printable


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="expost")
def main() -> None:
    """Accuracy-first differential privacy: say how accurate, pay only for that."""


@main.group(name="plan", short_help="Show what a run would cost, before any data is read.")
def plans() -> None:
    """Show what every rung would cost and how noisy it would be, before any data is touched."""


for job in JOBS:
    job.add_to(main, plans)
main.add_command(ledger_commands)


@main.command(name="audit", short_help="Recompute the bill of a receipt or a journal.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--pledge", "pledged", default=None, metavar="DIGEST",
              help="The SHA-256 that the run showed before it read any data.")  # fmt: skip
@click.option("--ledger", default=None, metavar="FILE|URL",
              help="The ledger that the run was on, whose entries must have what the receipt says.")  # fmt: skip
@plainly
def audit_receipt(path: Path, pledged: str | None, ledger: str | None) -> None:
    """Recompute the bill of a receipt and say whether it adds up, or say what the journal of a run records."""
    text = text_from(path)
    if is_journal(text):
        if pledged is not None or ledger is not None:
            raise InvalidValue(
                "a journal does not hold a digest or an entry of a ledger; give these options with a receipt."
            )
        click.echo(str(read_journal(text)))
        return
    found = receipt_in(text, path)
    result = audited(found, pledged=pledged, beside=path.parent)
    name, faults = ("", ()) if ledger is None else on_ledger(ledger, found)
    click.echo(str(result))
    if ledger is not None:
        click.echo(printable(" ".join(faults) or f"the ledger {name} has the same lines, captured by the same run."))
    sys.exit(0 if result.matches and not faults else NOT_REACHED)


def on_ledger(ledger: str, receipt: Json) -> tuple[str, tuple[str, ...]]:
    """What a ledger is called, without a password, and what speaks against a receipt by it."""
    with open_ledger(ledger) as book:
        return book.home.name, billing_faults(book.home, table(receipt))


@main.command(name="explain")
@click.option("--epsilon", type=float, required=True, help="The ε of the statement.")
@click.option("--delta", type=float, required=True, help="The δ of the statement.")
@click.option("--mu", type=float, default=None, show_default=False,
              help="The μ that a receipt states where all noise was Gaussian.")  # fmt: skip
@click.option(
    "--neighbours",
    type=click.Choice(list(RELATIONS)),
    default="add-remove",
    help="What the statement compares: a record more or less, or another record.",
)
@click.option(
    "--unit",
    type=click.Choice(["record", "person"]),
    default="record",
    help="Whether it is per record, or per person with any number of rows.",
)
@plainly
def explain_statement(epsilon: float, delta: float, mu: float | None, neighbours: str, unit: str) -> None:
    """Say what an (ε, δ) statement means, in odds."""
    relation = RELATIONS[neighbours]
    click.echo(explain(epsilon, delta, relation.of_persons if unit == "person" else relation, mu=mu))
