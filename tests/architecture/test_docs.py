"""The pages are true: every command and make verb is shown somewhere, and what is shown exists."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from expost.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

HOUSEKEEPING = {"help", "clean"}


def snippets(page: str) -> list[str]:
    """The lines of fenced blocks, and the code between single backticks."""
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page, flags=re.DOTALL | re.MULTILINE))
    return [line.strip() for block in fenced for line in block.splitlines()] + inline


def called(program: str, page: str) -> set[str]:
    """The first word after the program, wherever a snippet runs it."""
    pattern = re.compile(rf"(?:\$ )?(?:[\w./-]*/)?{program} ([a-z][\w-]*)")
    return {match[1] for snippet in snippets(page) if (match := pattern.match(snippet))}


def shown(program: str) -> set[str]:
    return {word for page in PAGES for word in called(program, page.read_text(encoding="utf-8"))}


def verbs() -> set[str]:
    (line,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    return set(line.split())


def test_every_command_is_shown() -> None:
    assert set(main.commands) - shown("expost") == set()


def commands(group: click.Group, *words: str) -> dict[str, click.Command]:
    """The commands of a group and of the groups in it, by what is typed."""
    found = {" ".join([*words, name]): command for name, command in group.commands.items()}
    inner = {name: command for name, command in found.items() if isinstance(command, click.Group)}
    return {**found, **{key: each for name, below in inner.items() for key, each in commands(below, name).items()}}


def test_every_command_of_a_group_is_shown() -> None:
    pages = [line for page in PAGES for line in snippets(page.read_text(encoding="utf-8"))]
    run = {name for name, each in commands(main).items() if not isinstance(each, click.Group)}

    assert {name for name in run if not any(f"expost {name}" in line for line in pages)} == set()


def test_every_command_shown_exists() -> None:
    assert shown("expost") - set(main.commands) == set()


def test_every_make_verb_is_shown() -> None:
    assert verbs() - HOUSEKEEPING - shown("make") == set()


def test_every_make_verb_shown_exists() -> None:
    assert shown("make") - verbs() == set()


def test_every_make_verb_is_in_the_help() -> None:
    helped = set(re.findall(r'@echo "make ([\w-]+)', MAKEFILE))

    assert helped == verbs() - {"help"}


def test_every_command_and_option_has_a_help_text() -> None:
    for command in commands(main).values():
        assert command.help
        assert all(option.help for option in command.params if isinstance(option, click.Option))


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("Run `expost demo`.", {"demo"}),
        ("```console\n$ .venv/bin/expost demo --error 0.05\nexpost: error is 3\n```", {"demo"}),
        ("With expost you pay less; `import expost` is enough.", set()),
        ("```sh\nexpost guess\n```\nand `expost demo`", {"guess", "demo"}),
    ],
)
def test_a_command_is_told_from_a_mention(page: str, found: set[str]) -> None:
    assert called("expost", page) == found


def test_the_readme_shows_the_prices_that_the_demo_prints(tmp_path: Path) -> None:
    """Prices are known beforehand; the accuracies beside them depend on the machine's floating point."""
    price = re.compile(r"^rung: (\d+) of 7  ε so far: (\S+)", re.MULTILINE)
    page = (ROOT / "README.md").read_text(encoding="utf-8")

    printed = CliRunner().invoke(main, ["demo", "--seed", "7", "--out", str(tmp_path / "demo")]).output

    assert price.findall(page)
    shared = set(price.findall(page)) & set(price.findall(printed))
    assert len(shared) == min(len(price.findall(page)), len(price.findall(printed)))
