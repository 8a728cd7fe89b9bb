"""Whatever a run shows and writes follows from what is on its bill: neighbours that are released alike look alike.

A table is released, and what each step of the bill came to is kept. Then the same command is run on a neighbour of
that table, and each step hands out what it came to before. Printed words, exit status, and the name and every byte of
each file must be the same. That holds for any two tables, and is tried on some that are far apart. Twins that decide by
a number that was not released are noticed.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expost._seal import SEAL
from expost.checks.gaussian import GaussianAnswers
from expost.jobs.synthesis import found, prices, procedure
from expost.jobs.synthesis import run as job
from expost.jobs.synthesis.recipe import TableRecipe
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import Noise, SeededNoise
from expost.odometer import Odometer
from expost.private import Private, Split, split
from expost.tabular.growth import Growing
from expost.tabular.selection import SpanningTree
from expost.tabular.table import Table
from tests.unit.commands import beside, run

pl = import_module("polars")

COUNT = 400
SCHEMA = """
reviewed = true
neighbours = "{}"
[[column]]
name = "money"
kind = "numeric"
edges = "private"
range = [0, 1000000]
bins = 6
closed = "left"
missing = {}
[[column]]
name = "age"
kind = "integer"
edges = "private"
range = [0, 120]
bins = 4
closed = "right"
missing = false
[[column]]
name = "late"
kind = "boolean"
missing = false
"""
STEPS = ((Gaussian, "sample"), (SpanningTree, "sample"), (Growing, "sample"), (GaussianAnswers, "answer"))
"""What opens the records of a table; each takes noise as its last argument."""
USUAL = ("--target", "late", "--accuracy", "0.8", "--seed", "1", "--estimator", "model", "--query-epsilon", "1",
         "--ladder", "renyi:2:60:4")  # fmt: skip
Shown = dict[str, Any]


class Script:
    """What each step came to, in order, to be handed out again; steps draw from a noise of their own."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self.inside = False

    def begin(self) -> None:
        """From the first step."""
        self.place = 0

    def step(self, original: Callable[..., object]) -> Callable[..., object]:
        """The step, which is run whatever it then hands out."""

        def scripted(*arguments: Any) -> object:
            if self.inside:
                return original(*arguments)
            self.inside = True
            try:
                value = original(*arguments[:-1], SeededNoise(1000 + self.place))
            finally:
                self.inside = False
            self.values += [value] if self.place == len(self.values) else []
            self.place += 1
            return self.values[self.place - 1]

        return scripted


@contextmanager
def scripted() -> Iterator[Script]:
    """Steps by a script, and a division of the records by coins that no other noise depends on."""
    script, coins = Script(), SeededNoise(7)
    with pytest.MonkeyPatch.context() as patch:
        for kind, name in STEPS:
            patch.setattr(kind, name, script.step(getattr(kind, name)))
        patch.setattr(job, "split", lambda records, share, noise: split(records, share, coins))
        patch.setattr(prices, "ENOUGH_HELD", 60)
        yield script


def records() -> dict[str, list[str]]:
    """Cells of people, half of whom owe nothing."""
    noise = SeededNoise(3)
    money = np.exp(6 + noise.gaussian(2.0, (COUNT,))) * (noise.uniform(COUNT) < 0.5)
    cells = {"money": money.round(2), "age": 110 * noise.uniform(COUNT) // 1, "late": money > 400}
    return {name: [str(value).lower() for value in values.tolist()] for name, values in cells.items()}


def neighbour(cells: dict[str, list[str]], odd: str, times: int, *, replaced: bool) -> dict[str, list[str]]:
    """With one record more, or several, in all of whose cells this stands, or in place of others."""
    middle = COUNT // 2
    rest = middle + replaced * times
    return {name: [*values[:middle], *[odd] * times, *values[rest:]] for name, values in cells.items()}


def shown(folder: Path, cells: dict[str, list[str]], form: str, words: tuple[str, ...]) -> Shown:
    """Everything that somebody can see of a run."""
    folder.mkdir()
    pl.DataFrame(cells).write_csv(folder / "people.csv")
    (folder / "form.toml").write_text(form, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ended = run("synth", "people.csv", "--schema", "form.toml", "--out", "out", *beside(USUAL, words))
    assert ended.exit_code in (0, 3), ended.output
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("out/**/*") if path.is_file()}
    return {"status": ended.exit_code, "printed": ended.stdout, "warned": ended.stderr, **written}


def both(
    here: Path,
    odd: str,
    *,
    words: tuple[str, ...] = (),
    relation: str = "add-remove",
    missing: str = "true",
    times: int = 1,
) -> list[Shown]:
    """What is seen of a table and of its neighbour, given the same releases."""
    cells, form, seen = records(), SCHEMA.format(relation, missing), []
    other = neighbour(cells, odd, times, replaced=relation == "replace-one")
    with scripted() as script:
        for name, each in (("one", cells), ("other", other)):
            script.begin()
            seen.append(shown(here / name, each, form, words))
            assert script.place == len(script.values) > 5
    return seen


CASES: dict[str, dict[str, Any]] = {
    "not a number": {"odd": "nan"},
    "an infinity": {"odd": "inf"},
    "minus zero": {"odd": "-0.0"},
    "many digits": {"odd": "9" * 5000},
    "nothing": {"odd": ""},
    "a record that is dropped": {"odd": "x", "missing": '"drop"'},
    "replaced": {"odd": "5", "relation": "replace-one"},
    "replaced by nothing": {"odd": "", "relation": "replace-one"},
    "many records": {"odd": "15", "times": 10 * COUNT},
    "many replaced": {"odd": "15", "times": COUNT // 2, "relation": "replace-one"},
    "by what is stated": {"odd": "5", "words": ("--ladder", "1:6:4")},
    "several aims": {"odd": "5", "words": ("--within", "0.3")},
    "flat": {"odd": "5", "words": ("--accuracy", "0.99", "--ladder", "renyi:3000:9000:4", "--patience", "1")},
    "capped": {"odd": "5", "words": ("--accuracy", "0.99", "--max-epsilon", "8")},
    "exhausted": {"odd": "5", "words": ("--accuracy", "0.99")},
}


@pytest.mark.parametrize("case", CASES)
def test_neighbours_that_are_released_alike_cannot_be_told_apart(case: str, tmp_path: Path) -> None:
    one, other = both(tmp_path, **CASES[case])

    ended = json.loads(one["out/receipt.json"])["ended"]["how"]
    assert ended == (case if case in ("flat", "capped", "exhausted") else "halted")
    assert {"out/counts.csv", "out/receipt.json", "out/report.html", "out/schema.toml", "out/synthetic.csv"} < {*one}
    assert one == other


def exact_share(
    sealed: Private[Table], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[TableRecipe, Measurement | None]:
    """As many held out as the records themselves call for; their number is released beside, for nothing."""
    _, counted = found.sized(sealed, recipe, odometer, noise)
    return replace(recipe, validation=prices.usual_share(len(sealed.open(SEAL)))), counted


def exact_edges(
    parts: Split[Table], recipe: TableRecipe, odometer: Odometer, noise: Noise
) -> tuple[Split[Table], TableRecipe]:
    """Edges by the records themselves; their counts are released beside, for nothing."""

    class Peeking:
        def spend(self, mechanism: Gaussian[Table], data: Private[Table], *rest: Any) -> Any:
            released = odometer.spend(mechanism, data, *rest)
            exact = mechanism.statistic.evaluate(data.open(SEAL)).astype(np.float64)
            return released.map(lambda noisy: Measurement(exact, noisy.variance))

    return found.find_edges(parts, recipe, Peeking(), noise)  # type: ignore[arg-type]  # not an odometer


TWINS = {"the share held out": (job, "sized", exact_share), "the edges": (procedure, "find_edges", exact_edges)}


@pytest.mark.parametrize("twin", TWINS)
def test_a_run_that_decides_by_what_was_not_released_is_noticed(
    twin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*TWINS[twin])

    one, other = both(tmp_path, "15", times=COUNT)

    assert one != other
