"""Private records that are handed in as public ones are refused before anything is spent on them."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from expost.errors import NotDisjoint
from expost.jobs.synthesis.prices import on_public_table
from expost.judge import OnPublic
from expost.ledger import MemoryLedger
from expost.tabular.table import Table
from expost.training.head.labelled import Labelled
from tests.unit.commands import run
from tests.unit.examples import one_sentence
from tests.unit.jobs.finetuning import rehearsals as heads
from tests.unit.jobs.synthesis.customers import SCHEMA, csv, made, public_records, records
from tests.unit.report.examples import blobs, customers


def linked(folder: Path) -> Path:
    (folder / "other.csv").symlink_to(folder / "customers.csv")
    return folder / "other.csv"


def hard_linked(folder: Path) -> Path:
    (folder / "other.csv").hardlink_to(folder / "customers.csv")
    return folder / "other.csv"


def copied(folder: Path) -> Path:
    return Path(shutil.copy(folder / "customers.csv", folder / "other.csv"))


def zipped(folder: Path) -> Path:
    (folder / "other.csv.gz").write_bytes(gzip.compress((folder / "customers.csv").read_bytes()))
    return folder / "other.csv.gz"


def converted(folder: Path) -> Path:
    pl.DataFrame(records()).write_parquet(folder / "other.parquet")
    return folder / "other.parquet"


def shuffled(folder: Path) -> Path:
    pl.DataFrame(records()).sort("age", descending=True).write_csv(folder / "other.csv")
    return folder / "other.csv"


def spelled_otherwise(folder: Path) -> Path:
    (folder / "sub").mkdir()
    return folder / "sub/../customers.csv"


DISGUISES: dict[str, Callable[[Path], Path]] = {
    "itself": lambda folder: folder / "customers.csv",
    "another spelling": spelled_otherwise,
    "a link": linked,
    "a hard link": hard_linked,
    "a copy": copied,
    "compressed": zipped,
    "another format": converted,
    "another order": shuffled,
}
each_disguise = pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)


def refused(table: object, public: object) -> str:
    """Why the run was not done; nothing is on record."""
    ledger = MemoryLedger()
    with pytest.raises(NotDisjoint, match="same") as refusal:
        made(table, check=OnPublic(public), ledger=ledger)
    assert one_sentence(refusal.value)
    assert (ledger.lines, ledger.held) == ((), ())
    return str(refusal.value)


@each_disguise
def test_a_table_is_not_its_own_public_check(disguise: Callable[[Path], Path], tmp_path: Path) -> None:
    path = csv(tmp_path)

    refused(path, disguise(tmp_path))


@each_disguise
def test_the_command_refuses_a_table_as_its_own_public_check(disguise: Callable[[Path], Path], tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text(SCHEMA.dumps(), encoding="utf-8")
    words = ("synth", str(csv(tmp_path)), "--schema", str(schema), "--target", "renewed", "--accuracy", "0.8")

    result = run(*words, "--out", str(tmp_path / "out"), "--check", f"public:{disguise(tmp_path)}")

    assert result.exit_code == 2, result.output
    assert "same" in result.stderr
    assert "spent" not in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_same_file_is_refused_before_the_private_side_of_it_is_read(tmp_path: Path) -> None:
    path = csv(tmp_path)
    public = on_public_table(OnPublic(path), SCHEMA)
    path.write_bytes(b"nothing that could be read")

    with pytest.raises(NotDisjoint, match="same file"):
        made(path, check=public)


def test_a_query_over_the_public_file_is_refused(tmp_path: Path) -> None:
    path = converted(tmp_path)

    assert "same file" in refused(f"duckdb:SELECT * FROM '{path}' WHERE age > 40", path)
    assert "same file" in refused(path, f"duckdb:SELECT * FROM '{path}' WHERE age > 40")


@pytest.mark.parametrize(
    "kind", [pl.DataFrame, lambda cells: pl.DataFrame(cells).to_pandas()], ids=["polars", "pandas"]
)
def test_a_frame_is_not_its_own_public_check(kind: Callable[[dict[str, list[Any]]], object]) -> None:
    frame = kind(records())

    refused(frame, frame)
    refused(frame, kind(records()))


def test_other_records_are_a_public_check(tmp_path: Path) -> None:
    made(csv(tmp_path), check=OnPublic(public_records(tmp_path)))


def test_records_are_the_same_only_where_each_is() -> None:
    """One record that differs is enough, be it by its place in another column only."""
    table = customers(SCHEMA, 60)
    codes = {name: table.codes(name).copy() for name in SCHEMA.names}
    swapped = {name: codes[name].copy() for name in SCHEMA.names}
    swapped["plan"][[0, 12]] = swapped["plan"][[12, 0]]
    backwards = {name: codes[name][::-1] for name in SCHEMA.names}

    assert table.same_records(Table(SCHEMA, backwards))
    assert not table.same_records(Table(SCHEMA, swapped))
    assert not table.same_records(Table(SCHEMA, {name: codes[name][1:] for name in SCHEMA.names}))
    assert not table[np.zeros(60, np.bool_)].same_records(table[np.zeros(60, np.bool_)])


def npz(folder: Path, name: str = "private.npz", step: int = 1) -> Path:
    features, labels = blobs()
    np.savez(folder / name, features=features[::step], labels=labels[::step])
    return folder / name


def squeezed(folder: Path) -> Path:
    features, labels = blobs()
    np.savez_compressed(folder / "other.npz", labels=labels, features=features)
    return folder / "other.npz"


HEADS: dict[str, Callable[[Path], object]] = {
    "itself": lambda folder: folder / "private.npz",
    "compressed": squeezed,
    "another order": lambda folder: npz(folder, "other.npz", step=-1),
    "its arrays": lambda folder: blobs(),
    "its records": lambda folder: Labelled.of(*blobs(), classes=3),
}


@pytest.mark.parametrize("disguise", HEADS.values(), ids=HEADS)
def test_labelled_records_are_not_their_own_public_check(disguise: Callable[[Path], object], tmp_path: Path) -> None:
    refusal = heads.refused(npz(tmp_path), check=OnPublic(disguise(tmp_path)))

    assert "the public records are those to train on" in str(refusal)


def test_the_command_refuses_labelled_records_as_their_own_public_check(tmp_path: Path) -> None:
    path = str(npz(tmp_path))

    result = run("finetune", path, "--accuracy", "0.8", "--out", str(tmp_path / "out"), "--check", f"public:{path}")

    assert result.exit_code == 2, result.output
    assert "the public records are those to train on" in result.stderr
    assert "spent" not in result.stderr


def test_labelled_records_are_the_same_only_where_each_is() -> None:
    features, labels = blobs(30)
    records_of = Labelled.of(features, labels, classes=3)
    relabelled = labels.copy()
    relabelled[[0, 1]] = relabelled[[1, 0]]

    assert records_of.same_records(Labelled.of(features[::-1], labels[::-1], classes=3))
    assert not records_of.same_records(Labelled.of(features, relabelled, classes=3))
    assert not records_of.same_records(Labelled.of(features[1:], labels[1:], classes=3))
