"""A small synthesis, run for real with seeded noise, and its facts; nothing here decides a result."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from expost.jobs.finetuning.described import HeadJob
from expost.jobs.finetuning.run import finetune
from expost.jobs.job import Result
from expost.jobs.synthesis.described import TableJob
from expost.jobs.synthesis.persons import PersonsCounted
from expost.jobs.synthesis.procedure import Synthesis, synthesise
from expost.jobs.synthesis.recipe import TableRecipe, plan_synthesis
from expost.jobs.synthesis.report import table_facts
from expost.judge import Balanced, OnPublic
from expost.ladder import Ladder
from expost.ledger import MemoryLedger
from expost.noise import Floats, Integers, SeededNoise
from expost.odometer import Odometer
from expost.private import Neighbours, Private, split
from expost.protocols import Verdict
from expost.report.answers import Reading
from expost.report.facts import Facts
from expost.tabular.aims import Aim
from expost.tabular.schema.schema import Schema
from expost.tabular.score import Conditional
from expost.tabular.table import Table
from expost.training.head.gradient import FloatSums, IntegerSums
from expost.training.head.score import Classifier

HOSTILE = '<script>alert("x")</script>&\'\u202e'
LADDER = Ladder.geometric(0.02, 2, 4, alpha=20)


def schema(name: str = "region", value: str = "north") -> Schema:
    """Four columns, two of which say something about the target."""
    text = """
reviewed = true
neighbours = "add-remove"
[[column]]
name = "region"
kind = "categorical"
values = ["north", "south", "west"]
missing = false
[[column]]
name = "age"
kind = "integer"
edges = [0, 20, 40, 60, 80]
closed = "left"
missing = false
[[column]]
name = "plan"
kind = "categorical"
values = ["basic", "full"]
missing = false
[[column]]
name = "renewed"
kind = "boolean"
missing = false
"""
    quoted = {"region": name, "north": value}
    for old, new in quoted.items():
        text = text.replace(f'"{old}"', '"' + new.replace("\\", "\\\\").replace('"', '\\"') + '"')
    return Schema.load(text)


def customers(form: Schema, records: int = 3000) -> Table:
    """Records whose target follows from the second and third column, but for one in ten."""
    place = np.arange(records)
    codes = [place % 3, (place // 3) % 4, (place // 12) % 2]
    renewed = ((codes[1] >= 2) ^ (place % 10 == 0)).astype(np.uint8)
    columns = [*(each.astype(np.uint8) for each in codes), renewed]
    return Table(form, dict(zip(form.names, columns, strict=True)))


@cache
def run(
    accuracy: Fraction = Fraction(8, 10), name: str = "region", value: str = "north", *, sure: bool = True
) -> tuple[Synthesis, MemoryLedger]:
    """A finished rehearsal and its record; not ``sure``, with the paper's check."""
    form = schema(name, value)
    recipe = TableRecipe(schema=form, aims=(Aim.accuracy("renewed", accuracy),), ladder=LADDER, learner=Conditional())
    recipe = recipe if sure else replace(recipe, confidence=None)
    chosen, noise, ledger = plan_synthesis(recipe), SeededNoise(11), MemoryLedger()
    parts = split(Private(customers(form), form.neighbours), held=recipe.validation, noise=noise)
    odometer = Odometer(pledge=chosen.pledge, ledger=ledger, rehearsal=True)
    return synthesise(parts, recipe, chosen, odometer=odometer, noise=noise), ledger


def table(told: Facts) -> TableJob:
    """What is told of the synthetic table alone."""
    assert isinstance(told.job, TableJob)
    return told.job


def blobs(count: int = 600, classes: int = 3) -> tuple[Floats, Integers]:
    """Features around as many corners as there are classes, one record in ten at the wrong one."""
    noise, place = SeededNoise(5), np.arange(count)
    corners = np.where(place % 10 == 0, place // classes, place) % classes
    return np.eye(classes, 6)[corners] * 3 + noise.gaussian(0.5, (count, 6)), place % classes


@cache
def trained(
    accuracy: float, *, held: int | None = None, public: bool = False, floating: bool = False
) -> Result[Classifier]:
    """A finished rehearsal of fine-tuning."""
    return finetune(
        *blobs(),
        accuracy=accuracy,
        start=Fraction(5, 2),
        releases=4,
        epochs=2,
        epochs_between=4,
        validation=0.4,
        check=OnPublic(blobs(90)) if public else Balanced(),
        records=held,
        summation=FloatSums() if floating else IntegerSums(),
        noise=SeededNoise(3),
    )


def head(told: Facts) -> HeadJob:
    """What is told of the trained head alone."""
    assert isinstance(told.job, HeadJob)
    return told.job


def facts(
    accuracy: Fraction = Fraction(8, 10), name: str = "region", value: str = "north", *, sure: bool = True
) -> Facts:
    """What is reported of it."""
    return table_facts(
        *run(accuracy, name, value, sure=sure), title="Renewals", because="an independent coin per record"
    )


COUNTED = PersonsCounted((2000.0, 700.0, 250.0, 40.0, 9.0, 3.0, -4.0, 2.0), 8.0, 1.3)


def person_facts(neighbours: Neighbours = Neighbours.ADD_REMOVE_PERSON) -> Facts:
    """The same run, told as one whose schema declares a unit."""
    synthesis, ledger = run()
    form = replace(synthesis.recipe.schema, unit="customer", neighbours=neighbours)
    told = replace(synthesis, recipe=replace(synthesis.recipe, schema=form))
    found = table_facts(told, ledger, title="Renewals", because="an independent coin per person")
    return replace(found, job=replace(table(found), persons=COUNTED))


def silent(told: Facts) -> Facts:
    """The same run under a check that says yes or no, and no more."""

    def hushed(rung: Reading) -> Reading:
        verdict = None if rung.line.verdict is None else Verdict(rung.line.verdict.passed)
        return replace(rung, line=replace(rung.line, verdict=verdict), accuracy=None, error=None)

    return replace(told, rungs=tuple(map(hushed, told.rungs)))
