"""The command line in a test: run it, and read what it said, refused or kept."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from click.testing import CliRunner, Result

from expost.cli import main

Receipt: TypeAlias = dict[str, Any]

PLEDGED = re.compile(
    r"(pledged: sha256 [0-9a-f]{64}\n(The table was (not )?checked against .+\.\n)?(This costs .+\.\n)?)?"
)
"""All that may be said before data is read: what was fixed by then, if nothing was refused earlier."""


def run(*words: str) -> Result:
    """The command with these words."""
    return CliRunner().invoke(main, words)


def beside(usual: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The words, and the usual options with their values as far as the words do not give them."""
    pairs = zip(usual[::2], usual[1::2], strict=True)
    return (*(word for pair in pairs if pair[0] not in words for word in pair), *words)


def refused(result: Result, here: Path) -> str:
    """The one sentence of a refusal that wrote nothing into the folder but what was there before."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("expost: ")
    assert result.stderr.endswith(".\n")
    assert result.stderr.count("\n") == 1
    assert PLEDGED.fullmatch(result.stdout)
    inputs = ({"customers.csv", "public.csv", "schema.toml"}, {"public.npz", "records.npz"})
    assert {path.name for path in here.iterdir()} in inputs
    return result.stderr


def kept(here: Path) -> Receipt:
    """The receipt that was written."""
    found: Receipt = json.loads((here / "out/receipt.json").read_text(encoding="utf-8"))
    return found


def said(result: Result) -> str:
    """What was printed, without its line breaks."""
    return " ".join(result.output.split())
