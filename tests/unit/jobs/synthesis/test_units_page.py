"""The page on units is true: its table, its schema, and what a run on it says."""

import csv
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from expost.jobs.job import Result
from expost.jobs.synthesis.run import synthesize
from expost.noise import SeededNoise
from expost.private import Neighbours
from expost.report.words import NOT_PRIVATE, conclusion, forewords
from expost.tabular.persons import Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_table
from expost.tabular.table import Table

PAGE = (Path(__file__).parents[4] / "docs/units.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
UNIT = "patient_id"


def block(kind: str, start: str) -> str:
    (found,) = (text for named, text in BLOCKS if named == kind and text.startswith(start))
    return str(found)


def unnumbered(text: str) -> str:
    return " ".join(re.sub(r"\d[\d.,]*", "#", text).split())


SCHEMA = Schema.load(block("toml", "# visits.toml"))


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Grouped:
    """The table that the page makes, by whose visits they are."""
    here = tmp_path_factory.mktemp("units")
    subprocess.run([sys.executable, "-c", block("python", "import csv")], cwd=here, check=True)
    with (here / "visits.csv").open(encoding="utf-8", newline="") as file:
        patients = [line[UNIT] for line in csv.DictReader(file)]
    by_row = read_table(here / "visits.csv", replace(SCHEMA, unit=None, neighbours=Neighbours.ADD_REMOVE))
    assert isinstance(by_row, Table)
    return Grouped.of(Table(SCHEMA, by_row.columns), np.unique(patients, return_inverse=True)[1])


@pytest.fixture(scope="module")
def done(visits: Grouped) -> Result[object]:
    return synthesize(visits, schema=SCHEMA, target="readmitted", accuracy=0.8, noise=SeededNoise(7))


def test_the_schema_names_the_unit_and_no_column_for_it() -> None:
    assert (SCHEMA.unit, SCHEMA.neighbours) == (UNIT, Neighbours.ADD_REMOVE_PERSON)
    assert UNIT not in SCHEMA.names


def test_a_third_of_the_patients_came_more_than_once_and_some_sixty_times(visits: Grouped) -> None:
    assert len(visits) == 12_000
    assert 0.3 < (visits.sizes > 1).mean() < 0.37
    assert (visits.sizes == 60).sum() > 50


def test_a_run_says_what_the_page_shows(done: Result[object]) -> None:
    told = " ".join([*forewords(done.facts), conclusion(done.facts).replace(f" {NOT_PRIVATE}", "")])

    assert unnumbered(told) == unnumbered(block("console", "$ expost synth").partition("…")[2])
    assert "This cost ε = 0.177" in told
