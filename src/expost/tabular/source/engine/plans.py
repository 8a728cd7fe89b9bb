"""Plans: for a column of a schema and a column of a table, which cells the engine codes for sure, and how.

What is sure is a condition on one cell by itself. Every other cell comes back as it is and is taken by the column in
Python, so that a plan may leave out whatever is rare or hard; it must never be sure of a code that Python would not
give. The codes of whatever a schema lists are Python's own answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from expost.tabular.schema.column import Codes, Column
from expost.tabular.source.engine.arrow import BatchColumn
from expost.tabular.source.engine.domains import Domain
from expost.tabular.source.engine.kinds import CellKind, Held
from expost.tabular.source.engine.phrases import Coder, among, lookup, phrase_of


@final
@dataclass(frozen=True, slots=True, eq=False)
class CodePlan:
    """How a column is coded: what the engine is asked for, and what is made of its answer.

    ``value`` is NULL where a cell is missing or nothing is sure of it. Those of which the condition ``asked`` holds,
    and of which nothing is sure, come back as they are.
    """

    domain: Domain
    held: Held
    value: str | None
    code: Coder | None
    asked: str | None

    def codes(self, fields: Iterator[BatchColumn]) -> Codes:
        """The codes that follow from what was asked for: values, if there are any, and cells, if there may be some."""
        if self.value is not None and self.code is not None:
            values = next(fields)
            codes = self.code(values.values)
            if values.valid is not None:
                codes[~values.valid] = self.domain.missing
            if self.asked is None:
                return codes
            cells = next(fields)
        else:
            cells = next(fields)
            codes = np.full(cells.length, self.domain.missing, self.domain.kind)
        places = cells.places()
        if len(places):
            codes[places] = self.domain.codes(self.held.restored(cells.at(places)))
        return codes


def plan_of(column: Column, held: Held, absent: frozenset[str | None]) -> CodePlan:
    """How this column of a schema is coded, whose cells the engine holds so."""
    domain = Domain(column, absent)
    if held.kind is CellKind.TRUTH:
        return CodePlan(domain, held, held.value, lookup(domain.codes([False, True])), None)
    if held.kind is CellKind.TEXT:
        phrase = phrase_of(domain, held.value)
        if phrase is None:
            return CodePlan(domain, held, None, None, "true")
        return CodePlan(domain, held, phrase.value, phrase.code, f"NOT {among(held.raw, domain.marks)}")
    steps = domain.steps(held.kind)
    if steps is None:
        return CodePlan(domain, held, None, None, "true")
    sure = held.sure
    if held.kind is CellKind.TIME and domain.times:
        days = ", ".join(f"DATE '{day}'" for day in domain.times)
        sure = f"{sure} AND {held.value} NOT IN ({days})"
    value = held.value if sure is None else f"CASE WHEN {sure} THEN {held.value} END"
    return CodePlan(domain, held, value, steps, None if sure is None else "true")
