"""Breaches: which records break the rules of a schema, told to the table's owner; private, and on no bill."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from expost.tabular.schema.cells import Cell
from expost.tabular.schema.column import Codes, Missing
from expost.tabular.schema.rules import Rule
from expost.tabular.schema.schema import Schema

EXAMPLES = 3
BROKEN = 0.01
"""The share of records that break a rule above which it is notable: errors are rarer, so the rule may be wrong."""


@final
@dataclass(frozen=True, slots=True)
class RuleCheck:
    """How many records there are, how many of them break a rule, and how, the commonest way first."""

    rule: Rule
    records: int
    broken: int
    examples: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of records that break the rule."""
        return self.broken / max(1, self.records)

    @property
    def notable(self) -> bool:
        """Whether so many do that the owner should look at it before a run."""
        return self.share > BROKEN


@final
@dataclass
class Breaches:
    """What a pass over the table has seen of its rules; those of columns that the table lacks are left out."""

    schema: Schema
    rules: tuple[Rule, ...]
    records: int = 0
    seen: dict[Rule, Counter[int]] = field(default_factory=dict)

    @property
    def columns(self) -> set[str]:
        """The columns whose cells are needed: those of the rules, and those that records are dropped for."""
        dropped = {each.name for each in self.schema.columns if each.missing is Missing.DROP}
        return dropped.union(*(each.columns for each in self.rules)) if self.rules else set()

    def add(self, cells: Mapping[str, Sequence[Cell | None]]) -> None:
        """Note some records, given by the cells of their columns; those that a run would drop do not count."""
        codes = {name: self.schema[name].encode(found) for name, found in cells.items() if name in self.columns}
        if not codes:
            return
        kept = np.logical_and.reduce([each < self.schema[name].size for name, each in codes.items()])
        self.records += int(kept.sum())
        for rule in self.rules:
            self._add(rule, [codes[name][kept] for name in rule.columns])

    def _add(self, rule: Rule, codes: list[Codes]) -> None:
        broken = ~rule.allowed[tuple(codes)]
        cells = np.ravel_multi_index(tuple(each[broken].astype(np.intp) for each in codes), rule.allowed.shape)
        places, times = np.unique(cells, return_counts=True)
        counted = self.seen.setdefault(rule, Counter())
        counted.update(dict(zip(places.tolist(), times.tolist(), strict=True)))

    def done(self) -> tuple[RuleCheck, ...]:
        """What was seen of each rule."""
        found = []
        for rule in self.rules:
            counted = self.seen.get(rule, Counter())
            examples = tuple(self._words(rule, cell) for cell, _ in counted.most_common(EXAMPLES))
            found.append(RuleCheck(rule, self.records, counted.total(), examples))
        return tuple(found)

    def _words(self, rule: Rule, cell: int) -> str:
        codes = np.unravel_index(cell, rule.allowed.shape)
        pairs = zip(rule.columns, codes, strict=True)
        return " and ".join(f"{name} = {self.schema[name].labels[int(code)]}" for name, code in pairs)
