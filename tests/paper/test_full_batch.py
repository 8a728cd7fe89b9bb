"""Full-batch heads beside Adam's, in miniature: the same draws, what counts, features by file."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from paper.__main__ import main
from paper.heads.sides import ADAM, FULL_BATCH, Reached, Sides
from paper.items.finetuning import FULL
from paper.items.full_batch import QUICK, _case
from paper.show.full_batch import text


def search(epsilon: float, *, passed: bool = True, test: float = 0.9) -> Reached:
    return Reached(epsilon=epsilon, by_orders=epsilon + 1, validation=0.9, test=test, releases=2, passed=passed)


FOUND: list[Sides] = [
    {FULL_BATCH: {"0.7": search(1)}, ADAM: {"0.7": search(4)}},
    {FULL_BATCH: {"0.7": search(3, test=0.6)}, ADAM: {"0.7": search(6, passed=False)}},
]


def test_a_search_that_never_passes_counts_with_what_it_spent() -> None:
    ours, adam = (_case(method, "0.7", FOUND) for method in (FULL_BATCH, ADAM))

    assert (ours["epsilon"]["mean"], adam["epsilon"]["mean"], adam["by_orders"]["mean"]) == (2, 5, 6)
    assert (ours["passed"]["count"], adam["passed"]["count"]) == (2, 1)
    assert ours["over_adam"] is not None
    assert ours["over_adam"]["mean"] == pytest.approx(2 / 5)
    assert adam["over_adam"] is None


def test_only_searches_that_passed_are_asked_what_they_reach_on_test_records() -> None:
    ours, adam = (_case(method, "0.7", FOUND)["truly"] for method in (FULL_BATCH, ADAM))

    assert (ours["count"], ours["of"]) == (1, 2)
    assert (adam["count"], adam["of"]) == (1, 1)


def test_the_settings_are_those_of_the_experiment_before() -> None:
    assert (QUICK.each, QUICK.delta, QUICK.shares) == (FULL.each, FULL.delta, FULL.shares)


def test_features_from_a_file_are_named_and_their_place_is_not_told(tmp_path: Path) -> None:
    codes = np.repeat(np.arange(3), 100)
    rows = np.eye(3)[codes] + np.linspace(0, 1, len(codes))[:, None]
    path = tmp_path / "features.npz"
    np.savez(path, train_features=rows, train_labels=codes, test_features=rows, test_labels=codes)
    asked = ["--quick", "--only", "full_batch", "--features", str(path), "--named", "three clouds, no network"]

    done = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "out"), "--workers", "1"])

    assert done.exit_code == 0, done.output
    stored = (tmp_path / "out/results/full_batch.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in stored
    told = text(json.loads(stored)["result"])
    assert "three clouds, no network" in told
    assert "150 here" in told
