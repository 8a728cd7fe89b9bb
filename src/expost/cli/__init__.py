"""The command line: parse, call one function in runs, print."""

import sys
from pathlib import Path

import click

from expost.cli import tables, training
from expost.cli.options import NOT_REACHED, plainly
from expost.report import check as audited
from expost.report import explain as explained
from expost.report.untrusted import receipt_from
from expost.tabular.schema import RELATIONS


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="expost")
def main() -> None:
    """Accuracy-first differential privacy: say how accurate, pay only for that."""


for command in (tables.demo, tables.synth, training.finetune, tables.plan, tables.schema):
    main.add_command(command)
tables.plan.add_command(training.plan)


@main.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--pledge", "pledged", default=None, metavar="DIGEST",
              help="The SHA-256 that the run showed before it read any data.")  # fmt: skip
@plainly
def audit(path: Path, pledged: str | None) -> None:
    """Recompute the bill of a receipt and say whether it adds up."""
    result = audited(receipt_from(path), pledged=pledged)
    click.echo(str(result))
    sys.exit(0 if result.matches else NOT_REACHED)


@main.command()
@click.option("--epsilon", type=float, required=True, help="The ε of the statement.")
@click.option("--delta", type=float, required=True, help="The δ of the statement.")
@click.option(
    "--neighbours",
    type=click.Choice(list(RELATIONS)),
    default="add-remove",
    help="What the statement compares: a record more or less, or another record.",
)
@plainly
def explain(epsilon: float, delta: float, neighbours: str) -> None:
    """Say what an (ε, δ) statement means, in odds."""
    click.echo(explained(epsilon, delta, RELATIONS[neighbours]))
