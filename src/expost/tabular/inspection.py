"""How a schema takes the cells of a table, told to the table's owner: private, and on no bill."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import final

from expost.errors import Unreadable
from expost.tabular.advice import advice
from expost.tabular.breaches import Breaches, RuleCheck
from expost.tabular.headcount import Headcount, HeadcountPass
from expost.tabular.model.ruled import require_possible
from expost.tabular.schema.cells import Cell, How, text_of
from expost.tabular.schema.column import Column, Missing
from expost.tabular.schema.rules import short_rule
from expost.tabular.schema.schema import Schema
from expost.tabular.source.coding import lacking, units_of
from expost.tabular.source.reading import opened, quietly, revealed
from expost.tabular.source.texts import absent, cells_of
from expost.tabular.thousands import ThreeDecimals, numerals_of_column
from expost.text import printable

PRIVATE = "PRIVATE: for the eyes of the data's owner only. All of this was read from the table, and no bound covers it."
EXAMPLES = 3
MOST_KEPT = 1000
"""Different cells of each kind that are kept, to show some and to see what they look like."""

UNRECOGNISED, OUTSIDE, WITH_OTHER, GONE = 0.01, 0.05, 0.2, 0.1
"""Shares of the records above which something is notable: cells that are not values, values outside the bins or the
list, those where there is an ``other`` for them, and records that are dropped."""


@final
@dataclass(frozen=True, slots=True)
class ColumnCheck:
    """How a column takes its cells: how many in each way, and examples of those that are not its values.

    ``doubt`` says that numbers may mean a thousand times as much, where they may.
    """

    column: Column
    counts: Mapping[How, int]
    cells: Mapping[How, Mapping[str, int]]
    doubt: str = ""

    def share(self, how: How) -> float:
        """The share of records whose cell is taken in this way."""
        return self.counts.get(how, 0) / max(1, sum(self.counts.values()))

    def examples(self, how: How) -> tuple[str, ...]:
        """Up to three cells that are taken in this way, the commonest first."""
        return tuple(self.cells.get(how, {}))[:EXAMPLES]

    def advice(self) -> dict[How, str]:
        """A sentence for each way whose share is notable."""
        return {how: advice(self.column, how, self.cells.get(how, {})) for how in How if self._is_notable(how)}

    def _is_notable(self, how: How) -> bool:
        missing = self.column.missing
        limits = {
            How.VALUE: 1.0,
            How.OUTSIDE: WITH_OTHER if "other" in self.column.settings else OUTSIDE,
            How.UNRECOGNISED: UNRECOGNISED,
            How.MISSING: {Missing.CATEGORY: 1.0, Missing.DROP: GONE, Missing.FALLBACK: UNRECOGNISED}[missing],
        }
        return self.share(how) > limits[how]


@final
@dataclass(frozen=True, slots=True)
class TableCheck:
    """How a schema takes a table. Everything in it is as private as the table; printed, it is a page for its owner."""

    records: int
    columns: tuple[ColumnCheck, ...]
    lacking: tuple[str, ...]
    rules: tuple[RuleCheck, ...] = ()
    persons: Headcount | None = None

    @property
    def notable(self) -> bool:
        """Whether the owner should look at something before a run."""
        return (
            bool(self.lacking)
            or any(each.advice() or each.doubt for each in self.columns)
            or any(each.notable for each in self.rules)
            or (self.persons is not None and bool(self.persons.advice()))
        )

    def __str__(self) -> str:
        """The shares of every column, then what is notable with examples and advice."""
        what = "records" if self.persons is None else "rows"
        what = what.removesuffix("s") if self.records == 1 else what
        counted = [f"{self.records:,} {what}.", ""] if self.columns else []
        told = [PRIVATE, "", *counted, *_told_of_persons(self.persons), *self._shares(), ""]
        for name in self.lacking:
            told += [f"{name}: the table does not have exactly one column of this name; correct the schema.", ""]
        for each in self.columns:
            told += _told(each)
        for rule in self.rules:
            told += _told_of_rule(rule, what)
        if self.notable:
            told.append("Something is notable: correct the schema or the table, and check again.")
        else:
            told.append("Nothing is notable: the schema takes the table as it is written.")
        return "\n".join(map(printable, told))

    def _shares(self) -> list[str]:
        heads = ("column", "unrecognised", "outside", "missing")
        shown = (How.UNRECOGNISED, How.OUTSIDE, How.MISSING)
        rows = [(each.column.name, *(percent(each.share(how)) for how in shown)) for each in self.columns]
        width = max(len(row[0]) for row in (heads, *rows))
        return [f"{row[0]:<{width}}  {row[1]:>12}  {row[2]:>8}  {row[3]:>8}" for row in (heads, *rows)]


@final
@dataclass
class _Tally:
    """What a pass over the table has seen of one column."""

    column: Column
    counts: Counter[How] = field(default_factory=Counter)
    cells: dict[How, Counter[str]] = field(default_factory=dict)
    decimals: ThreeDecimals | None = None

    def __post_init__(self) -> None:
        numerals = numerals_of_column(self.column)
        self.decimals = None if numerals is None else ThreeDecimals(numerals)

    def add(self, found: Sequence[Cell | None]) -> None:
        """Note some cells."""
        for cell, times in Counter(found).items():
            how = self.column.taken(cell)[0]
            self.counts[how] += times
            if self.decimals is not None and cell is not None and how in {How.VALUE, How.OUTSIDE}:
                self.decimals.add(cell, times)
            kept = self.cells.setdefault(how, Counter())
            if cell is not None and how is not How.VALUE and (len(kept) < MOST_KEPT or text_of(cell) in kept):
                kept[text_of(cell)] += times

    def done(self) -> ColumnCheck:
        """What was seen, the commonest cells first."""
        cells = {how: dict(kept.most_common()) for how, kept in self.cells.items()}
        doubt = "" if self.decimals is None else self.decimals.doubt(self.counts.total())
        return ColumnCheck(self.column, dict(self.counts), cells, doubt)


def check_table(source: object, schema: Schema) -> TableCheck:
    """How the schema, which may be a draft, takes each column of any source that ``read_table`` takes.

    For the owner of the table, before a run: the result holds shares and cells of the records and is as private as they
    are. A run takes every cell in the same way, and never tells.
    """
    require_possible(schema)
    result = quietly(partial(_checked, source, schema), source)
    del source  # a traceback that shows variables would show its rows
    return revealed(result)


def percent(share: float) -> str:
    """A share, never shown as none or all where it is not."""
    if share in (0.0, 1.0):
        return "none" if share == 0 else "all"
    return "< 0.1 %" if share < 0.001 else "> 99.9 %" if share > 0.999 else f"{share:.1%}".replace("%", " %")


def _checked(source: object, schema: Schema) -> TableCheck:
    table = opened(source)
    without = lacking(table, schema)
    tallies = [_Tally(column) for column in schema.columns if column.name not in without]
    breaches = Breaches(schema, tuple(rule for rule in schema.constraints if not {*without} & {*rule.columns}))
    units = [unit for unit in units_of(schema) if tallies and table.names.count(unit) == 1]
    counts = [HeadcountPass(schema, unit) for unit in units]
    marks, records, names = absent(schema), 0, [each.column.name for each in tallies]
    for chunk in table.chunks([*names, *units]) if tallies else ():
        records += len(chunk[0])
        cells = {name: cells_of(values, marks) for name, values in zip(names, chunk[: len(names)], strict=True)}
        for tally in tallies:
            tally.add(cells[tally.column.name])
        breaches.add(cells)
        for count in counts:
            count.add(chunk[-1], cells)
    if not records and tallies:
        raise Unreadable("the table has no rows; check that it is the right one and written to its end.")
    checks, persons = tuple(each.done() for each in tallies), counts[0].done() if counts else None
    return TableCheck(records, checks, without, breaches.done(), persons)


def _told_of_persons(found: Headcount | None) -> list[str]:
    """How many persons there are, and how their rows are spread."""
    if found is None:
        return []
    one, without = percent(found.alone / max(1, found.persons)), percent(found.missing / max(1, found.rows))
    alone = f"1 person, with {found.most:,} rows" if found.most > 1 else "1 person, with one row"
    many = f"{found.persons:,} persons, of whom {one} have one row; the most rows of one are {found.most:,}"
    told = [f"unit {found.unit}: {alone if found.persons == 1 else many}."]
    told += [f"  {without} of the rows have no identifier, and are a person each"] if found.missing else []
    return [*told, *(f"    {sentence}" for sentence in found.advice()), ""]


def _told(check: ColumnCheck) -> list[str]:
    """What is notable of a column, or has examples."""
    advised = check.advice()
    shown = [how for how in (How.UNRECOGNISED, How.OUTSIDE, How.MISSING) if how in advised or check.examples(how)]
    if not shown and not check.doubt:
        return []
    told = [f"{check.column.name}:", *([f"  {check.doubt}"] if check.doubt else [])]
    for how in shown:
        cells = ", ".join(f'"{cell}"' for cell in check.examples(how))
        told.append(f"  {percent(check.share(how))} {how.name.lower()}{f', such as {cells}' if cells else ''}")
        told += [f"    {advised[how]}"] if how in advised else []
    return [*told, ""]


def _told_of_rule(check: RuleCheck, what: str) -> list[str]:
    """How many records, or rows of persons, break a rule, with examples."""
    such = f", such as {'; '.join(check.examples)}" if check.examples else ""
    told = [f'rule "{short_rule(check.rule.sentence)}":', f"  {percent(check.share)} of the {what} break it{such}"]
    if check.notable:
        told.append("    No synthetic row will; correct the rule if these can be, and the table if they cannot.")
    return [*told, ""]
