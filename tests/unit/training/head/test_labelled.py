"""Labelled records: refused by one sentence that shows none of their values, or as they were given."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from expost.errors import ExpostError, InvalidValue, Unreadable
from expost.noise import SeededNoise
from expost.training.head import labelled
from expost.training.head.labelled import Labelled, read_npz
from tests.unit.examples import one_sentence

SECRET = 31337.25
ROWS = [[0.5, SECRET], [1.0, 2.0], [3.0, 4.0]]
REFUSED: dict[str, tuple[ArrayLike, ArrayLike, str]] = {
    "NaN": ([[SECRET, float("nan")]], [0], "a feature is NaN or infinite"),
    "infinite": ([[SECRET, float("inf")]], [0], "a feature is NaN or infinite"),
    "beyond single precision": ([[SECRET, 1e300]], [0], "a feature is NaN or infinite"),
    "label too large": (ROWS, [0, 1, 31337], "a label is out of range"),
    "label one too large": (ROWS, [0, 1, 3], "a label is out of range"),
    "label below zero": (ROWS, [0, 1, -31337], "a label is out of range"),
    "label in between": (ROWS, [0.0, 1.0, 1.5], "a label is out of range"),
    "label in words": (ROWS, ["cat", "dog", "31337"], "a label is out of range"),
    "label missing": (ROWS, [0, 1], "features and labels do not match"),
    "one row": ([1.0, SECRET], [0, 1], "features and labels do not match"),
    "ragged": ([[1.0], [1.0, SECRET]], [0, 1], "the features are not an array of numbers"),
    "words": ([["a", "31337"]], [0], "the features are not an array of numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_records_are_refused_without_showing_a_value(name: str) -> None:
    features, labels, said = REFUSED[name]

    with pytest.raises(InvalidValue, match=said) as refused:
        Labelled.of(features, labels, classes=3)

    assert one_sentence(refused.value)
    assert "31337" not in str(refused.value)


@pytest.mark.parametrize("classes", [1, 0, -3])
def test_one_class_is_no_task(classes: int) -> None:
    with pytest.raises(InvalidValue, match="only one class") as refused:
        Labelled.of(ROWS, [0, 0, 0], classes=classes)

    assert one_sentence(refused.value)


def test_records_are_kept_in_single_precision() -> None:
    records = Labelled.of(ROWS, [0, 2, 1], classes=3)

    assert (str(records.features.dtype), str(records.labels.dtype)) == ("float32", "int64")
    assert (len(records), records.width) == (3, 2)
    assert records.features.tolist() == ROWS


def test_a_mask_takes_features_and_labels_alike() -> None:
    some = Labelled.of(ROWS, [0, 2, 1], classes=3)[np.array([True, False, True])]

    assert (some.features.tolist(), some.labels.tolist()) == ([ROWS[0], ROWS[2]], [0, 1])


def test_no_records_are_records() -> None:
    assert len(Labelled.of(np.zeros((0, 4)), np.zeros(0, np.int64), classes=2)) == 0


def test_the_text_form_shows_nothing() -> None:
    assert repr(Labelled.of(ROWS, [0, 2, 1], classes=3)) == "Labelled records"


def test_a_file_is_read_as_it_was_saved(tmp_path: Path) -> None:
    np.savez(tmp_path / "records.npz", features=np.array(ROWS), labels=np.array([0, 2, 1]))

    features, labels = read_npz(tmp_path / "records.npz")

    assert (features.tolist(), labels.tolist()) == (ROWS, [0, 2, 1])


def damaged(path: Path) -> list[bytes]:
    """What a file may hold instead: nothing, another format, a cut or flipped archive, objects."""
    np.savez_compressed(path, features=np.array(ROWS), labels=np.array([0, 2, 1]))
    good = path.read_bytes()
    flipped = [bytes([*good[:place], good[place] ^ 255, *good[place + 1 :]]) for place in range(30, 200, 7)]
    np.save(path.with_suffix(".npy"), np.array(ROWS))
    np.savez(path, features=np.array([{}], dtype=object), labels=np.array([0]))
    return [
        b"",
        b"a,b\n1,2\n",
        good[: len(good) // 2],
        *flipped,
        path.with_suffix(".npy").read_bytes(),
        path.read_bytes(),
    ]


def test_a_file_that_is_damaged_or_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "records.npz"
    for content in damaged(path):
        path.write_bytes(content)
        try:
            read_npz(path)
        except ExpostError as refused:
            assert isinstance(refused, Unreadable)
            assert one_sentence(refused) and "records.npz" in str(refused)
        else:  # a flip in what nobody reads
            assert content[:2] == b"PK"


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"there is no file .*nowhere\.npz; check its name\.") as refused:
        read_npz(tmp_path / "nowhere.npz")

    assert one_sentence(refused.value)


@pytest.mark.parametrize("missing", ["features", "labels"])
def test_an_array_that_is_missing_is_named(tmp_path: Path, missing: str) -> None:
    arrays = {name: np.zeros(3) for name in ("features", "labels") if name != missing}
    np.savez(tmp_path / "records.npz", **arrays)  # type: ignore[arg-type] # the stubs take a keyword for an option

    with pytest.raises(Unreadable, match=f"does not hold an array named {missing}") as refused:
        read_npz(tmp_path / "records.npz")

    assert one_sentence(refused.value)


def test_blocks_hold_every_record_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "AT_ONCE", 6)
    data = Labelled.of(np.arange(20).reshape(10, 2), np.arange(10) % 2, classes=2)

    blocks = list(data.blocks())

    assert len(blocks) > 1
    assert np.array_equal(np.concatenate([each.features for each in blocks]), data.features)
    assert np.array_equal(np.concatenate([each.labels for each in blocks]), data.labels)


def test_a_person_lies_in_one_block_with_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled, "AT_ONCE", 6)
    owners = np.array([3, 1, 3, 2, 1, 3, 4, 5])
    data = Labelled.of(np.column_stack([owners, owners]), owners % 2, classes=2).of_persons(owners, SeededNoise(1))

    seen = [sorted(each.features[:, 0].tolist()) for each in data.blocks()]

    assert len(seen) > 1
    assert sorted(each for some in seen for each in some) == sorted(owners.tolist())
    assert all(set(one).isdisjoint(other) for place, one in enumerate(seen) for other in seen[:place])


def test_of_no_records_there_is_one_block() -> None:
    assert [len(each) for each in Labelled.of(np.zeros((0, 3)), np.zeros(0, np.int64), classes=2).blocks()] == [0]
