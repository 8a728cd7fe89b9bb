"""A path is resolved once, and what is not a release of ours is never replaced."""

import ctypes
import os
import sys
from pathlib import Path

import pytest

from expost.errors import ExpostError, InvalidValue
from expost.folders.place import Place, exchange, is_release
from tests.unit.examples import one_sentence
from tests.unit.folders.examples import can_exchange, older_release


def refusal(folder: Path, *apart: Path) -> str:
    """Why a folder is not to be made or replaced."""
    with pytest.raises(ExpostError) as refused:
        Place.of(folder).require_free(overwrite=True, apart=apart)
    assert one_sentence(refused.value)
    return str(refused.value)


def test_a_way_over_a_folder_that_is_missing_leads_where_it_will_lead(tmp_path: Path) -> None:
    assert Place.of(tmp_path / "missing/../keep").folder == tmp_path / "keep"


def test_a_link_above_is_followed_and_one_in_the_place_itself_is_not(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert Place.of(tmp_path / "link/out").folder == tmp_path / "real/out"
    assert Place.of(tmp_path / "link").folder == tmp_path / "link"


@pytest.mark.parametrize("place", ["file", "dangling", "link", "real", "missing/../real", "/", ".", ".."])
def test_what_is_not_a_release_is_refused(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "real").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "link").symlink_to(older_release(tmp_path / "release"))
    monkeypatch.chdir(tmp_path)

    refusal(Path(place))


def test_a_path_that_is_no_path_is_refused_in_one_sentence() -> None:
    with pytest.raises(ExpostError) as refused:
        Place.of(Path("a\0b"))

    assert one_sentence(refused.value)


def test_a_release_may_be_replaced_if_that_is_asked(tmp_path: Path) -> None:
    place = Place.of(older_release(tmp_path / "out"))

    place.require_free(overwrite=True)
    with pytest.raises(InvalidValue):
        place.require_free(overwrite=False)


@pytest.mark.parametrize("stranger", ["notes.txt", ".git", "receipt-1.json", "earlier/receipt.json", "earlier/a/b"])
def test_a_release_with_another_file_in_it_is_not_replaced(stranger: str, tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")
    (folder / stranger).parent.mkdir(parents=True, exist_ok=True)
    (folder / stranger).touch()

    assert "other files" in refusal(folder)


@pytest.mark.parametrize("receipt", [None, "", "{", "[" * 10**5, "[]", "null", '{"format": "receipt 2"}'])
def test_a_folder_without_a_receipt_of_ours_is_no_release(receipt: str | None, tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")
    assert is_release(folder)

    (folder / "receipt.json").unlink()
    if receipt is not None:
        (folder / "receipt.json").write_text(receipt, encoding="utf-8")

    assert not is_release(folder)


def test_a_link_among_the_files_is_not_ours(tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")
    (tmp_path / "precious").touch()

    (folder / "report.html").symlink_to(tmp_path / "precious")

    assert not is_release(folder)


@pytest.mark.parametrize("name", ["synthetic.csv", "receipt.json"])
def test_a_release_that_is_read_is_not_replaced(name: str, tmp_path: Path) -> None:
    folder = older_release(tmp_path / "out")
    (tmp_path / "link.csv").symlink_to(folder / name)

    assert "reads" in refusal(folder, folder / name)
    assert "reads" in refusal(folder, tmp_path / "link.csv")


def test_a_release_that_is_worked_in_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = older_release(tmp_path / "out")
    monkeypatch.chdir(folder)

    assert "runs in" in refusal(Path("../out"))
    assert "runs in" in refusal(Path())


def test_a_mount_point_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os.path, "ismount", lambda path: True)

    assert "mount point" in refusal(older_release(tmp_path / "out"))


def two(here: Path) -> tuple[Path, Path]:
    """Two folders that can be told apart."""
    for name in ("one", "other"):
        (here / name).mkdir()
        (here / name / "file").write_text(name, encoding="utf-8")
    return here / "one", here / "other"


def held(folder: Path) -> str:
    """Which of the two it was."""
    return (folder / "file").read_text(encoding="utf-8")


@can_exchange
def test_two_folders_change_places(tmp_path: Path) -> None:
    one, other = two(tmp_path)

    assert exchange(one, other)

    assert (held(one), held(other)) == ("other", "one")


def test_a_folder_stays_where_it_is_if_the_other_is_missing(tmp_path: Path) -> None:
    one, other = two(tmp_path)

    assert not exchange(one, tmp_path / "missing")

    assert (held(one), held(other)) == ("one", "other")


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_a_system_without_the_call_says_so(system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two(tmp_path)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())

    assert not exchange(one, other)

    assert (held(one), held(other)) == ("one", "other")
