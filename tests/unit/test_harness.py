"""The benchmark harness: names, refusals, and what it records."""

import pytest
from benchmarks import harness


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
