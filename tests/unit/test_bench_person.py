"""The benchmark of persons: a miniature of it has every figure."""

import pytest
from benchmarks import person

from expost.tabular.persons import Grouped
from expost.tabular.schema.schema import Schema
from expost.tabular.source.reading import read_records


def smaller(monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    for name, value in values.items():
        monkeypatch.setattr(person, name, value)


def test_a_miniature_has_every_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller(
        monkeypatch, PERSONS=400, MANY=500, MOST=20, EXPONENTS=(1.6,), PRICES=(0.5,), REPEATS=2, FEWER=1, DRAWN=2
    )  # fmt: skip

    figures = person.errors(lambda text: None)

    assert {f"person.over_keep_k.{kind}{many}" for kind in person.STATIC for many in ("", ".many")} <= figures.keys()
    assert all(0 < value < 3 for value in figures.values())


def test_the_same_visits_are_timed_with_a_unit_and_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    smaller(monkeypatch, TIMED=2000, OF_THEM=300)

    visits, schemas = person.write_visits(tmp_path_factory.mktemp("visits"))

    of_persons, records = (
        read_records(visits, Schema.load(schemas[name].read_text(encoding="utf-8"))) for name in schemas
    )
    assert isinstance(of_persons, Grouped)
    assert len(records) == len(of_persons.table) == 2000
    assert 250 < len(of_persons) <= 300


def test_a_miniature_is_timed_with_a_unit_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller(monkeypatch, TIMED=2000, OF_THEM=300, WORK={".alike": person.WORK[".alike"]})

    figures = person.times(lambda text: None)

    seconds = [figures[f"person.cpu_seconds.{name}.alike"] for name in ("with", "without")]
    assert figures["person.time_ratio.alike"] == seconds[0] / seconds[1] > 0
