"""A page as a reader and a browser see it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from xml.etree import ElementTree

from expost.tabular.table import Table

FETCHES = re.compile(r"https?:|//|url\(|@import|<script|<link|<img|\bsrc=|\bhref=|\bon\w+=", re.IGNORECASE)


def tree(page: str) -> ElementTree.Element:
    """The page as XML, which fails unless every tag is closed and every text quoted."""
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def said(page: str) -> str:
    """The words of a page, its no-break spaces as plain ones."""
    return " ".join("".join(tree(page).itertext()).split())


PLAIN = (str, int, float, Fraction, Enum, type(None))


def leaves(value: object) -> Iterator[object]:
    """Everything a value is made of, down to what has no parts; not what it works out from these by itself."""
    if is_dataclass(value) and not isinstance(value, type | Table):
        for field in fields(value):
            if field.init:
                yield from leaves(getattr(value, field.name))
    elif isinstance(value, tuple | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(each)
    else:
        yield value
