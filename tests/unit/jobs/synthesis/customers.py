"""Records of customers, raw and in files, and a short rehearsal of a synthesis of them."""

from importlib import import_module
from pathlib import Path
from typing import Any

from expost.jobs.job import Result
from expost.jobs.synthesis.run import synthesize
from expost.ladder import Ladder
from expost.noise import SeededNoise
from expost.tabular.score import Conditional
from tests.unit.report.examples import customers, schema

pl = import_module("polars")

LADDER = Ladder.geometric(0.02, 2, 3, alpha=20)
SCHEMA = schema()


def records(count: int = 900) -> dict[str, list[Any]]:
    """Raw cells of customers, nine in ten of whom renew by their age."""
    coded = customers(SCHEMA, count)
    regions, plans = ("north", "south", "west"), ("basic", "full")
    return {
        "undeclared": ["x"] * count,
        "region": [regions[code] for code in coded.codes("region")],
        "age": [20 * int(code) + 5 for code in coded.codes("age")],
        "plan": [plans[code] for code in coded.codes("plan")],
        "renewed": [bool(code) for code in coded.codes("renewed")],
    }


def csv(folder: Path, count: int = 900) -> Path:
    """The records as a file."""
    pl.DataFrame(records(count)).write_csv(folder / "customers.csv")
    return folder / "customers.csv"


def public_records(folder: Path) -> Path:
    """Records of others, as a file."""
    pl.DataFrame(records(300)).write_csv(folder / "public.csv")
    return folder / "public.csv"


def made(table: object, **changes: Any) -> Result[Any]:
    """A rehearsal on a short ladder with nothing to train."""
    usual: dict[str, Any] = {
        "schema": SCHEMA,
        "target": "renewed",
        "accuracy": 0.8,
        "ladder": LADDER,
        "learner": Conditional(),
        "noise": SeededNoise(1),
    }
    return synthesize(table, **(usual | changes))
