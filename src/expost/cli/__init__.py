"""The command line: parse, call one function in runs, print."""

import sys
from pathlib import Path

import click

from expost.cli import tables, training
from expost.cli.ending import NOT_REACHED, Program, plainly
from expost.errors import InvalidBound
from expost.report import check as audited
from expost.report import explain
from expost.report.journal import is_journal, read_journal
from expost.report.untrusted import receipt_in, text_from
from expost.tabular.schema import RELATIONS


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="expost")
def main() -> None:
    """Accuracy-first differential privacy: say how accurate, pay only for that."""


for command in (tables.demo, tables.synth, training.finetune_head, tables.plan_table, tables.schema):
    main.add_command(command)
tables.plan_table.add_command(training.plan_head)


@main.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--pledge", "pledged", default=None, metavar="DIGEST",
              help="The SHA-256 that the run showed before it read any data.")  # fmt: skip
@plainly
def audit(path: Path, pledged: str | None) -> None:
    """Recompute the bill of a receipt and say whether it adds up, or say what the journal of a run records."""
    text = text_from(path)
    if is_journal(text):
        if pledged is not None:
            raise InvalidBound("a journal holds no digest of what was pledged; give --pledge with a receipt.")
        click.echo(str(read_journal(text)))
        return
    result = audited(receipt_in(text, path), pledged=pledged)
    click.echo(str(result))
    sys.exit(0 if result.matches else NOT_REACHED)


@main.command(name="explain")
@click.option("--epsilon", type=float, required=True, help="The ε of the statement.")
@click.option("--delta", type=float, required=True, help="The δ of the statement.")
@click.option(
    "--neighbours",
    type=click.Choice(list(RELATIONS)),
    default="add-remove",
    help="What the statement compares: a record more or less, or another record.",
)
@plainly
def explain_statement(epsilon: float, delta: float, neighbours: str) -> None:
    """Say what an (ε, δ) statement means, in odds."""
    click.echo(explain(epsilon, delta, RELATIONS[neighbours]))
