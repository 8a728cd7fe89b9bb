"""Whatever an answer shows and writes follows from what is on its bill: persons who are released alike look alike.

A question is answered, and what each measurement came to is kept. Then the same question is put to a table with one
person more, where each measurement hands out what it came to before. Printed words, exit status, and the name and every
byte of each file must be the same, whoever that person is, however many rows they have and whatever is in these. A twin
that weighs persons down by their true lengths is noticed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from expost._seal import SEAL
from expost.jobs.asking import run as job
from expost.jobs.asking.measuring import Measuring
from expost.mechanisms.gaussian import Gaussian, Measurement
from expost.noise import SeededNoise
from tests.unit.commands import run

pl = import_module("polars")

PERSONS = 400
SCHEMA = """
reviewed = true
neighbours = "{}"
unit = "who"
[[column]]
name = "ward"
kind = "categorical"
values = ["A", "B", "C"]
other = "other"
missing = {}
[[column]]
name = "days"
kind = "integer"
edges = [1, 4, 8, 15, 31]
closed = "left"
missing = true
[[column]]
name = "money"
kind = "numeric"
edges = [0, 10, 100, 1000]
closed = "left"
missing = {}
"""
Cells = dict[str, list[str]]
Shown = dict[str, Any]


@contextmanager
def scripted() -> Iterator[tuple[list[Measurement], list[int]]]:
    """What each measurement came to, to be handed out again, and the place of the next one."""
    values: list[Measurement] = []
    place = [0]
    sample = Gaussian.sample

    def again(self: Gaussian[Any], data: Any, budget: Any, past: Any, noise: Any) -> Measurement:
        found = sample(self, data, budget, past, SeededNoise(1000 + place[0]))
        if place[0] == len(values):
            values.append(found)
        place[0] += 1
        return values[place[0] - 1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gaussian, "sample", again)
        yield values, place


def visits() -> Cells:
    """Persons with one row to three."""
    owners = [who for who in range(PERSONS) for _ in range(1 + (who % 4 == 0) + (who % 12 == 0))]
    draws = SeededNoise(3).uniform(3 * len(owners)).reshape(3, -1)
    return {
        "who": [f"P{who}" for who in owners],
        "ward": ["ABC"[int(3 * each)] for each in draws[0]],
        "days": [str(int(1 + 30 * each)) for each in draws[1]],
        "money": [f"{1000 * each:.2f}" for each in draws[2]],
    }


def shown(folder: Path, cells: Cells, form: str, words: tuple[str, ...]) -> Shown:
    """Everything that somebody can see of a run."""
    folder.mkdir()
    pl.DataFrame(cells).write_csv(folder / "visits.csv")
    (folder / "form.toml").write_text(form, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ended = run("ask", "visits.csv", *words, "--schema", "form.toml", "--out", "out", "--seed", "1")
    assert ended.exit_code in (0, 3), ended.output
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("out/**/*") if path.is_file()}
    return {"status": ended.exit_code, "printed": ended.stdout, "warned": ended.stderr, **written}


def both(here: Path, odd: Cells, words: tuple[str, ...], *, relation: str, missing: str) -> list[Shown]:
    """What is seen of a table and of that with these rows besides, given the same releases."""
    cells, form, seen = visits(), SCHEMA.format(relation, missing, missing), []
    middle = len(cells["who"]) // 2
    more = {name: [*values[:middle], *odd[name], *values[middle:]] for name, values in cells.items()}
    with scripted() as (values, place):
        for name, each in (("one", cells), ("other", more)):
            place[0] = 0
            seen.append({**shown(here / name, each, form, words), "steps": place[0]})
    assert values
    return seen


def rows(times: int = 1, *, who: str = "odd", ward: str = "A", days: str = "5", money: str = "1") -> Cells:
    return {"who": [who] * times, "ward": [ward] * times, "days": [days] * times, "money": [money] * times}


WITHIN = ("--within", "10%")
ODD: dict[str, Cells] = {
    "one row": rows(),
    "twenty thousand rows": rows(20_000),
    "no number": rows(3, days="nan", money="nan"),
    "an infinity": rows(money="inf"),
    "beyond all floats": rows(money="1e999", days="9" * 400),
    "a text for a number": rows(days="x", money="x"),
    "nothing": rows(2, ward="", days="", money=""),
    "nobody": rows(50, who=""),
    "a long name": rows(2, who="é🙂" * 2000, ward="Z" * 3000),
    "another one's name, spelled otherwise": rows(2, who=" P7 "),
    "a number for a name": rows(2, who="1e5"),
}  # fmt: skip
ASKED: dict[str, tuple[str, ...]] = {
    "counts": ("count by ward", *WITHIN),
    "persons": ("persons by ward", *WITHIN),
    "means": ("mean money by ward", "--within", "20", "--format", "parquet"),
    "several": ("count by ward, days", "sum of days by ward", "median money", *WITHIN, "--of-total"),
    "a decision": ("count by ward", "--top", "1", "--rows-per-person", "2"),
    "one release": ("count by ward where days >= 4", "--within", "60", "--rows-per-person", "2"),
    "a share": ("SELECT avg(CASE WHEN days >= 8 THEN 1 ELSE 0 END) FROM t", "--within", "0.1"),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("asked", ["several"])
def test_persons_who_are_released_alike_cannot_be_told_apart(odd: str, asked: str, tmp_path: Path) -> None:
    one, other = both(tmp_path, ODD[odd], ASKED[asked], relation="add-remove", missing="true")

    assert one == other


@pytest.mark.parametrize(
    ("relation", "missing"), [("add-remove", "true"), ("add-remove", '"drop"'), ("replace-one", "true")]
)
@pytest.mark.parametrize("asked", ASKED)
def test_no_question_tells_a_person_with_many_rows(asked: str, relation: str, missing: str, tmp_path: Path) -> None:
    one, other = both(tmp_path, rows(2000, ward=""), ASKED[asked], relation=relation, missing=missing)

    assert {"out/receipt.json", "out/report.html", "out/schema.toml"} < {*one}
    assert one == other


def test_a_run_that_weighs_persons_down_by_their_true_lengths_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded = job._bounded

    def peeking(measuring: Measuring, *rest: Any) -> Any:
        found = bounded(measuring, *rest)
        longest = int(measuring.data.open(SEAL).sizes.max())
        measuring.most.update({tally: min(512, longest) for tally in measuring.most})
        return {tally: replace(cut, most=measuring.most[tally]) for tally, cut in found.items()}

    monkeypatch.setattr(job, "_bounded", peeking)

    one, other = both(tmp_path, rows(300), ASKED["counts"], relation="add-remove", missing="true")

    assert one != other
