"""Repeats of an item: seeded, in order, kept as they finish, and never mixed."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from paper.engine.job import Job

from expost import SeededNoise


@dataclass(frozen=True)
class Settings:
    bound: int = 1000


def draw(settings: Settings, seed: int) -> dict[str, int]:
    return {"seed": seed, "drawn": SeededNoise(seed).below(settings.bound)}


def fail_at(settings: Settings, seed: int, bad: int, log: str) -> int:
    """Notes that it was called, and breaks at one seed while that is named in the log's folder."""
    folder = Path(log)
    (folder / f"called-{seed}").write_text("x" + ((folder / f"called-{seed}").exists() * "x"), encoding="utf-8")
    if seed == bad and (folder / "broken").exists():
        raise RuntimeError("broken")
    return seed


def endless(settings: Settings, seed: int) -> float:
    return float("inf")


def job(cache: Path, *, workers: int = 1) -> Job[Settings]:
    return Job("trial", 1, Settings(), 5, cache, workers)


def test_repeats_come_in_the_order_of_their_seeds(tmp_path: Path) -> None:
    found = job(tmp_path).repeats(draw, 4)

    assert [each["seed"] for each in found] == [5, 6, 7, 8]
    assert found == [draw(Settings(), seed) for seed in range(5, 9)]


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    two = job(tmp_path / "two", workers=2).repeats(draw, 3)

    assert two == job(tmp_path / "one").repeats(draw, 3)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with pytest.raises(RuntimeError, match="broken"):
        job(tmp_path / "cache").repeats(fail_at, 4, 7, str(tmp_path))
    (tmp_path / "broken").unlink()

    assert job(tmp_path / "cache").repeats(fail_at, 4, 7, str(tmp_path)) == [5, 6, 7, 8]

    calls = {path.name: len(path.read_text(encoding="utf-8")) for path in tmp_path.glob("called-*")}
    assert calls == {"called-5": 1, "called-6": 1, "called-7": 2, "called-8": 1}


def test_a_longer_run_keeps_the_repeats_of_a_shorter(tmp_path: Path) -> None:
    job(tmp_path / "cache").repeats(fail_at, 2, 0, str(tmp_path))
    longer = job(tmp_path / "cache")

    longer.repeats(fail_at, 3, 0, str(tmp_path))

    assert (tmp_path / "called-5").read_text(encoding="utf-8") == "x"
    assert len(longer.took) == 3


@pytest.mark.parametrize(
    "change", [{"version": 2}, {"settings": Settings(bound=10)}, {"name": "other"}], ids=lambda each: next(iter(each))
)
def test_a_run_of_another_kind_shares_nothing(tmp_path: Path, change: dict[str, object]) -> None:
    first = job(tmp_path)
    first.repeats(draw, 1)
    files = set(tmp_path.rglob("*.json"))

    replace(first, **change).repeats(draw, 1)  # type: ignore[arg-type]  # any one field is changed

    assert len(set(tmp_path.rglob("*.json")) - files) == 1


def test_cases_are_kept_apart(tmp_path: Path) -> None:
    for bad in (0, 1):
        job(tmp_path / "cache").repeats(fail_at, 1, bad, str(tmp_path))

    assert (tmp_path / "called-5").read_text(encoding="utf-8") == "xx"


def test_a_result_that_json_cannot_hold_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        job(tmp_path).repeats(endless, 1)

    assert list(tmp_path.rglob("*.json")) == []
