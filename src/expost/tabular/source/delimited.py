"""Delimited text, read strictly: a file is refused as a whole unless every line of it is well-formed on its own.

A lenient reader lets a stray quote in one record swallow the records after it. Here a line break always ends a record:
RFC 4180 without line breaks inside a field. The check looks at bytes in bulk and interprets nothing; only when it has
passed over the whole file are cells made of them. Whatever fails here is told by ``source``, always in the same words:
which line it was, or what is wrong with it, is private.
"""

import gzip
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from expost.errors import Unreadable

Places: TypeAlias = NDArray[np.intp]
Letters: TypeAlias = NDArray[np.uint8]

BLOCK = 2**22
"""Bytes looked at together."""

THREADS = min(4, os.cpu_count() or 1)
"""Blocks looked at at the same time."""

LONGEST_LINE = 2**26
"""A file with a longer line is not a table, and need not fit into memory to be refused."""

DELIMITERS = b",;\t|"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FOR_EXCEL = re.compile(rb'"?sep=[,;\t|]"?\n', re.IGNORECASE)
"""A line that some programs write ahead of the header; no record can make it."""
QUOTE, LINE_END = b'"'[0], b"\n"[0]


class Lines(NamedTuple):
    """What a check has found out about the lines of a file: how many, the longest in bytes, and how many end in CR LF.

    ``cut`` says of the last one that the file ends before it does.
    """

    total: int = 0
    longest: int = 0
    returns: int = 0
    cut: bool = False

    @property
    def ending(self) -> str | None:
        """How every line ends; None where they differ."""
        return "\n" if not self.returns else "\r\n" if self.returns == self.total - self.cut else None

    def and_then(self, more: "Lines") -> "Lines":
        """These lines, and more of the same file."""
        total, longest = self.total + more.total, max(self.longest, more.longest)
        return Lines(total, longest, self.returns + more.returns, more.cut)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Delimited:
    """A well-formed file, plain or compressed; every cell is text."""

    path: Path
    delimiter: int
    names: tuple[str, ...]
    lines: Lines

    @classmethod
    def of(cls, path: Path) -> "Delimited":
        """The file, once all its lines are found to be well-formed.

        Its header decides the delimiter and the number of fields. Records never do, since one of them would then
        change how all others are read.
        """
        header, delimiter, width = _header(path)
        lines = Lines()
        for found in _checked(_blocks(path), delimiter, width):
            lines = lines.and_then(found)
        names = _cells(header, delimiter, width, range(width))
        return cls(path, delimiter, tuple(name.strip() for (name,) in names), lines)

    @property
    def compressed(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    def chunks(self, names: Sequence[str]) -> Iterator[list[Sequence[object]]]:
        """The cells of these columns, a block of lines at a time."""
        places, header = [self.names.index(name) for name in names], 1
        for block in _blocks(self.path):
            columns = _cells(block.text, self.delimiter, len(self.names), places)
            if len(columns[0]) > header:
                yield [cells[header:] for cells in columns]
            header = 0


def delimiter_of(path: Path) -> str:
    """The sign between the fields of a file, by its header alone."""
    return chr(_header(path)[1])


def _header(path: Path) -> tuple[bytes, int, int]:
    """The first line of a file, the sign between its fields, and how many there are."""
    header = next(_blocks(path), LineBlock(b"\n")).text.partition(b"\n")[0] + b"\n"
    if FOR_EXCEL.fullmatch(header):
        raise Unreadable(f"{path.name} begins with a line for Excel, such as sep=;, and not its header; remove it.")
    bare = re.sub(rb'"[^"]*"', b"", header)
    delimiter = max(DELIMITERS, key=lambda each: bare.count(bytes([each])))
    return header, delimiter, bare.count(bytes([delimiter])) + 1


class LineBlock(NamedTuple):
    """Whole lines that all end alike, how many of them ended otherwise in the file, and if the file cuts the last."""

    text: bytes
    returns: int = 0
    cut: bool = False


def _checked(blocks: Iterator[LineBlock], delimiter: int, width: int) -> Iterator[Lines]:
    """What is found in each block, several at a time: NumPy looks at bytes while Python does something else."""
    waiting: deque[Future[Lines]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for block in blocks:
            waiting.append(pool.submit(_check, block, delimiter, width))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _check(block: LineBlock, delimiter: int, width: int) -> Lines:
    block.text.decode()
    ends = _layout(block.text, delimiter, width)[0][width - 1 :: width]
    return Lines(len(ends), int(np.diff(ends, prepend=-1).max(initial=0)), block.returns, block.cut)


def _blocks(path: Path) -> Iterator[LineBlock]:
    """The file in pieces of whole lines that all end alike; a compressed one is checked against its checksum."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
        for block, cut in _whole_lines(file):
            plain = block.replace(b"\r\n", b"\n")
            if b"\0" in plain or b"\r" in plain:
                raise ValueError("the file has a NUL byte, or a carriage return inside a line.")
            yield LineBlock(plain, len(block) - len(plain), cut)


def _whole_lines(file: BinaryIO | gzip.GzipFile) -> Iterator[tuple[bytes, bool]]:
    """Pieces of whole lines, and whether the last line of the file was ended here."""
    rest = file.read(BLOCK).removeprefix(BYTE_ORDER_MARK)
    for piece in chain([b""], iter(lambda: file.read(BLOCK), b"")):
        lines = rest + piece
        end = lines.rfind(b"\n") + 1
        rest = lines[end:]
        if end:
            yield lines[:end], False
        if len(rest) > LONGEST_LINE:
            raise ValueError("the file has a line that is too long.")
    if rest:
        yield rest + b"\n", True


def _layout(block: bytes, delimiter: int, width: int) -> tuple[Places, Places]:
    """Where the fields of a block end and where its quotes stand; refused unless each line has its fields."""
    letters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((letters == delimiter) | (letters == LINE_END))
    quotes = np.flatnonzero(letters == QUOTE) if QUOTE in block else np.zeros(0, np.intp)
    if len(quotes):
        ends = _unquoted(letters, delimiter, ends, quotes)
    lines = letters[ends] == LINE_END
    if len(ends) % width or lines[width - 1 :: width].sum() * width != len(ends) or lines.sum() * width != len(ends):
        raise ValueError("the file has a line with a different number of fields than its header.")
    return ends, quotes


def _unquoted(letters: Letters, delimiter: int, ends: Places, quotes: Places) -> Places:
    """The ends that are not inside quotes; refused unless quotes stand where they may.

    Quotes open and close in turn. One may open at the start of a field only, and be followed by the field's end where
    it closes; two in a row inside a field close and open again, and stand for one.
    """
    # a block begins with a line, and ends with the end of one: its last byte, index -1, stands for the one before it
    opened, closed = letters[quotes[::2] - 1], letters[quotes[1::2] + 1]
    for beside in (opened, closed):
        if not ((beside == delimiter) | (beside == LINE_END) | (beside == QUOTE)).all():
            raise ValueError("the file has a quote that is not at either end of its field.")
    inside = np.searchsorted(quotes, ends) % 2 == 1
    if len(quotes) % 2 or (letters[ends[inside]] == LINE_END).any():
        raise ValueError("the file has a line break inside a field.")
    outside: Places = ends[~inside]
    return outside


def _cells(block: bytes, delimiter: int, width: int, places: Sequence[int]) -> list[list[str]]:
    """The cells of a block in each of these columns, without the quotes around them."""
    ends, quotes = _layout(block, delimiter, width)
    letters = np.frombuffer(block, np.uint8).copy()
    wanted = np.isin(np.arange(width), places)
    kept = np.repeat(np.tile(wanted, len(ends) // width), np.diff(ends, prepend=-1))
    if len(quotes):
        kept[quotes[::2]] = False
        kept[quotes[1::2]] &= letters[quotes[1::2] + 1] == QUOTE
    letters[ends] = 0  # no file that got here holds this byte
    cells = letters[kept].tobytes().decode().split("\0")
    order, step = np.cumsum(wanted) - 1, int(wanted.sum())
    return [cells[int(order[place]) : -1 : step] for place in places]
