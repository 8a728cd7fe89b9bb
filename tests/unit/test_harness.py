"""The benchmark harness: names, refusals, and what it records."""

import json
import subprocess
import sys
from pathlib import Path
from shutil import which
from types import ModuleType

import pytest
from benchmarks import harness

AUTHOR = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder for results, and a benchmark called trial."""
    trial = ModuleType("benchmarks.trial")
    trial.run = lambda progress: {"trial.speed": 2.0}  # type: ignore[attr-defined]  # what a benchmark has
    monkeypatch.setitem(sys.modules, "benchmarks.trial", trial)
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return tmp_path


def test_figures_are_recorded_with_the_commit_of_before_the_run(results: Path) -> None:
    before = harness.circumstances()

    harness.measure("trial")

    found = json.loads((results / "trial.json").read_text(encoding="utf-8"))
    assert found == {"benchmark": "trial", **before, "figures": {"trial.speed": 2.0}}


def test_a_miniature_of_what_needs_a_gpu_is_not_recorded(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["benchmarks.trial"], "NEEDS_GPU", True, raising=False)
    monkeypatch.setattr(harness, "gpu", lambda: None)

    assert harness.measure("trial") == {"trial.speed": 2.0}
    assert list(results.iterdir()) == []


@pytest.mark.parametrize("named", [True, False])
def test_what_needs_features_is_recorded_only_with_a_file_of_them(
    named: bool, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["benchmarks.trial"], "NEEDS_FEATURES", True, raising=False)
    monkeypatch.setenv(harness.FEATURES, "some.npz" if named else "")

    assert harness.measure("trial") == {"trial.speed": 2.0}
    assert bool(list(results.iterdir())) is named


def test_the_gpu_is_on_record(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["benchmarks.trial"], "NEEDS_GPU", True, raising=False)
    monkeypatch.setattr(harness, "gpu", lambda: "a GPU")

    harness.measure("trial")

    assert json.loads((results / "trial.json").read_text(encoding="utf-8"))["machine"]["gpu"] == "a GPU"


@pytest.mark.skipif(which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    ("path", "dirty"), [("benchmarks/results/noise.json", False), ("benchmarks/noise.py", True), ("src/a.py", True)]
)
def test_changed_code_is_on_record_but_not_what_was_just_recorded(
    path: str, dirty: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setattr(harness, "HERE", tmp_path / "benchmarks")
    for arguments in (["init", "-q"], [*AUTHOR, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).touch()

    found = str(harness.circumstances()["commit"])

    assert len(found.removesuffix("-dirty")) == 40
    assert found.endswith("-dirty") is dirty


def test_every_benchmark_is_found_by_its_name() -> None:
    assert "noise" in harness.names()
    assert "harness" not in harness.names()


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["noise", "nonsense"]])
def test_an_unknown_name_is_refused_with_the_names_there_are(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert harness.main(arguments) == 2
    assert "choose from" in capsys.readouterr().err


def test_the_record_names_versions_and_commit_but_no_paths() -> None:
    circumstances = harness.circumstances()

    assert set(circumstances) == {"commit", "machine", "versions"}
    assert "/" not in str(circumstances["versions"])


def test_actions_are_timed_in_turns() -> None:
    turns: list[str] = []

    times = harness.seconds(lambda: turns.append("a"), lambda: turns.append("b"), repeats=2)

    assert turns == ["a", "b"] * 3
    assert len(times) == 2
