"""Each result has one home: its `Implements:` tag is in one docstring, and in the index of docs/theory.md."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src/expost").rglob("*.py"))
THEORY = ROOT / "docs/theory.md"

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def docstrings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Documented):
            yield ast.get_docstring(node) or ""


def tags(source: str, keyword: str) -> list[str]:
    """The tags after the keyword: separated by semicolons, up to the next keyword or empty line, without the stop."""
    blocks = [
        block
        for docstring in docstrings(source)
        for block in re.findall(rf"^{keyword}: (.+?)(?=\n\n|\n[A-Z]\w+: |\Z)", docstring, re.DOTALL | re.MULTILINE)
    ]
    return [" ".join(tag.split()).removesuffix(".") for block in blocks for tag in block.split(";")]


def name(tag: str) -> str:
    """The tag without its numbers in parentheses: what `Uses:` calls it."""
    return re.sub(r" \([^)]*\)$", "", tag)


def in_source(keyword: str) -> list[str]:
    return [tag for source in SOURCES for tag in tags(source.read_text(encoding="utf-8"), keyword)]


def in_index(page: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)


def repeated(names: list[str]) -> list[str]:
    return [each for each, count in Counter(names).items() if count > 1]


def test_a_result_is_implemented_in_one_place() -> None:
    assert repeated([name(tag) for tag in in_source("Implements")]) == []


def test_what_is_used_is_implemented() -> None:
    homes = {name(tag) for tag in in_source("Implements")}

    assert [tag for tag in in_source("Uses") if name(tag) not in homes] == []


def test_the_index_of_the_theory_names_every_tag_and_no_other() -> None:
    index, homes = in_index(THEORY.read_text(encoding="utf-8")), in_source("Implements")

    assert (sorted(set(homes) - set(index)), sorted(set(index) - set(homes))) == ([], [])


def test_the_index_of_the_theory_names_no_tag_twice() -> None:
    assert repeated(in_index(THEORY.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        ("A.\n\nImplements: filter (Theorem 4.3).", ["filter (Theorem 4.3)"]),
        ("A.\n\nImplements: an odometer; a\nparallel one.\nUses: filter.", ["an odometer", "a parallel one"]),
        ("A.\n\nUses: filter.\nImplements: CKS conversion, ex post.\n\nMore.", ["CKS conversion, ex post"]),
        ("It says nothing of what it Implements: nothing.", []),
    ],
)
def test_a_tag_is_read_as_it_is_written(docstring: str, found: list[str]) -> None:
    source = f'def f():\n    """{docstring}"""\n'

    assert tags(source, "Implements") == found


def test_a_second_home_and_a_second_entry_are_noticed() -> None:
    homes = ['"""A.\n\nImplements: filter (Theorem 4.3).\n"""', '"""B.\n\nImplements: filter.\n"""']
    page = "| `filter` | here |\n| `filter` | there |\n"

    assert repeated([name(tag) for home in homes for tag in tags(home, "Implements")]) == ["filter"]
    assert repeated(in_index(page)) == ["filter"]


@pytest.mark.parametrize(
    ("folder", "pattern"), [("src/expost", r"\| ([\w/]+\.py) `"), ("tests", r"\| (\w+/[\w/]+\.py) \|")]
)
def test_the_index_names_files_that_are_there(folder: str, pattern: str) -> None:
    named = [name for line in THEORY.read_text(encoding="utf-8").splitlines() for name in re.findall(pattern, line)]

    assert len(named) > 50
    assert [name for name in named if not (ROOT / folder / name).exists()] == []
