"""Rehearsed answers about customers and their visits, whose receipts and pages are looked at; nothing here decides."""

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any

from expost.jobs.asking.answer import Answer
from expost.jobs.asking.run import ask
from expost.noise import SeededNoise
from tests.unit.jobs.synthesis.customers import SCHEMA, records

pl = import_module("polars")

PERSONS = replace(SCHEMA, unit="who", neighbours=SCHEMA.neighbours.of_persons)


def visits(count: int = 900) -> Any:
    """Customers, each with up to three rows."""
    return pl.DataFrame(records(count) | {"who": [f"p{place // 3}" for place in range(count)]})


def asked(*questions: str, **changes: Any) -> Answer:
    """A rehearsal."""
    usual: dict[str, Any] = {"schema": SCHEMA, "noise": SeededNoise(1)}
    return ask(visits(), *questions, **(usual | changes))


PAIRS = tuple(f"count by {', '.join(pair)}" for pair in combinations(("region", "plan", "renewed", "age"), 2))
KINDS: dict[str, Callable[[], Answer]] = {
    "one release": lambda: asked("count by region", within=40),
    "several in one release": lambda: asked("count by region, plan", "count by plan", within=60),
    "shared in one release": lambda: asked(*PAIRS, "count by plan where renewed = true", within=60),
    "shared by a jump": lambda: asked(*PAIRS, "share of renewed = true by plan", within="25%"),
    "a jump": lambda: asked("count by region", within="10%"),
    "several by a jump": lambda: asked("share of renewed by region", "count by plan", within="10%"),
    "out of reach": lambda: asked("count by region", within="1%", max_epsilon=0.3, fewer_than=10),
    "the top": lambda: asked("count by region", top=1),
    "a comparison": lambda: asked("count by plan", compare=("basic", "full"), together=True),
    "persons, as declared": lambda: asked("count by plan", within=100, schema=PERSONS, rows_per_person=3),
    "persons, shared": lambda: asked(*PAIRS, within=150, schema=PERSONS, rows_per_person=3),
    "persons, found": lambda: asked("count by plan", within="30%", schema=PERSONS),
    "refined": lambda: asked("count by region", within=60).refine(30),
}


@cache
def answer_of(kind: str) -> Answer:
    """One of them."""
    return KINDS[kind]()


def leaves(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every leaf of a receipt, of long lists those in the first and the last entry."""
    if isinstance(found, dict):
        return [leaf for name, value in found.items() for leaf in leaves(value, (*path, name))]
    if isinstance(found, list):
        places = sorted({0, len(found) - 1}) if found else []
        return [leaf for place in places for leaf in leaves(found[place], (*path, place))]
    return [path]


def forged(found: Any, path: tuple[Any, ...]) -> Any:
    """A copy in which one leaf says something else, of the same kind."""
    copied = copy.deepcopy(found)
    above = copied
    for name in path[:-1]:
        above = above[name]
    above[path[-1]] = _other(above[path[-1]])
    return copied


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if value is None:
        return 7
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 0.99 or 0.5
    try:
        return str(Fraction(value) * Fraction(99, 100) or Fraction(1, 2))
    except ValueError:
        return f"{value}x"
