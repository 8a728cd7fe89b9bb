"""Commands for the eyes of the data's owner only: a draft of a schema, and a check of the table against it."""

import sys
from pathlib import Path

import click

from expost.jobs.synthesis.marks import marks_of, note_checked
from expost.tabular.drafts.draft import draft
from expost.tabular.inspection import check_table
from expost.tabular.schema.schema import Schema
from expost.terminal.ending import NOT_REACHED, plainly, say

ASIDE = "PRIVATE, as the draft is; not part of its file:"


@click.command(short_help="Draft a schema for the data's owner to review.")
@click.argument("source")
@click.option("--missing", multiple=True, help="A text that stands for a missing value, such as ?; may be repeated.")
@plainly
def schema(source: str, missing: tuple[str, ...]) -> None:
    """Draft a schema for SOURCE, for the data's owner to review."""
    made = draft(source, missing_marks=missing)
    click.echo(made.text, nl=False)
    told = [f"{name or 'A column without a name'} is left out: {reason}" for name, reason in made.left_out.items()]
    told += [f"{name}: {note}" for name, note in made.notes.items()]
    for sentence in [ASIDE, *told] if told else []:
        say(sentence)


@click.command(name="check", short_help="Show the data's owner how a schema reads the table.")
@click.argument("source")
@click.option("--schema", "schema_path", required=True, type=click.Path(path_type=Path),
              help="The schema, in TOML; a draft will do.")  # fmt: skip
@plainly
def check_source(source: str, schema_path: Path) -> None:
    """Show the owner of SOURCE how a schema takes its cells: what is unrecognised, outside and missing."""
    declared = Schema.load(schema_path)
    found = check_table(source, declared)
    click.echo(str(found))
    try:
        note_checked(source, declared, schema_path)
    except OSError as failure:
        reason = str(failure.strerror or failure).rstrip(".")
        say(
            f"expost: {marks_of(schema_path)} could not be written ({reason}); a run will say that the table was not "
            "checked."
        )
    if found.notable:
        sys.exit(NOT_REACHED)


OWNERS = (schema, check_source)
