"""Cells that are hard to take, and columns that take them in every way there is."""

import math
from datetime import date

from expost.tabular.schema.binned import Dates, IntegerBins, Numeric
from expost.tabular.schema.bins import Closed
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.listed import Boolean, Categorical, Integer
from expost.tabular.schema.private_bins import PrivateBins
from expost.tabular.schema.spelling import DayFormat, Numerals, TruthWords

C, D, F = Missing.CATEGORY, Missing.DROP, Missing.FALLBACK
LEFT, RIGHT = Closed.LEFT, Closed.RIGHT
DAYS = (date(1, 1, 1), date(1900, 1, 1), date(1970, 1, 1), date(2020, 1, 1), date(2020, 1, 2), date(9999, 12, 31))
REALS = (-math.inf, -1e300, -1.5, -5e-324, 0.0, 0.1, 1.0, 1.5, 2.0**53, 1e300, math.inf)
WHOLES = (-(2**53), -3, 0, 1, 3, 100, 2**53)

COLUMNS: tuple[Column, ...] = (
    Categorical("texts", ("1", "1.5", "true", "2020-01-01", "ä ö", "it's", "x"), "other", None, missing=C),
    Categorical("fallback", ("a", "-7", "0.1", "1e-07", "inf", "x"), None, "a", missing=F),
    Categorical("dropped", ("false", "1970-01-01T00:00:00", "?", "x" * 300), missing=D),
    Categorical("prefix", ("1", "20", "x", "xx", "é"), "other", None, missing=C, prefix=2),
    Categorical("listed NUL", ("a\0b", "x"), missing=C),
    Boolean("truth", C),
    Boolean("words", D, TruthWords(("JA", "1.5", "9"), ("Nein", "é", "inf"))),
    Integer("nearest", (-(2**53), -5, -2, 3, 4, 10, 2**53 - 1, 2**53), C),
    Integer("range", tuple(range(-3, 8)), F),
    Integer("spelled", (0, 1, 1000, 1234567), D, Numerals(",", ".")),
    IntegerBins("bins", WHOLES, RIGHT, C),
    IntegerBins("left bins", (-math.inf, -1, 0, 2**53 - 1, math.inf), LEFT, F, Numerals(".", " ")),
    Numeric("left", REALS, LEFT, C),
    Numeric("right", REALS, RIGHT, D),
    Numeric("comma", (-1.0, 0.0, 1.5, 1000.0), RIGHT, F, Numerals(",")),
    Numeric("wide", tuple(float(each) for each in range(-200, 400)), LEFT, C, Numerals(".", ",")),
    PrivateBins("private", -3.0, 3.0, 4, whole=False, closed=LEFT, missing=C),
    Dates("days", DAYS, LEFT, C),
    Dates("right days", (-math.inf, *DAYS[1:4], math.inf), RIGHT, D),
    Dates("written", DAYS, LEFT, F, DayFormat("%d.%m.%Y")),
    Dates("timed", DAYS, LEFT, C, DayFormat("%Y/%m/%d %H:%M")),
)
MARKS = ("?", "-9", "NA", "1900-01-01", "1970-01-02T00:00:00", "3.25", "-0", " padded", "false!")

SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
NUMERALS = [
    "0", "-0", "+1", "1", "1.0", "01", "1.50", "1.5", "-1.5", ".5", "5.", "-.5", ".", "-", "+", "e5", "1e", "1e5",
    "1E-7", "1e-07", "1e400", "-1e400", "1e-400", "5e-324", "4.9406564584124654e-324", "2.4703282292062327e-324", "inf",
    "-inf", "Infinity", "+Inf", "nan", "NaN", "-nan", "1_000", "1__0", "0x10", "0b1", "1,5", "1.000", "1.234.567,25",
    "1,234.5", "1 234", "1\u00a0234", "12.34", "1234567", "1'000", "9007199254740991", "9007199254740992",
    "9007199254740993", "-9007199254740993", "9007199254740993.0", "1e16", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "0.1", "0.10000000000000000555", "0.30000000000000004",
    "179769313486231570000000000000000000000", "\u0661", "\u0661\u0662", "\uff11", "1\u0307", "3.25", "3.250", "-9",
    "-9.0", "0" * 40 + "7", "9" * 400, "1" + "0" * 5000, "1 ", " 1", "1\t", "\x1c1", "1;", "1d", "1f", "1L", "True1",
]  # fmt: skip
DATES = [
    "2020-01-01", "2020-01-02", "1969-12-31", "0001-01-01", "0000-01-01", "9999-12-31", "10000-01-01", "2020-02-30",
    "2020-1-1", "20200101", "2020-W01-1", "2020W011", "2020-01-01T00:30:00", "2020-01-01 23:59:59.999999",
    "2020-01-01T00:30:00+01:00", "2020-01-01T23:30:00-01:00", "2020-01-01Z", "2020-01-01T24:00", "2020-01-01T25:00",
    "2020-01-01 ", "2020-01-01T", "2020-01-01x", "2020-01-01 9", "31.12.2019", "1.1.2020", "01.01.2020", "30.02.2020",
    "1900-01-01", "1900-01-01 ", "1970-01-02T00:00:00", "2020/01/01 00:00", "2020/01/01 24:00", "2020/01/01 9:05",
    "2020-01-01\u2028", "\u0662020-01-01", "2020-01-01 (BC)", "infinity", "-infinity", "epoch",
]  # fmt: skip
WORDS = [
    "", " ", "x", "X", " x", "x ", "x\u00a0", "\u3000x", "xx", "x y", "x\ty", "x\n", "ä ö", "ä ö ", "a\u0308 o\u0308",
    "it's", 'say "x"', "true", "True", "TRUE", "tRue", "yes", "No", "ja", "JA", "jA", "nein", "NEIN", "É", "é", "İ",
    "i̇", "ı", "ß", "ẞ", "ſ", "K", "?", " ?", "NA", "na", "other", "otherwise", "o", "ot", "20", "20 ", "2020", "2",
    "é!", "é", "x" * 300, "x" * 299 + " ", "padded", " padded", "false!", "\ufeffx", "\u200bx", "\u0085x", "x\x1f",
    "a,b;c|d", "%", "_", "\\", "\\n", "'); DROP TABLE t; --", "\U0001f984", "\x7f", "\x01", "c0", "v0", "NULL", "null",
    "None", "(missing)", *(f"{space}x" for space in SPACES), *(f"x{space}" for space in SPACES),
]  # fmt: skip
TEXTS = list(dict.fromkeys([*NUMERALS, *DATES, *WORDS]))
