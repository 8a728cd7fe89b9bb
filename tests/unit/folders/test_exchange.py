"""Two folders change places at once, or stay where they are."""

import ctypes
import sys
from pathlib import Path

import pytest

from expost.folders.exchange import exchange
from tests.unit.folders.examples import can_exchange


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
