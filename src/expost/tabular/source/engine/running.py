"""Running: a relation's columns coded by plans, a batch of rows at a time, in one pass and in the relation's order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from duckdb import DuckDBPyRelation

from expost.tabular.schema.column import Codes
from expost.tabular.schema.schema import Schema
from expost.tabular.source.engine.arrow import BatchColumn, batches
from expost.tabular.source.engine.kinds import Held, held_as, sql_name
from expost.tabular.source.engine.plans import CodePlan, plan_of

Batches: TypeAlias = Iterator[tuple[list[Codes], Sequence[object] | None]]
"""Codes of a schema's columns, and whose the rows are where the schema has a unit."""


def coded_batches(
    relation: DuckDBPyRelation, schema: Schema, absent: frozenset[str | None], called: Mapping[str, str] | None = None
) -> Batches | None:
    """Codes of the schema's columns and identifiers, a batch after the other; None where only Python can read one.

    ``called`` has the relation's names for the columns of the table, where it has others.
    """
    names = [*schema.names, *(() if schema.unit is None else (schema.unit,))]
    names = names if called is None else [called[name] for name in names]
    held = _held(relation, names)
    if held is None:
        return None
    plans = [plan_of(column, each, absent) for column, each in zip(schema.columns, held, strict=False)]
    identifier = None if schema.unit is None else held[-1]
    return _coded(batches(_selected(relation, names, plans, identifier)), plans, identifier)


def _held(relation: DuckDBPyRelation, names: Sequence[str]) -> list[Held] | None:
    kinds: Mapping[str, str] = dict(zip(relation.columns, map(str, relation.types), strict=True))
    found = [held_as(f"c{place}", kinds[name]) for place, name in enumerate(names)]
    return None if None in found else [each for each in found if each is not None]


def _selected(
    relation: DuckDBPyRelation, names: Sequence[str], plans: Sequence[CodePlan], identifier: Held | None
) -> DuckDBPyRelation:
    """The columns that the plans ask for, one after another, and the identifiers."""
    columns = [f"c{place}" for place in range(len(names))]
    named = [f"{sql_name(name)} AS {column}" for name, column in zip(names, columns, strict=True)]
    values = [f"{plan.value} AS v{place}" for place, plan in enumerate(plans) if plan.value is not None]
    wanted = []
    for place, plan in enumerate(plans):
        if plan.value is not None:
            wanted.append(f"v{place}")
        if plan.asked is not None:
            unsure = plan.asked if plan.value is None else f"v{place} IS NULL AND {plan.asked}"
            wanted.append(f"CASE WHEN {unsure} THEN {plan.held.raw} END")
    wanted += [] if identifier is None else [identifier.raw]
    made = ", ".join(f"{each} AS w{place}" for place, each in enumerate(wanted))
    return relation.project(", ".join(named)).project(", ".join([*columns, *values])).project(made)


def _coded(found: Iterator[list[BatchColumn]], plans: Sequence[CodePlan], identifier: Held | None) -> Batches:
    for fields in found:
        left = iter(fields)
        codes = [plan.codes(left) for plan in plans]
        yield codes, None if identifier is None else _objects(next(left), identifier)


def _objects(field: BatchColumn, held: Held) -> list[Any]:
    """All values of a column as Python has them."""
    places = field.places()
    values = held.restored(field.at(places))
    if len(values) == field.length:
        return [*values]
    whole: list[Any] = [None] * field.length
    for place, value in zip(places.tolist(), values, strict=True):
        whole[place] = value
    return whole
