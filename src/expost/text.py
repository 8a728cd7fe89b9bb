"""Text from outside: no more is read of a file than it may have, and nothing that might never end."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias, Union

Json: TypeAlias = Union[str, int, float, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007  recursive
"""What a text of JSON holds."""

MOST_NESTED = 64
"""Names of a dotted key, which tomllib takes the square of their number to read."""
DEEP = re.compile(rf"(?<![\w-])(?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){{{MOST_NESTED}}}")

MOST_TYPED = 100
HUGE = re.compile("e[+-]?[0-9_]{4}", re.IGNORECASE)
HALF = re.compile("[\ud800-\udfff]")
"""What stands for a byte that was not UTF-8 where the system handed it over."""


def bounded_text(path: Path, most: int) -> str:
    """The UTF-8 text of a file of at most this number of bytes; OSError or ValueError for anything else."""
    if not path.is_file():  # a pipe or a device might never end
        raise OSError("not a file")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"larger than {most:,} bytes")
    return content.decode("utf-8")


def is_missing(path: Path) -> bool:
    """Whether there is nothing of this name."""
    try:
        return not path.exists()
    except OSError:  # a name that no file can have
        return False


def is_unicode(text: str) -> bool:
    """Whether it can be written as UTF-8, which words from a terminal in another encoding cannot."""
    return HALF.search(text) is None


def printable(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def toml_in(text: str) -> dict[str, Any]:
    """The TOML of a text; ValueError if it is not TOML, or has a number too long or lists or keys too deep.

    The mark at its head by which editors of Windows tell UTF-8 says nothing.
    """
    if DEEP.search(text):
        raise ValueError("a key has too many names")
    try:
        return tomllib.loads(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))
    except RecursionError:
        raise ValueError("lists are too deep") from None


def number_typed(text: str) -> Fraction:
    """The number that a person typed; ValueError for another text, or for one with an exponent that takes for ever."""
    if len(text) > MOST_TYPED or HUGE.search(text):
        raise ValueError("too long, or an exponent of more than three digits")
    return Fraction(text)
