"""Thousands: whether the sign that numbers have before decimals may stand between thousands instead."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from expost.tabular.schema.binned import IntegerBins, Numeric
from expost.tabular.schema.cells import Cell, Plain
from expost.tabular.schema.column import Column
from expost.tabular.schema.declaration import toml
from expost.tabular.schema.listed import Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import Numerals

EITHER = re.compile("[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
"""A number of up to three digits with three decimals, or one of thousands. 0.500 and 1234.500 have decimals."""
SIGNS = {".": ("point", ","), ",": ("comma", ".")}
"""Each sign before decimals, with the one that parts thousands beside it."""
INSTEAD = {"point": 'decimal = "," and thousands = "."', "comma": 'thousands = "," instead of decimal'}
RARELY = 0.01
"""The share of cells up to which such numbers are left alone."""


def numerals_of_column(column: Column) -> Numerals | None:
    """How a column has its numbers written; None where it is not one of numbers."""
    return column.numerals if isinstance(column, Numeric | IntegerBins | Integer | PrivateBins) else None


@final
@dataclass
class ThreeDecimals:
    """Whether all numbers that have decimals have three of them, as 45.000 has that is meant as forty-five thousand.

    Nothing is in doubt where a sign between thousands is declared, as it is another one.
    """

    numerals: Numerals
    either: int = 0
    example: str = ""
    settled: bool = False

    def __post_init__(self) -> None:
        self.settled = self.numerals.thousands is not None

    def add(self, cell: Cell, times: int = 1) -> None:
        """Note a cell that is a number, and how often it is there."""
        if self.settled or isinstance(cell, Plain) or self.numerals.decimal not in cell:
            return
        if EITHER.fullmatch(cell):
            self.either, self.example = self.either + times, self.example or cell
        else:
            self.settled = True

    def doubt(self, cells: int) -> str:
        """What the owner should declare in either case, if this many cells leave it in doubt; else nothing."""
        if not self.may_part(cells):
            return ""
        sign, other = SIGNS[self.numerals.decimal]
        return (
            f"{toml(self.example)} is read as {self.example.replace(',', '.')}, and all decimals are three digits; if "
            f"{sign}s part thousands, declare {INSTEAD[sign]}, and otherwise thousands = {toml(other)}, which says so."
        )

    def may_part(self, cells: int) -> bool:
        """Whether the sign before the decimals of this many cells may part thousands."""
        return not self.settled and self.either > RARELY * cells


def thousands_note(numerals: Numerals, cells: Mapping[Cell, int]) -> str | None:
    """What a draft says of cells, each with how often it is there, that it takes to be written so."""
    found = ThreeDecimals(numerals)
    for cell, times in cells.items():
        if numerals.number(cell) is not None:
            found.add(cell, times)
    sign, _ = SIGNS[numerals.decimal]
    told = f"its {sign}s are taken for decimal ones; if they part thousands, say {INSTEAD[sign]}."
    return told if found.may_part(sum(cells.values())) else None
